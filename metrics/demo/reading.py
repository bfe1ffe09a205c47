"""Reading and writing of the demos: text boxes and CSV files in, CSV files out."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd

INPUT_ERRORS = (ValueError, OSError)  # shown as a message; errors of the Hub are of these kinds

# a spreadsheet runs a cell that begins so as a formula; numbers such as -0.5 stay numbers
_FORMULA = re.compile(r"(?!'*[+-]?\d+(\.\d+)?([eE][+-]?\d+)?\Z)'*[=+\-@\t\r]")

Columns = dict[str, list[str]]


@dataclass(frozen=True)
class Column:
    """A column of texts that a metric takes."""

    name: str  # name of the metric's argument
    label: str  # name on the page
    guesses: tuple[str, ...] = ()  # names that the column may have in a file, in lower case, the surest first


PREDICTIONS = Column(
    "predictions",
    "Predictions",
    (
        *("prediction", "candidate", "candidates", "hypothesis", "output", "response", "completion", "said", "summary"),
        *("answer", "answers", "text"),
    ),
)
REFERENCES = Column(
    "references",
    "References",
    ("reference", "target", "gold", "expected", "premise", "source", "context", "document", "article"),
)


def read_typed(columns: tuple[Column, ...], *boxes: str | None, whole: bool = False) -> tuple[Columns, Columns]:
    """Texts of the boxes by argument, twice: they are all columns of the file to download, too.

    With `whole` each box is one text, with its line breaks. Otherwise each line is one, but for lines at the end that
    are empty in all boxes.
    """
    labels = [column.label for column in columns]
    written = [box or "" for box in boxes]
    if not any(map(str.strip, written)):
        raise ValueError(f"expected a text in each of the boxes {', '.join(labels)}; they are empty")
    lines = [[box.strip("\n")] for box in written] if whole else _lines(labels, written)
    texts = dict(zip([column.name for column in columns], lines, strict=True))
    return texts, texts


def _lines(labels: list[str], written: list[str]) -> list[list[str]]:
    """Lines of each box; an error if one box has fewer than another."""
    count = max(box.rstrip("\n").count("\n") + 1 for box in written)
    lines = [box.split("\n") for box in written]
    for label, texts in zip(labels, lines, strict=True):
        if len(texts) < count:
            raise ValueError(f"{label}: expected {count} lines, as many as in the longest box, got {len(texts)}")
    return [texts[:count] for texts in lines]


def read_csv(path: str | None) -> Columns:
    """Columns of a CSV file (UTF-8, commas, a header line), as they were before `write_csv` escaped them."""
    if path is None:
        raise ValueError("expected a CSV file, got none: upload one first")
    csv.field_size_limit(2**31 - 1)  # the default, 128 KiB, is less than a long document
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header, rows = next(reader, []), []
            for row in filter(None, reader):
                if len(row) != len(header):
                    raise ValueError(f"line {reader.line_num}: expected {len(header)} values, got {len(row)}")
                rows.append(row)
    except UnicodeDecodeError as error:
        raise ValueError(f"the file: expected UTF-8 text, got the byte 0x{error.object[error.start]:02x}") from None
    except csv.Error as error:
        raise ValueError(f"the file: expected CSV, with commas ({error})") from None
    if not rows or len(set(header)) < len(header):
        raise ValueError(f"the file: expected a header of names that differ, and rows below it; got {header}")
    cells = [header, *rows]
    if not any(_FORMULA.match(cell) and cell[0] != "'" for row in cells for cell in row):  # none is left unescaped
        header, *rows = [[cell[1:] if _FORMULA.match(cell) else cell for cell in row] for row in cells]
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def read_chosen(columns: tuple[Column, ...], path: str | None, *chosen: str | None) -> tuple[Columns, Columns]:
    """Texts of the chosen columns of a file by argument, and all columns of the file."""
    table = read_csv(path)
    texts = {}
    for column, name in zip(columns, chosen, strict=True):
        if name is None or name not in table:
            raise ValueError(f"{column.label}: expected one of the columns {', '.join(table)}, got {name}")
        texts[column.name] = table[name]
    return texts, table


def write_csv(folder: str, name: str, table: dict[str, list[Any]]) -> str:
    """Write a table to a file of that name in a new folder within `folder`; returns its path.

    An apostrophe is put before a text that a spreadsheet would run as a formula; `read_csv` takes it away again.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(mkdtemp(dir=folder)) / name
    # all quoted, as `semantic-metrics score` does: a lone carriage return must come back
    safe = {_escape(name): [_escape(cell) for cell in column] for name, column in table.items()}
    pd.DataFrame(safe).to_csv(path, index=False, quoting=csv.QUOTE_ALL, lineterminator="\n")
    return str(path)


def _escape(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
