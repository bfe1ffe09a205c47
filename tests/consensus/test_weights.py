"""Verdicts and weights: each rule decides where those before it do not; weights fitted, stored and read."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semantic_metrics.consensus.parts import Parts
from semantic_metrics.consensus.verdict import VERDICTS, verdict
from semantic_metrics.consensus.weights import Weights
from semantic_metrics.quantities.rules import DIFFERENT, NO_ANSWER, NOTHING, SAME, UNREAD, Ruling


def parts(supported: float, covered: float, contradiction: float, similarity: float) -> Parts:
    one = (np.array([value]) for value in (0.0, similarity, supported, covered, contradiction))
    return Parts(*one, truncated=np.array([False]))


@pytest.mark.parametrize(
    ("values", "word", "reason"),
    [
        ((0.9, 0.9, 0.6, 0.9), "contradicts", r"contradict each other \(probability 0\.60\)"),
        (
            (0.9, 0.8, 0.1, 0.9),
            "same",
            r"Each text entails the other \(.* 0\.90, .* 0\.80",
        ),
        ((0.9, 0.1, 0.1, 0.9), "says less", "leaves something out"),
        ((0.1, 0.9, 0.1, 0.9), "says more", "adds something"),
        ((0.1, 0.1, 0.9, 0.1), "unrelated", r"little in common \(similarity 0\.10\)"),
        ((0.1, 0.1, 0.1, 0.6), "says more", "adds something and leaves something out"),
    ],
)
def test_verdicts(values: tuple[float, ...], word: str, reason: str) -> None:
    found, why = verdict(parts(*values), 0)
    assert found == word
    assert word in VERDICTS
    assert re.search(reason, why)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (SAME, "same"),
        (DIFFERENT, "contradicts"),
        (NO_ANSWER, "no answer"),
        (NOTHING, "unrelated"),
        (UNREAD, "unread"),
        ("", "same"),
    ],
)
def test_rules_decide_before_models(kind: str, word: str) -> None:
    ruling = Ruling(kind, "Because." if kind else "")
    ruled = replace(parts(0.9, 0.9, 0.1, 0.9), rulings=np.array([ruling], dtype=object))
    found, why = verdict(ruled, 0)
    assert found == word
    assert word in VERDICTS
    assert (why == "Because.") == bool(kind)


def drawn(count: int, seed: int = 0) -> Parts:
    values = np.random.default_rng(seed).random((5, count))
    return Parts(values[0] * 2 - 1, *values[1:], truncated=np.zeros(count, dtype=bool))


def test_a_fit_recovers_the_weights_behind_the_ratings() -> None:
    parts = drawn(200)
    weights = Weights.fit(parts, parts.components @ [0.25, 0.75, 0])
    assert (weights.matcha, weights.similarity, weights.nli) == pytest.approx((0.25, 0.75, 0), abs=1e-6)


def test_a_fit_needs_ratings() -> None:
    with pytest.raises(ValueError, match="ratings: expected 10 or more, got 9"):
        Weights.fit(drawn(9), np.ones(9))
    with pytest.raises(ValueError, match="ratings: expected some that rise with a part"):
        Weights.fit(drawn(20), np.zeros(20))


def test_a_file_is_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"weights": {"matcha": 1, "similarity": 2, "nli": 0.5}, "rated": 40}))
    assert Weights.read(str(path)) == Weights(1, 2, 0.5)
    path.write_text(json.dumps({"matcha": 1, "similarity": 2, "nli": 0.5}))
    assert Weights.read(path, "a" * 64) == Weights(1, 2, 0.5)
    path.write_text("{")
    with pytest.raises(ValueError, match="weights: expected a JSON file"):
        Weights.read(path)
    path.write_text("[1, 2]")
    with pytest.raises(ValueError, match="weights: expected a number for each of"):
        Weights.read(path)


def test_a_file_for_another_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"weights": {"matcha": 1, "similarity": 2, "nli": 0.5}, "checkpoint": "a" * 16}))
    assert Weights.read(path, "a" * 64) == Weights.read(path) == Weights(1, 2, 0.5)
    expected = f"weights: expected a file fitted for checkpoint '{'b' * 16}', got '.*, fitted for '{'a' * 16}'$"
    with pytest.raises(ValueError, match=expected):
        Weights.read(path, "b" * 64)
