"""Thresholds: how they are chosen, judged, kept and refused; and `semantic-metrics fit --metric NAME`."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.image import imread
from sklearn.metrics import f1_score, roc_auc_score

import semantic_metrics
from semantic_metrics.core.threshold import read_threshold
from semantic_metrics.fitting import threshold
from semantic_metrics.fitting.judged_answers import JudgedColumns
from semantic_metrics.fitting.threshold import CRITERIA, choose
from tests.cli.conftest import done, invoke, refused, write_jsonl
from tests.fitting.conftest import NLI_LEX, ROWS, judged_frame

labelled = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=4, max_size=30)


def worth(scores: np.ndarray, labels: np.ndarray, value: float, criterion: str) -> float:
    decided = scores >= value
    if criterion == "macro_f1":
        return f1_score(labels, decided, average="macro", zero_division=0)
    return decided[labels].mean() - decided[~labels].mean()


@given(labelled)
@settings(max_examples=40)
def test_no_other_threshold_is_better(rows: list) -> None:
    scores, labels = np.array([x for x, _ in rows], float), np.array([y for _, y in rows])
    if len(set(labels)) < 2 or len(set(scores)) < 2:
        return
    for criterion in CRITERIA:
        value = choose(scores, labels, criterion)
        assert value not in scores
        best = max(worth(scores, labels, low + 0.5, criterion) for low in sorted(set(scores))[:-1])
        assert worth(scores, labels, value, criterion) == pytest.approx(best)


def test_among_equal_thresholds_the_widest_gap_decides() -> None:
    scores, labels = np.array([0.1, 0.2, 0.6, 0.7]), np.array([False, False, True, True])
    assert choose(scores, labels) == pytest.approx(0.4)
    assert choose(np.array([0.0, 0.1, 0.9]), np.array([False, True, True])) == pytest.approx(0.05)
    close = np.array([1.0, np.nextafter(1.0, 2)])
    assert (close >= choose(close, np.array([False, True]))).tolist() == [False, True]


def test_cross_validation_learns_nothing_from_noise() -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.random(400), rng.random(400) < 0.5
    decided = threshold.cross_validated(scores, labels, list(range(400)), "youden", 5, 0)
    assert abs(threshold.figures(decided, labels)["mcc"]) < 0.15
    low, high = threshold.auc_interval(scores, labels, list(range(400)), 300)
    assert low < 0.5 < high


def test_a_group_is_on_one_side_of_a_split(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(threshold, "choose", lambda scores, labels, criterion: seen.append(set(scores)) or 0.5)
    labels = np.arange(40) % 2 == 0
    scores = np.arange(40) // 4 / 10
    threshold.cross_validated(scores, labels, [("group", i // 4) for i in range(40)], "youden", 5, 0)
    assert [len(kept) for kept in seen] == [8] * 5  # of ten groups of four, each with a score of its own


@pytest.mark.parametrize(
    ("scores", "labels", "criterion", "message"),
    [
        ([0.1, 0.2], [True, True], "youden", "labels: expected correct and incorrect answers, got correct ones only"),
        ([0.1, 0.1], [True, False], "youden", "scores: expected some that differ, got 0.1 only"),
        ([0.1, 0.2], [True, False], "f1", "criterion: expected one of youden, macro_f1, got 'f1'"),
    ],
)
def test_scores_without_a_threshold_are_refused(scores: list, labels: list, criterion: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choose(np.array(scores), np.array(labels), criterion)


def examples() -> list[dict]:
    frame = judged_frame().assign(reference=[f"the dog bites {i // 2}" for i in range(ROWS)])
    return frame.assign(label=[i % 2 == 0 for i in range(ROWS)]).to_dict("records")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "judged.jsonl", examples())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_threshold_is_fitted_and_read_again(file: Path, checkpoint: Path, criterion: str) -> None:
    plot = file.with_name("roc.png")
    options = {"metric": "matcha", "config": checkpoint, "criterion": criterion, "output": file.parent, "plot": plot}
    lines = done(invoke("fit", file, options=options))
    rows = examples()
    metric = semantic_metrics.load("matcha", str(checkpoint))
    columns = {"predictions": [row["answer"] for row in rows], "references": [row["reference"] for row in rows]}
    scored = metric.compute(**columns)
    scores, labels = np.array(scored["scores"]), np.array([row["label"] for row in rows])
    chosen = read_threshold(file.parent)
    assert chosen.value == choose(scores, labels, criterion)
    assert (chosen.metric, chosen.criterion, chosen.rows, chosen.correct) == ("matcha", criterion, ROWS, ROWS // 2)
    assert chosen.fitted_on == f"{file.parent.name}/judged.jsonl: {ROWS} texts"
    assert chosen.figures["auc"] == pytest.approx(roc_auc_score(labels, scores))
    assert chosen.figures["auc_low"] < chosen.figures["auc"] < chosen.figures["auc_high"]
    groups = [row["reference"] for row in rows]
    decided = threshold.cross_validated(scores, labels, groups, criterion, 5, 0)
    assert chosen.figures["accuracy"] == (decided == labels).mean()
    for line in (file.parent, chosen.value):
        decided = semantic_metrics.score("matcha", **columns, checkpoint=str(checkpoint), threshold=line)
        assert decided["correct"] == (scores >= chosen.value).tolist()
        assert decided["decided_by"] == f"threshold {chosen.value:.4f}"
    with pytest.raises(ValueError, match="threshold: expected one fitted for scores with"):
        metric.compute(**columns, rescale=True, threshold=str(file.parent))
    for line, got in ((float("nan"), "nan"), (True, "True"), (None, "None")):
        with pytest.raises(ValueError, match=f"threshold: expected .*, got {got}") if line else nullcontext():
            assert "correct" not in metric.compute(**columns, threshold=line)
    with pytest.raises(ValueError, match="threshold: expected None with output='mean'"):
        metric.compute(**columns, threshold=0.5, output="mean")
    assert f"threshold by {criterion}: correct where matcha is {chosen.value:.4f} or more" in lines
    assert lines[-1] == f"written to {file.parent / 'threshold.json'}, {plot}"
    assert 0.5 < imread(plot)[..., :3].mean() < 0.999


def test_one_reference_is_one_group_whatever_the_separator(file: Path) -> None:
    columns = [JudgedColumns(separator=separator) for separator in ("", "/")]
    alone, split = (threshold.read_labelled_texts(file, one, asks=False) for one in columns)
    assert alone.groups == split.groups
    assert len(set(alone.groups)) == ROWS // 2


def test_answers_get_a_threshold_with_a_criterion(file: Path, tmp_path: Path, nli_model: Path) -> None:
    options = ["--config", nli_model, "--output", tmp_path / "t.json"]
    lines = done(invoke("fit", *NLI_LEX, file, "--criterion", "youden", *options))
    assert any(line.startswith("5 folds by question: ") for line in lines)
    assert read_threshold(tmp_path / "t.json").metric == "nli_lex"


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"answer": 1}, (), "--predictions: expected a text in column 'answer', got 1 in row 1"),
        ({"reference": "the same"}, (), "folds: expected at most 1, as many groups as have correct answers, got 5"),
        ({}, ("--label", "x"), "--label: expected one of the columns 'question', 'answer', 'reference', 'label', got"),
        ({}, ("--form", "rich"), "--form: only a fit of the weights of nli_lex takes it, got --metric matcha"),
        ({}, ("--scale", 0, 1), "--scale: only a fit on ratings takes it, --human asks for one"),
        ({}, ("--output", "t.txt"), "--output: expected a folder or a file that ends in .json, got t.txt"),
    ],
)
def test_invalid_input_is_refused_before_a_model_runs(file: Path, change: dict, options: tuple, message: str) -> None:
    write_jsonl(file, [row | change for row in examples()])
    usual = ("--metric", "matcha", "--config", "/nowhere/unread", "--output", file.with_name("t.json"))
    refused(invoke("fit", file, *usual, *options), message)
    assert not file.with_name("t.json").exists()


def test_the_weights_that_are_read_are_not_replaced(file: Path) -> None:
    weights = file.with_name("weights.json")
    weights.write_text("{}")
    result = invoke("fit", file, "--metric", "consensus", "--weights", weights, "--output", weights)
    refused(result, "--output: expected another file than those that are read")
    assert weights.read_text() == "{}"


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"metric": "matcha", "value": "x"}'])
def test_an_invalid_threshold_file_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "threshold.json").write_text(content)
    with pytest.raises(ValueError, match="expected a JSON file with metric, value, criterion"):
        read_threshold(tmp_path)


@pytest.mark.parametrize("column", ["question", "answer", "reference"])
def test_a_lone_surrogate_is_refused_before_weights_are_fitted(file: Path, column: str) -> None:
    write_jsonl(file, [row | {column: "\ud800"} if i == 4 else row for i, row in enumerate(examples())])
    result = invoke("fit", *NLI_LEX, file, "--config", "/nowhere/unread", "--output", file.with_name("w.json"))
    refused(result, f"in column '{column}'", "row 5")
