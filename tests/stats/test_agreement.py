"""Figures of agreement with people: against scipy, scikit-learn and counts by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import ndcg_score

from semantic_metrics.stats.agreement import closeness, concordance, kendall, pearson, ranked_groups, ranking, spearman

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


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=8))
@settings(max_examples=50)
def test_dcg_of_a_group_is_scikit_learns(rows: list) -> None:
    scores, ratings = np.array(rows, dtype=float).T
    ranked = ranked_groups(ratings, ["one"] * len(rows))
    if np.ptp(ratings) == 0:
        assert ranked == []
        return
    assert ranking(scores, ratings, ranked)["dcg"] == pytest.approx([ndcg_score([ratings], [scores])])


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
