"""From scores to tables: figures with intervals, the whole table, the small one, speeds, and scores to draw."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.common.options import Bootstrap
from benchmarks.common.published import Published
from benchmarks.matcha.sets import TITLES
from benchmarks.probes import AUC, CCC, GAP, MULTINLI, NATIVE_CCC, PEARSON, PEOPLE, SPEARMAN, probe_figure
from benchmarks.side_by_side.columns import BERTSCORE, OURS, Column
from benchmarks.side_by_side.scores import Scores
from benchmarks.side_by_side.sets import KINDS, TextSet
from semantic_metrics.stats.separation import COSINE, to_unit

LABELS = {
    AUC: "AUC",
    GAP: "gap of means",
    SPEARMAN: "Spearman",
    PEARSON: "Pearson",
    CCC: "CCC, cosines rescaled",
    NATIVE_CCC: "CCC, cosines as they are",
}
BLEURT = "BLEURT"
PUBLISHED = {BERTSCORE: f"{BERTSCORE}, published", BLEURT: f"{BLEURT}, published"}
NOT_PRINTED = "no paper prints this figure"
DRAWN_SET = MULTINLI  # whose scores are written out, so that they can be drawn
_COLUMNS = ["kind", "set", "figure", "metric", "n", "value", "low", "high", "reason"]
_MATCHA_TITLES = {MULTINLI: TITLES["multinli"], PEOPLE: "Overall"}  # where the names differ
_MATCHA_TABLES = {GAP: ("3", "n_delta"), CCC: ("7", "ccc")}


def figure_table(columns: list[Column], sets: list[TextSet], scores: Scores, bootstrap: Bootstrap) -> pd.DataFrame:
    """Every figure of every metric, times 100, and the published ones as metrics of their own.

    Returns:
        Columns kind, set, figure, metric, n (texts), value, low, high (95% interval) and reason: why there is no value.
    """
    rows = []
    for texts in sets:
        for figure in texts.figures:
            head = {"kind": texts.kind, "set": texts.title, "figure": figure}
            for column in columns:
                place = (column.name, texts.title)
                row = head | {"metric": column.name, "n": len(texts), "reason": scores.reasons.get(place)}
                if place in scores.native:
                    scaled = _scaled(column, scores.native[place], figure)
                    row |= probe_figure(scaled, texts.truth, texts.items, figure, bootstrap)
                rows.append(row)
            for metric, name in PUBLISHED.items():
                value = published_figure(metric, texts.title, figure)
                rows.append(head | {"metric": name, "value": value, "reason": None if value else NOT_PRINTED})
    return pd.DataFrame(rows, columns=_COLUMNS)


def _scaled(column: Column, native: np.ndarray, figure: str) -> np.ndarray:
    """Scores on [0, 1]; a cosine as it is for NATIVE_CCC."""
    return native if figure == NATIVE_CCC and column.bounds == COSINE else to_unit(native, column.bounds)


def published_figure(metric: str, title: str, figure: str) -> float | None:
    """What a paper prints, times 100: MATCHA's tables 3 and 7 and figure 4, STSScore's table 1; None for nothing."""
    if figure == SPEARMAN:
        value = Published("stsscore").get("1", title, metric, "rho")
        return None if value is None else 100 * value
    table, name = _MATCHA_TABLES.get(figure, (None, None))
    return Published("matcha").get(
        "figure 4" if title == PEOPLE else table, _MATCHA_TITLES.get(title, title), metric, name
    )


def speed_table(columns: list[Column], sets: list[TextSet], scores: Scores) -> pd.DataFrame:
    """How fast each metric scored each set, loading left out: columns metric, set, texts, seconds, per_second."""
    rows = []
    for column in columns:
        for texts in sets:
            if (seconds := scores.seconds.get((column.name, texts.title))) is not None:
                row = {"metric": column.name, "set": texts.title, "texts": len(texts), "seconds": seconds}
                rows.append(row | {"per_second": len(texts) / seconds})
    return pd.DataFrame(rows, columns=["metric", "set", "texts", "seconds", "per_second"])


def score_table(columns: list[Column], sets: list[TextSet], scores: Scores) -> pd.DataFrame:
    """The scores of DRAWN_SET on [0, 1]: columns truth and one for each metric that was measured on it."""
    for texts in sets:
        if texts.title == DRAWN_SET:
            measured = {c.name: c for c in columns if (c.name, texts.title) in scores.native}
            scaled = {name: to_unit(scores.native[name, texts.title], c.bounds) for name, c in measured.items()}
            return pd.DataFrame({"truth": texts.truth, **scaled})
    return pd.DataFrame(columns=["truth"])


def whole_table(figures: pd.DataFrame) -> str:
    """All figures with their intervals, as Markdown; the highest that was measured is bold."""
    return _markdown(figures, _with_interval)


def small_table(figures: pd.DataFrame) -> str:
    """Without the gap of means and what is published; half the width of the interval stands behind each value."""
    kept = figures[(figures["figure"] != GAP) & ~figures["metric"].isin(PUBLISHED.values())]
    return _markdown(kept, _with_half_width)


def _markdown(figures: pd.DataFrame, cell: Callable[[pd.Series, bool], str]) -> str:
    """A line for each set and figure, a column for each metric."""
    names = list(figures["metric"].unique())
    heads = ["texts", *(f"`{name}`" if name in OURS else name for name in names)]
    lines = [heads, ["---"] * len(heads)]
    for (title, figure), rows in figures.groupby(["set", "figure"], sort=False):
        own = rows.set_index("metric")
        best = own["value"].drop(PUBLISHED.values(), errors="ignore").astype(float).max()
        texts = [cell(own.loc[name], own.loc[name, "value"] == best) for name in names]
        lines.append([f"{KINDS[title]}: {title}, {LABELS[figure]}", *texts])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _with_interval(row: pd.Series, best: bool) -> str:
    if pd.isna(row["value"]):
        return "n/a"
    text = f"{row['value']:.1f}"
    text = f"**{text}**" if best else text
    return text if pd.isna(row["low"]) else f"{text} [{row['low']:.1f}, {row['high']:.1f}]"


def _with_half_width(row: pd.Series, best: bool) -> str:
    if pd.isna(row["value"]):
        return "n/a"
    text = f"**{row['value']:.1f}**" if best else f"{row['value']:.1f}"
    half = (row["high"] - row["low"]) / 2
    return text if math.isnan(half) else f"{text} ±{half:.1f}"


def notes(figures: pd.DataFrame, columns: list[Column], absent: list[str], rows: int | None) -> list[str]:
    """What a reader of the tables must know: sizes, models, where others win, why cells are n/a, what is published."""
    sizes = figures.dropna(subset="n").drop_duplicates("set")
    texts = ", ".join(f"{row.set} {int(row.n):,}" for row in sizes.itertuples())
    lines = [
        f"Times 100, higher is better, the highest measured in bold. Texts: {texts}"
        + ("." if rows is None else f" (a sample: --rows {rows})."),
        f"{LABELS[AUC]}: how often a correct text scores above an incorrect one. CCC: concordance with ratings.",
        *(f"{column.name}: {column.model}." for column in columns if not column.ours),
        "The encoders of the cosine and of BERTScore were trained on SNLI, MultiNLI and COCO captions, among others.",
        "No metric here was trained on these texts, but four rows are no clean test: two rules of nli_lex were added "
        "after it had failed on DIVER-QA, a feature after it had been seen without it on DIVER-QA, "
        "NQ-open and the denials, the size of windows and the form of the support of consensus were chosen on "
        "WiCE dev, and shares of weights of the first three stages of the cross-encoder were chosen after WiCE dev "
        "and the denials had been seen.",
        _lost(figures),
        *_published_lines(figures),
    ]
    for reason, missing in figures.dropna(subset="reason").groupby("reason", sort=False):
        names = ", ".join(missing["metric"].unique())
        lines.append(f"n/a of {names}: {reason}.")
    if absent:
        lines.append(f"Not in the data folder: {', '.join(absent)}.")
    return lines


def _lost(figures: pd.DataFrame) -> str:
    measured = figures[~figures["metric"].isin(PUBLISHED.values())].dropna(subset="value")
    measured = measured[measured["figure"] != GAP]
    measured = measured.sort_values("metric", key=lambda names: ~names.isin(OURS), kind="stable")  # a tie is no loss
    best = measured.loc[measured.groupby(["set", "figure"], sort=False)["value"].idxmax()]
    lost = best[~best["metric"].isin(OURS)]
    named = ", ".join(f"{row.set} {LABELS[row.figure]} ({row.metric})" for row in lost.itertuples())
    count = f"{len(best) - len(lost)} of {len(best)}"
    return (
        f"Gaps of means left out, one of our metrics, not always the same, is highest or level in {count} lines. "
        f"Others win: {named or 'none'}."
    )


def _published_lines(figures: pd.DataFrame) -> list[str]:
    lines = []
    for name in PUBLISHED.values():
        own = figures[figures["metric"] == name].dropna(subset="value")
        cells = ", ".join(f"{row.set} {LABELS[row.figure]} {row.value:.1f}" for row in own.itertuples())
        lines.append(f"{name}: {cells or 'nothing of these'}.")
    return lines
