"""Whole files of rows, for commands that need all of one at once; `score` reads in chunks (sources.py)."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from semantic_metrics.files.errors import FileError, file_errors
from semantic_metrics.files.formats import TEXT, Cell, Row, format_of
from semantic_metrics.files.readers import open_source
from semantic_metrics.files.writers import QUOTED, CsvSink, by_row, encode, row_text

ROWS_AT_A_TIME = 4096
_TRUTHS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Table:
    """The rows of a file.

    Attributes:
        columns: their names, in the file's order.
        rows: one list of values for each row, as long as `columns`. Texts, and of JSONL and parquet also numbers,
            None, lists (several references) and what else they hold; None for what a row of JSONL lacks.
    """

    columns: list[str]
    rows: list[list[Cell]]

    def column(self, option: str, name: str) -> list[Cell]:
        """Values of a column.

        Raises:
            FileError: there is none of that name; lists those there are.
        """
        check_column(self.columns, option, name)
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def texts(self, option: str, name: str, several: bool = False) -> list:
        """Values of a column of texts, with `several` also of lists of texts (all of one kind).

        Raises:
            FileError: there is no such column, or it holds something else; names the row, counted from 1.
        """
        values = self.column(option, name)
        if (wrong := first_invalid(values, several)) is not None:
            raise FileError(f"{option}: {describe_invalid(values, wrong, name, several)} in row {wrong + 1}")
        return values

    def numbers(self, option: str, name: str) -> list[float]:
        """Values of a column as finite numbers, read by `number_of`.

        Raises:
            FileError: there is no such column, or it holds something else; names the row, counted from 1.
        """
        values = self.column(option, name)
        found = list(map(number_of, values))
        if (wrong := next((i for i, number in enumerate(found) if not math.isfinite(number)), None)) is not None:
            raise FileError(
                f"{option}: expected numbers in column {name!r}, got {_shown(values[wrong])} in row {wrong + 1}"
            )
        return found


def number_of(value: Cell) -> float:
    """A value as a number: of texts too, and true and false are 1 and 0; not a number where it is none."""
    with suppress(ValueError, OverflowError):  # no float holds 10**400
        if isinstance(value, str):
            return float(_TRUTHS.get(value.strip().casefold(), value))
        if isinstance(value, (Real, Decimal)):
            return float(value)
    return math.nan


def check_column(columns: list[str], option: str, name: str) -> None:
    """See that there is a column of that name.

    Raises:
        FileError: there is none; lists those there are.
    """
    if name not in columns:
        known = ", ".join(map(repr, columns))
        raise FileError(f"{option}: expected one of the columns {known}, got {name!r}")


def first_invalid(values: list[Cell], several: bool, lists: bool | None = None) -> int | None:
    """Index of the first value that is no text, and with `several` no list of texts; None where all are.

    Args:
        values: of a column.
        several: lists of texts will do, too.
        lists: whether they must be lists; None: as the first of them is.
    """
    if lists is None:
        lists = several and bool(values) and isinstance(values[0], list)
    for i, value in enumerate(values):
        if lists and isinstance(value, list):
            if not value or not all(isinstance(text, str) for text in value):
                return i
        elif lists or not isinstance(value, str):
            return i
    return None


def describe_invalid(values: list[Cell], index: int, name: str, several: bool) -> str:
    """What is wrong with a value that `first_invalid` found."""
    kind = "a text or a list of texts, of one kind in all rows," if several else "a text"
    return f"expected {kind} in column {name!r}, got {_shown(values[index])}"


def _shown(value: Cell) -> str:
    text = repr(value)
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}..."


def read_table(path: Path, format: str | None = None) -> Table:
    """Read a file: .txt (a text in each line, as column `text`), .csv, .tsv, .jsonl or .parquet.

    Args:
        path: of the file; `-` is standard input.
        format: of formats.FORMATS; by default what the name ends in.

    Raises:
        FileError: it is no file, unreadable, empty, not UTF-8, or its rows do not fit its format; says where.
    """
    with open_source(path, format) as source:
        rows = [row for chunk in source.chunks(ROWS_AT_A_TIME) for row in chunk.rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return Table(columns, [[row.get(name) for name in columns] for row in rows])


def check_output(path: Path, name: str = "", inputs: Iterable[Path] = ()) -> None:
    """See that a file can be written, before any model runs.

    Args:
        path: of the file.
        name: what a message calls it; by default the path.
        inputs: files that are read, and that it must not take the place of.

    Raises:
        FileError: it is there and no regular file, or one of the inputs; its name is too long; or its folder is
            missing or read-only.
    """
    name = name or str(path)
    with file_errors(name), suppress(FileNotFoundError, NotADirectoryError):
        path.stat()  # `exists` says no of a name that is too long, or raises, by the version of Python
    if path.exists() and not path.is_file():
        raise FileError(f"{name}: expected a file to write, got a folder or a device")
    if path.resolve() in {one.resolve() for one in inputs}:
        raise FileError(f"{name}: expected another file than those that are read")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileError(f"{name}: expected an existing folder, there is no {folder}")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise FileError(f"{name}: expected a place that can be written, got one that is read-only")
    with file_errors(name), TemporaryFile(dir=folder):
        pass  # to root everything looks writable


def write_table(path: Path, table: Table) -> None:
    """Write a file in the format that its name ends in.

    It is written aside first and renamed when it is complete, so that half of it never passes for all.

    Raises:
        FileError: it cannot be written there, or not in that format.
    """
    writer = _WRITERS[format_of(path)]
    with atomic_write(path) as file:
        writer(file, table)


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which gets its name when it is complete; of one that is not, nothing stays.

    Raises:
        FileError: it cannot be written there.
    """
    check_output(path)
    path = path.resolve()  # a link stays a link
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with file_errors(path):
            with aside.open("wb") as file:
                yield file
            aside.replace(path)
    finally:
        with suppress(OSError):
            aside.unlink()


def _place(index: int) -> str:
    return f"output row {index + 1}"


def _write_txt(file: BinaryIO, table: Table) -> None:
    if table.columns != [TEXT]:
        raise FileError(f"expected the one column {TEXT!r} for .txt, got {', '.join(map(repr, table.columns))}")
    file.writelines(by_row(table.texts(".txt", TEXT), _txt_line, _place))


def _txt_line(text: str) -> bytes:
    if "\n" in text:
        raise FileError(f"expected texts without line breaks for .txt, got {text[:QUOTED]!r}")
    return encode(f"{text}\n")


def _write_csv(file: BinaryIO, table: Table, tabs: bool = False) -> None:
    CsvSink(file, table.columns, head=True, tabs=tabs).write_rows(table.rows, _place)


def _write_tsv(file: BinaryIO, table: Table) -> None:
    _write_csv(file, table, tabs=True)


def _write_jsonl(file: BinaryIO, table: Table) -> None:
    file.writelines(by_row(_as_rows(table), lambda row: encode(f"{row_text(row)}\n"), _place))


def _write_parquet(file: BinaryIO, table: Table) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        made = pa.table({name: [row[i] for row in table.rows] for i, name in enumerate(table.columns)})
    except (pa.ArrowException, TypeError) as error:
        raise FileError(f"expected values of one type in each column for .parquet ({error})") from None
    parquet.write_table(made, file)


def _as_rows(table: Table) -> list[Row]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


_WRITERS: dict[str, Callable[[BinaryIO, Table], None]] = {
    "txt": _write_txt,
    "csv": _write_csv,
    "tsv": _write_tsv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
