"""Tables 1 to 3 and 12 to 15: first as data, a row for each figure, then as text, the paper's figures in brackets."""

from collections.abc import Iterator

import pandas as pd

from benchmarks.common.tables import Published, figures_text
from benchmarks.papers.set_criteria.encoders import Candidate
from benchmarks.papers.set_criteria.means import CONDITIONS
from semantic_metrics.set_criteria.criteria import Ranges
from semantic_metrics.set_criteria.epsilon import CELLS
from semantic_metrics.set_criteria.geometry import MEASURES

PUBLISHED = "set_criteria"
CELL_TABLES = {("C1", "cosine"): "1", ("C3", "cosine"): "2", ("C1", "ned"): "13", ("C3", "ned"): "15"}
SHARE_TABLE = "3"
MEAN_TABLES = {"C1": "12", "C3": "14"}
UNPUBLISHED = ""  # table of a figure that the paper does not print
COLUMNS = ["table", "criterion", "measure", "encoder", "published_as", "figure", "value", "low", "high"]
DIFFERENCES = {"C1": ("M(A,O) - M(A,B)", "M(B,O) - M(A,B)"), "C3": ("M(A,D) - M(B,D)", "M(A,B) - M(B,D)")}
BASES = {"C1": "M(A,B)", "C3": "M(B,D)"}
NOTES = (
    "In brackets: published, of the paper's samples, with margins over its 16 encoders.",
    "Published rows of 77% and more in table 15 cannot come from the grid that gives SBERT-mini 34.75.",
    "Published: 99.79% of GPT3's projected overlaps lie between A and B; the paper prints no other percentage of C2.",
    "angle: median between B and the projected target, in parts of the angle between A and B (0 at B, 1 at A).",
    "Mean differences above 0 are wanted of cosine and dot product, below 0 of L1, L2 and NED.",
)

Key = tuple[str, str, str, str]  # table, criterion, measure, figure


def figure_table(candidates: list[Candidate], results: dict[str, dict], means: pd.DataFrame) -> pd.DataFrame:
    """Every figure of the tables, of encoders in their order; `results` are of the metric's `report`, by encoder.

    Columns COLUMNS and published. `published_as` is the paper's name. Cells and shares are percentages, means are in
    the measure's own sign. Encoders that only the paper measured come last, without a value.
    """
    published = Published(PUBLISHED)
    intervals = means.set_index(["encoder", "criterion", "measure", "condition"])[["low", "high"]]
    rows = []

    def add(key: Key, name: str, paper: str | None, value: float | None, low_high: tuple = (None, None)) -> None:
        table, criterion, measure, figure = key
        printed = None if paper is None else published.get(table, measure, paper, figure)
        rows.append((table, criterion, measure, name, paper, figure, value, *low_high, printed))

    for one in candidates:
        for key, value in [*_percentages(results[one.name]), *_others(results[one.name])]:
            _, criterion, measure, figure = key
            condition, _, kind = figure.partition("_")
            inside = kind == "mean" and condition in CONDITIONS
            bounds = tuple(intervals.loc[(one.name, criterion, measure, condition)]) if inside else (None, None)
            add(key, one.name, one.published, value, bounds)
    here = {one.published for one in candidates}
    for key, name in _published_figures(published):
        if name not in here:
            add(key, name, name, None)
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "published"])
    return frame.astype(dict.fromkeys(("value", "low", "high", "published"), float))


def _percentages(result: dict) -> Iterator[tuple[Key, float | None]]:
    """Figures that depend on the ranges of the margins."""
    for measure in MEASURES:
        for criterion in ("C1", "C3"):
            table = CELL_TABLES.get((criterion, measure), UNPUBLISHED)
            for cell in CELLS:
                yield (table, criterion, measure, cell), result[criterion][measure][cell]
        yield (SHARE_TABLE, "C4", measure, "share"), result["C4"][measure]["share"]


def _others(result: dict) -> Iterator[tuple[Key, float | None]]:
    for measure in MEASURES:
        for criterion, table in MEAN_TABLES.items():
            figures = result[criterion][measure]
            yield (table, criterion, measure, "base_mean"), figures["base"]
            for i, condition in enumerate(CONDITIONS):
                for kind in ("mean", "sd"):
                    yield (table, criterion, measure, f"{condition}_{kind}"), figures[kind][i] if figures["n"] else None
        for kind in ("mean", "sd"):
            yield (UNPUBLISHED, "C4", measure, f"first_{kind}"), result["C4"][measure][kind]
    for criterion in ("C2", "C5", "C6"):
        for figure in ("share", "between", "n"):
            yield (UNPUBLISHED, criterion, "", figure), result[criterion][figure]
        yield (UNPUBLISHED, criterion, "", "angle"), result[criterion]["angle"]["unsigned"]["median"]
    for figure in ("mean", "sd", "median"):
        yield (UNPUBLISHED, "norm_ratio", "", figure), result["norm_ratio"][figure]


def _published_figures(published: Published) -> Iterator[tuple[Key, str]]:
    places = {(table, *pair): CELLS for pair, table in CELL_TABLES.items()}
    places |= {(SHARE_TABLE, "C4", measure): ("share",) for measure in MEASURES}
    figures = ("base_mean", *(f"{condition}_{kind}" for condition in CONDITIONS for kind in ("mean", "sd")))
    places |= {(table, criterion, measure): figures for criterion, table in MEAN_TABLES.items() for measure in MEASURES}
    for (table, criterion, measure), names in places.items():
        for model in published.metrics(table):
            for figure in names:
                if published.get(table, measure, model, figure) is not None:
                    yield (table, criterion, measure, figure), model


def table_texts(frame: pd.DataFrame, ranges: Ranges, encoders: int) -> list[str]:
    """Every table as text; so many encoders share the margins."""
    parts, compared = [], f"shared by {encoders} encoders"
    for (criterion, measure), table in CELL_TABLES.items():
        title = f"Table {table}, {criterion}, {measure}: samples (%) that hold the conditions, margins {compared}"
        bounds = ranges[criterion][measure]
        notes = [f"margins over {'no samples' if bounds is None else bounds}"]
        parts.append((title, frame[frame["table"] == table], ["figure"], 2, notes))
    title = f"Table {SHARE_TABLE}, C4: samples (%) that hold the condition, margins {compared}"
    parts.append((title, frame[frame["table"] == SHARE_TABLE], ["measure"], 2, []))
    for criterion, table in MEAN_TABLES.items():
        for measure in MEASURES:
            first, second = DIFFERENCES[criterion]
            title = f"Table {table}, {criterion}, {measure}: base {BASES[criterion]}, first {first}, second {second}"
            chosen = frame[(frame["table"] == table) & (frame["measure"] == measure)]
            parts.append((title, chosen, ["figure"], 4, []))
    unpublished = frame[frame["table"] == UNPUBLISHED]
    title = "C4: means of M(A-B,D) - M(A-B,B)"
    parts.append((title, unpublished[unpublished["criterion"] == "C4"], ["measure", "figure"], 4, []))
    placed = unpublished[unpublished["criterion"].isin(("C2", "C5", "C6", "norm_ratio"))]
    title = "Figures 4, 6 and 10 as numbers: C2, C5 and C6 (%), and |A| / |B| of unions"
    parts.append((title, placed, ["criterion", "figure"], 3, []))
    return [
        figures_text(title, rows, "encoder", columns, digits=digits, notes=notes)
        for title, rows, columns, digits, notes in parts
        if len(rows)
    ]
