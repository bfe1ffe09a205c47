"""MATCHA's sets, the authors' own rows and scores, from scores to tables; and the ablation, trained for real."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from benchmarks.common.options import Bootstrap
from benchmarks.common.tables import Published
from benchmarks.papers.matcha import agreement, hub_sets
from benchmarks.papers.matcha.ablation import ORDER, SETS, authors_sets, main
from benchmarks.papers.matcha.authors import ROW, SNPMI_ROW, Authors
from benchmarks.papers.matcha.report import PUBLISHED, write_results
from benchmarks.papers.matcha.scoring import Scores, score_sets
from benchmarks.papers.matcha.separation import separation_table
from benchmarks.papers.matcha.sets import CALIBRATION, TITLES, UNSEEN_COCO, EvaluationSet
from semantic_metrics.matcha.scoring import Ratings
from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.separation import UNIT
from tests.benchmarks.papers.matcha_data import ROWS, metric, ratings, scores_of, triplets, write_data
from tests.training.conftest import TRAINING


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


def write_config(folder: Path, start: Path, **changes: object) -> Path:
    """The smoke run on three sources, one of them with random incorrect texts."""
    stored = yaml.safe_load((TRAINING / "configs" / "smoke.yaml").read_text())
    one = {"path": str(TRAINING / "data" / "smoke.csv"), "licence": "Apache-2.0"}
    random = {"kind": "positives", "columns": [["reference", "correct"]]}
    stored["train"] = [{"name": "a", "kind": "triplets", **one}, {"name": "b", **random, **one}]
    stored["validate"] = [{"name": "v", "kind": "triplets", "path": one["path"]}]
    stored.update(init=f"checkpoint:{start}", network={"num_senses": 2}, batch_size=8, **changes)
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(stored))
    return path


def test_every_strategy_is_trained_and_measured(checkpoint: Path, tmp_path: Path) -> None:
    data, output = write_data(tmp_path / "data"), tmp_path / "out"
    arguments = ["--data", str(data), "--config", str(write_config(tmp_path, checkpoint)), "--output", str(output)]
    options = ["--budget", "4", "--seed", "1", "--seed", "2", "--precision", "int8"]
    result = CliRunner().invoke(main, [*arguments, *options])
    assert result.exit_code == 0, result.output
    table = pd.read_csv(output / "ablation.csv")
    assert list(table["strategy"].unique()) == list(ORDER)
    assert table["value"].between(-100, 100).all()
    assert set(table["set"]) == {*(TITLES[name] for name in SETS if name != "human"), "Overall", "mean"}
    one = table[(table["seed"] == 1) & (table["strategy"] == "random") & (table["figure"] == "auc")]
    assert one[one["set"] == "mean"]["value"].item() == pytest.approx(one[one["set"] != "mean"]["value"].mean())
    assert table["published"].notna().sum() == 2 * (35 + 5), "of each cell of table 10, and of its means"
    assert set(table["seed"]) == {1, 2}
    for name in ORDER:
        assert '"step": 4,\n  "steps": 4' in (output / "2" / name / "checkpoint" / "training.json").read_text()
    apart = table[(table["set"] == "SNLI") & (table["figure"] == "n_delta")]["value"]
    assert apart.nunique() > 5  # neither the strategies nor the seeds are the same run
    text = (output / "report.txt").read_text()
    assert text.strip() in result.output
    assert "Table 10, Wasserstein, times 100, 4 steps each, mean of 2 seeds [95% interval over the seeds]" in text
    assert "34.95" in text
    assert "models ran with" not in text, "a table runs none"
    whole, weights = table, {name: output / "2" / name / "checkpoint" / "model.safetensors" for name in ORDER}
    before = {name: path.stat().st_mtime_ns for name, path in weights.items()}
    shutil.rmtree(output / "2" / ORDER[-1])
    result = CliRunner().invoke(main, [*arguments, "--budget", "4", "--seed", "1", "--seed", "2", "--resume"])
    assert result.exit_code == 0, result.output
    pd.testing.assert_frame_equal(pd.read_csv(output / "ablation.csv"), whole)
    assert [name for name in ORDER if weights[name].stat().st_mtime_ns != before[name]] == [ORDER[-1]]


def test_the_authors_rows_of_coco_are_those_not_trained_on(tmp_path: Path) -> None:
    rows = {"reference": ["a dog", "a cat"], "correct": ["it barks", "it purrs"], "incorrect": ["it purrs", "it barks"]}
    rows |= {"matcha_correct": [0.5, 0.4], "matcha_incorrect": [0.1, 0.2]}
    pd.DataFrame(rows).to_parquet(tmp_path / "coco.parquet")
    (tmp_path / "coco_val2017").mkdir()
    pd.DataFrame({"caption": ["it barks "]}).to_parquet(tmp_path / "coco_val2017" / "captions.parquet")
    (coco,) = authors_sets(tmp_path, tmp_path).values()
    assert (coco.title, coco.references) == ("COCO-Caption", ["a cat"])
