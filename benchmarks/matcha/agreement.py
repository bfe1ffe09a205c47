"""Tables 7 and 8 and figure 4: how well scores agree with human ratings.

How cosines are put on the scale of the ratings decides these tables, so every figure is given in four scalings:
`rescaled`, (s + 1) / 2, the paper's; `unscaled`, the cosine as it is; `calibrated`, a line from score to rating
fitted on STS-B dev; and `ratings`, what `compute(calibrated=True)` adds, by the map that a checkpoint stores. Scores
whose native range is [0, 1] are the same in the first two.

Source: Li et al., Findings of ACL 2026, section 4.2.4.
"""

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap
from benchmarks.common.published import Published
from benchmarks.matcha.scoring import Scores
from benchmarks.matcha.sets import CALIBRATION, RATED_TITLES, TITLES, RatedSet
from semantic_metrics.stats import separation as protocol
from semantic_metrics.stats.agreement import closeness, concordance
from semantic_metrics.stats.bootstrap import Figures

RATINGS = "ratings"
SCALINGS = ("rescaled", "unscaled", "calibrated", RATINGS)
OVERALL = "Overall"
HUMAN = "Human"
_COLUMNS = ["table", "set", "part", "scaling", "metric", "group", "figure", "value", "low", "high", "published"]
_COLUMNS += ["n", "among", "reason"]
_RANKED = ("matcha", "baseline")  # groups that are ranked in table 8


class Scaler:
    """Maps native scores to the [0, 1] scale of ratings.

    Args:
        scores: native scores; the calibrated scaling is fitted to those on STS-B dev.
        calibration: STS-B dev; None for no calibrated scaling.
    """

    def __init__(self, scores: Scores, calibration: RatedSet | None) -> None:
        self._lines: dict[str, tuple[float, float]] = {}
        for (name, key), values in scores.rated.items():
            if key == CALIBRATION and calibration is not None and np.ptp(values) > 0:
                self._lines[name] = protocol.matching_line(values, calibration.ratings)

    def line(self, name: str) -> tuple[float, float] | None:
        """(slope, intercept) of a metric's calibrated scaling."""
        return self._lines.get(name)

    def __call__(self, metric: Metric, values: np.ndarray, scaling: str) -> np.ndarray | None:
        """(n,) native scores -> (n,) on the scale of the ratings; None where the metric lacks this scaling."""
        if scaling == RATINGS:
            rate = None if metric.ratings is None else metric.ratings()
            return None if rate is None else rate(values)
        if scaling == "calibrated":
            if metric.name not in self._lines:
                return None
            slope, intercept = self._lines[metric.name]
            return np.clip(slope * values + intercept, *protocol.UNIT)
        scaled = protocol.to_unit(values, metric.bounds) if scaling == "rescaled" else values
        return np.clip(scaled, *protocol.UNIT) if metric.unbounded else scaled


def stsb_table(
    metrics: list[Metric],
    dataset: RatedSet,
    scores: Scores,
    scaler: Scaler,
    published: Published,
    bootstrap: Bootstrap,
) -> pd.DataFrame:
    """Table 7: concordance with STS-B's ratings in each scaling; columns as `human_table`."""
    rows = []
    for metric in metrics:
        values = scores.rated.get((metric.name, dataset.key))
        for scaling in SCALINGS:
            scaled = None if values is None else scaler(metric, values, scaling)
            row = _row("7", dataset, OVERALL, scaling, metric, "ccc", scores)
            if scaled is not None:
                row |= _with_interval("ccc", *_agreement(scaled[None], dataset.ratings, bootstrap), 0)
            if scaling == "rescaled":
                row["published"] = published.get("7", RATED_TITLES[dataset.key], metric.published, "ccc")
            rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def human_table(
    metrics: list[Metric],
    dataset: RatedSet,
    scores: Scores,
    scaler: Scaler,
    published: Published,
    bootstrap: Bootstrap,
) -> pd.DataFrame:
    """Table 8 and the human column of figure 4, for each part of the study and overall.

    R@1 and DCG rank a metric among others: the baselines and one MATCHA checkpoint at a time (the baselines' own
    figures are those beside the first checkpoint). Metrics in the group `encoder` are not ranked.

    Returns:
        Columns table, set, part, scaling, metric, group, figure (r1, dcg, mae, ccc), value, low, high (bootstrap
        interval), published (ccc only: R@1 and DCG depend on which metrics are ranked), n, among (how many were ranked)
        and reason. All figures times 100.
    """
    names = sorted(set(dataset.groups), key=[*TITLES.values(), *dataset.groups].index)  # the paper's order
    parts = {part: np.array([group == part for group in dataset.groups]) for part in names}
    parts[OVERALL] = np.ones(len(dataset), dtype=bool)
    rows = []
    for scaling in SCALINGS:
        scaled = _scaled(metrics, dataset, scores, scaler, scaling)
        for part, chosen in parts.items():
            for metric in metrics:
                rows += _human_rows(metric, metrics, scaled, dataset, (part, chosen, scaling), (scores, bootstrap))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    printed = {metric.name: metric.published for metric in metrics}
    comparable = (table["figure"] == "ccc") & (table["scaling"] == "rescaled") & (table["part"] == OVERALL)
    table["published"] = [
        published.get("figure 4", OVERALL, printed[name], "ccc") if shown else None
        for name, shown in zip(table["metric"], comparable, strict=True)
    ]
    return table


def _human_rows(
    metric: Metric,
    metrics: list[Metric],
    scaled: dict[str, np.ndarray],
    dataset: RatedSet,
    place: tuple[str, np.ndarray, str],
    context: tuple[Scores, Bootstrap],
) -> list[dict[str, object]]:
    part, chosen, scaling = place
    scores, bootstrap = context
    ranked = ranked_among(metric, [one for one in metrics if one.name in scaled])
    figures = ("r1", "dcg", "mae", "ccc") if metric.group in _RANKED else ("mae", "ccc")
    rows = [_row("8", dataset, part, scaling, metric, figure, scores) for figure in figures]
    for row in rows:
        row["n"] = int(chosen.sum())
    if metric.name not in scaled:
        return rows
    stacked = np.stack([scaled[name] for name in ranked])[:, chosen]
    computed = _agreement(stacked, dataset.ratings[chosen], bootstrap, ranked.index(metric.name))
    return [row | _with_interval(row["figure"], *computed, len(ranked)) for row in rows]


def ranked_among(metric: Metric, measured: list[Metric]) -> list[str]:
    """Names of the metrics among which one is ranked, itself included."""
    if metric.group not in _RANKED:
        return [metric.name]
    checkpoints = [one.name for one in measured if one.group == "matcha"]
    checkpoint = [metric.name] if metric.group == "matcha" else checkpoints[:1]
    return [one.name for one in measured if one.group == "baseline"] + checkpoint


def _agreement(
    scaled: np.ndarray, ratings: np.ndarray, bootstrap: Bootstrap, own: int = 0
) -> tuple[Figures, dict[str, tuple[float, float]]]:
    near = {name: values[own] for name, values in closeness(scaled, ratings).items()}

    def statistic(rows: np.ndarray) -> Figures:
        figures = {name: 100 * values[rows].mean(axis=-1) for name, values in near.items()}
        return figures | {"ccc": 100 * concordance(scaled[own][rows], ratings[rows])}

    values = statistic(np.arange(len(ratings)))
    return values, bootstrap.intervals(statistic, (len(ratings),))


def _with_interval(
    figure: str, values: Figures, intervals: dict[str, tuple[float, float]], among: int
) -> dict[str, object]:
    low, high = intervals[figure]
    ranked = among if figure in ("r1", "dcg") else None
    return {"value": float(values[figure]), "low": low, "high": high, "among": ranked, "reason": None}


def _row(
    table: str, dataset: RatedSet, part: str, scaling: str, metric: Metric, figure: str, scores: Scores
) -> dict[str, object]:
    reason = scores.reasons.get((metric.name, dataset.key))
    if reason is None and scaling == "calibrated":
        reason = "no STS-B dev to calibrate on"
    row = {"table": table, "set": RATED_TITLES[dataset.key], "part": part, "scaling": scaling, "metric": metric.name}
    return row | {"group": metric.group, "figure": figure, "n": len(dataset), "reason": reason}


def _scaled(
    metrics: list[Metric], dataset: RatedSet, scores: Scores, scaler: Scaler, scaling: str
) -> dict[str, np.ndarray]:
    """(n,) scores on the scale of the ratings by the name of the metric, for those that have them."""
    measured = [metric for metric in metrics if (metric.name, dataset.key) in scores.rated]
    scaled = {m.name: scaler(m, scores.rated[m.name, dataset.key], scaling) for m in measured}
    return {name: values for name, values in scaled.items() if values is not None}


def concordance_matrix(metrics: list[Metric], dataset: RatedSet, scores: Scores, scaler: Scaler) -> pd.DataFrame:
    """Figure 4: concordance among metrics and with the human ratings.

    Returns:
        Columns scaling, metric, other (a metric, or HUMAN), ccc (times 100).
    """
    rows = []
    for scaling in SCALINGS:
        vectors = _scaled(metrics, dataset, scores, scaler, scaling)
        vectors = vectors | {HUMAN: dataset.ratings} if vectors else {}
        for name, vector in vectors.items():
            for other, other_vector in vectors.items():
                ccc = 100 * float(concordance(vector, other_vector))
                rows.append({"scaling": scaling, "metric": name, "other": other, "ccc": ccc})
    return pd.DataFrame(rows, columns=["scaling", "metric", "other", "ccc"])
