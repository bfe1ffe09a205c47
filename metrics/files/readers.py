"""Files of rows, read in chunks: whatever their length, few rows are in memory at a time."""

import errno
import gzip
import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from semantic_metrics.files import FileError, file_errors
from semantic_metrics.files.formats import GZIP, PARSERS, STREAM, Lines, format_of
from semantic_metrics.files.rows import Chunk

CHUNK_BYTES = 2**24  # most bytes of a text file in a chunk, however many rows were asked for


class Reader(Protocol):
    """A file of rows that is being read."""

    name: str  # what messages call the file
    format: str  # one of FORMATS
    columns: list[str]  # names of its columns; in JSONL those of the first row
    total: int | None  # how much there is to read, in `unit`; None if that is not known, as for a pipe
    unit: str  # "B" for bytes, or "row"

    @property
    def done(self) -> int:
        """How much has been read, in `unit`."""

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows, `size` at a time, or fewer if they are long."""


class TextReader:
    """A `Reader` of .txt, .csv, .tsv, .jsonl and .json."""

    unit = "B"

    def __init__(self, name: str, format: str, file: BinaryIO, total: int | None) -> None:
        self.name, self.format, self.total = name, format, total
        self._lines = Lines(name, file, format in ("csv", "tsv"), total is not None)
        rows = PARSERS[format](self._lines)
        first = next(rows)
        self.columns = list(first[0])
        self._rows = itertools.chain([first], rows)

    @property
    def done(self) -> int:
        """Bytes read so far."""
        return self._lines.read

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows, `size` at a time, or fewer if they are long."""
        while True:
            start, rows, numbers, lines = self._lines.read, [], [], []
            for row, line in itertools.islice(self._rows, size):
                rows.append(row)
                numbers.append(self._lines.number)
                lines.append(line)
                if self._lines.read - start >= CHUNK_BYTES:
                    break
            if not rows:
                return
            yield Chunk(
                f"{self.name}, {self._lines.unit}",
                numbers,
                rows,
                [line for line in lines if line is not None] if self.format == "jsonl" else None,
            )


@contextmanager
def open_reader(path: Path, format: str | None = None) -> Iterator[Reader]:
    """Open a file in any of FORMATS; `-` is standard input."""
    if path == STREAM:
        if sys.stdin is None:
            raise FileError("standard input: expected rows, it is closed")
        yield TextReader("standard input", format_of(path, format), sys.stdin.buffer, None)
        return
    with file_errors(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        format = format_of(path, format)
        if path.is_char_device() or path.is_block_device():
            raise FileError(f"{path}: expected a file or a pipe, got a device")
        file = path.open("rb")
    with file:
        if format == "parquet":
            from semantic_metrics.files.parquet import ParquetReader  # pyarrow takes long to import

            yield ParquetReader(str(path), file)
        else:
            size = os.fstat(file.fileno()).st_size or None  # a pipe has none
            packed = path.suffix.lower() == GZIP  # of unknown length, like a pipe
            opened: Any = gzip.GzipFile(fileobj=file) if packed else nullcontext(file)
            with opened as rows:
                yield TextReader(str(path), format, rows, None if packed else size)
