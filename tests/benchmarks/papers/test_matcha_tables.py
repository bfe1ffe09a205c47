"""MATCHA's sets and the authors' own rows and scores, and from scores to tables: no model runs here."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.options import Bootstrap
from benchmarks.common.tables import Published
from benchmarks.papers.matcha import agreement, hub_sets
from benchmarks.papers.matcha.authors import ROW, SNPMI_ROW, Authors
from benchmarks.papers.matcha.report import PUBLISHED, write_results
from benchmarks.papers.matcha.scoring import Scores, score_sets
from benchmarks.papers.matcha.separation import separation_table
from benchmarks.papers.matcha.sets import CALIBRATION, TITLES, UNSEEN_COCO, EvaluationSet
from semantic_metrics.matcha.scoring import Ratings
from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.separation import UNIT
from tests.benchmarks.papers.matcha_data import ROWS, metric, ratings, scores_of, triplets


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout: Climate-FEVER has one side a row, its texts written as lists; SNPMI's scores come without texts."""
    folder = tmp_path / "lm-embedding" / "precomputed"
    for name in ("matcha", "snpmi"):
        (folder / name).mkdir(parents=True)
    columns = ["premise", "correct", "incorrect", "pos_sim", "neg_sim"]
    snli = [(f"p{i}", f"c{i}", f"i{i}", 0.9 - 0.1 * i, -0.5) for i in range(4)]
    pd.DataFrame(snli, columns=columns).to_csv(folder / "matcha" / "snli_matcha_scores.csv", index=False)
    pd.DataFrame({"pos_sim": [0.1] * 4, "neg_sim": [0.2] * 4}).to_csv(
        folder / "snpmi" / "snli_snpmi_scores.csv", index=False
    )
    climate = [("['k0']", "['d0']", "[]", 0.5, np.nan), ("['q0']", "[]", "['j0']", np.nan, 0.1)]
    pd.DataFrame(climate, columns=columns).to_csv(folder / "matcha" / "climate_fever_matcha_scores.csv", index=False)
    return tmp_path


def test_a_checkout_is_read_as_published(repository: Path) -> None:
    authors = Authors(repository)
    assert list(authors.sets) == ["snli", "climate_fever"]
    climate = authors.sets["climate_fever"]
    assert (climate.references, climate.correct) == (["k0"], ["d0"])
    assert (climate.references_of_incorrect, climate.incorrect) == (["q0"], ["j0"])
    assert all(one.paper_rows for one in authors.sets.values())
    matcha, snpmi = authors.metrics()
    assert (matcha.name, snpmi.name) == (ROW, SNPMI_ROW)
    assert matcha.load()(["c1", "j0"], ["p1", "q0"]).tolist() == [0.8, 0.1]
    scores = score_sets([matcha, snpmi], authors.sets)
    assert scores.triplets[SNPMI_ROW, "snli"][1].tolist() == [0.2] * 4
    assert "published no score of 2 of 2 pairs" in scores.reasons[SNPMI_ROW, "climate_fever"]
    with pytest.raises(ValueError, match="--authors: expected files"):
        Authors(repository / "lm-embedding" / "precomputed" / "snpmi")


@pytest.mark.real_data
def test_the_authors_scores_give_every_published_cell(data_folder: Path) -> None:
    if not (data_folder / "matcha_authors").is_dir():
        pytest.skip("the data folder has no matcha_authors")
    authors = Authors(data_folder / "matcha_authors", data_folder)
    sets = {key: one for key, one in authors.sets.items() if key in TITLES}
    assert {key: len(one) for key, one in sets.items()} == {
        "snli": 2943, "multinli": 2932, "truthfulqa": 500, "climate_fever": 150, "coco": 1000, "newts": 1181
    }  # fmt: skip
    assert len(authors.sets[UNSEEN_COCO]) == 1000 - 121
    metrics = authors.metrics()[:1]
    table = separation_table(metrics, list(sets.values()), score_sets(metrics, sets), Published(PUBLISHED), QUICK)
    printed = table[table["published"].notna()]
    assert len(printed) == 30
    assert (printed["value"] - printed["published"]).abs().max() <= 0.0101


QUICK = Bootstrap(resamples=60)


def test_differences_to_the_authors_are_of_the_same_pairs(all_sets: dict, tmp_path: Path) -> None:
    theirs, ours = metric(ROW, "matcha"), metric("MATCHA (a)", "matcha")
    sets = {key: all_sets[key] for key in ("snli", "climate_fever", "human", CALIBRATION)}
    scores = scores_of([theirs, ours, metric("EmbSim")], list(sets.values()))
    report = write_results([theirs, ours, metric("EmbSim")], sets, scores, QUICK, tmp_path)
    table = pd.read_csv(tmp_path / "authors.csv").set_index(["metric", "set", "figure"])
    assert len(table) == 2 * 3, "neither the baseline nor the authors are compared with the authors"
    own, other = (scores.triplets[name, "snli"] for name in ("MATCHA (a)", ROW))
    gap = 50 * ((own[0] - own[1]) - (other[0] - other[1])).mean()
    assert table.loc[("MATCHA (a)", "SNLI", "n_delta"), "value"] == pytest.approx(gap)
    ratings = pd.read_csv(tmp_path / "authors_ccc.csv").set_index("figure")
    values = [scores.rated[name, "human"] for name in ("MATCHA (a)", ROW)]
    own, other = (100 * concordance(side, sets["human"].ratings) for side in values)
    assert ratings.loc["ccc, unscaled", "value"] == pytest.approx(own - other)
    for row in [*table.itertuples(), *ratings.itertuples()]:
        assert row.verdict == ("above" if row.low > 0 else "below" if row.high < 0 else "level")
    assert "CCC with 12 ratings: ours minus the authors' MATCHA" in report


@pytest.fixture
def published() -> Published:
    return Published(PUBLISHED)


@pytest.fixture
def all_sets() -> dict[str, EvaluationSet]:
    datasets = [triplets(key) for key in ("snli", "truthfulqa", "climate_fever", "coco", "mednli")]
    datasets += [ratings(key) for key in ("stsb", "human", CALIBRATION)]
    return {one.key: one for one in datasets}


def test_scalings_by_hand() -> None:
    dataset, one, clipped = ratings(), metric("EmbSim"), metric("BLEURT", unbounded=True)
    values = np.linspace(-1.5, 1.5, ROWS)
    scores = Scores(rated={("EmbSim", CALIBRATION): dataset.ratings * 4 - 1})
    scaler = agreement.Scaler(scores, dataset)
    np.testing.assert_allclose(scaler(one, values, "rescaled"), (values + 1) / 2)
    np.testing.assert_allclose(scaler(one, values, "unscaled"), values)
    np.testing.assert_allclose(scaler(one, dataset.ratings * 4 - 1, "calibrated"), dataset.ratings)
    np.testing.assert_allclose(scaler(clipped, values, "rescaled"), np.clip((values + 1) / 2, 0, 1))
    assert scaler(clipped, values, "calibrated") is None
    assert scaler(one, values, "ratings") is None
    rated = replace(one, ratings=lambda: Ratings((-1.0, 0.0), (0.0, 1.0)))
    np.testing.assert_allclose(scaler(rated, values, "ratings"), np.clip(values + 1, 0, 1))
    unit = metric("R1-F1", bounds=UNIT)
    np.testing.assert_allclose(scaler(unit, values, "rescaled"), scaler(unit, values, "unscaled"))


def test_climate_fever_draws_as_many_of_each_label() -> None:
    labels = ["SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO"] * 10
    pairs = pd.DataFrame(
        {"evidence": [f"e{i}" for i in range(30)], "claim": [f"c{i}" for i in range(30)], "evidence_label": labels}
    )
    rows = hub_sets.climate_fever_rows(pairs, size=8)
    assert len(rows) == 8
    for columns, label in ((("reference", "correct"), 0), (("reference_of_incorrect", "incorrect"), 1)):
        places = [int(text[1:]) for text in rows[columns[0]]]
        assert [f"c{i}" for i in places] == list(rows[columns[1]])  # evidence and claim stay together
        assert {i % 3 for i in places} == {label}
        assert len(set(places)) == 8
    pd.testing.assert_frame_equal(rows, hub_sets.climate_fever_rows(pairs, size=8))
    with pytest.raises(ValueError, match="expected at least 11 pairs SUPPORTS, got 10"):
        hub_sets.climate_fever_rows(pairs, size=11)
