"""Tables as text: what was measured here beside what the paper prints, with intervals underneath."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from benchmarks.common.published import Published
from benchmarks.matcha.agreement import OVERALL, RATINGS, SCALINGS
from benchmarks.matcha.separation import MEDNLI_TABLE
from benchmarks.matcha.sets import PAPER_ROWS

LABELS = {
    "correct": "correct",
    "incorrect": "incorrect",
    "n_delta": "N-delta",
    "auc": "AUC",
    "pairwise": "pairwise",
    "macro_f1": "macro-F1",
    "wasserstein": "Wasserstein",
    "r1": "R@1",
    "dcg": "DCG",
    "mae": "MAE",
    "ccc": "CCC",
}
SCALING_LABELS = {
    "rescaled": "rescaled: (s + 1) / 2, as the paper",
    "unscaled": "unscaled: the cosine as it is",
    "calibrated": "calibrated: a line from score to rating fitted on STS-B dev",
    RATINGS: "ratings: by the map that the checkpoint stores",
}
_MATRICES = {"macro_f1": "4, macro-F1 at the midpoint", "wasserstein": "5, Wasserstein distance"}
_BESIDE_N_DELTA = ("correct", "incorrect", "n_delta", "auc", "pairwise")
_NOT_PAPER_ROWS = "[95% bootstrap intervals] where the rows are not the paper's"
_WASSERSTEIN_NOTE = "resampling adds to a distance near 0, so that its interval can lie above it"
_NOTHING = "-"
_GAP = "  "


@dataclass(frozen=True)
class Cell:
    """One figure of a table; None for what there is not."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    published: float | None = None
    mark: str = ""


@dataclass(frozen=True)
class Row:
    """A metric's line; `reason` says why its figures are missing."""

    name: str
    cells: list[Cell]
    reason: str | None = None


def render(title: str, labels: list[str], rows: list[Row], notes: list[str]) -> str:
    """A table as text.

    Args:
        title: first line.
        labels: one for each column of figures; may have several lines.
        rows: with as many cells as labels.
        notes: lines below.
    """
    columns = [_column(label, [row.cells[i] for row in rows]) for i, label in enumerate(labels)]
    name_width = max([len("metric"), *(len(row.name) for row in rows)])
    heads = list(zip(*(column[0] for column in columns), strict=True))
    if not any(map(str.strip, heads[-1])):
        heads.pop()
    names = [*[""] * (len(heads) - 1), "metric"]
    lines = [name.ljust(name_width) + _joined(head) for name, head in zip(names, heads, strict=True)]
    lines = [title, *lines, "-" * len(lines[-1])]
    for i, row in enumerate(rows):
        name, reason = row.name.ljust(name_width), f"  not measured: {row.reason}"
        if row.reason is not None and all(cell.published is None for cell in row.cells):
            lines.append(name + reason)
            continue
        lines.append(name + _joined(column[1][i][0] for column in columns))
        below = _joined(column[1][i][1] for column in columns)
        if row.reason is not None:
            lines.append(reason)
        elif below.strip():
            lines.append(" " * name_width + below)
    return "\n".join(line.rstrip() for line in [*lines, *notes])


def _joined(texts: Iterable[str]) -> str:
    return "".join(_GAP + text for text in texts)


def _column(label: str, cells: list[Cell]) -> tuple[list[str], list[tuple[str, str]]]:
    """Headings, and (figures, interval) of each cell, all of one width.

    The last heading tells measured from published figures; it is blank where none are published.
    """
    # a space stands where a mark could, so that the digits of a column stay below one another
    texts = [_number(cell.value) + (cell.mark or " ") for cell in cells]
    heading = ""
    if any(cell.published is not None for cell in cells):
        published = [_number(cell.published) for cell in cells]
        here_width, width = max(map(len, ["here ", *texts])), max(map(len, ["publ.", *published]))
        heading = f"{'here '.rjust(here_width)} {'publ.'.rjust(width)}"
        texts = [f"{a.rjust(here_width)} {b.rjust(width)}" for a, b in zip(texts, published, strict=True)]
    else:
        label = "\n".join(line + " " for line in label.split("\n"))  # as the mark's place
    below = [_interval(cell) for cell in cells]
    heads = [*label.split("\n"), heading]
    width = max(map(len, [*heads, *texts, *below]))
    body = [(text.rjust(width), line.rjust(width)) for text, line in zip(texts, below, strict=True)]
    return [head.rjust(width) for head in heads], body


def _number(value: float | None) -> str:
    return _NOTHING if value is None or math.isnan(value) else f"{value:.2f}"


def _interval(cell: Cell) -> str:
    if cell.low is None or cell.high is None or math.isnan(cell.low):
        return ""
    return f"[{cell.low:.2f}, {cell.high:.2f}]"


def _cell(found: pd.DataFrame, intervals: bool) -> Cell:
    if found.empty:
        return Cell()
    row = found.iloc[0]
    value, low, high, published = (_plain(row[key]) for key in ("value", "low", "high", "published"))
    if not intervals:
        low = high = None
    return Cell(value, low, high, published, "*" if row.get("best") is True else "")


def _plain(value: object) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def _rows(table: pd.DataFrame, keys: list[dict[str, str]], shown: set[str]) -> list[Row]:
    """One row per metric, one cell per key (column -> wanted value).

    Args:
        table: long, with a column for each part of a key.
        keys: of the cells.
        shown: names of the sets or parts whose intervals are shown.
    """
    rows = []
    for name, held in table.groupby("metric", sort=False):
        cells = []
        for key in keys:
            chosen = held[(held[list(key)] == pd.Series(key)).all(axis=1)]
            cells.append(_cell(chosen, bool(shown & ({key.get("part")} | set(chosen["set"])))))
        reason = None if held["value"].notna().any() else next(iter(held["reason"].dropna()), None)
        rows.append(Row(str(name), cells, reason))
    return rows


def separation_text(table: pd.DataFrame, sampled: set[str]) -> str:
    """Tables 3, 4, 5 and 6, as far as there are sets for them.

    Args:
        table: from `separation.separation_table`.
        sampled: titles of the sets whose rows are not the paper's; only they show intervals.
    """
    parts = []
    for title, held in table.groupby("set", sort=False):
        rows = f"{held['n'].iloc[0]} rows" + ("" if title in sampled else ", the paper's")
        if (held["table"] == MEDNLI_TABLE).any():
            figures, number = (*_BESIDE_N_DELTA, *_MATRICES), MEDNLI_TABLE
        else:
            figures, number = _BESIDE_N_DELTA, "3"
        if held[held["figure"] == "pairwise"]["value"].isna().all() and held["value"].notna().any():
            figures = tuple(figure for figure in figures if figure != "pairwise")
        keys = [{"set": title, "figure": figure} for figure in figures]
        labels = [LABELS[figure] for figure in figures]
        notes = _test_notes(held, title in sampled)
        parts.append(render(f"Table {number}, {title} ({rows})", labels, _rows(held, keys, sampled), notes))
    for figure, number in _MATRICES.items():
        held = table[(table["figure"] == figure) & (table["table"] != MEDNLI_TABLE)]
        if not held.empty:
            titles = list(held["set"].unique())
            keys = [{"set": title, "figure": figure} for title in titles]
            notes = [_NOT_PAPER_ROWS, *([_WASSERSTEIN_NOTE] if figure == "wasserstein" else [])]
            shown = notes if sampled & set(titles) else []
            parts.append(render(f"Table {number}", titles, _rows(held, keys, sampled), shown))
    return "\n\n".join(parts)


def _test_notes(held: pd.DataFrame, sampled: bool) -> list[str]:
    tested = held[held["next"].notna()]
    notes = []
    if not tested.empty:
        best = tested.loc[tested["value"].astype(float).idxmax()]
        mark, verdict = ("* ", "significantly") if best["best"] is True else ("", "not significantly")
        notes.append(
            f"{mark}{best['metric']} has the highest N-delta, {verdict} above the next, {best['next']} "
            f"(paired t-test, p = {best['p_next']:.2g})"
        )
    elif held["value"].notna().any() and held[held["figure"] == "pairwise"]["value"].isna().all():
        notes.append("unpaired: no paired t-test, no pairwise accuracy, no curve")
    if sampled:
        notes.append(f"{_NOT_PAPER_ROWS}; compare with EmbSim on the same rows")
    return notes


def stsb_text(table: pd.DataFrame, paper_rows: bool) -> str:
    """Table 7, with intervals where the rows are not the paper's."""
    keys = [{"scaling": scaling} for scaling in SCALINGS]
    notes = [SCALING_LABELS[scaling] for scaling in SCALINGS]
    notes.append("published 61.08 is MATCHA after a separate fine-tuning on STS-B train, not the general checkpoint")
    rows = f"{table['n'].iloc[0]} rows" + (", the paper's" if paper_rows else "")
    shown: set[str] = set() if paper_rows else set(table["set"])
    title = f"Table 7, CCC with the ratings of STS-B test ({rows})"
    return render(title, list(SCALINGS), _rows(table, keys, shown), notes)


def human_text(table: pd.DataFrame, published: Published) -> str:
    """Table 8 once for each scaling, the published one by itself, and MAE and CCC (figure 4) in every scaling."""
    groups = list(table["part"].unique())
    keys = [{"part": part, "figure": figure} for part in groups for figure in ("r1", "dcg")]
    labels = [f"{key['part']}\n{LABELS[key['figure']]}" for key in keys]
    counts = f"{int(table['n'].max())} of the study's {PAPER_ROWS['human']} ratings"
    among = table["among"].dropna()
    k = f"among {int(among.max()) if len(among) else 0} metrics"
    ranked = table[table["figure"].isin(["r1", "dcg"]) & table["scaling"].ne(RATINGS)]  # which MATCHA alone has
    parts = [
        render(f"Table 8, {k}, {counts}; {SCALING_LABELS[str(scaling)]}", labels, _rows(held, keys, {OVERALL}), [])
        for scaling, held in ranked.groupby("scaling", sort=False)
    ]
    parts[-1] += f"\n{k}: the baselines measured here and one MATCHA checkpoint at a time"
    parts.append(published_human_text(published))
    keys = [
        {"part": OVERALL, "figure": figure, "scaling": scaling} for figure in ("ccc", "mae") for scaling in SCALINGS
    ]
    labels = [f"{LABELS[key['figure']]}\n{key['scaling']}" for key in keys]
    rows = _rows(table, keys, {OVERALL})
    notes = ["published CCC: figure 4, of all 600 ratings"]
    parts.append(render(f"Figure 4, agreement with {counts} (CCC: higher is better, MAE: lower)", labels, rows, notes))
    return "\n\n".join(parts)


def published_human_text(published: Published) -> str:
    """The paper's table 8, which nothing measured here is equal to unless the same nine metrics take part."""
    groups = ("SNLI", "MultiNLI", "TruthfulQA", OVERALL)
    keys = [(group, figure) for group in groups for figure in ("r1", "dcg")]
    rows = [
        Row(name, [Cell(published.get("8", group, name, figure)) for group, figure in keys])
        for name in published.metrics("8")
    ]
    labels = [f"{group}\n{LABELS[figure]}" for group, figure in keys]
    title = "Table 8 as published, among 9 metrics, 600 ratings: its ranks are not those above"
    return render(title, labels, rows, [])
