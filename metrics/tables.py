"""CSV files as the command line reads and writes them, and what is said where that cannot be done."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import suppress
import csv
from dataclasses import dataclass
import os
from pathlib import Path
from tempfile import TemporaryFile

from .errors import InputError


@dataclass(frozen=True)
class Table:
    """The rows of a file.

    Attributes:
        columns: their names, in the file's order.
        rows: one list of values for each row, as long as `columns`.
    """

    columns: list[str]
    rows: list[list[str]]

    def column(self, option: str, name: str) -> list[str]:
        """Values of a column.

        Raises:
            InputError: there is none of that name; lists those there are.
        """
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise InputError(f"{option}: expected one of the columns {known}, got {name!r}")
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


def read_csv(path: Path) -> Table:
    """Read a CSV file (UTF-8, commas, a header line).

    Raises:
        InputError: it is no file, unreadable, empty, not UTF-8, or its rows do not fit its header; says where.
    """
    csv.field_size_limit(2**31 - 1)  # the default, 128 KiB, is less than a long document
    with _named(path), path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        columns = next(reader, [])
        if not columns:
            raise InputError(f"{path}: expected a header line and rows, got an empty file")
        if len(set(columns)) < len(columns):
            raise InputError(f"{path}: expected column names that differ, got {', '.join(map(repr, columns))}")
        rows = []
        for row in filter(None, reader):
            if len(row) != len(columns):
                raise InputError(
                    f"{path}, line {reader.line_num}: expected {len(columns)} values as in the header, got {len(row)}"
                )
            rows.append(row)
    if not rows:
        raise InputError(f"{path}: expected rows below the header, got none")
    return Table(columns, rows)


def check_output(path: Path, name: str = "") -> None:
    """See that a file can be written, before any model runs.

    Args:
        path: of the file.
        name: what a message calls it; by default the path.

    Raises:
        InputError: it is there and no regular file, its name is too long, or its folder is missing or read-only.
    """
    name = name or str(path)
    with _named(name), suppress(FileNotFoundError, NotADirectoryError):
        path.stat()  # `exists` says no of a name that is too long, or raises, by the version of Python
    if path.exists() and not path.is_file():
        raise InputError(f"{name}: expected a file to write, got a folder or a device")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{name}: expected an existing folder, there is no {folder}")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"{name}: expected a place that can be written, got one that is read-only")
    with _named(name), TemporaryFile(dir=folder):
        pass  # to root everything looks writable


def write_csv(path: Path, table: Table) -> None:
    """Write a CSV file: aside first, and renamed when it is complete, so that half of it never passes for all.

    Raises:
        InputError: it cannot be written there.
    """
    check_output(path)
    path = path.resolve()  # a link stays a link
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _named(path), aside.open("w", encoding="utf-8", newline="") as file:
            # all quoted: Python before 3.13 leaves a lone carriage return bare, which no reader takes back
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerows([table.columns, *table.rows])
        with _named(path):
            aside.replace(path)
    finally:
        with suppress(OSError):
            aside.unlink()


@contextmanager
def _named(path: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected UTF-8 text, got the byte 0x{error.object[error.start]:02x}") from None
    except csv.Error as error:
        raise InputError(f"{path}: expected CSV ({error})") from None
