"""From scores to tables: figures with intervals, all of them as text, speeds, and scores to draw."""

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.options import Bootstrap
from benchmarks.common.tables import Published, figures_text
from benchmarks.papers.matcha.sets import TITLES
from benchmarks.papers.nli_lex.judges import Judged
from benchmarks.suite.columns import BERTSCORE, OURS, Column
from benchmarks.suite.texts import AUC, CCC, GAP, KINDS, MULTINLI, NATIVE_CCC, PEARSON, PEOPLE, SPEARMAN, TextSet
from semantic_metrics.stats.agreement import concordance, pearson, spearman
from semantic_metrics.stats.bootstrap import bootstrap_groups, percentile_interval
from semantic_metrics.stats.separation import auc, to_unit

ALL = "all"
LABELS = {AUC: "AUC", GAP: "gap of means", SPEARMAN: "Spearman", PEARSON: "Pearson"}
LABELS |= {CCC: "CCC, cosines rescaled", NATIVE_CCC: "CCC, cosines as they are"}
BLEURT = "BLEURT"
PUBLISHED = {BERTSCORE: f"{BERTSCORE}, published", BLEURT: f"{BLEURT}, published"}
NOT_PRINTED = "no paper prints this figure"
DRAWN_SET = MULTINLI  # whose scores are written out, so that they can be drawn
_COLUMNS = ["kind", "set", "part", "figure", "metric", "n", "value", "low", "high", "reason"]
_MATCHA_TITLES = {MULTINLI: TITLES["multinli"], PEOPLE: "Overall"}  # where the names differ
_MATCHA_TABLES = {GAP: ("3", "n_delta"), CCC: ("7", "ccc")}


_FIGURES = {
    AUC: lambda scores, truth: auc(scores[truth == 1], scores[truth == 0]),
    GAP: lambda scores, truth: scores[truth == 1].mean() - scores[truth == 0].mean(),
    **{SPEARMAN: spearman, CCC: concordance, NATIVE_CCC: concordance, PEARSON: pearson},
}


def text_figure(scores: np.ndarray, texts: TextSet, figure: str, bootstrap: Bootstrap) -> dict[str, float]:
    """A figure of n scores with its interval over draws of whole items: n, value, low, high; times 100.

    The ends are not a number where a draw has no figure, as in a small set whose drawn texts are all of one kind.
    """
    measure = _FIGURES[figure]

    def statistic(rows: np.ndarray) -> dict[str, float]:
        return {figure: 100 * float(measure(scores[rows], texts.truth[rows]))}

    drawn = bootstrap_groups(statistic, texts.items, bootstrap.resamples, bootstrap.seed)
    low, high = percentile_interval(drawn[figure])
    return {"n": len(scores), "value": statistic(np.arange(len(scores)))[figure], "low": low, "high": high}


def figure_table(
    columns: list[Column], sets: list[TextSet], scores: Judged, bootstrap: Bootstrap, published: bool = True
) -> pd.DataFrame:
    """Every figure of every metric, times 100, and the published ones as metrics of their own.

    Columns kind, set, part (ALL, or a part of the set), figure, metric, n (texts), value, low, high (95% interval) and
    reason: why there is no value.
    """
    rows = []
    for texts in sets:
        for figure in texts.figures:
            head = {"kind": KINDS.get(texts.title), "set": texts.title, "figure": figure}
            for part in [ALL, *dict.fromkeys(texts.parts)]:
                kept = [i for i in range(len(texts)) if part == ALL or texts.parts[i] == part]
                for column in columns:
                    place = (column.name, texts.title)
                    row = head | {"part": part, "metric": column.name, "n": len(kept)}
                    row["reason"] = scores.reasons.get(place)
                    if place in scores.verdicts:  # on [0, 1]; a cosine as it is for NATIVE_CCC
                        native = scores.verdicts[place].scores
                        plain = figure == NATIVE_CCC and column.cosine
                        scaled = native if plain else to_unit(native, column.bounds)
                        row |= text_figure(scaled[kept], texts.take(kept), figure, bootstrap)
                    rows.append(row)
            for metric, name in PUBLISHED.items() if published else ():
                value = published_figure(metric, texts.title, figure)
                row = {"part": ALL, "metric": name, "value": value, "reason": None if value else NOT_PRINTED}
                rows.append(head | row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def published_figure(metric: str, title: str, figure: str) -> float | None:
    """What a paper prints, times 100: MATCHA's tables 3 and 7 and figure 4, STSScore's table 1; None for nothing."""
    if figure == SPEARMAN:
        value = Published("stsscore").get("1", title, metric, "rho")
        return None if value is None else 100 * value
    table, name = _MATCHA_TABLES.get(figure, (None, None))
    table = "figure 4" if title == PEOPLE else table
    return Published("matcha").get(table, _MATCHA_TITLES.get(title, title), metric, name)


def speed_table(columns: list[Column], sets: list[TextSet], scores: Judged) -> pd.DataFrame:
    """How fast each metric scored each set, loading left out: columns metric, set, texts, seconds, per_second."""
    rows = [
        {"metric": column.name, "set": texts.title, "texts": len(texts), "seconds": verdicts.seconds}
        for column in columns
        for texts in sets
        if (verdicts := scores.verdicts.get((column.name, texts.title))) is not None
    ]
    table = pd.DataFrame(rows, columns=["metric", "set", "texts", "seconds"])
    return table.assign(per_second=table["texts"] / table["seconds"])


def score_table(columns: list[Column], sets: list[TextSet], scores: Judged) -> pd.DataFrame:
    """The scores of DRAWN_SET on [0, 1]: columns truth and one for each metric that was measured on it."""
    for texts in (one for one in sets if one.title == DRAWN_SET):
        measured = {c.name: c for c in columns if (c.name, texts.title) in scores.verdicts}
        scaled = {name: to_unit(scores.verdicts[name, texts.title].scores, c.bounds) for name, c in measured.items()}
        return pd.DataFrame({"truth": texts.truth, **scaled})
    return pd.DataFrame(columns=["truth"])


def whole_table(figures: pd.DataFrame) -> str:
    """All figures with their intervals as Markdown, a line for each set and figure, a column for each metric."""
    places = [figures["set"], figures["figure"]]
    measured = figures["value"].where(~figures["metric"].isin(PUBLISHED.values())).astype(float)
    best = measured == measured.groupby(places).transform("max")
    table = figures.assign(texts=[_heading(row) for row in figures.itertuples()], best=best.astype(object), reason=None)
    title = "Times 100, higher is better [95% intervals]; *: the highest that was measured"
    return figures_text(title, table, "texts", ["metric"], {name: f"`{name}`" for name in OURS}, digits=1)


def _heading(row: Any) -> str:  # noqa: ANN401
    return f"{row.kind}: {row.set}, {LABELS[row.figure]}"


def notes(figures: pd.DataFrame, columns: list[Column], absent: list[str], rows: int | None) -> list[str]:
    """What a reader of the tables must know: sizes, models, where others win, and why cells are empty."""
    sizes = figures.dropna(subset="n").drop_duplicates("set")
    texts = ", ".join(f"{row.set} {int(row.n):,}" for row in sizes.itertuples())
    lines = [
        f"Texts: {texts}" + ("." if rows is None else f" (a sample: --rows {rows})."),
        f"{LABELS[AUC]}: how often a correct text scores above an incorrect one. CCC: concordance with ratings.",
        *(f"{column.name}: {column.model}." for column in columns if not column.ours),
        "The encoders of the cosine and of BERTScore were trained on SNLI, MultiNLI and COCO captions, among others.",
        "No metric here was trained on these texts, but NQ-open, DIVER-QA, the denials and WiCE are no clean test, as "
        "settings were chosen after results on them were known (docs/results.md).",
        _lost(figures),
    ]
    for reason, missing in figures.dropna(subset="reason").groupby("reason", sort=False):
        lines.append(f"Nothing of {', '.join(missing['metric'].unique())}: {reason}.")
    return lines + ([f"Not in the data folder: {', '.join(absent)}."] if absent else [])


def _lost(figures: pd.DataFrame) -> str:
    measured = figures[~figures["metric"].isin(PUBLISHED.values())].dropna(subset="value")
    measured = measured[measured["figure"] != GAP]
    ours = list(OURS)
    measured = measured.sort_values("metric", key=lambda names: ~names.isin(ours), kind="stable")  # a tie is no loss
    best = measured.loc[measured.groupby(["set", "figure"], sort=False)["value"].idxmax()]
    lost = best[~best["metric"].isin(ours)]
    named = ", ".join(f"{row.set} {LABELS[row.figure]} ({row.metric})" for row in lost.itertuples())
    count = f"{len(best) - len(lost)} of {len(best)}"
    beaten = f"Gaps of means left out, one of our metrics, not always the same, is highest or level in {count} lines."
    return f"{beaten} Others win: {named or 'none'}."
