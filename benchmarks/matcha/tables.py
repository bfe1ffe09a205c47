"""Tables 3 to 8 of the MATCHA paper as text: what was measured here beside what the paper prints."""

import pandas as pd

from benchmarks.common.published import Published
from benchmarks.common.text_tables import Cell, Row, render
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
_TABLE_FIGURES = ("correct", "incorrect", "n_delta", "auc", "pairwise")  # of table 3
_FIGURE_TABLES = {"macro_f1": "4, macro-F1 at the midpoint", "wasserstein": "5, Wasserstein distance"}
_NOT_PAPER_ROWS = "[95% bootstrap intervals] where the rows are not the paper's"
_WASSERSTEIN_NOTE = "resampling adds to a distance near 0, so that its interval can lie above it"


def _rows(table: pd.DataFrame, keys: list[dict[str, str]], with_intervals: set[str]) -> list[Row]:
    """One row per metric, one cell per key.

    Args:
        table: figures, one a line, with a column for each part of a key.
        keys: for each cell, the value that it has in some of the columns.
        with_intervals: names of the sets or parts whose intervals are shown.
    """
    rows = []
    for name, lines in table.groupby("metric", sort=False):
        cells = []
        for key in keys:
            chosen = lines[(lines[list(key)] == pd.Series(key)).all(axis=1)]
            if chosen.empty:
                cells.append(Cell())
                continue
            line = chosen.iloc[0]
            interval = bool(with_intervals & ({key.get("part")} | set(chosen["set"])))
            cells.append(Cell.of(line, interval, "*" if line.get("best") is True else ""))
        reason = None if lines["value"].notna().any() else next(iter(lines["reason"].dropna()), None)
        rows.append(Row(str(name), cells, reason))
    return rows


def separation_text(table: pd.DataFrame, sampled: set[str]) -> str:
    """Tables 3, 4, 5 and 6, as far as there are sets for them.

    Args:
        table: figures from `separation.separation_table`.
        sampled: titles of the sets whose rows are not the paper's; only they show intervals.
    """
    parts = []
    for title, lines in table.groupby("set", sort=False):
        figures, number = _TABLE_FIGURES, "3"
        if (lines["table"] == MEDNLI_TABLE).any():
            figures, number = (*_TABLE_FIGURES, *_FIGURE_TABLES), MEDNLI_TABLE
        if lines[lines["figure"] == "pairwise"]["value"].isna().all() and lines["value"].notna().any():
            figures = tuple(figure for figure in figures if figure != "pairwise")
        keys = [{"set": title, "figure": figure} for figure in figures]
        rows = f"{lines['n'].iloc[0]} rows" + ("" if title in sampled else ", the paper's")
        labels, notes = [LABELS[figure] for figure in figures], _test_notes(lines, title in sampled)
        parts.append(render(f"Table {number}, {title} ({rows})", labels, _rows(lines, keys, sampled), notes))
    for figure, heading in _FIGURE_TABLES.items():
        lines = table[(table["figure"] == figure) & (table["table"] != MEDNLI_TABLE)]
        if not lines.empty:
            titles = list(lines["set"].unique())
            keys = [{"set": title, "figure": figure} for title in titles]
            notes = [_NOT_PAPER_ROWS, *([_WASSERSTEIN_NOTE] if figure == "wasserstein" else [])]
            rows = _rows(lines, keys, sampled)
            parts.append(render(f"Table {heading}", titles, rows, notes if sampled & set(titles) else ()))
    return "\n\n".join(parts)


def _test_notes(lines: pd.DataFrame, sampled: bool) -> list[str]:
    tested = lines[lines["next"].notna()]
    notes = []
    if not tested.empty:
        best = tested.loc[tested["value"].astype(float).idxmax()]
        mark, verdict = ("* ", "significantly") if best["best"] is True else ("", "not significantly")
        notes.append(
            f"{mark}{best['metric']} has the highest N-delta, {verdict} above the next, {best['next']} "
            f"(paired t-test, p = {best['p_next']:.2g})"
        )
    elif lines["value"].notna().any() and lines[lines["figure"] == "pairwise"]["value"].isna().all():
        notes.append(
            "unpaired: no paired t-test, no pairwise accuracy; its curve pairs rows by evidence or claim, else in order"
        )
    if sampled:
        notes.append(f"{_NOT_PAPER_ROWS}; compare with EmbSim on the same rows")
    return notes


def stsb_text(table: pd.DataFrame, paper_rows: bool) -> str:
    """Table 7, with intervals where the rows are not the paper's."""
    keys = [{"scaling": scaling} for scaling in SCALINGS]
    notes = [SCALING_LABELS[scaling] for scaling in SCALINGS]
    notes.append("published 61.08 is MATCHA after a separate fine-tuning on STS-B train, not the general checkpoint")
    count = f"{table['n'].iloc[0]} rows" + (", the paper's" if paper_rows else "")
    rows = _rows(table, keys, set() if paper_rows else set(table["set"]))
    return render(f"Table 7, CCC with the ratings of STS-B test ({count})", list(SCALINGS), rows, notes)


def human_text(table: pd.DataFrame, published: Published) -> str:
    """Table 8 once for each scaling, the published one by itself, and MAE and CCC (figure 4) in every scaling."""
    groups = list(table["part"].unique())
    keys = [{"part": part, "figure": figure} for part in groups for figure in ("r1", "dcg")]
    labels = [f"{key['part']}\n{LABELS[key['figure']]}" for key in keys]
    counts = f"{int(table['n'].max())} of the study's {PAPER_ROWS['human']} ratings"
    among = table["among"].dropna()
    k = f"among {int(among.max()) if len(among) else 0} metrics"
    ranked = table[table["figure"].isin(["r1", "dcg"]) & table["scaling"].ne(RATINGS)]  # only MATCHA has RATINGS
    parts = [
        render(f"Table 8, {k}, {counts}; {SCALING_LABELS[str(scaling)]}", labels, _rows(lines, keys, {OVERALL}))
        for scaling, lines in ranked.groupby("scaling", sort=False)
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
    """The paper's table 8; figures measured here equal it only if the same nine metrics take part."""
    groups = ("SNLI", "MultiNLI", "TruthfulQA", OVERALL)
    keys = [(group, figure) for group in groups for figure in ("r1", "dcg")]
    rows = [
        Row(name, [Cell(published.get("8", group, name, figure)) for group, figure in keys])
        for name in published.metrics("8")
    ]
    labels = [f"{group}\n{LABELS[figure]}" for group, figure in keys]
    return render("Table 8 as published, among 9 metrics, 600 ratings: its ranks are not those above", labels, rows)
