"""Sheets: what the report prints and the page shows, encoders measured here with the paper's line below each."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from benchmarks.set_criteria.means import CONDITIONS
from benchmarks.set_criteria.tables import CELL_TABLES, MEAN_TABLES, OWN, SHARE_TABLE, SHARED, UNPUBLISHED, Key
from semantic_metrics.set_criteria.criteria import Ranges
from semantic_metrics.set_criteria.epsilon import CELLS
from semantic_metrics.set_criteria.geometry import DISTANCES, MEASURES

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

_percent: Callable[[float], str] = "{:.2f}".format
_exact: Callable[[float], str] = "{:.4f}".format


@dataclass(frozen=True)
class Line:
    """A line of a sheet: a name, and a text for each column."""

    name: str
    cells: list[str]
    published: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table to be shown."""

    title: str
    columns: list[str]
    lines: list[Line]
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The sheet as lines, its columns aligned."""
        rows = [["encoder", *self.columns], *([line.name, *line.cells] for line in self.lines)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for name, *cells in rows:
            aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *aligned]).rstrip())
        lines.insert(1, "-" * max(map(len, lines)))
        return "\n".join([self.title, *lines, *self.notes])


@dataclass(frozen=True)
class Column:
    """A column of a sheet: which figure, and how it is written."""

    label: str
    key: Key
    write: Callable[[float], str] = _percent


def all_sheets(frame: pd.DataFrame, ranges: Ranges, compared: str) -> list[Sheet]:
    """Every table that the figures allow: the shared ranges, each encoder's own where they were asked for, the means.

    Args:
        frame: from `set_criteria_tables.figure_table`.
        ranges: of the margins, shared.
        compared: says over what they are shared.
    """
    found = []
    for kind in (SHARED, OWN):
        if (frame["ranges"] == kind).any():
            held = frame[frame["ranges"] != (OWN if kind == SHARED else SHARED)]
            found += _percentage_sheets(held, ranges if kind == SHARED else None, compared)
    for criterion, table in MEAN_TABLES.items():
        for measure in MEASURES:
            base = Column(BASES[criterion], (table, criterion, measure, "base_mean"), _exact)
            title = f"Table {table}, {criterion}, {TITLES[measure]}: mean differences, {_wanted(measure)} wanted"
            found.append(_sheet(frame, title, [base, *_mean_columns(criterion, measure, DIFFERENCES[criterion])], []))
    columns = [column for measure in MEASURES for column in _mean_columns("C4", measure, [TITLES[measure]])]
    note = "above 0 wanted of cosine and dot product, below 0 of L1, L2 and NED"
    found.append(_sheet(frame, f"C4: mean differences {DIFFERENCES['C4'][0]}", columns, [note]))
    found.append(_place_sheet(frame))
    return found


def _percentage_sheets(frame: pd.DataFrame, ranges: Ranges | None, compared: str) -> list[Sheet]:
    found = []
    suffix = " (each encoder's own ranges)" if ranges is None else ""
    for (criterion, measure), table in CELL_TABLES.items():
        columns = [Column(cell, (table, criterion, measure, cell)) for cell in CELLS]
        columns += _mean_columns(criterion, measure, DIFFERENCES[criterion], sd=False)
        notes = [] if ranges is None else [_spell(ranges[criterion][measure], compared), OTHER_RANGES]
        if table == "15" and ranges is not None:
            notes.append(IMPOSSIBLE)
        title = f"Table {table}, {criterion}, {TITLES[measure]}: samples (%) that hold the conditions{suffix}"
        found.append(_sheet(frame, title, columns, notes, published=ranges is not None))
    columns = [Column(TITLES[measure], (SHARE_TABLE, "C4", measure, "share")) for measure in MEASURES]
    notes = [] if ranges is None else [f"cosine: {_spell(ranges['C4']['cosine'], compared)}", OTHER_RANGES]
    title = f"Table 3, C4: samples (%) that hold the condition{suffix}"
    found.insert(2, _sheet(frame, title, columns, notes, published=ranges is not None))
    return found


def _place_sheet(frame: pd.DataFrame) -> Sheet:
    columns = []
    for criterion in ("C2", "C5", "C6"):
        for figure, write in (("share", _percent), ("between", _percent), ("angle", "{:.3f}".format)):
            columns.append(Column(f"{criterion} {figure}", (UNPUBLISHED, criterion, "", figure), write))
    for figure in ("mean", "sd"):
        columns.append(Column(f"|A|/|B| {figure}", (UNPUBLISHED, "norm_ratio", "", figure), _exact))
    title = "Figures 4, 6 and 10 as numbers: C2, C5 and C6 (%), and the ratio of lengths"
    return _sheet(frame, title, columns, [ANGLE, GPT3])


def _mean_columns(criterion: str, measure: str, labels: list[str] | tuple[str, ...], sd: bool = True) -> list[Column]:
    columns = []
    for condition, label in zip(CONDITIONS, labels, strict=False):
        table = MEAN_TABLES.get(criterion, UNPUBLISHED)
        columns.append(Column(label, (table, criterion, measure, f"{condition}_mean"), _exact))
        if sd:
            columns.append(Column("sd", (table, criterion, measure, f"{condition}_sd"), _exact))
    return columns


def _sheet(frame: pd.DataFrame, title: str, columns: list[Column], notes: list[str], published: bool = True) -> Sheet:
    """Encoders measured here, each with the paper's line below it, then those that only the paper has."""
    keys = ["encoder", "table", "criterion", "measure", "figure"]
    rows = {tuple(getattr(row, key) for key in keys): row for row in frame.itertuples()}
    here = set(frame.loc[frame["value"].notna(), "encoder"])
    lines = []
    for name, paper in dict(zip(frame["encoder"], frame["published_as"], strict=True)).items():
        pairs = [(rows.get((name, *column.key)), column) for column in columns]
        if name in here:
            lines.append(Line(name, [_figure(row, column.write) for row, column in pairs]))
        printed = [_NOTHING if row is None else _number(row.published, column.write) for row, column in pairs]
        if published and set(printed) != {_NOTHING}:
            label = f"  published ({paper})" if name in here else f"{paper}, published"
            lines.append(Line(label, printed, published=True))
    return Sheet(title, [column.label for column in columns], lines, notes)


def _figure(row: object, write: Callable[[float], str]) -> str:
    if row is None:
        return _NOTHING
    bounds = "" if math.isnan(row.low) else f" [{write(row.low)}, {write(row.high)}]"
    return _number(row.value, write) + bounds


def _number(value: float, write: Callable[[float], str]) -> str:
    return _NOTHING if math.isnan(value) else write(value)


def _wanted(measure: str) -> str:
    return "below 0" if measure in DISTANCES else "above 0"


def _spell(bounds: list[list[float]] | None, compared: str) -> str:
    if bounds is None:
        return "no samples"
    return f"margins over {' and '.join(f'[{low:.4f}, {high:.4f}]' for low, high in bounds)}, {compared}"


def checks_sheet(checks: pd.DataFrame) -> Sheet:
    """The checks, cosine and NED side by side; from `set_criteria_checks.check_table`."""
    lines = []
    paired = checks[checks["measure"].notna()]
    for (check, encoder, criterion, condition), held in paired.groupby(
        ["check", "encoder", "criterion", "condition"], sort=False
    ):
        by_measure = held.set_index("measure")
        cells = [_verdict(by_measure.loc[measure], _exact) for measure in ("cosine", "ned")]
        lines.append(Line(f"{encoder}: {check}, {criterion} {condition}", [text for cell in cells for text in cell]))
    for row in checks[checks["measure"].isna()].itertuples():
        value, holds = _verdict(row._asdict(), "{:.1e}".format)
        lines.append(Line(f"{row.encoder}: {row.check}", [value, holds, _NOTHING, _NOTHING]))
    columns = ["cosine, or both", "holds", "NED", "holds"]
    note = "[95% bootstrap intervals over documents]; a distance's sign is turned; the rest is in percentage points"
    return Sheet("Checks", columns, lines, [note])


def _verdict(row: dict | pd.Series, write: Callable[[float], str]) -> tuple[str, str]:
    if row["holds"] is None or pd.isna(row["holds"]):
        return _NOTHING, "nothing to check"
    bounds = "" if pd.isna(row["low"]) else f" [{write(row['low'])}, {write(row['high'])}]"
    return write(row["value"]) + bounds, "yes" if row["holds"] else "NO"


def undefined_sheet(results: dict[str, dict]) -> Sheet:
    """How many samples were left out, and why; nothing is dropped in silence."""
    lines = []
    for name, result in results.items():
        for criterion, held in result["undefined"].items():
            by_measure = held if criterion in DIFFERENCES else {_NOTHING: held}
            for measure, reasons in by_measure.items():
                lines += [Line(name, [criterion, measure, reason, str(count)]) for reason, count in reasons.items()]
    notes = [] if lines else ["none: every sample is defined for every encoder"]
    return Sheet("Samples left out", ["criterion", "measure", "reason", "samples"], lines, notes)
