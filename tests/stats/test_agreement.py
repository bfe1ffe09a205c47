"""Figures of agreement, calibration and separation: against scipy, scikit-learn and counts by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

from semantic_metrics.stats import binary as calibration
from semantic_metrics.stats.agreement import closeness, concordance, kendall, pearson, ranked_groups, ranking, spearman
from semantic_metrics.stats.separation import (
    COSINE,
    THRESHOLDS,
    auc,
    macro_f1,
    matching_line,
    paired_t_test,
    separation,
    threshold_curve,
    wasserstein,
)

levels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=20)


@given(levels)
@settings(max_examples=50)
def test_correlations_are_scipys(rows: list) -> None:
    x, y = np.array(rows, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert (pearson(x, y), spearman(x, y), kendall(x, y)) == (0, 0, 0)
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


def test_ranking_by_hand() -> None:
    groups = ["a", "b", "a", "b", "c", "d", "d", "a"]
    ratings = np.array([1.0, 0.2, 0.5, 0.8, 0.3, 0.6, 0.6, 0.0])
    scores = np.array([0.9, 0.7, 0.1, 0.7, 0.5, 0.1, 0.2, 0.3])
    ranked = ranked_groups(ratings, groups)  # c has one candidate, people rated those of d alike
    assert [rows.tolist() for rows in ranked] == [[0, 2, 7], [1, 3]]
    found = ranking(scores, ratings, ranked)
    assert found["r1"].tolist() == [1, 0.5]  # the two of b share the first place
    third, second = 1 / np.log2(4), 1 / np.log2(3)
    assert found["dcg"] == pytest.approx(
        [(1 + 0.5 * third) / (1 + 0.5 * second), 0.5 * (1 + second) / (0.8 + 0.2 * second)]
    )


def test_concordance_by_hand() -> None:
    x = np.array([0.0, 1.0])
    assert concordance(x, x) == 1
    assert concordance(x, 1 - x) == -1
    assert concordance(x, x + 1) == pytest.approx(1 / 3)  # 2 * 0.25 / (0.25 + 0.25 + 1)
    assert concordance(x, 2 * x) == pytest.approx(2 * 0.5 / (0.25 + 1 + 0.25))
    assert concordance(np.ones(3), np.ones(3)) == 0  # no spread, nothing to agree on


def test_closeness_by_hand() -> None:
    ratings = np.array([0.0, 1.0, 0.5])
    scores = np.array([[0.1, 0.8, 0.5], [0.3, 0.8, 1.0], [0.6, 0.5, 0.7]])
    near = closeness(scores, ratings)
    np.testing.assert_array_equal(near["r1"], [[1, 0, 1], [0, 0, 0], [0, 0, 0]])  # the tie of row 1 is nobody's
    ranks = np.array([[1, 1.5, 1], [2, 1.5, 3], [3, 3, 2]])
    np.testing.assert_allclose(near["dcg"], 1 / np.log2(ranks + 1))
    np.testing.assert_allclose(near["mae"], np.abs(scores - ratings))


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
