"""The bootstrap: rows drawn with replacement, statistics of the draws, and percentile intervals (Efron 1979).

The one resampler of the project. It draws what `scipy.stats.bootstrap` draws from the same seed, but also draws several
figures from the same rows, samples of several sizes, and groups of rows that depend on each other.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from semantic_metrics.core.progress import progress_bar

Figures = dict[str, np.ndarray]  # values by name

RESAMPLES = 1_000
SIGNIFICANT = 0.05  # a difference is significant where its p-value is below
LEVEL = 1 - SIGNIFICANT  # confidence level of intervals
_BATCH = 50  # resamples computed at a time: bounds the memory; with several sizes it decides what is drawn when
Key = TypeVar("Key", bound=Hashable)  # name of a figure


def draw_rows(
    sizes: Sequence[int], resamples: int, seed: int | Sequence[int], batch: int = _BATCH
) -> Iterator[tuple[np.ndarray, ...]]:
    """Draw rows with replacement, as many as there are.

    Args:
        sizes: number of rows of each sample that is drawn independently: one for paired data, two for unpaired.
        resamples: number of draws.
        seed: seed of a new generator.
        batch: draws at a time; the draws do not depend on it where there is one size.

    Yields:
        For each of `sizes`, (batch, size) indices of rows.
    """
    rng = np.random.default_rng(seed)
    with progress_bar(resamples, "resample") as bar:
        for begin in range(0, resamples, batch):
            count = min(batch, resamples - begin)
            yield tuple(rng.integers(size, size=(count, size)) for size in sizes)
            bar.update(count)


def bootstrap(
    statistic: Callable[..., Figures], sizes: Sequence[int], seed: int, resamples: int = RESAMPLES
) -> dict[str, tuple[float, float]]:
    """Percentile intervals at LEVEL of figures that are computed for many draws at a time.

    Args:
        statistic: takes (batch, size) indices of rows for each of `sizes`, returns figures of shape (batch,).
        sizes: as in `draw_rows`.
        seed: seed of a new generator; every metric is resampled on the same rows.
        resamples: number of draws.

    Returns:
        (low, high) of each figure.
    """
    parts = [statistic(*rows) for rows in draw_rows(sizes, resamples, seed)]
    return {name: percentile_interval(np.concatenate([part[name] for part in parts])) for name in parts[0]}


def bootstrap_groups(
    statistic: Callable[[np.ndarray], dict[Key, float]],
    groups: Sequence[Hashable],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[Key, np.ndarray]:
    """Figures of resampled groups of rows, all figures on the same draws, so that they can be compared draw by draw.

    Rows of one group depend on each other, so a group is drawn with all its rows.

    Args:
        statistic: takes indices of rows, returns figures.
        groups: n names of the group of each row; all different where rows are independent.
        resamples: number of draws.
        seed: seed of the random numbers.

    Returns:
        (resamples,) values of each figure.
    """
    members = rows_by_group(groups)
    draws = [
        statistic(np.concatenate([members[i] for i in chosen]))
        for (batch,) in draw_rows((len(members),), resamples, seed)
        for chosen in batch
    ]
    return {name: np.array([figures[name] for figures in draws]) for name in draws[0]}


def rows_by_group(groups: Sequence[Hashable]) -> list[np.ndarray]:
    """Indices of the rows of each group, the groups in the order of their first row."""
    rows: dict[Hashable, list[int]] = {}
    for i, group in enumerate(groups):
        rows.setdefault(group, []).append(i)
    return [np.array(indices) for indices in rows.values()]


def percentile_interval(draws: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Ends of the central interval that contains a share `level` of (n,) draws; NaN where a draw is NaN."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
