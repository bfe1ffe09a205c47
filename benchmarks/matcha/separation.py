"""Tables 3 to 6 and the curves: how far each metric keeps correct texts apart from incorrect ones.

Source: Li et al., Findings of ACL 2026, sections 4.2.1 to 4.2.3.
"""

from itertools import pairwise

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap
from benchmarks.common.published import Published
from benchmarks.common.scoring import Scores, TripletScores
from benchmarks.matcha.sets import TripletSet
from semantic_metrics.stats import separation as protocol
from semantic_metrics.stats.bootstrap import LEVEL, Figures, bootstrap

TABLE_OF = {  # the table that prints a figure; MedNLI has one of its own
    "correct": "3",
    "incorrect": "3",
    "n_delta": "3",
    "auc": "3",
    "pairwise": "3",
    "macro_f1": "4",
    "wasserstein": "5",
}
MEDNLI_TABLE = "6"
_OF_LISTS = ("correct", "incorrect", "n_delta")  # what the paper gives for MAUVE
SIGNIFICANT = 1 - LEVEL


def separation_table(
    metrics: list[Metric], sets: list[TripletSet], scores: Scores, published: Published, settings: Bootstrap
) -> pd.DataFrame:
    """Every figure of tables 3 to 6, one row each.

    Returns:
        Columns table, set, metric, group, figure, value, low, high (bootstrap interval), published, n (rows of the
        set), p_next and next (N-delta only: paired t-test against the metric with the next lower N-delta), best
        (N-delta only: the highest, and significantly so) and reason (why there is no value). All figures times 100.
    """
    rows = []
    for found in sets:
        measured = {metric.name: scores.triplets.get((metric.name, found.key)) for metric in metrics}
        tests = next_best_tests([metric for metric in metrics if not metric.corpus], measured, found.paired)
        for metric in metrics:
            held = measured[metric.name]
            values = {} if held is None else _figures(metric, held, found.paired)
            intervals = {} if held is None or metric.corpus else _intervals(metric, held, found.paired, settings)
            for figure in _OF_LISTS if metric.corpus else TABLE_OF:
                table = MEDNLI_TABLE if found.key == "mednli" else TABLE_OF[figure]
                low, high = intervals.get(figure, (None, None))
                row = {"table": table, "set": found.title, "metric": metric.name, "group": metric.group}
                row |= {"figure": figure, "value": values.get(figure), "low": low, "high": high}
                row["published"] = published.get(table, found.title, metric.published, figure)
                row["n"] = len(found)
                row |= tests.get(metric.name, {}) if figure == "n_delta" else {}
                row["reason"] = scores.reasons.get((metric.name, found.key))
                rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


_COLUMNS = ["table", "set", "metric", "group", "figure", "value", "low", "high", "published", "n"]
_COLUMNS += ["p_next", "next", "best", "reason"]


def _figures(metric: Metric, held: TripletScores, paired: bool) -> dict[str, float]:
    figures = protocol.separation(held.correct, held.incorrect, metric.bounds, paired)
    return {name: float(value) for name, value in figures.items()}


def _intervals(
    metric: Metric, held: TripletScores, paired: bool, settings: Bootstrap
) -> dict[str, tuple[float, float]]:
    def resampled(rows: np.ndarray, other_rows: np.ndarray | None = None) -> Figures:
        incorrect = held.incorrect[rows if other_rows is None else other_rows]
        return protocol.separation(held.correct[rows], incorrect, metric.bounds, paired)

    n = len(held.correct)
    return bootstrap(resampled, (n,) if paired else (n, n), settings.seed, settings.resamples)


def next_best_tests(
    metrics: list[Metric], measured: dict[str, TripletScores | None], paired: bool
) -> dict[str, dict[str, object]]:
    """Paired t-tests of each metric's gaps against those of the metric with the next lower N-delta.

    Returns:
        By metric's name, `next` (the other's name), `p_next`, and `best`: whether it is the highest of all and the
        test tells it from the next at the level of the caption of table 3. Empty for unpaired sets.
    """
    if not paired:
        return {}
    gaps = {metric.name: gaps_of(metric, measured[metric.name]) for metric in metrics if measured[metric.name]}
    order = sorted(gaps, key=lambda name: -gaps[name].mean())
    tests = {}
    for place, (name, other) in enumerate(pairwise(order)):
        p = protocol.paired_t_test(gaps[name], gaps[other])
        tests[name] = {"p_next": p, "next": other, "best": place == 0 and p < SIGNIFICANT}
    return tests


def gaps_of(metric: Metric, held: TripletScores) -> np.ndarray:
    """(n,) sim_C - sim_I of each row on the [0, 1] scale."""
    return protocol.to_unit(held.correct, metric.bounds) - protocol.to_unit(held.incorrect, metric.bounds)


def curve_table(metrics: list[Metric], sets: list[TripletSet], scores: Scores) -> pd.DataFrame:
    """The threshold curves (figures 2 and 6) of the paired sets.

    Returns:
        Columns set, metric, group, midpoint (whether the two midpoint conditions hold, as in the paper), threshold,
        share (in percent).
    """
    parts = []
    for found in sets:
        for metric in metrics if found.paired else []:
            held = scores.triplets.get((metric.name, found.key))
            if held is None or metric.corpus:
                continue
            unit = [protocol.to_unit(one, metric.bounds) for one in (held.correct, held.incorrect)]
            for midpoint in (True, False):
                part = pd.DataFrame(
                    {"threshold": protocol.THRESHOLDS, "share": protocol.threshold_curve(*unit, midpoint)}
                )
                parts.append(part.assign(set=found.title, metric=metric.name, group=metric.group, midpoint=midpoint))
    columns = ["set", "metric", "group", "midpoint", "threshold", "share"]
    return pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)
