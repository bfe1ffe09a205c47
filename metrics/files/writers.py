"""Files of rows, written in chunks: the rows that were read, with columns of scores added."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, BinaryIO, Protocol

from semantic_metrics.core.inputs import MAX_QUOTED_CHARACTERS
from semantic_metrics.files import FileError
from semantic_metrics.files.readers import Reader
from semantic_metrics.files.rows import Cell, Chunk, convert_rows

Scores = dict[str, list[Any]]  # numbers, or words, by the name of their column
TABLE_FORMATS = ("csv", "tsv", "jsonl", "json", "parquet")  # formats with more than one column
TABLE_NAMES = f"{', '.join(f'.{name}' for name in TABLE_FORMATS[:-1])} or .{TABLE_FORMATS[-1]}"
TEXT_TYPES = (date, datetime, time, Decimal)  # written as their text where a format has no type for them


class Writer(Protocol):
    """A file of scored rows that is being written."""

    def write(self, chunk: Chunk, scores: Scores) -> None:
        """Write the rows of a chunk with their scores."""

    def close(self) -> None:
        """Write what is still to be written; the file itself stays open."""


class TextWriter:
    """A `Writer` of CSV, all of it quoted, of TSV, which has no quotes, of JSONL, or of one list of JSON.

    Rows that were read from JSONL are kept as they were, up to their closing brace, but for NaN, which becomes null. Of
    the columns those of the scores are last; `begun` says that rows were written to the file before.
    """

    def __init__(self, file: BinaryIO, format: str, columns: list[str], begun: bool = False) -> None:
        self._file, self._format, self._columns, self._begun = file, format, columns, begun

    def write(self, chunk: Chunk, scores: Scores) -> None:
        """See `Writer`."""
        if self._format in ("jsonl", "json"):
            rows = _json_rows(chunk)
            added = [(f", {json.dumps(name)}: ", values) for name, values in scores.items()]
            ends = ["".join(f"{name}{to_json(values[i])}" for name, values in added) for i in range(len(chunk))]
            lines = [f"{row.rstrip()[:-1].rstrip()}{end}}}\n" for row, end in zip(rows, ends, strict=True)]
            if self._format == "json":
                lines = [("," if self._begun or i else "[") + line for i, line in enumerate(lines)]
            self._begun = self._begun or bool(lines)
            self._file.write(_encode_lines(lines, chunk.place))
            return
        known = self._columns[: len(self._columns) - len(scores)]
        for i, row in enumerate(chunk.rows):
            if (new := next((name for name in row if name not in known), None)) is not None:
                raise FileError(f"{chunk.place(i)}: expected the columns of the first row, got {new!r}")
        line = _csv_line if self._format == "csv" else _tsv_line
        head = [] if self._begun else convert_rows([self._columns], line, lambda _: "names of the columns")
        cells = zip(*(chunk.column(name) for name in known), *scores.values(), strict=True)
        self._file.writelines([*head, *convert_rows(cells, line, chunk.place)])
        self._begun = True

    def close(self) -> None:
        """See `Writer`; all that is left is the end of a list of JSON."""
        if self._format == "json":
            self._file.write(b"]\n" if self._begun else b"[]\n")


def _csv_line(row: Iterable[Cell]) -> bytes:
    text = io.StringIO()
    # all quoted: Python before 3.13 leaves a lone carriage return bare, which no reader takes back
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(map(cell_text, row))
    return encode(text.getvalue())


def _tsv_line(row: Iterable[Cell]) -> bytes:
    cells = list(map(cell_text, row))
    if broken := next((cell for cell in cells if any(sign in cell for sign in "\t\n\r")), None):
        what = "texts without tabs and line breaks, which TSV cannot hold"
        raise FileError(f"expected {what}, got {broken[:MAX_QUOTED_CHARACTERS]!r}")
    return encode("\t".join(cells) + "\n")


def _encode_lines(lines: list[str], place: Callable[[int], str]) -> bytes:
    """UTF-8 of all lines; a FileError names the row, as `place` writes its index."""
    try:
        return "".join(lines).encode("utf-8")
    except UnicodeEncodeError:
        return b"".join(convert_rows(lines, encode, place))


def open_writer(format: str, file: BinaryIO, reader: Reader, columns: dict[str, type], begun: bool = False) -> Writer:
    """Open a writer of the rows of a reader with their scores, at the end of a file.

    Parquet keeps rows of other formats in memory, as it must know their types. `columns` are the names and types
    (float, str or bool) of what is added; `begun` says that rows were written to the file before.
    """
    if format == "parquet":
        from semantic_metrics.files.parquet import (
            ParquetReader,
            ParquetWriter,
            RowsWriter,
        )  # pyarrow takes long to import

        return ParquetWriter(file, reader.schema, columns) if isinstance(reader, ParquetReader) else RowsWriter(file)
    return TextWriter(file, format, [*reader.columns, *columns], begun)


def encode(text: str) -> bytes:
    """UTF-8."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        raise FileError(f"expected valid Unicode to write, got a lone surrogate ({code})") from None


def cell_text(value: Cell) -> str:
    """A value as CSV holds it: a text as it is, nothing for None, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return json.dumps(value)  # NaN and Infinity, which readers of CSV know
    return "" if value is None else str(value) if isinstance(value, TEXT_TYPES) else to_json(value)


def _json_rows(chunk: Chunk) -> list[str]:
    """Each row of a chunk as JSON: the line that it was read from, if that is JSON."""
    if chunk.lines and all(map(_is_json, chunk.lines)):
        return chunk.lines
    rows = convert_rows(chunk.rows, to_json, chunk.place)
    if not chunk.lines:
        return rows
    return [line if _is_json(line) else row for line, row in zip(chunk.lines, rows, strict=True)]


def _is_json(line: str) -> bool:
    """Whether a line that Python reads as JSON has no NaN or infinite number, which JSON has not."""
    constants: list[str] = []
    if "NaN" in line or "Infinity" in line:
        json.loads(line, parse_constant=constants.append)
    return not constants


def to_json(value: Cell) -> str:
    """A value, or a row, as JSONL holds it: NaN is null, as pandas writes it."""
    if type(value) is float and math.isfinite(value):  # most values by far, as json.dumps would write them
        return float.__repr__(value)
    try:
        return json.dumps(_without_nan(value), ensure_ascii=False, default=_as_text, allow_nan=False)
    except FileError:
        raise
    except ValueError:
        raise FileError("expected finite numbers, got an infinite one, which JSON cannot hold") from None


def _without_nan(value: Cell) -> Cell:
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_without_nan, value))
    return None if isinstance(value, float) and math.isnan(value) else value


def _as_text(value: Cell) -> str:
    if isinstance(value, TEXT_TYPES):
        return str(value)
    raise FileError(f"expected texts, numbers and lists, got {type(value).__name__}, which only parquet holds")
