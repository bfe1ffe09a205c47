"""`python -m benchmarks stsscore` from end to end on a data folder and checkpoints made here; its sets and rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from matplotlib.image import imread

from benchmarks.common.encoders import NotMeasured
from benchmarks.common.plot_style import FORMATS
from benchmarks.papers.stsscore import scorers as rows
from benchmarks.papers.stsscore import sets as sts
from benchmarks.papers.stsscore.command import main
from benchmarks.papers.stsscore.report import CARD
from benchmarks.papers.stsscore.sets import PairSet, Seen, load_pairs, stsb_splits
from benchmarks.papers.stsscore.tables import card_table
from semantic_metrics import load
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.stsscore_data import ROWS, pairs, qqp, write_data

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


def test_every_row_is_there(output: Path) -> None:
    rows = ["BLEU", "BERTScore (published per pair)", "S-BERT", "STSScore (small)"]
    authors = "STSScore, the authors' (published per pair)"
    weaker = "STSScore, weaker backbone"
    names = {i: list(pd.read_csv(output / f"table{i}.csv")["metric"].unique()) for i in range(1, 5)}
    assert names == {
        1: [*rows, authors],
        2: [rows[3], weaker, authors],
        3: [*rows[1:], "Ensemble"],
        4: [rows[3], authors],
    }
    assert figures(output, 1)["WMT22 zh-en", "systems", authors, "r"] == pytest.approx(_systems_r())
    assert figures(output, 2)["QQP train", "all", weaker, "auc"] > 0


def _systems_r() -> float:
    frame = pairs("wmt22")
    kept = frame[frame["system"] != "refA"]
    return 100 * kept["sts_score"].corr(kept["label"])


def test_the_model_card_gets_what_was_measured(output: Path) -> None:
    assert not (output / CARD).exists()  # not the shipped checkpoint
    name, near = "STSScore (small)", pd.read_csv(output / "agreement.csv")
    card = card_table(pd.read_csv(output / "table1.csv"), near, name).set_index(["set", "figure"])
    measured = figures(output, 1)
    for title, part, figure, place, published in (
        ("STS-B test", "all", "rho", (f"STS-B test ({ROWS} pairs)", "spearman"), 0.89),
        ("MRPC test", "all", "auc", (f"MRPC test ({ROWS} pairs)", "auc"), 0.85),
        ("MRPC test", "unseen", "auc", (f"MRPC test without pairs of STS-B ({ROWS - 2} pairs)", "auc"), np.nan),
        ("WMT22 zh-en", "all", "r", (f"WMT22 zh-en ({ROWS} pairs)", "pearson"), 0.27),
    ):
        expected = [measured[title, part, name, figure] / 100, published]
        assert card.loc[place].tolist() == pytest.approx(expected, nan_ok=True)
    r = near[near["metric"] == name].set_index("set")["r"]["STS-B test"] / 100
    assert card.loc[(f"STS-B test ({ROWS} pairs)", "pearson with the authors' sts_score"), "value"] == pytest.approx(r)


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


def test_published_scores_without_texts_are_those_of_the_rows(sets: dict[str, PairSet], tmp_path: Path) -> None:
    mrpc = sets["mrpc"]
    (tmp_path / "scores").mkdir()
    lines = pd.DataFrame({"label": mrpc.ratings.astype(int), "bertscore_f1": np.linspace(0, 1, ROWS)})
    lines.to_csv(tmp_path / "scores" / "mrpc.csv")
    published = rows.PublishedScores(None, tmp_path, {"mrpc": mrpc})
    found = published.score("BERTScore")(mrpc.candidates, mrpc.references)
    np.testing.assert_allclose(found, lines["bertscore_f1"])
    with pytest.raises(NotMeasured):
        published.score("S-BERT")(mrpc.candidates, mrpc.references)
    half = {"mrpc": replace(mrpc, lines=np.arange(ROWS)[::-1])}
    lines[::-1].reset_index(drop=True).to_csv(tmp_path / "scores" / "mrpc.csv")
    turned = rows.PublishedScores(None, tmp_path, half).score("BERTScore")(mrpc.candidates, mrpc.references)
    np.testing.assert_allclose(turned, lines["bertscore_f1"])
    lines[::-1].to_csv(tmp_path / "scores" / "mrpc.csv")
    with pytest.raises(ValueError, match=r"mrpc\.csv: expected a line for each of"):
        rows.PublishedScores(None, tmp_path, {"mrpc": mrpc})
