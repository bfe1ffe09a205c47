"""Parquet files, read in chunks and written in row groups by pyarrow."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import parquet

from semantic_metrics.files import FileError, one_line
from semantic_metrics.files.rows import Cell, Chunk, Row, check_distinct_columns

TYPES = {float: pa.float64(), str: pa.string(), bool: pa.bool_()}  # of the columns that are added
GROUP_ROWS = 2**16  # rows of a row group: small groups are slow to read, large ones take memory to write
GROUP_BYTES = 2**26  # bytes of a row group


class ParquetReader:
    """A `Reader` of parquet.

    Attributes:
        schema: schema of the file.
    """

    format, unit = "parquet", "row"

    def __init__(self, name: str, file: BinaryIO) -> None:
        try:
            self._file = parquet.ParquetFile(file)
        except (pa.ArrowException, OSError) as error:
            raise FileError(f"{name}: expected a parquet file ({one_line(error)})") from None
        self.name, self.schema, self.done = name, self._file.schema_arrow, 0
        self.columns, self.total = self.schema.names, self._file.metadata.num_rows
        check_distinct_columns(name, self.columns)
        if not self.total:
            raise FileError(f"{name}: expected rows, got none")

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows, `size` at a time."""
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
            yield Chunk(f"{self.name}, row", list(range(first, self.done + 1)), batch=batch)


class ParquetWriter:
    """Parquet, with the schema of the file that was read; scores are doubles, words strings, decisions booleans."""

    def __init__(self, file: BinaryIO, schema: pa.Schema, columns: dict[str, type]) -> None:
        for name, type in columns.items():
            schema = schema.append(pa.field(name, TYPES[type]))
        self._schema, self._writer = schema, parquet.ParquetWriter(file, schema)
        self._batches: list[pa.RecordBatch] = []

    def write(self, chunk: Chunk, scores: dict[str, list[Any]]) -> None:
        """Add the rows of a chunk; enough of them are written as a row group."""
        added = [pa.array(values, self._schema.field(name).type) for name, values in scores.items()]
        self._batches.append(pa.RecordBatch.from_arrays([*chunk.batch.columns, *added], schema=self._schema))
        rows, size = (sum(values) for values in zip(*((len(one), one.nbytes) for one in self._batches), strict=True))
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        """Write the last rows, and the end of the file."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches, self._schema))
        self._batches = []


class RowsWriter:
    """Parquet of rows without a schema: their types are known when the last one is."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._rows = file, list[Row]()

    def write(self, chunk: Chunk, scores: dict[str, list[Any]]) -> None:
        """Keep the rows."""
        for i, row in enumerate(chunk.rows):
            self._rows.append(row | {name: values[i] for name, values in scores.items()})

    def close(self) -> None:
        """Write all rows; a column that a row lacks is null there."""
        names = dict.fromkeys(name for row in self._rows for name in row)
        write_parquet(self._file, {name: [row.get(name) for row in self._rows] for name in names})


def write_parquet(file: BinaryIO, columns: dict[str, list[Cell]]) -> None:
    """Write columns, each with the type of its values."""
    try:
        parquet.write_table(pa.table(columns), file)
    except (pa.ArrowException, TypeError, OverflowError, UnicodeError) as error:
        raise FileError(f"expected values of one type in each column, and such as .parquet holds ({error})") from None
