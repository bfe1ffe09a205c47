"""Tables 1 to 4 of the STSScore paper from score vectors: what was measured, intervals, published numbers beside.

Source: Herbold, TMLR, tables 1 to 4, figures 4, 9 and 13 (AUC).
"""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from benchmarks.common.baselines import Metric
from benchmarks.common.encoders import NotMeasured
from benchmarks.common.options import Bootstrap, Cell
from benchmarks.common.tables import Published
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.stsscore.scorers import ENSEMBLE, PAPER_WEAKER, PUBLISHED_COLUMNS, STSSCORE, PublishedScores
from benchmarks.papers.stsscore.sets import ALL, CLASSES, HALVES, TITLES, UNSEEN, PairSet
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import auc

PUBLISHED = "stsscore"
CORRELATIONS = ("r", "rho")
CLASS_FIGURES = ("neg_mean", "neg_sd", "pos_mean", "pos_sd", "auc")
MAX_RESAMPLED_ROWS = 50_000  # in larger sets an interval is narrower than the printed digits
_PRINTED_IN = {PAPER_WEAKER: ("2", "figure 9"), ENSEMBLE: ("3", "figure 13")}  # tables, and the figures with AUC
_MAIN = ("1", "figure 4")
_CARD = (  # set, part, and the figures that the model card prints, with their names there
    ("stsb", ALL, {"r": "pearson", "rho": "spearman"}),
    ("mrpc", ALL, {"auc": "auc"}),
    ("mrpc", UNSEEN, {"auc": "auc"}),
    ("wmt22", ALL, {"r": "pearson", "rho": "spearman"}),
)
_COLUMNS = ["set", "part", "metric", "group", "figure", "value", "low", "high", "published", "n", "reason"]


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r along the last axis, in [-1, 1]; not a number where either does not vary."""
    dx, dy = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    spread = np.sqrt((dx**2).sum(axis=-1) * (dy**2).sum(axis=-1))
    return np.divide((dx * dy).sum(axis=-1), spread, out=np.full_like(spread, np.nan), where=spread > 0)


def correlations(scores: np.ndarray, labels: np.ndarray) -> Figures:
    """Pearson's `r` and Spearman's `rho` (ties share their average rank) along the last axis, times 100."""
    ranks = rankdata(scores, axis=-1), rankdata(labels, axis=-1)
    return {"r": 100 * pearson(scores, labels), "rho": 100 * pearson(*ranks)}


def classes(negative: np.ndarray, positive: np.ndarray) -> Figures:
    """Mean and standard deviation (n - 1, as pandas has it) of both classes and AUC along the last axis, times 100."""
    figures = {"auc": auc(positive, negative)}
    for name, scores in (("neg", negative), ("pos", positive)):
        # in a tiny set a resampled class may have one row only
        spread = scores.std(axis=-1, ddof=1) if scores.shape[-1] > 1 else np.full(scores.shape[:-1], np.nan)
        figures |= {f"{name}_mean": scores.mean(axis=-1), f"{name}_sd": spread}
    return {name: 100 * value for name, value in figures.items()}


def figure_table(
    metrics: list[Metric], sets: dict[str, PairSet], absent: dict[str, str], scores: Scores, bootstrap: Bootstrap
) -> pd.DataFrame:
    """Every figure of tables 1 to 4, one row each, of every part of every set; table 4 has STSScore alone.

    Columns set, part, metric, group, figure, value, low, high (bootstrap interval), published, n (rows of the part) and
    reason (why there is no value, `absent` for a set). All figures times 100.
    """
    published, rows = Published(PUBLISHED), []
    for key in (key for key in TITLES if key in {*sets, *absent}):
        for metric in metrics:
            parts = sets[key].parts if key in sets else (ALL, *HALVES)
            for part in parts if metric.published == STSSCORE else (name for name in parts if name not in HALVES):
                values, n, reason = {}, None, absent.get(key)
                if key in sets:
                    n, reason = int(sets[key].parts[part].sum()), scores.reasons.get((metric.name, key))
                    values = _measure(sets[key], part, scores.rated.get((metric.name, key)), bootstrap)
                names = {"set": TITLES[key], "part": part, "metric": metric.name, "group": metric.group}
                names |= {"n": n, "reason": reason}
                for figure in CLASS_FIGURES if key in CLASSES else CORRELATIONS:
                    value, low, high = values.get(figure, (None, None, None))
                    row = {"figure": figure, "value": value, "low": low, "high": high}
                    rows.append(names | row | {"published": printed(published, metric.published, key, part, figure)})
    return pd.DataFrame(rows, columns=_COLUMNS)


def _measure(dataset: PairSet, part: str, scores: np.ndarray | None, bootstrap: Bootstrap) -> dict[str, Cell]:
    """Each figure of one metric on a part of a set; empty without scores or rows of a class."""
    if scores is None:
        return {}
    chosen = dataset.parts[part]
    scores, labels = scores[chosen], dataset.ratings[chosen]
    drawn = len(scores) <= MAX_RESAMPLED_ROWS
    if dataset.key not in CLASSES:
        return bootstrap.measure(lambda rows: correlations(scores[rows], labels[rows]), (len(scores),), drawn)
    negative, positive = scores[labels == 0], scores[labels == 1]
    if not (len(negative) and len(positive)):
        return {}
    sizes = len(negative), len(positive)
    return bootstrap.measure(lambda rows, others: classes(negative[rows], positive[others]), sizes, drawn)


def printed(published: Published, name: str | None, key: str, part: str, figure: str) -> float | None:
    """What the paper prints for a row, times 100; None where it prints nothing."""
    table, roc = _PRINTED_IN.get(name, _MAIN)
    if part in HALVES:
        table, name = "4", f"{name} {part} half"
    elif part != ALL:
        return None
    value = published.get(roc if figure == "auc" else table, TITLES[key], name, figure)
    return None if value is None else 100 * value


def agreement_table(
    metrics: list[Metric], sets: dict[str, PairSet], scores: Scores, published: PublishedScores
) -> pd.DataFrame:
    """How close the scores measured here are to the authors' own scores of the same pairs.

    Columns metric, set, column (the authors'), n, r, rho (times 100) and largest_difference (of one pair).
    """
    rows = []
    for metric in metrics:
        column = PUBLISHED_COLUMNS.get(metric.published)
        if metric.group == "published" or column is None:
            continue
        for key, dataset in sets.items():
            ours = scores.rated.get((metric.name, key))
            try:
                theirs = published.score(metric.published)(dataset.candidates, dataset.references)
            except NotMeasured:
                continue
            if ours is not None:
                figures = {name: float(value) for name, value in correlations(ours, theirs).items()}
                row = {"metric": metric.name, "set": dataset.title, "column": column, "n": len(dataset), **figures}
                rows.append(row | {"largest_difference": float(np.abs(ours - theirs).max())})
    return pd.DataFrame(rows, columns=["metric", "set", "column", "n", *CORRELATIONS, "largest_difference"])


def card_table(table: pd.DataFrame, agreement: pd.DataFrame, name: str) -> pd.DataFrame:
    """What was measured for the model card of a checkpoint (training/cards.py reads it), not times 100."""
    cells = table.dropna(subset=["value"]).set_index(["metric", "set", "part", "figure"])
    rows = []
    for key, part, figures in _CARD:
        for figure, word in figures.items():
            if (place := (name, TITLES[key], part, figure)) in cells.index:
                cell = cells.loc[place]
                title = f"{TITLES[key]}{' without pairs of STS-B' if part == UNSEEN else ''} ({cell['n']:.0f} pairs)"
                rows.append((title, word, cell["value"] / 100, cell["published"] / 100))
    for row in agreement[agreement["metric"] == name].itertuples():
        rows.append((f"{row.set} ({row.n} pairs)", f"pearson with the authors' {row.column}", row.r / 100, None))
    return pd.DataFrame(rows, columns=["set", "figure", "value", "published"])
