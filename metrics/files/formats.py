"""Formats of files that hold rows, and how each of them is read, line by line."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from semantic_metrics.files.errors import FileError, file_errors

FORMATS = ("txt", "csv", "tsv", "jsonl", "parquet")
TEXT = "text"  # the one column of a .txt file
STREAM = Path("-")  # standard input, or output
Cell = Any  # str, int, float, bool, None, a list or a dict; of parquet also dates, decimals and bytes
Row = dict[str, Cell]


def format_of(path: Path, given: str | None = None) -> str:
    """The format of a file: what was given, or else what its name ends in.

    Raises:
        FileError: neither tells.
    """
    if given is None and path == STREAM:
        raise FileError(f"--format: expected one of {', '.join(FORMATS[:-1])} for {path}, got none")
    found = path.suffix.lower().removeprefix(".") if given is None else given
    if found not in FORMATS:
        ends = f"{', '.join(f'.{name}' for name in FORMATS[:-1])} or .{FORMATS[-1]}"
        raise FileError(f"{path}: expected a file that ends in {ends}, got {path.suffix!r}")
    if found == "parquet" and path == STREAM:
        raise FileError(f"--format: expected one of {', '.join(FORMATS[:-1])} for {path}, got 'parquet'")
    return found


class Lines:
    """The lines of a file, decoded one by one, so that a wrong byte has a line number; without a byte order mark.

    Attributes:
        name: of the file, as messages call it.
        number: of the line last read, from 1.
        read: bytes so far.
    """

    def __init__(self, name: str, file: BinaryIO, returns: bool) -> None:
        self.name, self.number, self.read = name, 0, 0
        self._file, self._returns = file, returns  # returns: a lone carriage return ends a line too, as in CSV

    def __iter__(self) -> Iterator[str]:
        with file_errors(self.name):
            for line in self._file:
                self.read += len(line)
                for part in line.splitlines(keepends=True) if self._returns else [line]:
                    self.number += 1
                    try:
                        text = part.decode("utf-8")
                    except UnicodeDecodeError as error:
                        self.refuse(f"expected UTF-8 text, got the byte 0x{part[error.start]:02x}")
                    yield text.removeprefix("\ufeff") if self.number == 1 else text

    def refuse(self, what: str) -> NoReturn:
        """Say what is wrong with the line last read.

        Raises:
            FileError: always.
        """
        raise FileError(f"{self.name}, line {self.number}: {what}")


def _read_txt(lines: Lines) -> Iterator[tuple[Row, None]]:
    for line in lines:
        yield {TEXT: _bare(line)}, None
    if lines.number == 0:
        raise FileError(f"{lines.name}: expected lines, got an empty file")


def _read_jsonl(lines: Lines) -> Iterator[tuple[Row, str]]:
    empty = True
    for line in lines:
        text = _bare(line)
        if not text.strip():
            continue
        try:
            row = _DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            lines.refuse(f"expected a JSON object ({error})")
        if not isinstance(row, dict) or not row:
            lines.refuse(f"expected a JSON object with values, got {text[:40]}")
        empty = False
        yield row, text
    if empty:
        raise FileError(f"{lines.name}: expected rows, got an empty file")


def _unique(pairs: list[tuple[str, Cell]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError(f"names that differ, got {', '.join(repr(name) for name, _ in pairs)}")
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def _read_csv(lines: Lines) -> Iterator[tuple[Row, None]]:
    csv.field_size_limit(2**31 - 1)  # the default, 128 KiB, is less than a long document
    yield from _cells(lines, csv.reader(iter(lines), strict=True))


def _read_tsv(lines: Lines) -> Iterator[tuple[Row, None]]:
    csv.field_size_limit(2**31 - 1)
    yield from _cells(lines, csv.reader(iter(lines), delimiter="\t", quoting=csv.QUOTE_NONE))


def _cells(lines: Lines, reader: Iterator[list[str]]) -> Iterator[tuple[Row, None]]:
    columns: list[str] = []
    empty = True
    try:
        columns = next(reader, [])
        if not columns:
            raise FileError(f"{lines.name}: expected a header line and rows, got an empty file")
        if len(set(columns)) < len(columns):
            raise FileError(f"{lines.name}: expected column names that differ, got {', '.join(map(repr, columns))}")
        for row in reader:
            if not row and len(columns) > 1:
                continue
            row = row or [""]  # of one column a blank line is an empty cell
            if len(row) != len(columns):
                lines.refuse(f"expected {len(columns)} values as in the header, got {len(row)}")
            empty = False
            yield dict(zip(columns, row, strict=True)), None
    except csv.Error as error:
        lines.refuse(f"expected CSV ({error})")
    if empty:
        raise FileError(f"{lines.name}: expected rows below the header, got none")


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


READERS: dict[str, Callable[[Lines], Iterator[tuple[Row, str | None]]]] = {
    "txt": _read_txt,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "jsonl": _read_jsonl,
}
