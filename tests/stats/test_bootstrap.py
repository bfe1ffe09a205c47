"""The bootstrap: its intervals are scipy's, its draws those of its seed alone."""

import numpy as np
import pytest
from scipy import stats

from semantic_metrics.stats.bootstrap import Figures, bootstrap, bootstrap_groups, draw_rows, rows_by_group


def test_the_draws_are_scipys() -> None:
    values = np.random.default_rng(1).gamma(2.0, size=40)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=200, method="percentile", random_state=np.random.default_rng(0)
    )
    means = np.concatenate([values[rows].mean(axis=-1) for (rows,) in draw_rows((40,), 200, seed=0)])
    assert (means == expected.bootstrap_distribution).all()
    interval = bootstrap(lambda rows: {"mean": values[rows].mean(axis=-1)}, (40,), seed=0, resamples=200)["mean"]
    assert interval == pytest.approx(tuple(expected.confidence_interval))


def test_unpaired_samples_are_drawn_independently() -> None:
    draws = []

    def statistic(rows: np.ndarray, others: np.ndarray) -> Figures:
        draws.append((rows, others))
        return {"zero": np.zeros(len(rows))}

    bootstrap(statistic, (20, 30), seed=0, resamples=10)
    rows, others = draws[0]
    assert rows.shape == (10, 20)
    assert others.shape == (10, 30)
    assert rows.max() < 20 <= others.max()
    assert not (rows == others[:, :20]).all()


def test_rows_of_a_group_are_drawn_together() -> None:
    """Each text four times says no more than once; drawn by rows, its interval would be half as wide."""
    x = np.repeat(np.random.default_rng(0).random(40), 4)

    def spread(groups: object) -> float:
        return bootstrap_groups(lambda rows: {"mean": x[rows].mean()}, groups, resamples=400)["mean"].std()

    together, apart = spread(np.repeat(np.arange(40), 4).tolist()), spread(range(160))
    assert together == pytest.approx(x.std() / np.sqrt(40), rel=0.15)
    assert apart == pytest.approx(together / 2, rel=0.2)


def test_all_figures_are_computed_on_the_same_rows() -> None:
    draws = bootstrap_groups(lambda rows: {"sum": rows.sum(), "twice": 2 * rows.sum()}, "abca", resamples=20, seed=3)
    assert draws["twice"].tolist() == (2 * draws["sum"]).tolist()
    assert [rows.tolist() for rows in rows_by_group("abca")] == [[0, 3], [1], [2]]
