"""Files of rows as the command line reads them, in chunks: whatever their length, few rows are held at a time."""

import errno
import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from semantic_metrics.files.errors import FileError, file_errors, one_line
from semantic_metrics.files.formats import READERS, STREAM, TEXT, Cell, Lines, Row, format_of

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_BYTES = 2**24  # of a text file that are held at a time, however many rows were asked for
REFERENCE = "reference"  # column that the second of two .txt files becomes


@dataclass(frozen=True)
class Chunk:
    """Successive rows of a text file.

    Attributes:
        name: of the file, as messages call it.
        rows: what each column holds. Rows of JSONL may lack columns that others have.
        numbers: the line where each row ends, from 1.
        lines: the rows as they stand in the file, without the line's end; of JSONL only.
    """

    name: str
    rows: list[Row]
    numbers: list[int]
    lines: list[str] | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def column(self, name: str) -> list[Cell]:
        """Values of a column, None where a row lacks it."""
        return [row.get(name) for row in self.rows]

    def place(self, index: int) -> str:
        """What a message calls a row."""
        return f"{self.name}, line {self.numbers[index]}"


class Batch:
    """Successive rows of a parquet file.

    Attributes:
        batch: as they were read; its values become Python's when they are asked for.
    """

    lines = None

    def __init__(self, name: str, batch: "pa.RecordBatch", first: int) -> None:
        self.batch, self._name, self._first = batch, name, first

    def __len__(self) -> int:
        return self.batch.num_rows

    @cached_property
    def rows(self) -> list[Row]:
        """What each column holds."""
        return self.batch.to_pylist()

    def column(self, name: str) -> list[Cell]:
        """Values of a column."""
        return self.batch.column(name).to_pylist()

    def place(self, index: int) -> str:
        """What a message calls a row."""
        return f"{self._name}, row {self._first + index}"


class TextSource:
    """A text file, read in chunks.

    Attributes:
        name: of the file, as messages call it.
        format: of FORMATS.
        columns: of its first row.
        rows: those that are still to be read.
        total: bytes that there are to read; None where that is not known, as of a pipe.
        unit: of `total` and `done`.
    """

    unit = "B"

    def __init__(self, name: str, format: str, file: BinaryIO, total: int | None) -> None:
        self.name, self.format, self.total = name, format, total
        self._lines = Lines(name, file, returns=format in ("csv", "tsv"))
        rows = READERS[format](self._lines)
        first = next(rows)
        self.columns = list(first[0])
        self.rows = itertools.chain([first], rows)

    @property
    def done(self) -> int:
        """Bytes read so far."""
        return self._lines.read

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows, `size` at a time, or fewer where they are long."""
        while True:
            start, rows, numbers, lines = self._lines.read, [], [], []
            for row, line in itertools.islice(self.rows, size):
                rows.append(row)
                numbers.append(self._lines.number)
                lines.append(line)
                if self._lines.read - start >= CHUNK_BYTES:
                    break
            if not rows:
                return
            yield Chunk(self.name, rows, numbers, lines if self.format == "jsonl" else None)


class ParquetSource:
    """A parquet file, read in chunks.

    Attributes:
        name: of the file, as messages call it.
        schema: of its columns.
        columns: their names.
        total: rows.
        done: rows read so far.
    """

    format, unit = "parquet", "row"

    def __init__(self, name: str, file: BinaryIO) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            self._file = parquet.ParquetFile(file)
        except (pa.ArrowException, OSError) as error:
            raise FileError(f"{name}: expected a parquet file ({one_line(error)})") from None
        self.name, self.schema, self.done = name, self._file.schema_arrow, 0
        self.columns, self.total = self.schema.names, self._file.metadata.num_rows
        if len(set(self.columns)) < len(self.columns):
            raise FileError(f"{name}: expected column names that differ, got {', '.join(map(repr, self.columns))}")
        if not self.total:
            raise FileError(f"{name}: expected rows, got none")

    def chunks(self, size: int) -> Iterator[Batch]:
        """The rows, `size` at a time."""
        import pyarrow as pa

        batches = self._file.iter_batches(size)
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError) as error:
                raise FileError(f"{self.name}, after row {self.done}: cannot be read ({one_line(error)})") from None
            if batch is None:
                return
            first = self.done + 1
            self.done += batch.num_rows
            yield Batch(self.name, batch, first)


class PairedSource:
    """Two .txt files, read side by side: columns `text` and `reference`.

    Attributes:
        name, format, total, done, unit: as of the first file's TextSource.
        columns: the two.
    """

    columns = (TEXT, REFERENCE)
    format, unit = "txt", "B"

    def __init__(self, first: TextSource, second: TextSource) -> None:
        self.name, self.total = first.name, first.total
        self._first, self._second = first, second

    @property
    def done(self) -> int:
        """Bytes of the first file that were read."""
        return self._first.done

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows, `size` at a time, or fewer where they are long."""
        for chunk in self._first.chunks(size):
            references = list(itertools.islice(self._second.rows, len(chunk)))
            if len(references) < len(chunk):
                raise FileError(f"{self._second.name}: it became shorter while it was read")
            rows = [row | {REFERENCE: other[TEXT]} for row, (other, _) in zip(chunk.rows, references, strict=True)]
            yield Chunk(chunk.name, rows, chunk.numbers)


Source = TextSource | ParquetSource | PairedSource


@contextmanager
def open_source(path: Path, format: str | None = None) -> Iterator[Source]:
    """A file to read, in any of FORMATS; `-` is standard input.

    Raises:
        FileError: it is no file, unreadable, empty, or not of its format; says where.
    """
    if path == STREAM:
        if sys.stdin is None:
            raise FileError("standard input: expected rows, it is closed")
        yield TextSource("standard input", format_of(path, format), sys.stdin.buffer, None)
        return
    with file_errors(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        found = format_of(path, format)
        file = path.open("rb")
    with file:
        size = os.fstat(file.fileno()).st_size or None  # a pipe has none
        yield ParquetSource(str(path), file) if found == "parquet" else TextSource(str(path), found, file, size)


@contextmanager
def open_pair(path: Path, references: Path) -> Iterator[PairedSource]:
    """Two .txt files that go together line by line.

    Raises:
        FileError: they are unreadable, or differ in length; names both with their lines.
    """
    counts = []
    for file in (path, references):
        if file == STREAM or format_of(file) != "txt":
            raise FileError(f"--references-file: expected it with a FILE of .txt, both of them files, got {file}")
        if file.exists() and not (file.is_file() or file.is_dir()):  # both are read twice
            raise FileError(f"--references-file: expected files, got the pipe or device {file}")
        with open_source(file) as source:
            counts.append(sum(1 for _ in source.rows))
    if counts[0] != counts[1]:
        raise FileError(f"{references}: expected {counts[0]} lines, one for each of {path}, got {counts[1]}")
    with open_source(path) as first, open_source(references) as second:
        yield PairedSource(first, second)
