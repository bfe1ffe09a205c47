"""The fitted decision: its verdicts, its file, and the regression that makes it."""

import json
from pathlib import Path

import numpy as np
import pytest

from semantic_metrics.support.decision import FEATURES, FILE, Decision, Logistic, log_odds, verdict_of
from training.fit_support import ANY, POSITIVE, fit_logistic

DECISION = Decision(
    Logistic(0.5, tuple(float(i) for i in range(len(FEATURES)))), Logistic(-1.0, (0.25,) * len(FEATURES)), "x", "abc"
)


@pytest.mark.parametrize(
    ("support", "contradiction", "verdict"),
    [
        (0.9, 0.1, "supported"),
        (0.5, 0.5, "supported"),
        (0.4, 0.35, "contradicted"),
        (0.1, 0.8, "contradicted"),
        (0.1, 0.4, "not found"),
        (0.0, 0.0, "not found"),
    ],
)
def test_the_likeliest_verdict_is_given(support: float, contradiction: float, verdict: str) -> None:
    assert verdict_of(support, contradiction) == verdict


def test_support_and_contradiction_are_probabilities_that_leave_room_for_silence() -> None:
    values = DECISION.judge(np.random.default_rng(0).normal(size=(100, len(FEATURES))) * 10)
    assert values.shape == (100, 2)
    assert (values >= 0).all()
    assert (values.sum(axis=1) <= 1).all()


def test_a_decision_comes_back_from_its_file(tmp_path: Path) -> None:
    DECISION.write(tmp_path)
    assert Decision.read(tmp_path, "abcdef") == DECISION
    with pytest.raises(ValueError, match=r"expected the checkpoint that it was fitted for, 'abc', got 'xyz'"):
        Decision.read(tmp_path, "xyz")


@pytest.mark.parametrize("damage", ["no JSON", "[]", '{"support": 3}', "names", "nan"])
def test_a_damaged_file_is_refused_in_one_line(damage: str, tmp_path: Path) -> None:
    DECISION.write(tmp_path)
    values = json.loads((tmp_path / FILE).read_text())
    if damage == "names":
        values["support"]["coefficients"].pop("share")
    if damage == "nan":
        values["support"]["intercept"] = float("nan")
    (tmp_path / FILE).write_text(json.dumps(values) if damage in ("names", "nan") else damage)
    with pytest.raises(ValueError, match=r"support.json: expected two logistic regressions over") as error:
        Decision.read(tmp_path, "abc")
    assert "\n" not in str(error.value)


def test_log_odds_are_bounded() -> None:
    assert log_odds(np.array([0.0, 0.5, 1.0])) == pytest.approx([-6, 0, 6])


def test_a_regression_finds_what_tells_the_classes_apart_within_its_bounds() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 3)) * [1, 10, 1]
    labels = features[:, 0] + 0.1 * features[:, 1] + rng.normal(size=400) * 0.2 > 0
    weights = np.full(400, 1 / 400)
    found = fit_logistic(features, labels, weights, [ANY, POSITIVE, POSITIVE])
    assert ((found.probability(features) > 0.5) == labels).mean() > 0.9
    opposite = fit_logistic(features, ~labels, weights, [ANY, POSITIVE, POSITIVE])
    assert opposite.coefficients[0] < 0
    assert opposite.coefficients[1] == 0
