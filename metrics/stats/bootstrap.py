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
    """Draw rows with replacement, as many as there are: for each of `sizes`, (batch, size) indices of rows.

    There is a size for each sample that is drawn independently: one for paired data, two for unpaired. With one the
    draws do not depend on `batch`, how many are made at a time.
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
    """Percentile intervals at LEVEL, (low, high), of figures that are computed for many draws at a time.

    `statistic` takes (batch, size) indices of rows for each of `sizes`, and returns figures of shape (batch,).
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

    Rows of one group depend on each other, so a group is drawn with all its rows; where rows are independent, the names
    of all groups differ. There are (resamples,) values of each figure.
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
