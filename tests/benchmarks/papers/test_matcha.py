"""`python -m benchmarks matcha` and its attributions from end to end, on a data folder and checkpoint made here."""

from pathlib import Path

import evaluate
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from matplotlib.image import imread

import semantic_metrics
from benchmarks.papers.matcha import attribution
from benchmarks.papers.matcha.command import main
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.matcha_data import ROWS, triplets, write_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("benchmark") / "data")


def run(*arguments: object) -> Result:
    return CliRunner(env={"SEMANTIC_METRICS_DATA": ""}).invoke(main, list(map(str, arguments)))


@pytest.fixture(scope="module")
def output(data: Path, checkpoint: Path) -> Path:
    folder = data.parent / "results"
    vectors = data.parent / "vectors.txt"
    vectors.write_text("dog 1 0\ncat 0 1\nman 1 1\nsleeps 0.5 0.1\n", encoding="utf-8")
    models = ("--checkpoint", f"small={checkpoint}", "--stsb-checkpoint", checkpoint)
    models += ("--word-vectors", f"GloVe={vectors}", "--wordnet", data)
    result = run("--data", data, *models, "--resamples", 9, "--output", folder)
    assert result.exit_code == 0, result.output
    assert "written to" in result.stderr
    assert result.stdout == (folder / "report.txt").read_text(encoding="utf-8")
    return folder


def test_all_tables_and_figures_are_written(output: Path) -> None:
    names = {path.name for path in output.iterdir()}
    assert {f"table{i}.csv" for i in (3, 4, 5, 7, 8)} | {"figure4.csv", "curves.csv", "scores_human.csv"} <= names
    for i in range(2, 7):
        image = imread(output / f"figure{i}.png")
        assert min(image.shape[:2]) > 200
        assert 0.5 < image[..., :3].mean() < 0.999  # neither blank nor black


def test_matcha_is_the_metric_that_users_load(output: Path, metric: evaluate.Metric) -> None:
    snli = triplets("snli")
    scores = metric.compute(predictions=snli.incorrect, references=snli.references)["scores"]
    kept = pd.read_csv(output / "scores_snli.csv")
    assert kept["MATCHA (small) incorrect"].tolist() == pytest.approx(scores, abs=1e-12)
    table = pd.read_csv(output / "table3.csv").set_index(["set", "metric", "figure"])["value"]
    assert table["SNLI", "MATCHA (small)", "incorrect"] == pytest.approx(100 * sum(scores) / ROWS)
    assert f"MATCHA (small): {metric.signature()}" in (output / "report.txt").read_text(encoding="utf-8")


def test_every_baseline_has_a_row_or_a_reason(output: Path) -> None:
    table = pd.read_csv(output / "table3.csv")
    snli = table[(table["set"] == "SNLI") & (table["figure"] == "n_delta")].set_index("metric")
    measured = ["R1-F1", "R2-F1", "RL-F1", "EmbSim", "GloVe", "MATCHA (small)"]
    absent = ["METEOR", "BERTScore", "BLEURT", "SimCSE", "MAUVE"]
    assert sorted(snli.index) == sorted(measured + absent)
    assert snli.loc[measured, "value"].notna().all()
    assert snli.loc[absent, "value"].isna().all()
    assert snli.loc["METEOR", "reason"].startswith("WordNet not found")
    assert snli.loc["BLEURT", "published"] == 17.79
    report = (output / "report.txt").read_text(encoding="utf-8")
    assert "not measured: WordNet not found" in report
    assert "not measured: no model given (--simcse FOLDER_OR_ID)" in report


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("attribution") / "bert", initializer_range=0.05)


def test_the_command(tmp_path: Path, checkpoint: Path, encoder: Path) -> None:
    data = write_data(tmp_path / "data")
    arguments = ["--data", data, "--limit", 2, "--embsim", encoder, "--encoder", f"A={encoder}", "--encoder", "no/such"]
    arguments += ["--bertscore", encoder, "--bertscore-layer", 2]
    arguments += ["--checkpoint", f"small={checkpoint}", "--device", "cpu"]
    arguments += ["--output", tmp_path / "out"]
    result = CliRunner().invoke(attribution.main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert result.stdout == (tmp_path / "out" / "report.txt").read_text(encoding="utf-8")
    table = pd.read_csv(tmp_path / "out" / "table9.csv").set_index(["metric", "set", "figure"])
    ours = ["MATCHA (small)", "MATCHA (small), exact"]
    assert list(table.index.unique("metric")) == ["EmbSim", "BERTScore", "A", "such", *ours]
    for name in ["EmbSim", "BERTScore", *ours]:
        figures = table.sort_index().loc[name, "Overall"]
        correct, incorrect, gap = (figures.loc[figure, "value"] for figure in ("correct", "incorrect", "gap"))
        assert gap == pytest.approx(correct - incorrect)
        assert figures.loc["gap", "low"] <= gap <= figures.loc["gap", "high"]
        gaps = [table.loc[(name, title, "gap"), "value"] for title in ("SNLI", "MultiNLI", "TruthfulQA")]
        assert gap == pytest.approx(np.mean(gaps))
    metric = semantic_metrics.load("matcha", str(checkpoint))
    rows = attribution.sample([triplets(key) for key in attribution.SETS], 2, 0)
    means = [
        np.mean(metric.compute(predictions=list(rows[side]), references=list(rows["reference"]))["scores"])
        for side in ("correct", "incorrect")
    ]
    assert table.loc[(ours[1], "Overall", "gap"), "value"] == pytest.approx(100 * (means[0] - means[1]))
    text = attribution.EXAMPLE_TEXTS["correct"]
    score = metric.compute(predictions=[text], references=[attribution.EXAMPLE])["scores"]
    page = (tmp_path / "out" / "figure7.html").read_text(encoding="utf-8")
    assert f"MATCHA (small), correct, score {score[0]:.4f}" in page, "the checkpoint that was given is coloured"
    example = pd.read_csv(tmp_path / "out" / "figure7.csv").set_index(["metric", "pair", "figure"])
    assert example.loc[("EmbSim", "correct", "score"), "published"] == 81.0
    assert example.loc[("RL-F1", "correct", "score"), "value"] == pytest.approx(28.57, abs=0.01), "as printed"
    assert example.loc[("RL-F1", "incorrect", "score"), "value"] == pytest.approx(15.38, abs=0.01)
    assert example.loc[("SimCSE", "correct", "score"), "reason"] == "not given, or no option of this command loads it"
    assert "not measured: no/such does not load" in result.stdout
