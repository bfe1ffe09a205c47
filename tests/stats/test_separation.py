"""Figures of separation: worked out by hand, compared with scikit-learn and scipy, and invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.separation import (
    COSINE,
    THRESHOLDS,
    UNIT,
    auc,
    macro_f1,
    matching_line,
    paired_t_test,
    separation,
    threshold_curve,
    wasserstein,
)

CORRECT, INCORRECT = np.array([0.5, 0.0]), np.array([-0.5, 0.2])  # on [0, 1]: 0.75 0.5, and 0.25 0.6

# multiples of 1/64 make ties, and scores of exactly 0.5, as likely as they are with ROUGE
grid = st.integers(0, 64).map(lambda i: i / 64)


def pairs_of_scores(least: int = 1) -> st.SearchStrategy:
    sizes = st.integers(least, 30)
    return sizes.flatmap(
        lambda n: st.tuples(arrays(np.float64, n, elements=grid), arrays(np.float64, n, elements=grid))
    )


def test_figures_by_hand() -> None:
    figures = separation(CORRECT, INCORRECT, COSINE, paired=True)
    expected = {
        "correct": 25,  # native scale
        "incorrect": -15,
        "n_delta": 20,  # 0.625 - 0.425
        "macro_f1": 100 * (0.8 + 2 / 3) / 2,  # 0.5 counts as correct: 2 hits, 1 false alarm, 1 rejected
        "wasserstein": 20,  # sorted: 0.5 - 0.25 and 0.75 - 0.6
        "auc": 75,  # 0.5 < 0.6 is the only pair the wrong way round
        "pairwise": 50,
    }
    assert {name: pytest.approx(value) for name, value in expected.items()} == figures


def test_unit_scores_are_not_rescaled_and_unpaired_sets_have_no_pairwise_accuracy() -> None:
    figures = separation(np.array([0.8, 0.6]), np.array([0.4, 0.2]), UNIT, paired=False)
    assert figures["n_delta"] == pytest.approx(40)
    assert figures["macro_f1"] == 100
    assert "pairwise" not in figures


@given(pairs_of_scores())
@settings(max_examples=50)
def test_figures_are_those_of_scikit_learn_and_scipy(scores: tuple[np.ndarray, np.ndarray]) -> None:
    labels = np.repeat([1, 0], len(scores[0]))
    together = np.concatenate(scores)
    assert macro_f1(*scores) == pytest.approx(f1_score(labels, (together >= 0.5).astype(int), average="macro"))
    assert wasserstein(*scores) == pytest.approx(stats.wasserstein_distance(*scores))
    assert auc(*scores) == pytest.approx(roc_auc_score(labels, together))


def test_threshold_curve_by_hand() -> None:
    correct, incorrect = np.array([0.9, 0.6, 1.0, 0.4]), np.array([0.1, 0.55, 0.0, 0.3])
    with_midpoint = threshold_curve(correct, incorrect)
    without = threshold_curve(correct, incorrect, midpoint=False)
    assert len(with_midpoint) == len(without) == 100
    assert with_midpoint[0] == 50  # row 1 has both above the midpoint, row 3 both below
    assert without[0] == 100
    t = THRESHOLDS
    np.testing.assert_array_equal(
        without, 100 * ((t < 0.05) * 0.25 + (t < 0.1) * 0.25 + (t < 0.8) * 0.25 + (t < 1) * 0.25)
    )


def test_paired_t_test_by_hand() -> None:
    gaps, others = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.5, 2.0, 2.5])
    d = gaps - others
    t = d.mean() / (d.std(ddof=1) / 2)
    assert paired_t_test(gaps, others) == pytest.approx(2 * stats.t.sf(t, 3))
    assert paired_t_test(gaps, gaps) == 1


@given(pairs_of_scores(2))
@settings(max_examples=50)
def test_matching_line_gives_mean_and_spread_and_the_best_concordance(scores: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = scores
    if np.ptp(x) == 0:
        with pytest.raises(ValueError, match="scores: expected some that differ"):
            matching_line(x, y)
        return
    slope, intercept = matching_line(x, y)
    mapped = slope * x + intercept
    assert mapped.mean() == pytest.approx(y.mean())
    assert mapped.std() == pytest.approx(y.std(), abs=1e-12)
    if np.ptp(y) > 0:
        assert concordance(mapped, y) == pytest.approx(abs(np.corrcoef(x, y)[0, 1]), abs=1e-9)
