"""STSScore's benchmark: the command on data and checkpoints made here, its sets and rows; the real rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import Score, sentence_transformer
from benchmarks.common.plot_style import FORMATS
from benchmarks.common.tables import Published
from benchmarks.papers.stsscore import sets as sts
from benchmarks.papers.stsscore.command import main
from benchmarks.papers.stsscore.scorers import PUBLISHED_COLUMNS, PublishedScores, bleu, stsscore
from benchmarks.papers.stsscore.sets import PairSet, Seen, load_pairs, stsb_splits
from benchmarks.papers.stsscore.tables import PUBLISHED, classes, correlations, printed
from semantic_metrics import load
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.stsscore_data import pairs, qqp, write_data
from tests.cli.conftest import run_benchmark
from tests.conftest import OPENVINO, card_figures

FIGURES = [f"figure{i}" for i in range(1, 14)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("stsscore") / "data")


@pytest.fixture(scope="module")
def scorer(data: Path) -> Path:
    return tiny.bert(data.parent / "scorer")


@pytest.fixture(scope="module")
def output(data: Path, scorer: Path) -> Path:
    folder, questions = data.parent / "results", data.parent / "qqp.tsv"
    qqp().to_csv(questions, sep="\t", index=False)
    weaker = tiny.bert(data.parent / "weaker", seed=1)
    models = ("--checkpoint", f"small={scorer}", "--weaker", weaker)
    result = run_benchmark(main, "--data", data, "--qqp", questions, *models, "--resamples", 9, "--output", folder)
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


# With the evaluation data: about ten minutes

NEAR = 0.5  # of figures times 100: what two printed digits leave open


@pytest.fixture(scope="module")
def real_sets(data_folder: Path) -> dict[str, sts.PairSet]:
    return sts.load_pairs(data_folder, ("stsb", "mrpc", "wmt22"), sts.Seen(sts.stsb_splits(data_folder)))


@pytest.fixture(scope="module")
def published(data_folder: Path) -> PublishedScores:
    return PublishedScores(data_folder)


@pytest.fixture(scope="module")
def sbert() -> Score:
    return sentence_transformer(default_embsim())


def measured(dataset: sts.PairSet, scores: np.ndarray, part: str = sts.ALL) -> dict[str, float]:
    kept, labels = scores[dataset.parts[part]], dataset.ratings[dataset.parts[part]]
    if dataset.key == "mrpc":
        return classes(kept[labels == 0], kept[labels == 1])
    return correlations(kept, labels)


def of_paper(name: str, key: str, part: str, figure: str) -> float:
    return printed(Published(PUBLISHED), name, key, part, figure)


def test_rows_and_parts(real_sets: dict[str, sts.PairSet]) -> None:
    counts = {
        key: {part: int(rows.sum()) for part, rows in dataset.parts.items()} for key, dataset in real_sets.items()
    }
    assert counts["stsb"] == {sts.ALL: 1379, sts.SHORTER: 681, sts.LONGER: 698, sts.UNSEEN: 1364}
    assert counts["mrpc"] == {sts.ALL: 1725, sts.SHORTER: 852, sts.LONGER: 873, sts.UNSEEN: 974}
    assert counts["wmt22"] == {sts.ALL: 15000, sts.SHORTER: 7464, sts.LONGER: 7536, sts.SYSTEMS: 13125}
    assert [dataset.median for dataset in real_sets.values()] == [44, 113, 123]  # MRPC: 116 in GLUE's edition


@pytest.mark.parametrize("key", ["stsb", "mrpc"])
def test_sbert(real_sets: dict[str, sts.PairSet], published: PublishedScores, sbert: Score, key: str) -> None:
    dataset = real_sets[key]
    scores = sbert(dataset.candidates, dataset.references)
    for figure, value in measured(dataset, scores).items():
        assert value == pytest.approx(of_paper("S-BERT", key, sts.ALL, figure), abs=NEAR), figure
    if key == "stsb":
        theirs = published.score("S-BERT")(dataset.candidates, dataset.references)
        np.testing.assert_allclose(scores, theirs, rtol=0, atol=1e-5)
    else:
        assert measured(dataset, scores, sts.UNSEEN)["auc"] == pytest.approx(81.7, abs=0.1)  # those in STS-B are harder


@pytest.mark.parametrize("key", ["stsb", "wmt22"])
def test_bleu_is_evaluates(real_sets: dict[str, sts.PairSet], published: PublishedScores, key: str) -> None:
    dataset = real_sets[key]
    scores = bleu(dataset.candidates, dataset.references)
    theirs = published.score("BLEU")(dataset.candidates, dataset.references)
    np.testing.assert_allclose(scores, theirs, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(scores == 0, theirs == 0)
    if key == "stsb":
        assert (scores == 0).mean() == pytest.approx(0.64, abs=0.005)


@pytest.mark.parametrize(
    ("name", "key", "part", "near"),
    [(name, "stsb", sts.ALL, NEAR) for name in PUBLISHED_COLUMNS]
    + [("STSScore", "stsb", part, NEAR) for part in sts.HALVES]
    + [(name, "wmt22", sts.ALL, 3) for name in PUBLISHED_COLUMNS],  # half of the paper's rows
)
def test_published_scores_give_the_published_figures(
    real_sets: dict[str, sts.PairSet], published: PublishedScores, name: str, key: str, part: str, near: float
) -> None:
    dataset = real_sets[key]
    scores = published.score(name)(dataset.candidates, dataset.references)
    for figure, value in measured(dataset, scores, part).items():
        assert value == pytest.approx(of_paper(name, key, part, figure), abs=near), figure


def test_shipped_checkpoint_has_the_figures_of_its_card(real_sets: dict[str, sts.PairSet]) -> None:
    card, score = card_figures("pairs"), stsscore(None, run=OPENVINO).load()
    scores = {key: score(real_sets[key].candidates, real_sets[key].references) for key in ("stsb", "mrpc")}
    expected = 100 * card["STS-B test (1379 pairs)", "pearson"]
    assert measured(real_sets["stsb"], scores["stsb"])["r"] == pytest.approx(expected, abs=0.2)
    expected = 100 * card["MRPC test without pairs of STS-B (974 pairs)", "auc"]
    assert measured(real_sets["mrpc"], scores["mrpc"], sts.UNSEEN)["auc"] == pytest.approx(expected, abs=0.2)


def test_shipped_checkpoint_rates_translations(real_sets: dict[str, sts.PairSet]) -> None:
    """Every tenth of WMT22; 21.8 on all of them with the checkpoint of 0.2.0."""
    tenth = slice(None, None, 10)
    dataset = real_sets["wmt22"]
    scores = stsscore(None, run=OPENVINO).load()(dataset.candidates[tenth], dataset.references[tenth])
    assert correlations(scores, dataset.ratings[tenth])["r"] >= 18
