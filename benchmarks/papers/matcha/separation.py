"""Tables 3 to 6 and the curves: how well each metric separates correct texts from incorrect ones.

Source: Li et al., Findings of ACL 2026, sections 4.2.1 to 4.2.3.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap, Cell
from benchmarks.common.tables import Published
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.matcha.sets import TripletSet
from semantic_metrics.stats.bootstrap import SIGNIFICANT, Figures
from semantic_metrics.stats.separation import THRESHOLDS, paired_t_test, separation, threshold_curve, to_unit

# by figure, the table that prints it; MedNLI has its own
FIGURE_TABLES = dict.fromkeys(("correct", "incorrect", "n_delta", "auc", "pairwise"), "3")
FIGURE_TABLES |= {"macro_f1": "4", "wasserstein": "5"}
MEDNLI_TABLE = "6"
_COLUMNS = ["table", "set", "metric", "group", "figure", "value", "low", "high", "published", "n"]
_COLUMNS += ["p_next", "next", "best", "reason"]


def separation_table(
    metrics: list[Metric], sets: list[TripletSet], scores: Scores, published: Published, bootstrap: Bootstrap
) -> pd.DataFrame:
    """Every figure of tables 3 to 6, one row each, times 100.

    Columns table, set, metric, group, figure, value, low, high (bootstrap interval), published, n (rows of the set),
    p_next and next (N-delta only: paired t-test against the metric with the next lower N-delta), best (N-delta only:
    the highest, and significantly so) and reason (why there is no value).
    """
    rows = []
    for triplets in sets:
        key, title = triplets.key, triplets.title
        measured = {metric.name: scores.triplets.get((metric.name, key)) for metric in metrics}
        tests = next_best_tests(metrics, measured, triplets.paired)
        for metric in metrics:
            values = {}
            if measured[metric.name] is not None:
                statistic = partial(separation, bounds=metric.bounds, paired=triplets.paired)
                values = measure_sides(statistic, *scores.sides(metric.name, key), triplets.paired, bootstrap)
            for figure in FIGURE_TABLES:
                table = MEDNLI_TABLE if key == "mednli" else FIGURE_TABLES[figure]
                value, low, high = values.get(figure, (None, None, None))
                row = {"table": table, "set": title, "metric": metric.name, "group": metric.group, "figure": figure}
                row |= {"value": value, "low": low, "high": high, "n": len(triplets)}
                row["published"] = published.get(table, title, metric.published, figure)
                row |= tests.get(metric.name, {}) if figure == "n_delta" else {}
                row["reason"] = scores.reasons.get((metric.name, key))
                rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def measure_sides(
    statistic: Callable[[np.ndarray, np.ndarray], Figures],
    correct: np.ndarray,
    incorrect: np.ndarray,
    paired: bool,
    bootstrap: Bootstrap,
) -> dict[str, Cell]:
    """Figures of (n,) scores of correct and (m,) of incorrect texts; rows of a paired set are drawn for both."""

    def resampled(rows: np.ndarray, other_rows: np.ndarray | None = None) -> Figures:
        return statistic(correct[rows], incorrect[rows if other_rows is None else other_rows])

    return bootstrap.measure(resampled, (len(correct),) if paired else (len(correct), len(incorrect)))


def next_best_tests(
    metrics: list[Metric], measured: dict[str, np.ndarray | None], paired: bool
) -> dict[str, dict[str, object]]:
    """Paired t-tests of each metric's gaps against those of the metric with the next lower N-delta; none if unpaired.

    By metric's name, `next` (the other's name), `p_next`, and `best`: whether it is the highest of all and the test
    distinguishes it from the next at the level of the caption of table 3.
    """
    if not paired:
        return {}
    pairs = [(metric, pair) for metric in metrics if (pair := measured[metric.name]) is not None]
    gaps = {metric.name: np.subtract(*to_unit(pair, metric.bounds)) for metric, pair in pairs}
    order = sorted(gaps, key=lambda name: -gaps[name].mean())
    tests = {}
    for place, (name, other) in enumerate(pairwise(order)):
        p = paired_t_test(gaps[name], gaps[other])
        tests[name] = {"p_next": p, "next": other, "best": place == 0 and p < SIGNIFICANT}
    return tests


def curve_table(metrics: list[Metric], sets: list[TripletSet], scores: Scores) -> pd.DataFrame:
    """The threshold curves (figures 2 and 6); rows of an unpaired set are paired by `TripletSet.curve_rows`.

    Columns set, metric, group, midpoint (whether the two conditions of the paper hold), threshold, share (%).
    """
    parts = []
    for triplets in sets:
        rows = triplets.curve_rows()[0]
        for metric in metrics:
            pair = scores.triplets.get((metric.name, triplets.key))
            if pair is None:
                continue
            unit = to_unit([pair[0], pair[1, rows]], metric.bounds)
            names = {"set": triplets.title, "metric": metric.name, "group": metric.group}
            for midpoint in (True, False):
                curve = {"threshold": THRESHOLDS, "share": threshold_curve(*unit, midpoint)}
                parts.append(pd.DataFrame(curve).assign(**names, midpoint=midpoint))
    columns = ["set", "metric", "group", "midpoint", "threshold", "share"]
    return pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)
