"""Means of the differences and shares of the samples, with bootstrap intervals over documents."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.common.options import Bootstrap
from benchmarks.papers.set_criteria.measure import Measured
from semantic_metrics.set_criteria.angles import locate_targets
from semantic_metrics.set_criteria.criteria import DIFFERENCES, OPERATOR, PLACED, Ranges, Settings, differences
from semantic_metrics.set_criteria.epsilon import count_reached, epsilon_values
from semantic_metrics.set_criteria.geometry import DISTANCES, MEASURES
from semantic_metrics.set_criteria.samples import OPERATORS
from semantic_metrics.stats.bootstrap import draw_rows, percentile_interval

CONDITIONS = ("first", "second")
CRITERIA = tuple(sorted(OPERATOR))  # C1 to C6
EVERY = "mean of the encoders"
MIN_SPREAD_POINTS = 1e-6  # percentage points; a smaller standard deviation is rounding: the shares are constant
MAIN_MEASURE = "cosine"  # the paper's primary measure, and that of the leaderboard


@dataclass(frozen=True)
class Draws:
    """Means over samples (NaN where none is defined), and (r, ...) of r draws of their documents with replacement."""

    means: np.ndarray
    draws: np.ndarray
    clusters: int

    def interval(self, draws: np.ndarray) -> tuple[float, float]:
        """Percentile interval of (r,) draws; NaN where there are fewer than two documents to draw from."""
        if self.clusters < 2 or np.isnan(draws).all():
            return float("nan"), float("nan")
        return percentile_interval(draws[~np.isnan(draws)])


class ClusterBootstrap:
    """Draws documents, not samples, as the samples of one document share its sentences.

    All figures of one operator are computed on the same draws, so that encoders can be compared. `clusters` has the
    document of each sample; each operator has a generator of its own, from the bootstrap's seed.
    """

    def __init__(self, clusters: np.ndarray, bootstrap: Bootstrap) -> None:
        self._clusters, self._bootstrap = clusters, bootstrap

    def __call__(self, values: np.ndarray, rows: np.ndarray, operator: str) -> Draws:
        """Means of (..., m) values of the m samples `rows`, all of one operator; NaN values are undefined."""
        known, labels = np.unique(self._clusters[rows], return_inverse=True)
        size, shape = len(known), values.shape[:-1]
        flat = values.reshape(int(np.prod(shape)), len(rows))
        # a drawn mean is the sum of its documents' sums over that of their sizes, without a copy of the values
        sums = np.array([np.bincount(labels, np.nan_to_num(row), size) for row in flat])
        counts = np.array([np.bincount(labels, ~np.isnan(row), size) for row in flat])
        parts = [_ratio(sums, counts, np.ones((1, size)))]
        seeds = (self._bootstrap.seed, OPERATORS.index(operator))
        for (drawn,) in draw_rows((size,), self._bootstrap.resamples if size else 0, seeds):
            parts.append(_ratio(sums, counts, np.stack([np.bincount(one, minlength=size) for one in drawn])))
        joined = np.concatenate(parts).reshape(-1, *shape)
        return Draws(joined[0], joined[1:], size)


def _ratio(sums: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    weights = weights.astype(np.float64)
    total, number = weights @ sums.T, weights @ counts.T
    return np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)


def means_table(measured: list[Measured], bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Mean of every difference of C1, C3 and C4, alone and against the floor, which is the last of the encoders.

    Columns encoder, floor (whether it is one), criterion, condition, measure; mean, low and high in the measure's own
    sign, as in tables 12 and 14; above_floor, floor_low and floor_high: the mean minus the floor's, with the sign of a
    distance turned, so that above 0 is better.
    """
    rows = []
    for criterion in DIFFERENCES:
        operator = OPERATOR[criterion]
        values = np.array([[differences(one.samples, criterion, name) for name in MEASURES] for one in measured])
        values += 0 * values.sum(axis=2, keepdims=True)  # undefined in one condition: out of both, as in the cells
        drawn = bootstrap(values, measured[0].samples[operator].rows, operator)
        for (e, m, k), mean in np.ndenumerate(drawn.means):
            sign = -1 if MEASURES[m] in DISTANCES else 1
            draws, floor = drawn.draws[:, e, m, k], drawn.draws[:, -1, m, k]
            (low, high), (floor_low, floor_high) = drawn.interval(draws), drawn.interval(sign * (draws - floor))
            one = measured[e].candidate
            place = (one.name, one.floor, criterion, CONDITIONS[k], MEASURES[m])
            rows.append((*place, mean, low, high, sign * (mean - drawn.means[-1, m, k]), floor_low, floor_high))
    columns = ["encoder", "floor", "criterion", "condition", "measure", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "above_floor", "floor_low", "floor_high"])


Shares = dict[str, np.ndarray]  # by criterion, (e, m) percentages of `sample_shares`, a row for each of e encoders


def all_shares(measured: list[Measured], ranges: Ranges, settings: Settings) -> Shares:
    """The shares of every sample, of each criterion and encoder; the margins have the same ranges for all."""
    return {one: np.array([sample_shares(each, one, ranges, settings) for each in measured]) for one in CRITERIA}


def score_table(measured: list[Measured], shares: Shares, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """The leaderboard: the percentage of samples for each criterion, with cosine where it needs a measure.

    Columns encoder, floor, criterion, value, low, high (NaN where there is no defined sample).
    """
    rows = []
    for criterion in CRITERIA:
        operator = OPERATOR[criterion]
        drawn = bootstrap(shares[criterion], measured[0].samples[operator].rows, operator)
        for e, one in enumerate(measured):
            interval = drawn.interval(drawn.draws[:, e])
            rows.append((one.candidate.name, one.candidate.floor, criterion, drawn.means[e], *interval))
    return pd.DataFrame(rows, columns=["encoder", "floor", "criterion", "value", "low", "high"])


def discrimination_table(measured: list[Measured], shares: Shares, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """How far encoders lie above each floor, by criterion: whether a criterion tells meaning from what the floor knows.

    The index is the gap between the encoder's share and the floor's, over the root of the mean of the two variances of
    the samples' shares: Cohen's d. NaN where nothing is defined, or where the shares differ and neither varies.
    The last encoder is EVERY, the mean of all that are no floor; gaps are in percentage points.
    """
    names, rows = [one.candidate.name for one in measured], []
    floors = [i for i, one in enumerate(measured) if one.candidate.floor]
    real = [i for i, one in enumerate(measured) if not one.candidate.floor]
    for criterion in CRITERIA if real else ():
        operator = OPERATOR[criterion]
        moments = np.stack([shares[criterion], shares[criterion] ** 2])
        drawn = bootstrap(moments, measured[0].samples[operator].rows, operator)
        mean, square = np.moveaxis(np.concatenate([drawn.means[None], drawn.draws]), 1, 0)
        variance = np.maximum(square - mean**2, 0)
        for floor in floors:
            gap = mean[:, real] - mean[:, [floor]]
            spread = np.sqrt((variance[:, real] + variance[:, [floor]]) / 2)
            index = np.where(np.abs(gap) > MIN_SPREAD_POINTS, np.nan, 0 * gap)  # equal shares that do not vary: 0
            np.divide(gap, spread, out=index, where=spread > MIN_SPREAD_POINTS)
            gap, index = (np.column_stack([values, values.mean(axis=1)]) for values in (gap, index))
            for e, name in enumerate([*(names[i] for i in real), EVERY]):
                (gap_low, gap_high), (low, high) = (drawn.interval(values[1:, e]) for values in (gap, index))
                figures = (gap[0, e], gap_low, gap_high, index[0, e], low, high)
                rows.append((names[floor], name, criterion, *figures))
    columns = ["floor", "encoder", "criterion", "gap", "gap_low", "gap_high", "index", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def sample_shares(measured: Measured, criterion: str, ranges: Ranges, settings: Settings) -> np.ndarray:
    """(m,) percentage of the margins (C1, C3, C4), or of this one sample (C2, C5, C6), for which a criterion holds.

    Their mean is the metric's `both` or `share`. NaN where undefined.
    """
    if criterion in PLACED:
        group = measured.samples[OPERATOR[criterion]]
        placement = locate_targets(group, criterion, settings.tolerance, settings.norm_ratio)
        return np.where(placement.defined, 100.0 * placement.holds(criterion, settings.theta), np.nan)
    gaps = differences(measured.samples, criterion, MAIN_MEASURE)
    shares = np.full(gaps.shape[1], np.nan)
    known = ~np.isnan(gaps).any(axis=0)
    if known.any():
        grids = [epsilon_values(*bounds, settings.epsilons) for bounds in ranges[criterion][MAIN_MEASURE]]
        reached = [count_reached(row[known], grid) / len(grid) for row, grid in zip(gaps, grids, strict=True)]
        shares[known] = 100 * np.prod(reached, axis=0)
    return shares
