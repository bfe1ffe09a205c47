"""Files of rows, written in chunks: the rows that were read, with columns of scores added."""

import csv
import io
import json
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import BinaryIO, Protocol

from semantic_metrics.files.errors import FileError
from semantic_metrics.files.readers import Reader
from semantic_metrics.files.rows import MAX_QUOTED_CHARACTERS, Cell, Chunk, Row, convert_rows

Scores = dict[str, list[float]]
TABLE_FORMATS = ("csv", "tsv", "jsonl", "parquet")  # formats with more than one column
TEXT_TYPES = (date, datetime, time, Decimal)  # written as their text where a format has no type for them


class Writer(Protocol):
    """A file of scored rows that is being written."""

    def write(self, chunk: Chunk, scores: Scores) -> None:
        """Write the rows of a chunk with their scores.

        Raises:
            FileError: a row does not fit the columns, or the format cannot hold one of its values; names the row.
        """

    def close(self) -> None:
        """Write what is still to be written; the file itself stays open."""


class CsvWriter:
    """A `Writer` of CSV, all of it quoted, or of TSV, which has no quotes.

    Args:
        file: file to write to, at its end.
        columns: names of all columns, those of the scores last.
        head: whether the header line is still to be written.
        tabs: whether to write TSV.
    """

    def __init__(self, file: BinaryIO, columns: list[str], head: bool, tabs: bool = False) -> None:
        self._file, self._columns, self._tabs, self._head = file, columns, tabs, head

    def write(self, chunk: Chunk, scores: Scores) -> None:
        """See `Writer`."""
        known = self._columns[: len(self._columns) - len(scores)]
        for i, row in enumerate(chunk.rows):
            if (new := next((name for name in row if name not in known), None)) is not None:
                raise FileError(f"{chunk.place(i)}: expected the columns of the first row, got {new!r}")
        columns = [*(chunk.column(name) for name in known), *scores.values()]
        head = convert_rows([self._columns], self._line, lambda _: "names of the columns") if self._head else []
        self._file.write(b"".join([*head, *convert_rows(zip(*columns, strict=True), self._line, chunk.place)]))
        self._head = False

    def _line(self, row: Iterable[Cell]) -> bytes:
        cells = list(map(cell_text, row))
        if self._tabs:
            if broken := next((cell for cell in cells if any(sign in cell for sign in "\t\n\r")), None):
                what = "texts without tabs and line breaks, which TSV cannot hold"
                raise FileError(f"expected {what}, got {broken[:MAX_QUOTED_CHARACTERS]!r}")
            return encode("\t".join(cells) + "\n")
        text = io.StringIO()
        # all quoted: Python before 3.13 leaves a lone carriage return bare, which no reader takes back
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(cells)
        return encode(text.getvalue())

    def close(self) -> None:
        """See `Writer`; nothing is left to write."""


class JsonlWriter:
    """A `Writer` of JSON objects, one a line; those that were read as such are kept up to their closing brace."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, chunk: Chunk, scores: Scores) -> None:
        """See `Writer`."""
        rows = chunk.lines or convert_rows(chunk.rows, row_text, chunk.place)
        names = [json.dumps(name) for name in scores]
        added = zip(*scores.values(), strict=True) if scores else [()] * len(rows)
        pairs = ([f", {name}: {value!r}" for name, value in zip(names, values, strict=True)] for values in added)
        lines = (f"{row.rstrip()[:-1].rstrip()}{''.join(more)}}}\n" for row, more in zip(rows, pairs, strict=True))
        self._file.writelines(convert_rows(lines, encode, chunk.place))

    def close(self) -> None:
        """See `Writer`; nothing is left to write."""


def open_writer(format: str, file: BinaryIO, reader: Reader, names: list[str], begun: bool = False) -> Writer:
    """What writes the rows of a reader with their scores.

    Args:
        format: one of TABLE_FORMATS; "parquet" for rows of parquet only.
        file: file to write to, at its end.
        reader: where the rows come from.
        names: names of the columns of scores.
        begun: whether rows were written to the file before.
    """
    if format == "parquet":
        from semantic_metrics.files.parquet import ParquetWriter  # pyarrow takes long to import

        return ParquetWriter(file, reader.schema, names)
    if format == "jsonl":
        return JsonlWriter(file)
    return CsvWriter(file, [*reader.columns, *names], not begun, format == "tsv")


def encode(text: str) -> bytes:
    """UTF-8.

    Raises:
        FileError: the text contains a lone surrogate, which JSON may spell but no file can hold.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        raise FileError(f"expected valid Unicode to write, got a lone surrogate ({code})") from None


def cell_text(value: Cell) -> str:
    """A value as CSV holds it: a text as it is, nothing for None, anything else as JSON.

    Raises:
        FileError: only parquet holds the value.
    """
    if isinstance(value, str):
        return value
    return "" if value is None else str(value) if isinstance(value, TEXT_TYPES) else _json(value)


def row_text(row: Row) -> str:
    """A row as JSONL holds it.

    Raises:
        FileError: only parquet holds one of its values.
    """
    return _json(row)


def _json(value: Cell) -> str:
    return json.dumps(value, ensure_ascii=False, default=_as_text)


def _as_text(value: Cell) -> str:
    if isinstance(value, TEXT_TYPES):
        return str(value)
    raise FileError(f"expected texts, numbers and lists, got {type(value).__name__}, which only parquet holds")
