"""How well scores agree with what people said: figures and their bootstrap, on numbers alone."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy.stats import kendalltau, rankdata

RESAMPLES = 1_000


def concordance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Lin's concordance correlation (Lin 1989), along the last axis, in [-1, 1], higher is better.

    Lowered by any difference in mean or spread, so it depends on how scores are scaled. 0 where neither varies.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    dx, dy = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    shift = x.mean(axis=-1) - y.mean(axis=-1)
    spread = (dx**2).mean(axis=-1) + (dy**2).mean(axis=-1) + shift**2
    return np.divide(2 * (dx * dy).mean(axis=-1), spread, out=np.zeros_like(spread), where=spread > 0)


def closeness(scores: np.ndarray, ratings: np.ndarray) -> dict[str, np.ndarray]:
    """How close each of k metrics comes to human ratings, row by row. Depends on which metrics take part.

    Args:
        scores: (k, n) on the scale of the ratings.
        ratings: (n,) human ratings on [0, 1].

    Returns:
        (k, n) each: `r1`, 1 where this metric alone is the closest, so that a tie gives it to nobody; `dcg`,
        1 / log2(rank + 1), ties sharing their average rank; `mae`, the distance itself (lower is better).
        Li et al., Findings of ACL 2026, table 8.
    """
    distances = np.abs(scores - ratings)
    ranks = rankdata(distances, axis=0)
    return {"r1": (ranks == 1).astype(np.float64), "dcg": 1 / np.log2(ranks + 1), "mae": distances}


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's correlation of two vectors, in [-1, 1]; 0 where either does not vary."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    dx, dy = x - x.mean(), y - y.mean()
    return float(np.clip((dx @ dy) / np.sqrt((dx @ dx) * (dy @ dy)), -1, 1))


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation, in [-1, 1], ties sharing their average rank; 0 where either does not vary."""
    return pearson(rankdata(x), rankdata(y))


def kendall(x: np.ndarray, y: np.ndarray) -> float:
    """Kendall's tau-b, in [-1, 1]; 0 where either does not vary."""
    return 0.0 if np.ptp(x) == 0 or np.ptp(y) == 0 else float(kendalltau(x, y).statistic)


FIGURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "ccc": lambda x, y: float(concordance(x, y)),
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}


def agreement(scores: np.ndarray, ratings: np.ndarray) -> dict[str, float]:
    """Each of FIGURES; of `ccc` both must be on one scale."""
    return {name: figure(scores, ratings) for name, figure in FIGURES.items()}


def bootstrap(
    statistic: Callable[[np.ndarray], dict[Hashable, float]],
    groups: Sequence[Hashable],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[Hashable, np.ndarray]:
    """Figures of resampled rows: all of them of the same rows, so that they may be compared draw by draw.

    Rows of one group depend on each other, so groups are drawn, each with all its rows.

    Args:
        statistic: indices of rows -> figures.
        groups: n names of what a row belongs to; all different for rows that stand alone.
        resamples: how many.
        seed: of the random numbers.

    Returns:
        (resamples,) of each figure.
    """
    members = members_of(groups)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        chosen = rng.integers(len(members), size=len(members))
        drawn.append(statistic(np.concatenate([members[i] for i in chosen])))
    return {name: np.array([figures[name] for figures in drawn]) for name in drawn[0]}


def members_of(groups: Sequence[Hashable]) -> list[np.ndarray]:
    """Rows of each group, the groups in the order of their first row."""
    rows: dict[Hashable, list[int]] = {}
    for i, group in enumerate(groups):
        rows.setdefault(group, []).append(i)
    return [np.array(held) for held in rows.values()]


def ranked_groups(ratings: np.ndarray, groups: Sequence[Hashable]) -> list[np.ndarray]:
    """Rows of the groups in which there is something to rank: two rows or more that people did not rate alike."""
    return [rows for rows in members_of(groups) if np.ptp(ratings[rows]) > 0]


def ranking(scores: np.ndarray, ratings: np.ndarray, ranked: list[np.ndarray]) -> dict[str, np.ndarray]:
    """How well a metric ranks the candidates of each group.

    Args:
        scores: (n,).
        ratings: (n,) of people on [0, 1]: the gain of a candidate.
        ranked: rows of each of m groups, as `ranked_groups` finds them.

    Returns:
        (m,) each, in [0, 1], higher is better: `r1`, whether the metric's first candidate is one that people rated
        highest (of several first ones the share); `dcg`, the sum of gain / log2(rank + 1) over that of the best
        order (Jarvelin & Kekalainen 2002), candidates of equal scores sharing their places.
    """
    r1, dcg = [], []
    for rows in ranked:
        gains, order = ratings[rows], scores[rows]
        best = gains == gains.max()
        r1.append(best[order == order.max()].mean())
        discounts = 1 / np.log2(np.arange(len(rows)) + 2)
        _, place = np.unique(-order, return_inverse=True)
        shared = np.bincount(place, weights=gains) / np.bincount(place)  # mean gain of each level of score
        dcg.append(shared[np.sort(place)] @ discounts / (np.sort(gains)[::-1] @ discounts))
    return {"r1": np.array(r1), "dcg": np.array(dcg)}
