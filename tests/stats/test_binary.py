"""Figures of how far probabilities can be trusted, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from semantic_metrics.stats import binary as calibration


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_error_by_hand(rows: list[tuple[float, bool]]) -> None:
    p, labels = (np.array(column) for column in zip(*rows, strict=True))
    bins = [min(int(value * 10), 9) for value in p]
    expected = sum(
        abs(sum(p[i] - labels[i] for i in range(len(p)) if bins[i] == which)) / len(p) for which in set(bins)
    )
    assert calibration.reliability(p, labels).error == pytest.approx(expected, abs=1e-12)


def test_figures_of_a_perfect_judge() -> None:
    labels = np.array([True, False, True])
    found = calibration.figures(labels.astype(float), labels)
    assert found == {"accuracy": 1.0, "f1": 1.0, "mcc": 1.0, "ece": 0.0}
    half = calibration.figures(np.array([0.9, 0.6, 0.5]), labels)  # 0.5 itself is not correct
    assert half["f1"] == pytest.approx(f1_score(labels, [True, True, False]))
