"""How well scores agree with human ratings: concordance, correlations, closeness and ranking within groups."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from scipy.stats import kendalltau, rankdata

from semantic_metrics.stats.bootstrap import rows_by_group


def concordance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Lin's concordance correlation (Lin 1989), along the last axis, in [-1, 1], higher is better.

    Any difference in mean or spread lowers it, so it depends on the scale of the scores. 0 where neither varies.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    dx, dy = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    shift = x.mean(axis=-1) - y.mean(axis=-1)
    spread = (dx**2).mean(axis=-1) + (dy**2).mean(axis=-1) + shift**2
    varies = (np.ptp(x, axis=-1) > 0) | (np.ptp(y, axis=-1) > 0)  # a mean of equal numbers may differ from them
    return np.divide(2 * (dx * dy).mean(axis=-1), spread, out=np.zeros_like(spread), where=varies & (spread > 0))


def closeness(scores: np.ndarray, ratings: np.ndarray) -> dict[str, np.ndarray]:
    """How close each of k metrics comes to human ratings, row by row. It depends on which metrics take part.

    Args:
        scores: (k, n) on the scale of the ratings.
        ratings: (n,) human ratings on [0, 1].

    Returns:
        (k, n) each: `r1`, 1 where this metric alone is the closest, so that nobody wins a tie; `dcg`,
        1 / log2(rank + 1), where ties share their average rank; `mae`, the distance itself (lower is better).
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
    """Spearman's rank correlation, in [-1, 1]; ties share their average rank; 0 where either does not vary."""
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
    """Each of FIGURES; `ccc` needs both on one scale."""
    return {name: figure(scores, ratings) for name, figure in FIGURES.items()}


def ranked_groups(ratings: np.ndarray, groups: Sequence[Hashable]) -> list[np.ndarray]:
    """Rows of each group that can be ranked: those with two rows or more that people did not rate alike."""
    return [rows for rows in rows_by_group(groups) if np.ptp(ratings[rows]) > 0]


def ranking(scores: np.ndarray, ratings: np.ndarray, ranked: list[np.ndarray]) -> dict[str, np.ndarray]:
    """How well a metric ranks the candidates of each group.

    Args:
        scores: (n,) scores of the candidates.
        ratings: (n,) human ratings on [0, 1]: the gain of a candidate.
        ranked: rows of each of m groups, as `ranked_groups` returns them.

    Returns:
        (m,) each, in [0, 1], higher is better: `r1`, whether the metric's first candidate is one that people rated
        highest (the share where several come first); `dcg`, the sum of gain / log2(rank + 1) over that of the best
        order (Jarvelin & Kekalainen 2002), where candidates of equal scores share their places.
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
