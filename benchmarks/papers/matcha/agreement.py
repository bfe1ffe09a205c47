"""Tables 7 and 8 and figure 4: how well scores agree with human ratings.

How cosines are put on the scale of the ratings decides these tables, so every figure is given in four scalings:
`rescaled`, (s + 1) / 2, the paper's; `unscaled`, the cosine as it is; `calibrated`, a line from score to rating
fitted on STS-B dev; and `ratings`, what `compute(calibrated=True)` adds, by the map that a checkpoint stores. Scores
whose native range is [0, 1] are the same in the first two.

Source: Li et al., Findings of ACL 2026, section 4.2.4.
"""

from itertools import product

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.options import Bootstrap, Cell
from benchmarks.common.tables import Published
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.matcha.sets import CALIBRATION, RATED_TITLES, TITLES, RatedSet
from semantic_metrics.stats.agreement import closeness, concordance
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import UNIT, matching_line, to_unit

RATINGS = "ratings"
SCALINGS = ("rescaled", "unscaled", "calibrated", RATINGS)
OVERALL = "Overall"
HUMAN = "Human"
_COLUMNS = ["table", "set", "part", "scaling", "metric", "group", "figure", "value", "low", "high", "published"]
_COLUMNS += ["n", "among", "reason"]
_RANKED = ("matcha", "baseline")  # groups that are ranked in table 8
_RANKS = ("r1", "dcg")  # figures that depend on the other metrics


class Scaler:
    """Maps native scores to the [0, 1] scale of ratings; the calibrated scaling is fitted on STS-B dev, if given."""

    def __init__(self, scores: Scores, calibration: RatedSet | None) -> None:
        self._lines: dict[str, tuple[float, float]] = {}
        for (name, key), values in scores.rated.items():
            if key == CALIBRATION and calibration is not None and np.ptp(values) > 0:
                self._lines[name] = matching_line(values, calibration.ratings)

    def __call__(self, metric: Metric, values: np.ndarray, scaling: str) -> np.ndarray | None:
        """(n,) native scores -> (n,) on the scale of the ratings; None where the metric lacks this scaling."""
        if scaling == RATINGS:
            rate = None if metric.ratings is None else metric.ratings()
            return None if rate is None else rate(values)
        if scaling == "calibrated":
            if metric.name not in self._lines:
                return None
            slope, intercept = self._lines[metric.name]
            return np.clip(slope * values + intercept, *UNIT)
        scaled = to_unit(values, metric.bounds) if scaling == "rescaled" else values
        return np.clip(scaled, *UNIT) if metric.unbounded else scaled


def rating_table(
    metrics: list[Metric], dataset: RatedSet, scores: Scores, scaler: Scaler, published: Published, bootstrap: Bootstrap
) -> pd.DataFrame:
    """Table 7 for STS-B; table 8 and the human column of figure 4 for each part of the human study and overall.

    R@1 and DCG rank a metric among others: the baselines and one MATCHA checkpoint at a time (the baselines' own
    figures are those beside the first checkpoint). Metrics in the group `encoder` are not ranked.

    Columns table, set, part, scaling, metric, group, figure (ccc; for the human study also r1, dcg, mae), value, low,
    high (bootstrap interval), published (rescaled ccc only: R@1 and DCG depend on which metrics are ranked), n, among
    (how many were ranked) and reason. All figures times 100.
    """
    human = dataset.key == "human"
    names = sorted(set(dataset.groups), key=[*TITLES.values(), *dataset.groups].index)  # the paper's order
    parts = {part: np.array([group == part for group in dataset.groups]) for part in names}
    parts[OVERALL] = np.ones(len(dataset), dtype=bool)
    printed_in = ("figure 4", OVERALL) if human else ("7", RATED_TITLES[dataset.key])
    rows = []
    for scaling in SCALINGS:
        scaled = scaled_scores(metrics, dataset, scores, scaler, scaling)
        measured = [metric for metric in metrics if metric.name in scaled]
        for (part, chosen), metric in product(parts.items(), metrics):
            ranked, values = ranked_among(metric, measured), {}
            reason = scores.reasons.get((metric.name, dataset.key))
            if metric in measured:
                stacked = np.stack([scaled[name] for name in ranked])[:, chosen]
                own = ranked.index(metric.name)
                values = _agreement(stacked, dataset.ratings[chosen], bootstrap, own)
            elif reason is None and scaling == "calibrated":
                reason = "no STS-B dev to calibrate on"
            row = {"table": "8" if human else "7", "set": RATED_TITLES[dataset.key], "part": part, "scaling": scaling}
            row |= {"metric": metric.name, "group": metric.group, "n": int(chosen.sum()), "reason": reason}
            for figure in (*(_RANKS if metric.group in _RANKED else ()), "mae", "ccc") if human else ("ccc",):
                value, low, high = values.get(figure, (None, None, None))
                beside = {"value": value, "low": low, "high": high, "among": None, "published": None}
                if figure in _RANKS and values:
                    beside["among"] = len(ranked)
                if figure == "ccc" and scaling == "rescaled" and part == OVERALL:
                    beside["published"] = published.get(*printed_in, metric.published, "ccc")
                rows.append(row | {"figure": figure} | beside)
    return pd.DataFrame(rows, columns=_COLUMNS)


def ranked_among(metric: Metric, measured: list[Metric]) -> list[str]:
    """Names of the metrics among which one is ranked, itself included."""
    if metric.group not in _RANKED:
        return [metric.name]
    checkpoints = [one.name for one in measured if one.group == "matcha"]
    checkpoint = [metric.name] if metric.group == "matcha" else checkpoints[:1]
    return [one.name for one in measured if one.group == "baseline"] + checkpoint


def _agreement(scaled: np.ndarray, ratings: np.ndarray, bootstrap: Bootstrap, own: int) -> dict[str, Cell]:
    """Figures of row `own` of (k, n) scores on the scale of the ratings."""
    near = {name: values[own] for name, values in closeness(scaled, ratings).items()}

    def statistic(rows: np.ndarray) -> Figures:
        figures = {name: 100 * values[rows].mean(axis=-1) for name, values in near.items()}
        return figures | {"ccc": 100 * concordance(scaled[own][rows], ratings[rows])}

    return bootstrap.measure(statistic, (len(ratings),))


def scaled_scores(
    metrics: list[Metric], dataset: RatedSet, scores: Scores, scaler: Scaler, scaling: str
) -> dict[str, np.ndarray]:
    """(n,) scores on the scale of the ratings by the name of the metric, for those that have them."""
    measured = [metric for metric in metrics if (metric.name, dataset.key) in scores.rated]
    scaled = {m.name: scaler(m, scores.rated[m.name, dataset.key], scaling) for m in measured}
    return {name: values for name, values in scaled.items() if values is not None}


def concordance_matrix(metrics: list[Metric], dataset: RatedSet, scores: Scores, scaler: Scaler) -> pd.DataFrame:
    """Figure 4, concordance (times 100) among metrics and with HUMAN: columns scaling, metric, other and ccc."""
    rows = []
    for scaling in SCALINGS:
        vectors = scaled_scores(metrics, dataset, scores, scaler, scaling)
        vectors = vectors | {HUMAN: dataset.ratings} if vectors else {}
        for name, other in product(vectors, repeat=2):
            ccc = 100 * float(concordance(vectors[name], vectors[other]))
            rows.append({"scaling": scaling, "metric": name, "other": other, "ccc": ccc})
    return pd.DataFrame(rows, columns=["scaling", "metric", "other", "ccc"])
