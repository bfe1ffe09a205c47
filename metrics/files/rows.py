"""Rows of a table in memory: successive ones as a chunk, and checks of their columns."""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from itertools import compress
from numbers import Real
from typing import Any, TypeVar

from semantic_metrics.core.inputs import quote
from semantic_metrics.files import FileError, one_line

Cell = Any  # str, int, float, bool, None, a list or a dict; from parquet also dates, decimals and bytes
Row = dict[str, Cell]
Batch = Any  # a pyarrow.RecordBatch or None; pyarrow takes long to import
Value = TypeVar("Value")
Converted = TypeVar("Converted")

MISSING = ("zero", "skip")  # rows without an answer get an empty text in its place, or are left out
MAX_LISTED_NAMES = 20  # of columns that a message lists
MAX_INDEX_DIGITS = 10  # of a place in a list: Python refuses to read thousands of digits


class Chunk:
    """Successive rows of a file, given by their values or, from parquet, as a batch.

    Args:
        kind: what a message calls a row, without its number: "in.csv, line" or "in.parquet, row".
        numbers: number of each row, from 1: the line where it ends, or its position.
        rows: values of each row by column; rows of JSONL may lack columns that others have.
        lines: the rows as they are in the file, without line ends; JSONL only.
        batch: a record batch, whose values become Python's when they are asked for; parquet only.

    Attributes:
        lines, batch: as above.
    """

    def __init__(
        self,
        kind: str,
        numbers: list[int],
        rows: list[Row] | None = None,
        lines: list[str] | None = None,
        batch: Batch = None,
    ) -> None:
        self._kind, self._numbers, self._rows = kind, numbers, rows
        self.lines, self.batch = lines, batch

    def __len__(self) -> int:
        return len(self._numbers)

    @cached_property
    def rows(self) -> list[Row]:
        """Values of each row by column."""
        if self._rows is not None:
            return self._rows
        names = self.batch.schema.names
        return [dict(zip(names, row, strict=True)) for row in zip(*map(self._from_batch, names), strict=True)]

    def column(self, name: str) -> list[Cell]:
        """Values of a column, None where a row lacks it."""
        if self._rows is None and name in self.batch.schema.names:
            return self._from_batch(name)
        return [value_at(row, name) for row in self.rows]

    def keep(self, kept: list[bool]) -> "Chunk":
        """The chunk without some of its rows."""
        rows = None if self._rows is None else list(compress(self._rows, kept))
        lines = None if self.lines is None else list(compress(self.lines, kept))
        batch = None if self.batch is None else self.batch.filter(kept)
        return Chunk(self._kind, list(compress(self._numbers, kept)), rows, lines, batch)

    def _from_batch(self, name: str) -> list[Cell]:
        values = []
        for i, value in enumerate(self.batch.column(name)):
            try:
                values.append(value.as_py())
            # a date, duration or time zone that Python lacks (KeyError), bytes that are not UTF-8 (UnicodeDecodeError)
            except (ValueError, OverflowError, KeyError, TypeError, NotImplementedError) as error:
                expected = f"expected {value.type} that Python can hold in column {quote(name)}"
                raise FileError(f"{self.place(i)}: {expected} ({one_line(error)})") from None
        return values

    def place(self, index: int) -> str:
        """The name of a row in messages."""
        return f"{self._kind} {self._numbers[index]}"


def has_column(columns: list[str], name: str) -> bool:
    """Whether there is a column of this name, or one that the name gives a key of (see `value_at`)."""
    return name in columns or ("." in name and name.partition(".")[0] in columns)


def check_column(columns: Iterable[str], option: str, name: str | None) -> str:
    """The name of a column, or of a key inside one (see `value_at`), after checking that there is such a column."""
    columns = list(columns)
    if name is None or not has_column(columns, name):
        known = f"expected one of the columns {list_names(columns)}"
        raise FileError(f"{option}: {known}, got {quote(name)}{hint_of_separator(columns)}")
    return name


def value_at(row: Row, name: str) -> Cell:
    """The value of a column, or of a key inside it: `output.text`, `choices.0.text`; None where there is none."""
    if name in row or "." not in name:
        return row.get(name)
    value: Cell = row
    for key in name.split("."):
        if isinstance(value, list) and key.isdecimal():
            value = value[int(key)] if len(key) < MAX_INDEX_DIGITS and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def check_key(rows: list[Row], option: str, name: str) -> None:
    """A FileError that names `option` if no row has a key of this name (see `value_at`), not even with null in it."""
    outer, _, key = name.rpartition(".")
    for row in rows:
        value = value_at(row, outer)
        if name in row or (isinstance(value, dict) and key in value) or value_at(row, name) is not None:
            return
    raise FileError(f"{option}: expected a key that rows have, got {quote(name)}, which none of {len(rows)} rows has")


def is_missing(value: Cell) -> bool:
    """Whether a row has no answer: none at all, or an empty text."""
    return value is None or value == ""


def say_missing(count: int, missing: str) -> str:
    """What became of rows without an answer, for people; `missing` is one of MISSING."""
    rows = "1 row" if count == 1 else f"{count} rows"
    return f"{rows} without an answer: {'left out' if missing == 'skip' else 'score 0'}"


def hint_of_separator(columns: list[str]) -> str:
    """A hint for a header in one piece, which semicolons or tabs separate: empty for another one."""
    if len(columns) != 1:
        return ""
    if ";" in columns[0]:
        return "; the header has semicolons: write the file with commas between its values, or as .tsv with tabs"
    return "; the header has tabs: name the file .tsv" if "\t" in columns[0] else ""


def check_distinct_columns(name: str, columns: list[str]) -> None:
    """Check that no two columns have the same name."""
    if len(set(columns)) < len(columns):
        raise FileError(f"{name}: expected column names that differ, got {list_names(columns)}")


def first_invalid(values: list[Cell], lists: bool = False) -> int | None:
    """Index of the first value that is not a text or, with `lists`, a list of texts; None if all are valid."""
    if not lists and set(map(type, values)) == {str} and is_text("".join(values)):  # nearly always, and fast
        return None
    for i, value in enumerate(values):
        texts = value if lists else [value]
        if not (isinstance(texts, list) and texts and all(map(is_text, texts))):
            return i
    return None


def is_text(value: Cell) -> bool:
    """Whether a value is a text without a lone surrogate, which JSON may spell and no tokeniser can encode."""
    if not isinstance(value, str) or value.isascii():
        return isinstance(value, str)
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def describe_invalid(value: Cell, column: str, several: bool) -> str:
    """Describe an invalid value of a column of texts, or with `several` of texts or lists of texts."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and not is_text(text):
            code = next(f"U+{ord(sign):04X}" for sign in text if not is_text(sign))
            return f"expected valid Unicode in column {quote(column)}, got {quote(text)} with a lone surrogate ({code})"
    kind = "a text or a list of texts, of one kind in all rows," if several else "a text"
    return f"expected {kind} in column {quote(column)}, got {quote(value)}"


def number_of(value: Cell) -> float:
    """Parse a value as a number: numeric strings count, true/false are 1/0, anything else is NaN."""
    with suppress(ValueError, OverflowError):  # no float is as large as 10**400
        if isinstance(value, str):
            return float({"true": 1.0, "false": 0.0}.get(value.strip().casefold(), value))
        if isinstance(value, (Real, Decimal)):
            return float(value)
    return math.nan


def list_names(names: Iterable[str]) -> str:
    """Names of columns as a message lists them."""
    quoted = list(map(quote, names))
    more = len(quoted) - MAX_LISTED_NAMES
    return ", ".join(quoted[:MAX_LISTED_NAMES]) + (f" and {more} more" if more > 0 else "")


def convert_rows(
    rows: Iterable[Value], convert: Callable[[Value], Converted], place: Callable[[int], str]
) -> list[Converted]:
    """Convert rows, or the values of a column, one by one; a FileError names the row, as `place` writes its index."""
    converted = []
    for i, row in enumerate(rows):
        try:
            converted.append(convert(row))
        except FileError as error:
            raise FileError(f"{place(i)}: {error}") from None
    return converted
