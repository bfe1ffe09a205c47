"""`python -m benchmarks stsscore` from end to end on a data folder and checkpoints made here; its sets and rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from matplotlib.image import imread

from benchmarks.common.plot_style import FORMATS
from benchmarks.papers.stsscore import sets as sts
from benchmarks.papers.stsscore.command import main
from benchmarks.papers.stsscore.sets import PairSet, Seen, load_pairs, stsb_splits
from semantic_metrics import load
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.stsscore_data import pairs, qqp, write_data

FIGURES = [f"figure{i}" for i in range(1, 14)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("stsscore") / "data")


@pytest.fixture(scope="module")
def scorer(data: Path) -> Path:
    return tiny.bert(data.parent / "scorer")


def run(*arguments: object) -> Result:
    return CliRunner(env={"SEMANTIC_METRICS_DATA": ""}).invoke(main, list(map(str, arguments)))


@pytest.fixture(scope="module")
def output(data: Path, scorer: Path) -> Path:
    folder, questions = data.parent / "results", data.parent / "qqp.tsv"
    qqp().to_csv(questions, sep="\t", index=False)
    weaker = tiny.bert(data.parent / "weaker", seed=1)
    models = ("--checkpoint", f"small={scorer}", "--weaker", weaker)
    result = run("--data", data, "--qqp", questions, *models, "--resamples", 9, "--output", folder)
    assert result.exit_code == 0, result.output
    assert "written to" in result.stderr
    assert result.stdout == (folder / "report.txt").read_text(encoding="utf-8")
    return folder


def figures(output: Path, table: int) -> pd.Series:
    frame = pd.read_csv(output / f"table{table}.csv")
    return frame.set_index(["set", "part", "metric", "figure"])["value"]


def test_all_tables_and_figures_are_written(output: Path) -> None:
    names = {path.name for path in output.iterdir()}
    tables = {f"table{i}.csv" for i in range(1, 5)} | {"agreement.csv", "report.txt"}
    scores = {f"scores_{key}.csv" for key in ("stsb", "mrpc", "qqp", "wmt22")}
    assert names == tables | scores | {name + ending for name in FIGURES for ending in (*FORMATS, ".txt")}
    for name in FIGURES:
        image = imread(output / f"{name}.png")
        assert min(image.shape[:2]) > 200
        assert 0.5 < image[..., :3].mean() < 0.999  # neither blank nor black


def test_stsscore_is_the_metric_that_users_load(output: Path, scorer: Path) -> None:
    frame, metric = pairs("stsb"), load("stsscore", str(scorer))
    result = metric.compute(predictions=list(frame["sentence2"]), references=list(frame["sentence1"]))
    kept = pd.read_csv(output / "scores_stsb.csv")
    assert kept["STSScore (small)"].tolist() == pytest.approx(result["scores"], abs=1e-9)
    r = 100 * np.corrcoef(result["scores"], frame["score"])[0, 1]
    assert figures(output, 1)["STS-B test", "all", "STSScore (small)", "r"] == pytest.approx(r)
    assert f"STSScore (small): {result['signature']}" in (output / "report.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sets(data: Path) -> dict[str, PairSet]:
    return load_pairs(data, ("stsb", "mrpc", "wmt22"), Seen(stsb_splits(data)))


def test_every_set_is_read(sets: dict[str, PairSet]) -> None:
    """Labels on the unit scale, sentence1 as the reference, reference translations told from systems."""
    assert list(sets) == ["stsb", "mrpc", "wmt22"]
    np.testing.assert_allclose(sets["stsb"].ratings * 5, pairs("stsb")["score"])
    assert sets["stsb"].references == list(pairs("stsb")["sentence1"])
    mqm, wmt22 = pairs("wmt22"), sets["wmt22"]
    low, high = wmt22.scale
    np.testing.assert_allclose(low + wmt22.ratings * (high - low), mqm["label"])
    assert (wmt22.references, wmt22.candidates) == (list(mqm["reference"]), list(mqm["translation"]))
    assert wmt22.parts[sts.SYSTEMS].tolist() == [name != "refA" for name in mqm["system"]]
    assert sts.SYSTEMS not in sets["stsb"].parts


def test_a_leak_is_found_whatever_its_case_signs_and_order() -> None:
    seen = sts.normalised_pairs([pd.DataFrame({"sentence1": ["The dog's bone."], "sentence2": ["A  Cat"]})])
    assert sts.normalised("a cat!", "the dog s bone") in seen
    assert sts.normalised("ａ ｃａｔ", "THE DOG'S BONE") in seen  # full-width letters  # noqa: RUF001
    assert sts.normalised("a cat", "the dog's bones") not in seen
    assert sts.normalised("a cat", "a cat") not in seen


def test_qqp_is_read_as_quora_publishes_it(tmp_path: Path) -> None:
    frame = qqp()
    frame.loc[3, "question2"] = ""  # three of its questions are empty; they stay
    frame.loc[4, "question1"] = 'What is "null"?'
    frame.loc[5, "question1"] = "null"
    frame.to_csv(tmp_path / "qqp.tsv", sep="\t", index=False)
    dataset = sts.read_qqp(str(tmp_path / "qqp.tsv"), sts.Seen({}))
    assert dataset.references == list(frame["question1"])
    assert dataset.candidates == list(frame["question2"])
    assert dataset.ratings.tolist() == list(frame["is_duplicate"])
