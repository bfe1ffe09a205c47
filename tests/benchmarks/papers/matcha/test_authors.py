"""The authors' rows and scores: both forms of their files, the comparison with ours, and the published cells."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap
from benchmarks.common.published import Published
from benchmarks.papers.matcha.authors import ROW, SNPMI_ROW, Authors, difference_table
from benchmarks.papers.matcha.report import PUBLISHED
from benchmarks.papers.matcha.scoring import score_sets
from benchmarks.papers.matcha.separation import separation_table
from benchmarks.papers.matcha.sets import TITLES, UNSEEN_COCO

QUICK = Bootstrap(resamples=30)


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
    assert scores.triplets[SNPMI_ROW, "snli"].incorrect.tolist() == [0.2] * 4
    assert "published no score of 2 of 2 pairs" in scores.reasons[SNPMI_ROW, "climate_fever"]
    with pytest.raises(ValueError, match="--authors: expected files"):
        Authors(repository / "lm-embedding" / "precomputed" / "snpmi")


def test_captions_of_a_training_source_are_left_out(tmp_path: Path) -> None:
    rows = [("r", f"c{i}", "i", 0.5, 0.1) for i in range(3)]
    columns = ["reference", "correct", "incorrect", "matcha_correct", "matcha_incorrect"]
    pd.DataFrame(rows, columns=columns).to_parquet(tmp_path / "coco.parquet")
    (tmp_path / "coco_val2017").mkdir()
    pd.DataFrame({"caption": [" c1\n", "x"]}).to_parquet(tmp_path / "coco_val2017" / "captions.parquet")
    sets = Authors(tmp_path, tmp_path).sets
    assert sets[UNSEEN_COCO].correct == ["c0", "c2"]
    assert not sets[UNSEEN_COCO].paper_rows


def test_ours_are_compared_on_the_same_draws(repository: Path) -> None:
    """A metric that is the authors' own is level with them in every draw, one that is better above."""
    authors = Authors(repository)
    theirs = authors.metrics()[0]
    better = Metric(
        "better", lambda: lambda a, b: np.array([1.0 if text[0] == "c" else -1.0 for text in a]), group="own"
    )
    same = Metric("same", theirs.load, group="matcha")
    scores = score_sets([theirs, better, same], authors.sets)
    table = difference_table([theirs, better, same], list(authors.sets.values()), scores, QUICK)
    by_name = table.set_index(["metric", "set", "figure"])
    assert set(by_name.loc["same", "verdict"]) == {"level"}
    assert by_name.loc["same", ["value", "low", "high"]].abs().to_numpy().max() == 0
    assert by_name.loc[("better", "SNLI", "n_delta"), "verdict"] == "above"


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
