"""Files of rows as the command line writes them: the rows that were read, with columns of scores added."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from semantic_metrics.files.errors import FileError
from semantic_metrics.files.formats import Cell, Row
from semantic_metrics.files.readers import Batch, Chunk, Source

if TYPE_CHECKING:
    import pyarrow as pa

Scores = dict[str, list[float]]
Place = Callable[[int], str]
Value = TypeVar("Value")
Written = TypeVar("Written")
WRITTEN = ("csv", "tsv", "jsonl", "parquet")  # formats that hold more than one column
GROUP_ROWS = 2**16  # of a row group of parquet: small groups are slow to read, large ones take memory to write
GROUP_BYTES = 2**26
QUOTED = 40  # characters of a value that a message repeats
_PLAIN = (date, datetime, time, Decimal)  # what is written as its text where a format has no type for it


class CsvSink:
    """CSV, all of it quoted, or TSV, which has no quotes.

    Args:
        file: to write to, at its end.
        columns: names of all columns, those of the scores last.
        head: whether the header line is still to be written.
        tabs: TSV.
    """

    def __init__(self, file: BinaryIO, columns: list[str], head: bool, tabs: bool = False) -> None:
        self._file, self._columns, self._tabs, self._head = file, columns, tabs, head

    def write(self, chunk: Chunk | Batch, scores: Scores) -> None:
        """Write the rows of a chunk.

        Raises:
            FileError: a row has a column that the header lacks, or a value that cannot be written so; names it.
        """
        known = self._columns[: len(self._columns) - len(scores)]
        for i, row in enumerate(chunk.rows):
            if (new := next((name for name in row if name not in known), None)) is not None:
                raise FileError(f"{chunk.place(i)}: expected the columns of the first row, got {new!r}")
        added = _by_row(scores, len(chunk))
        rows = [[*map(row.get, known), *values] for row, values in zip(chunk.rows, added, strict=True)]
        self.write_rows(rows, chunk.place)

    def write_rows(self, rows: list[list[Cell]], place: Place) -> None:
        """Write lines, below the header's if that is still to be written.

        Raises:
            FileError: a value cannot be written so; names its row.
        """
        head = by_row([self._columns], self._line, lambda _: "names of the columns") if self._head else []
        self._file.write(b"".join([*head, *by_row(rows, self._line, place)]))
        self._head = False

    def _line(self, row: list[Cell]) -> bytes:
        cells = list(map(cell_text, row))
        if self._tabs:
            if broken := next((cell for cell in cells if any(sign in cell for sign in "\t\n\r")), None):
                what = "texts without tabs and line breaks, which TSV cannot hold"
                raise FileError(f"expected {what}, got {broken[:QUOTED]!r}")
            return encode("\t".join(cells) + "\n")
        text = io.StringIO()
        # all quoted: Python before 3.13 leaves a lone carriage return bare, which no reader takes back
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(cells)
        return encode(text.getvalue())

    def close(self) -> None:
        """Nothing is held back."""


class JsonlSink:
    """JSON objects, one a line; those that were read as such stay as they are, up to their closing brace."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, chunk: Chunk | Batch, scores: Scores) -> None:
        """Write the rows of a chunk.

        Raises:
            FileError: a value cannot be written so; names its row.
        """
        names = [json.dumps(name) for name in scores]
        rows = chunk.lines or by_row(chunk.rows, row_text, chunk.place)
        for row, added in zip(rows, _by_row(scores, len(rows)), strict=True):
            tail = "".join(f", {name}: {value!r}" for name, value in zip(names, added, strict=True))
            self._file.write(encode(f"{row.rstrip()[:-1].rstrip()}{tail}}}\n"))

    def close(self) -> None:
        """Nothing is held back."""


class ParquetSink:
    """Parquet, with the schema of the file that was read and the scores as doubles."""

    def __init__(self, file: BinaryIO, schema: "pa.Schema", names: list[str]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        for name in names:
            schema = schema.append(pa.field(name, pa.float64()))
        self._schema, self._writer = schema, parquet.ParquetWriter(file, schema)
        self._held: list[pa.RecordBatch] = []

    def write(self, chunk: Batch, scores: Scores) -> None:
        """Write the rows of a chunk, together with others as a row group."""
        import pyarrow as pa

        added = [pa.array(values, pa.float64()) for values in scores.values()]
        self._held.append(pa.RecordBatch.from_arrays([*chunk.batch.columns, *added], schema=self._schema))
        if sum(map(len, self._held)) >= GROUP_ROWS or sum(batch.nbytes for batch in self._held) >= GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write what was held back, and the file's end."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held, self._schema))
        self._held = []


Sink = CsvSink | JsonlSink | ParquetSink


def open_sink(format: str, file: BinaryIO, source: Source, names: list[str], begun: bool = False) -> Sink:
    """What writes the rows of a source and their scores.

    Args:
        format: of WRITTEN; "parquet" for rows of parquet only.
        file: to write to, at its end.
        source: of the rows.
        names: of the columns of scores.
        begun: rows were written to it before.
    """
    if format == "parquet":
        return ParquetSink(file, source.schema, names)
    if format == "jsonl":
        return JsonlSink(file)
    return CsvSink(file, [*source.columns, *names], not begun, format == "tsv")


def by_row(rows: Iterable[Value], written: Callable[[Value], Written], place: Place) -> list[Written]:
    """What rows, or the values of a column, are written as.

    Args:
        rows: to write.
        written: as what.
        place: what a message calls a row, from its index.

    Raises:
        FileError: one cannot be written so; says which.
    """
    found = []
    for i, row in enumerate(rows):
        try:
            found.append(written(row))
        except FileError as error:
            raise FileError(f"{place(i)}: {error}") from None
    return found


def encode(text: str) -> bytes:
    """UTF-8.

    Raises:
        FileError: the text holds a lone surrogate, which JSON may spell but no file can hold.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        raise FileError(f"expected valid Unicode to write, got a lone surrogate ({code})") from None


def cell_text(value: Cell) -> str:
    """A value as CSV holds it: a text as it is, nothing for None, all else as JSON.

    Raises:
        FileError: only parquet holds it.
    """
    if isinstance(value, str):
        return value
    return "" if value is None else str(value) if isinstance(value, _PLAIN) else _json(value)


def row_text(row: Row) -> str:
    """A row as JSONL holds it.

    Raises:
        FileError: a value of it is held by parquet only.
    """
    return _json(row)


def _json(value: Cell) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Cell) -> str:
    if isinstance(value, _PLAIN):
        return str(value)
    raise FileError(f"expected texts, numbers and lists, got {type(value).__name__}, which only parquet holds")


def _by_row(scores: Scores, count: int) -> Sequence[tuple[float, ...]]:
    return list(zip(*scores.values(), strict=True)) if scores else [()] * count
