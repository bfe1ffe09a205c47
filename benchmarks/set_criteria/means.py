"""Means of the differences and shares of the samples, with bootstrap intervals over documents."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.set_criteria.measure import Measured
from semantic_metrics.set_criteria.angles import locate_targets
from semantic_metrics.set_criteria.criteria import DIFFERENCES, OPERATOR, PLACED, Ranges, Settings, differences
from semantic_metrics.set_criteria.epsilon import count_reached, epsilon_values
from semantic_metrics.set_criteria.geometry import DISTANCES, MEASURES
from semantic_metrics.set_criteria.samples import OPERATORS
from semantic_metrics.stats.bootstrap import RESAMPLES, draw_rows, percentile_interval

CONDITIONS = ("first", "second")
CRITERIA = tuple(sorted(OPERATOR))  # C1 to C6
SHOWN = "cosine"  # the paper's primary measure: that of the leaderboard


@dataclass(frozen=True)
class Draws:
    """Means over samples, and over samples of documents drawn with replacement.

    Attributes:
        means: (...) over all defined samples; NaN of none.
        draws: (r, ...) of r resamples.
        clusters: how many documents there are to draw from.
    """

    means: np.ndarray
    draws: np.ndarray
    clusters: int

    def interval(self, draws: np.ndarray) -> tuple[float, float]:
        """Percentile interval of (r,) draws; NaN where one document, or none, leaves nothing to draw from."""
        if self.clusters < 2 or np.isnan(draws).all():
            return float("nan"), float("nan")
        return percentile_interval(draws[~np.isnan(draws)])


class Bootstrap:
    """Draws documents, not samples: samples of one document share its sentences.

    The same documents are drawn for whatever is asked of the same operator, so that encoders can be compared.

    Args:
        clusters: (n,) which document each sample is of (`SampleSet.clusters`).
        seed: of a generator of its own for each operator.
        resamples: how many.
    """

    def __init__(self, clusters: np.ndarray, seed: int = 0, resamples: int = RESAMPLES) -> None:
        self._clusters, self._seed, self._resamples = clusters, seed, resamples

    def __call__(self, values: np.ndarray, rows: np.ndarray, operator: str) -> Draws:
        """Means of (..., m) values, NaN where undefined, of the samples `rows` (m,), which are those of an operator."""
        known, labels = np.unique(self._clusters[rows], return_inverse=True)
        size, shape = len(known), values.shape[:-1]
        flat = values.reshape(int(np.prod(shape)), len(rows))
        # a drawn mean is the sum of its documents' sums over that of their sizes: no copy of the values is made
        sums = np.array([np.bincount(labels, np.nan_to_num(row), size) for row in flat])
        counts = np.array([np.bincount(labels, ~np.isnan(row), size) for row in flat])
        parts = [_ratio(sums, counts, np.ones((1, size)))]
        seeds = (self._seed, OPERATORS.index(operator))
        for (rows_drawn,) in draw_rows((size,), self._resamples if size else 0, seeds):
            parts.append(_ratio(sums, counts, np.stack([np.bincount(one, minlength=size) for one in rows_drawn])))
        joined = np.concatenate(parts).reshape(-1, *shape)
        return Draws(joined[0], joined[1:], size)


def _ratio(sums: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    weights = weights.astype(np.float64)
    total, number = weights @ sums.T, weights @ counts.T
    return np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)


def means_table(measured: list[Measured], bootstrap: Bootstrap) -> pd.DataFrame:
    """Mean of every difference of C1, C3 and C4, alone and against the floor.

    Args:
        measured: the encoders, the floor of random vectors last.
        bootstrap: of the intervals.

    Returns:
        Columns encoder, floor (whether it is one), criterion, condition (first, second), measure; mean, low and high in
        the measure's own sign, as tables 12 and 14; above_floor, floor_low and floor_high: the mean minus the floor's,
        a distance's sign turned, so that above 0 is better.
    """
    rows = []
    for criterion in DIFFERENCES:
        operator = OPERATOR[criterion]
        values = np.array([[differences(one.samples, criterion, name) for name in MEASURES] for one in measured])
        values += 0 * values.sum(axis=2, keepdims=True)  # undefined in one condition: left out of both, as in the cells
        held = bootstrap(values, measured[0].samples[operator].rows, operator)
        for (e, m, k), mean in np.ndenumerate(held.means):
            sign = -1 if MEASURES[m] in DISTANCES else 1
            draws, floor = held.draws[:, e, m, k], held.draws[:, -1, m, k]
            (low, high), (floor_low, floor_high) = held.interval(draws), held.interval(sign * (draws - floor))
            who = measured[e].candidate
            place = (who.name, who.floor, criterion, CONDITIONS[k], MEASURES[m])
            rows.append((*place, mean, low, high, sign * (mean - held.means[-1, m, k]), floor_low, floor_high))
    columns = ["encoder", "floor", "criterion", "condition", "measure", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "above_floor", "floor_low", "floor_high"])


def score_table(measured: list[Measured], ranges: Ranges, settings: Settings, bootstrap: Bootstrap) -> pd.DataFrame:
    """The leaderboard: for each criterion the percentage of samples, with cosine where it takes a measure.

    Args:
        measured: the encoders.
        ranges: of the margins, the same for all; intervals take them for given.
        settings: what the criteria leave open.
        bootstrap: of the intervals.

    Returns:
        Columns encoder, floor, criterion, value, low, high (NaN where there is no defined sample).
    """
    rows = []
    for criterion in CRITERIA:
        operator = OPERATOR[criterion]
        values = np.array([sample_shares(one, criterion, ranges, settings) for one in measured])
        held = bootstrap(values, measured[0].samples[operator].rows, operator)
        for e, one in enumerate(measured):
            interval = held.interval(held.draws[:, e])
            rows.append((one.candidate.name, one.candidate.floor, criterion, held.means[e], *interval))
    return pd.DataFrame(rows, columns=["encoder", "floor", "criterion", "value", "low", "high"])


def sample_shares(measured: Measured, criterion: str, ranges: Ranges, settings: Settings) -> np.ndarray:
    """(m,) percentage of the margins (C1, C3, C4), or of this one sample (C2, C5, C6), for which a criterion holds.

    Their mean is what the metric gives as `both` or `share`. NaN where undefined.
    """
    if criterion in PLACED:
        group = measured.samples[OPERATOR[criterion]]
        placement = locate_targets(group, criterion, settings.tolerance, settings.norm_ratio)
        return np.where(placement.defined, 100.0 * placement.holds(criterion, settings.theta), np.nan)
    held = differences(measured.samples, criterion, SHOWN)
    shares = np.full(held.shape[1], np.nan)
    known = ~np.isnan(held).any(axis=0)
    if known.any():
        grids = [epsilon_values(*bounds, settings.epsilons) for bounds in ranges[criterion][SHOWN]]
        reached = [count_reached(row[known], grid) / len(grid) for row, grid in zip(held, grids, strict=True)]
        shares[known] = 100 * np.prod(reached, axis=0)
    return shares
