"""Whole files of rows, for commands that need all rows at once; `score` reads and writes them in chunks."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semantic_metrics.core.inputs import quote
from semantic_metrics.files import FileError
from semantic_metrics.files.formats import GZIP, STREAM, format_of
from semantic_metrics.files.output import atomic_write, check_output
from semantic_metrics.files.readers import open_reader
from semantic_metrics.files.references import ReferenceColumns, warn_of_list
from semantic_metrics.files.rows import (
    Cell,
    Chunk,
    Row,
    check_column,
    check_key,
    describe_invalid,
    first_invalid,
    is_missing,
    number_of,
    say_missing,
    value_at,
)
from semantic_metrics.files.writers import TABLE_FORMATS, TABLE_NAMES, TextWriter, encode

ROWS_AT_A_TIME = 4096
MAX_PIPE_ROWS = 2_000_000  # of a pipe, which may have no end; some 1 GB in memory if the rows are short
MAX_PIPE_BYTES = 2**30
RECORD_FORMATS = (".json", ".csv")


@dataclass(frozen=True)
class Table:
    """All rows of a file."""

    columns: list[str]  # names of the columns, in the file's order
    # a list of values for each row, as long as `columns`: texts, and from JSONL and parquet also numbers, None, lists
    # (several references) and what else they hold; None where a row of JSONL lacks a column
    rows: list[list[Cell]]
    without_answer: int = 0  # rows that `answered` left out, or gave an empty text
    notes: tuple[str, ...] = ()  # what is to be said of them, a line at most

    @classmethod
    def from_records(cls, records: list[dict[str, Cell]]) -> "Table":
        """Rows by column; a column that a row lacks is None there."""
        columns = list(dict.fromkeys(name for row in records for name in row))
        return cls(columns, [[row.get(name) for name in columns] for row in records])

    def column(self, option: str, name: str) -> list[Cell]:
        """Values of a column."""
        check_column(self.columns, option, name)
        if name not in self.columns:
            rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
            check_key(rows, option, name)
            return [value_at(row, name) for row in rows]
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def answered(self, option: str, name: str, missing: str | None) -> "Table":
        """The table after what --missing says of rows without a text in a column; None changes nothing.

        Raises:
            FileError: there is no such column, or no row has a text and these are left out.
        """
        if missing is None:
            return self
        values = self.column(option, name)
        empty = list(map(is_missing, values))
        notes = (say_missing(sum(empty), missing) + ", and not counted in rows' numbers" * (missing == "skip"),)
        if missing == "skip":
            rows = [row for row, left in zip(self.rows, empty, strict=True) if not left]
            if not rows:
                raise FileError(f"{option}: expected an answer in a row at least, got none")
            return Table(self.columns, rows, sum(empty), notes)
        columns = self.columns if name in self.columns else [*self.columns, name]
        at = columns.index(name)
        filled = ["" if left else value for value, left in zip(values, empty, strict=True)]
        rows = [[*row[:at], text, *row[at + 1 :]] for row, text in zip(self.rows, filled, strict=True)]
        return Table(columns, rows, sum(empty), notes)

    def texts(self, option: str, name: str, several: bool = False) -> list[Any]:
        """Values of a column of texts, with `several` also of lists of texts (all of one kind)."""
        values = self.column(option, name)
        lists = several and isinstance(values[0], list)
        if (invalid := first_invalid(values, lists)) is not None:
            raise FileError(f"{option}: {describe_invalid(values[invalid], name, several)} in row {invalid + 1}")
        return values

    def references(self, option: str, columns: ReferenceColumns) -> list[Any]:
        """The references of each row: n texts, or n lists of texts."""
        if not columns.are_joined:
            return self.texts(option, columns.names[0], several=True)
        cells = [self.column(option, name) for name in columns.names]
        return columns.join(cells, lambda row: f"{option}, row {row + 1}")

    def warnings(self, file: Path, columns: ReferenceColumns) -> list[str]:
        """Warnings about columns of references of this file that can be read: at most one line."""
        unread = columns.unread_list([self.column("", name) for name in columns.names])
        return [] if unread is None else [warn_of_list(f"{file}, row {unread[0] + 1}", *unread[1:])]

    def numbers(self, option: str, name: str) -> list[float]:
        """Values of a column as finite numbers, parsed by `number_of`."""
        values = self.column(option, name)
        numbers = list(map(number_of, values))
        for row, number in enumerate(numbers):
            if not math.isfinite(number):
                got = f"got {quote(values[row])} in row {row + 1}"
                raise FileError(f"{option}: expected numbers in column {quote(name)}, {got}")
        return numbers


def read_table(path: Path) -> Table:
    """Read a file: .txt (a text in each line, as column `text`), .csv, .tsv, .jsonl, .json or .parquet."""
    if path == STREAM:
        raise FileError(f"{path}: expected a file; of the commands only `score` reads standard input")
    with open_reader(path) as reader:
        rows: list[Row] = []
        for chunk in reader.chunks(ROWS_AT_A_TIME):
            rows += chunk.rows
            if reader.total is None and (len(rows) > MAX_PIPE_ROWS or reader.done > MAX_PIPE_BYTES):
                most = f"{MAX_PIPE_ROWS:,} rows and {MAX_PIPE_BYTES // 2**20:,} MiB of a pipe or {GZIP} file"
                got = f"got {len(rows):,} rows and more; write them to a file first"
                raise FileError(f"{reader.name}: expected at most {most}, as all rows are kept in memory, {got}")
        return Table.from_records(rows)


def write_table(path: Path, table: Table) -> None:
    """Write a file in one of TABLE_FORMATS, with `atomic_write`."""
    format = format_of(path)
    if format not in TABLE_FORMATS:
        raise FileError(f"{path}: expected {TABLE_NAMES}, which hold several columns, got .{format}")
    with atomic_write(path) as file:
        if format == "parquet":
            from semantic_metrics.files.parquet import write_parquet  # pyarrow takes long to import

            write_parquet(file, {name: [row[i] for row in table.rows] for i, name in enumerate(table.columns)})
        else:
            rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
            writer = TextWriter(file, format, table.columns)
            writer.write(Chunk("output row", list(range(1, len(rows) + 1)), rows), {})
            writer.close()


def check_records_path(path: Path | None, inputs: Iterable[Path]) -> None:
    """Check that `write_records` can write --output, if it is given, and replaces no input, before any model runs."""
    if path is None:
        return
    if path.suffix.lower() not in RECORD_FORMATS:
        raise FileError(f"--output: expected a file that ends in {' or '.join(RECORD_FORMATS)}, got {path}")
    check_output(path, inputs=inputs)


def write_records(path: Path, records: list[dict[str, Cell]]) -> None:
    """Write rows as a JSON list or as CSV, by the end of the name."""
    if path.suffix.lower() == ".json":
        write_json(path, records)
    else:
        write_table(path, Table.from_records(records))


def write_json(path: Path, value: dict[str, Any] | list[Any]) -> None:
    """Write a JSON file with `atomic_write`."""
    with atomic_write(path) as file:
        file.write(encode(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"))
