"""Weights fitted on ratings, stored and read."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.consensus.parts import Parts
from semantic_metrics.consensus.verdict import CONTRADICTS, SAME, verdict
from semantic_metrics.consensus.weights import DEFAULT, Weights


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


def test_weights_count_in_proportion() -> None:
    parts = drawn(20)
    assert Weights(0.5, 2, 2).score(parts) == pytest.approx(DEFAULT.score(parts))


def test_a_contradiction_limits_the_score() -> None:
    ones = np.ones(4)
    contradiction = np.array([0.0, 0.2, 0.5, 1.0])
    parts = Parts(ones, ones, ones, ones, contradiction, truncated=ones < 0)
    assert Weights(0, 1, 0).score(parts) == pytest.approx([1.0, 0.8, 0.5, 0.35])


SHARE = st.floats(0, 1)


@given(st.floats(-1, 1), SHARE, st.lists(SHARE, min_size=4, max_size=4), st.sampled_from([DEFAULT, Weights(1, 0, 0)]))
def test_verdict_and_score_say_the_same(matcha: float, similarity: float, shares: list[float], w: Weights) -> None:
    supported, covered = shares[:2]
    contradiction = ((1 - supported) * shares[2] + (1 - covered) * shares[3]) / 2
    values = (matcha, similarity, supported, covered, contradiction)
    parts = Parts(*(np.array([value]) for value in values), truncated=np.array([False]))
    word, score = verdict(parts, 0)[0], float(w.score(parts)[0])
    assert word != CONTRADICTS or score < 0.5
    assert word != SAME or score >= 0.5


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
