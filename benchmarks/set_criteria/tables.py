"""Tables 1 to 3 and 12 to 15: first as data, a row for each figure, then as text, with the paper's line below each."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from benchmarks.common.published import Published
from benchmarks.set_criteria.encoders import Candidate
from benchmarks.set_criteria.means import CONDITIONS
from semantic_metrics.set_criteria.criteria import Ranges
from semantic_metrics.set_criteria.epsilon import CELLS
from semantic_metrics.set_criteria.geometry import DISTANCES, MEASURES

PUBLISHED = "set_criteria"
CELL_TABLES = {("C1", "cosine"): "1", ("C3", "cosine"): "2", ("C1", "ned"): "13", ("C3", "ned"): "15"}
SHARE_TABLE = "3"
MEAN_TABLES = {"C1": "12", "C3": "14"}
UNPUBLISHED = ""  # table of a figure that the paper does not print
SHARED, OWN, NO_RANGES = "shared", "own", ""  # which encoders' margins a figure uses
COLUMNS = ["table", "criterion", "measure", "ranges", "encoder", "published_as", "figure", "value", "low", "high"]
TITLES = {"cosine": "cosine", "dot": "dot product", "l1": "L1", "l2": "L2", "ned": "NED"}
DIFFERENCES = {
    "C1": ("M(A,O) - M(A,B)", "M(B,O) - M(A,B)"),
    "C3": ("M(A,D) - M(B,D)", "M(A,B) - M(B,D)"),
    "C4": ("M(A-B,D) - M(A-B,B)",),
}
BASES = {"C1": "M(A,B)", "C3": "M(B,D)"}
OTHER_RANGES = "published percentages are of other samples, with ranges over the paper's 16 encoders"
IMPOSSIBLE = "published rows of 77% and more cannot come from the grid that gives SBERT-mini 34.75"
GPT3 = "published: 99.79% of GPT3's projected overlaps lie between A and B; the paper prints no other percentage"
ANGLE = "angle: median between B and the projected target, in parts of the angle between A and B (0 at B, 1 at A)"
_NOTHING = "-"

Key = tuple[str, str, str, str]  # table, criterion, measure, figure


def figure_table(
    candidates: list[Candidate], results: dict[str, dict], means: pd.DataFrame, own: dict[str, dict] | None = None
) -> pd.DataFrame:
    """Every figure of the tables.

    Args:
        candidates: the measured encoders, in the order of the tables.
        results: results of the metric's `report` by encoder, with the ranges of margins that all share.
        means: result of `means.means_table`.
        own: results by encoder with its own ranges; None leaves them out.

    Returns:
        Columns COLUMNS and published. `ranges` is SHARED or OWN, or NO_RANGES where no range matters; `published_as`
        is the paper's name of the encoder. Cells and shares are percentages, means are in the measure's own sign.
        Encoders that only the paper measured come last, without a value.
    """
    published = Published(PUBLISHED)
    intervals = means.set_index(["encoder", "criterion", "measure", "condition"])[["low", "high"]]
    rows = []
    for one in candidates:
        who = one.name, one.published
        for key, value in _percentages(results[one.name]):
            rows.append(_row(key, SHARED, who, value, _printed(published, key, one.published)))
        for key, value in _percentages(own[one.name]) if own else ():
            rows.append(_row(key, OWN, who, value, None))
        for key, value in _others(results[one.name]):
            _, criterion, measure, figure = key
            condition, _, kind = figure.partition("_")
            inside = kind == "mean" and condition in CONDITIONS
            bounds = intervals.loc[(one.name, criterion, measure, condition)] if inside else (None, None)
            rows.append(_row(key, NO_RANGES, who, value, _printed(published, key, one.published), *bounds))
    here = {one.published for one in candidates}
    rows += [
        _row(key, SHARED if key[1:3] in CELL_TABLES or key[0] == SHARE_TABLE else NO_RANGES, (name, name), None, value)
        for key, name, value in _published_figures(published)
        if name not in here
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "published"])
    return frame.astype(dict.fromkeys(("value", "low", "high", "published"), float))


def _row(
    key: Key,
    ranges: str,
    who: tuple[str, str | None],
    value: float | None,
    published: float | None,
    low: float | None = None,
    high: float | None = None,
) -> tuple:
    table, criterion, measure, figure = key
    return (table, criterion, measure, ranges, *who, figure, value, low, high, published)


def _printed(published: Published, key: Key, name: str | None) -> float | None:
    table, _, measure, figure = key
    return None if name is None else published.get(table, measure, name, figure)


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


def _published_figures(published: Published) -> Iterator[tuple[Key, str, float]]:
    places = {(table, *pair): CELLS for pair, table in CELL_TABLES.items()}
    places |= {(SHARE_TABLE, "C4", measure): ("share",) for measure in MEASURES}
    figures = ("base_mean", *(f"{condition}_{kind}" for condition in CONDITIONS for kind in ("mean", "sd")))
    places |= {(table, criterion, measure): figures for criterion, table in MEAN_TABLES.items() for measure in MEASURES}
    for (table, criterion, measure), names in places.items():
        for model in published.metrics(table):
            for figure in names:
                value = published.get(table, measure, model, figure)
                if value is not None:
                    yield (table, criterion, measure, figure), model, value


_percent: Callable[[float], str] = "{:.2f}".format
_exact: Callable[[float], str] = "{:.4f}".format


@dataclass(frozen=True)
class PrintedRow:
    """A row: a name, and a text for each column; `published` marks the paper's figures."""

    name: str
    cells: list[str]
    published: bool = False


@dataclass(frozen=True)
class PrintedTable:
    """A table of texts, for the report and the page."""

    title: str
    columns: list[str]
    rows: list[PrintedRow]
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The table with its columns aligned."""
        rows = [["encoder", *self.columns], *([row.name, *row.cells] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for name, *cells in rows:
            aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *aligned]).rstrip())
        lines.insert(1, "-" * max(map(len, lines)))
        return "\n".join([self.title, *lines, *self.notes])


class Column(NamedTuple):
    """A column of a printed table: which figure, and its format."""

    label: str
    key: Key
    write: Callable[[float], str] = _percent


def printed_tables(frame: pd.DataFrame, ranges: Ranges, compared: str) -> list[PrintedTable]:
    """Every table: percentages with shared ranges, with each encoder's own ranges if they were computed, and means.

    Args:
        frame: result of `figure_table`.
        ranges: shared ranges of the margins.
        compared: what the ranges are shared by.
    """
    tables = []
    for kind, other in ((SHARED, OWN), (OWN, SHARED)):
        if (frame["ranges"] == kind).any():
            tables += _percentage_tables(frame[frame["ranges"] != other], ranges if kind == SHARED else None, compared)
    for criterion, table in MEAN_TABLES.items():
        for measure in MEASURES:
            base = Column(BASES[criterion], (table, criterion, measure, "base_mean"), _exact)
            title = f"Table {table}, {criterion}, {TITLES[measure]}: mean differences, {_wanted(measure)} wanted"
            tables.append(
                _printed_table(frame, title, [base, *_mean_columns(criterion, measure, DIFFERENCES[criterion])], [])
            )
    columns = [column for measure in MEASURES for column in _mean_columns("C4", measure, [TITLES[measure]])]
    note = "above 0 wanted of cosine and dot product, below 0 of L1, L2 and NED"
    tables.append(_printed_table(frame, f"C4: mean differences {DIFFERENCES['C4'][0]}", columns, [note]))
    return [*tables, _angle_table(frame)]


def _percentage_tables(frame: pd.DataFrame, ranges: Ranges | None, compared: str) -> list[PrintedTable]:
    tables = []
    suffix = " (each encoder's own ranges)" if ranges is None else ""
    for (criterion, measure), table in CELL_TABLES.items():
        columns = [Column(cell, (table, criterion, measure, cell)) for cell in CELLS]
        columns += _mean_columns(criterion, measure, DIFFERENCES[criterion], sd=False)
        notes = [] if ranges is None else [_spell(ranges[criterion][measure], compared), OTHER_RANGES]
        if table == "15" and ranges is not None:
            notes.append(IMPOSSIBLE)
        title = f"Table {table}, {criterion}, {TITLES[measure]}: samples (%) that hold the conditions{suffix}"
        tables.append(_printed_table(frame, title, columns, notes, published=ranges is not None))
    columns = [Column(TITLES[measure], (SHARE_TABLE, "C4", measure, "share")) for measure in MEASURES]
    notes = [] if ranges is None else [f"cosine: {_spell(ranges['C4']['cosine'], compared)}", OTHER_RANGES]
    title = f"Table 3, C4: samples (%) that hold the condition{suffix}"
    tables.insert(2, _printed_table(frame, title, columns, notes, published=ranges is not None))
    return tables


def _angle_table(frame: pd.DataFrame) -> PrintedTable:
    columns = []
    for criterion in ("C2", "C5", "C6"):
        for figure, write in (("share", _percent), ("between", _percent), ("angle", "{:.3f}".format)):
            columns.append(Column(f"{criterion} {figure}", (UNPUBLISHED, criterion, "", figure), write))
    for figure in ("mean", "sd", "median"):
        columns.append(Column(f"|A|/|B| {figure}", (UNPUBLISHED, "norm_ratio", "", figure), _exact))
    title = "Figures 4, 6 and 10 as numbers: C2, C5 and C6 (%), and the ratio of lengths of unions"
    return _printed_table(frame, title, columns, [ANGLE, GPT3])


def _mean_columns(criterion: str, measure: str, labels: list[str] | tuple[str, ...], sd: bool = True) -> list[Column]:
    columns = []
    for condition, label in zip(CONDITIONS, labels, strict=False):
        table = MEAN_TABLES.get(criterion, UNPUBLISHED)
        columns.append(Column(label, (table, criterion, measure, f"{condition}_mean"), _exact))
        if sd:
            columns.append(Column("sd", (table, criterion, measure, f"{condition}_sd"), _exact))
    return columns


def _printed_table(
    frame: pd.DataFrame, title: str, columns: list[Column], notes: list[str], published: bool = True
) -> PrintedTable:
    """Encoders measured here, each with the paper's row below it, then those that only the paper measured."""
    keys = ["encoder", "table", "criterion", "measure", "figure"]
    criteria, measures = ({column.key[place] for column in columns} for place in (1, 2))
    wanted = frame[frame["criterion"].isin(criteria) & frame["measure"].isin(measures)]
    figures = {tuple(getattr(row, key) for key in keys): row for row in wanted.itertuples()}
    here = set(frame.loc[frame["value"].notna(), "encoder"])
    rows = []
    for name, paper in dict(zip(frame["encoder"], frame["published_as"], strict=True)).items():
        pairs = [(figures.get((name, *column.key)), column) for column in columns]
        if name in here:
            rows.append(PrintedRow(name, [_figure(row, column.write) for row, column in pairs]))
        printed = [_NOTHING if row is None else _number(row.published, column.write) for row, column in pairs]
        if published and set(printed) != {_NOTHING}:
            label = f"  published ({paper})" if name in here else f"{paper}, published"
            rows.append(PrintedRow(label, printed, published=True))
    return PrintedTable(title, [column.label for column in columns], rows, notes)


def _figure(row: object, write: Callable[[float], str]) -> str:
    return _NOTHING if row is None else _bounded(row.value, row, write)


def _bounded(value: float, row: object, write: Callable[[float], str]) -> str:
    bounds = "" if math.isnan(row.low) else f" [{write(row.low)}, {write(row.high)}]"
    return _number(value, write) + bounds


def _number(value: float, write: Callable[[float], str]) -> str:
    return _NOTHING if math.isnan(value) else write(value)


def _wanted(measure: str) -> str:
    return "below 0" if measure in DISTANCES else "above 0"


def _spell(bounds: list[list[float]] | None, compared: str) -> str:
    if bounds is None:
        return "no samples"
    return f"margins over {' and '.join(f'[{low:.4f}, {high:.4f}]' for low, high in bounds)}, {compared}"


def printed_checks(checks: pd.DataFrame) -> PrintedTable:
    """The checks of `report.check_table`, cosine and NED side by side."""
    rows = []
    keys = ["check", "encoder", "criterion", "condition"]
    for (check, encoder, criterion, condition), both in checks[checks["measure"].notna()].groupby(keys, sort=False):
        by_measure = both.set_index("measure")
        cells = [_verdict(by_measure.loc[measure], _exact) for measure in ("cosine", "ned")]
        rows.append(
            PrintedRow(f"{encoder}: {check}, {criterion} {condition}", [text for cell in cells for text in cell])
        )
    for row in checks[checks["measure"].isna()].itertuples():
        value, holds = _verdict(row._asdict(), "{:.1e}".format)
        rows.append(PrintedRow(f"{row.encoder}: {row.check}", [value, holds, _NOTHING, _NOTHING]))
    columns = ["cosine, or both", "holds", "NED", "holds"]
    note = "[95% bootstrap intervals over documents]; a distance's sign is turned; the rest is in percentage points"
    return PrintedTable("Checks", columns, rows, [note])


def _verdict(row: dict | pd.Series, write: Callable[[float], str]) -> tuple[str, str]:
    if row["holds"] is None or pd.isna(row["holds"]):
        return _NOTHING, "nothing to check"
    bounds = "" if pd.isna(row["low"]) else f" [{write(row['low'])}, {write(row['high'])}]"
    return write(row["value"]) + bounds, "yes" if row["holds"] else "NO"


def printed_discrimination(table: pd.DataFrame) -> list[PrintedTable]:
    """The result of `means.discrimination_table`, a table for each floor."""
    note = (
        "gap to the floor in standard deviations of the samples' shares (Cohen's d) [95% bootstrap interval over "
        "documents]: around 0, the criterion sees no more than the floor does; percentage points are in the CSV"
    )
    printed = []
    for floor, rows in table.groupby("floor", sort=False):
        by_place = {(row.encoder, row.criterion): row for row in rows.itertuples()}
        criteria, encoders = rows["criterion"].unique(), rows["encoder"].unique()
        lines = [
            PrintedRow(name, [_bounded(by_place[name, one].index, by_place[name, one], _percent) for one in criteria])
            for name in encoders
        ]
        printed.append(PrintedTable(f"Discrimination from the floor: {floor}", list(criteria), lines, [note]))
    return printed


def printed_undefined(results: dict[str, dict]) -> PrintedTable:
    """How many samples were left out, and why; none is dropped silently."""
    rows = []
    for name, result in results.items():
        for criterion, counts in result["undefined"].items():
            by_measure = counts if criterion in DIFFERENCES else {_NOTHING: counts}
            for measure, reasons in by_measure.items():
                rows += [
                    PrintedRow(name, [criterion, measure, reason, str(count)]) for reason, count in reasons.items()
                ]
    notes = [] if rows else ["none: every sample is defined for every encoder"]
    return PrintedTable("Samples left out", ["criterion", "measure", "reason", "samples"], rows, notes)
