"""A metric as a function of batches: what it adds, what it refuses, and that it can be sent to other processes."""

import pickle
from pathlib import Path

import datasets
import evaluate
import numpy as np
import pandas as pd
import pytest

from semantic_metrics.batches import Scorer
from tests.tiny_table import small_table

ROWS = {"answer": ["the dog barks", "no", ""], "gold": ["a dog runs", "the cat is awake", "a man"], "row": [1, 2, 3]}


@pytest.fixture
def scorer(checkpoint: Path) -> Scorer:
    return Scorer("matcha", str(checkpoint), predictions="answer", references="gold")


@pytest.fixture
def expected(metric: evaluate.Metric) -> list[float]:
    return metric.compute(predictions=ROWS["answer"], references=ROWS["gold"])["scores"]


def test_a_column_is_added_and_no_other_touched(scorer: Scorer, expected: list[float]) -> None:
    scored = scorer(ROWS)
    assert list(scored) == ["answer", "gold", "row", "matcha"]
    assert scored["answer"] is ROWS["answer"]
    assert "matcha" not in ROWS
    assert (scored["matcha"].tolist(), scored["matcha"].dtype) == (expected, np.float64)
    arrays = scorer({name: np.array(values, dtype=object) for name, values in ROWS.items()})  # as Ray sends them
    assert arrays["matcha"].tolist() == expected
    frame = pd.DataFrame(ROWS, index=[7, 8, 9])
    assert scorer(frame)["matcha"].to_dict() == dict(zip([7, 8, 9], expected, strict=True))


def test_an_empty_batch_gets_an_empty_column(scorer: Scorer) -> None:
    scored = scorer({"answer": [], "gold": []})
    assert (scored["matcha"].shape, scored["matcha"].dtype) == ((0,), np.float64)


def test_a_copy_in_another_process_gives_the_same(scorer: Scorer, expected: list[float]) -> None:
    sent = pickle.dumps(scorer)
    assert len(sent) < 1000  # its settings, not the model
    assert pickle.loads(sent)(ROWS)["matcha"].tolist() == expected


def test_datasets_keeps_the_scores_of_a_checkpoint_only(tmp_path: Path) -> None:
    """A checkpoint that changes in its place is not mistaken for the one whose scores are cached."""
    data = datasets.Dataset.from_dict(ROWS)
    folder = tmp_path / "changing"
    scored = []
    for seed in (0, 0, 1):
        small_table(seed).save(folder)
        scored.append(data.map(Scorer("matcha", str(folder), predictions="answer", references="gold"), batched=True))
    prints = [each._fingerprint for each in scored]
    assert prints[0] == prints[1] != prints[2]
    assert scored[0]["matcha"][:] == scored[1]["matcha"][:] != scored[2]["matcha"][:]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"answer": ["a"]}, r"references: expected one of the columns \['answer'\], got 'gold'"),
        ({**ROWS, "matcha": [0, 0, 0]}, "column: expected a name that no column has, got 'matcha'"),
        (
            pd.DataFrame({"answer": ["a", "b"], "gold": ["c", float("nan")]}),
            r"references\[1\]: expected a string, got f",
        ),
        (
            pd.DataFrame([["a", "b", "c"]] * 2, columns=["gold", "answer", "answer"]),
            "^predictions: expected one column 'answer', got 2",
        ),
        ({"answer": "abc", "gold": "abc"}, r"^predictions: expected a batch of rows \(batched=True\)"),
    ],
)
def test_batches_that_cannot_be_scored_are_refused(scorer: Scorer, batch: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scorer(batch)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("set_criteria", {}, "name: expected a metric that works with 'score', got 'set_criteria'"),
        ("matcha", {"output": "mean"}, "^options: expected some of"),
        ("matcha", {"questions": "q"}, "^questions"),
        ("matcha", {"column": 5}, "^column: expected a string or None, got 5"),
    ],
)
def test_invalid_settings_are_refused(name: str, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Scorer(name, **options)
