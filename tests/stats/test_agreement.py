"""Figures of agreement with people: against scipy, scikit-learn and counts by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import ndcg_score

from semantic_metrics.stats.agreement import (
    agreement,
    bootstrap,
    kendall,
    members_of,
    pearson,
    ranked_groups,
    ranking,
    spearman,
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


def test_scale_moves_concordance_alone() -> None:
    x, y = np.random.default_rng(0).random((2, 50))
    plain, scaled = agreement(x, y), agreement(0.5 * x + 0.1, y)
    assert plain["ccc"] != pytest.approx(scaled["ccc"])
    assert all(plain[name] == pytest.approx(scaled[name]) for name in ("pearson", "spearman", "kendall"))


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


def test_bootstrap_intervals_are_scipys() -> None:
    x, y = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 60).T
    drawn = bootstrap(lambda rows: {"r": pearson(x[rows], y[rows])}, range(60), resamples=2000, seed=1)["r"]
    expected = stats.bootstrap((x, y), lambda a, b: pearson(a, b), paired=True, vectorized=False, n_resamples=2000,
                               method="percentile", random_state=2)  # fmt: skip
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(tuple(expected.confidence_interval), abs=0.03)


def test_rows_of_a_group_are_drawn_together() -> None:
    """Each text four times says no more than once; drawn by rows, its interval would be half as wide."""
    x = np.repeat(np.random.default_rng(0).random(40), 4)

    def spread(groups: object) -> float:
        return bootstrap(lambda rows: {"mean": x[rows].mean()}, groups, resamples=400)["mean"].std()

    together, apart = spread(np.repeat(np.arange(40), 4).tolist()), spread(range(160))
    assert together == pytest.approx(x.std() / np.sqrt(40), rel=0.15)
    assert apart == pytest.approx(together / 2, rel=0.2)


def test_all_figures_are_of_the_same_rows() -> None:
    drawn = bootstrap(lambda rows: {"sum": rows.sum(), "twice": 2 * rows.sum()}, "abca", resamples=20, seed=3)
    assert drawn["twice"].tolist() == (2 * drawn["sum"]).tolist()
    again = bootstrap(lambda rows: {"sum": rows.sum()}, "abca", resamples=20, seed=3)
    assert again["sum"].tolist() == drawn["sum"].tolist()
    assert [rows.tolist() for rows in members_of("abca")] == [[0, 3], [1], [2]]
