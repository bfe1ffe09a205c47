"""Tables as text: what was measured here beside what the paper prints, with intervals underneath."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

_NOTHING = "-"
_GAP = "  "


@dataclass(frozen=True)
class Cell:
    """One figure of a table.

    Attributes:
        value: what was measured here; None for nothing.
        low, high: bounds of its interval; None for no interval.
        published: what the paper prints; None for nothing.
        mark: a sign behind the value.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    published: float | None = None
    mark: str = ""

    @classmethod
    def of(cls, row: Mapping[str, object], interval: bool = True, mark: str = "") -> "Cell":
        """Make a cell of a data frame's row with the columns value, low, high and published.

        Args:
            row: the row; missing figures may be None or NaN.
            interval: whether to show the interval.
            mark: a sign behind the value.
        """
        low, high = (optional_float(row[name]) if interval else None for name in ("low", "high"))
        return cls(optional_float(row["value"]), low, high, optional_float(row["published"]), mark)


@dataclass(frozen=True)
class Row:
    """A metric's line.

    Attributes:
        name: name of the metric.
        cells: one for each column.
        reason: why nothing was measured; None where something was.
    """

    name: str
    cells: list[Cell]
    reason: str | None = None


def optional_float(value: object) -> float | None:
    """A number of a data frame, or None where it is missing (None or NaN)."""
    return None if value is None or pd.isna(value) else float(value)


def render(title: str, labels: list[str], rows: list[Row], notes: Iterable[str] = ()) -> str:
    """A table as text.

    Args:
        title: first line.
        labels: heading of each column of figures; may have several lines.
        rows: lines with as many cells as there are labels.
        notes: lines below the table.
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

    The last heading distinguishes measured from published figures; it is blank where none are published.
    """
    # a space takes the place of a missing mark, so that the digits of a column are aligned
    texts = [_number(cell.value) + (cell.mark or " ") for cell in cells]
    heading = ""
    if any(cell.published is not None for cell in cells):
        published = [_number(cell.published) for cell in cells]
        here_width, width = max(map(len, ["here ", *texts])), max(map(len, ["publ.", *published]))
        heading = f"{'here '.rjust(here_width)} {'publ.'.rjust(width)}"
        texts = [f"{a.rjust(here_width)} {b.rjust(width)}" for a, b in zip(texts, published, strict=True)]
    else:
        label = "\n".join(line + " " for line in label.split("\n"))  # above the digits, not the mark
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
