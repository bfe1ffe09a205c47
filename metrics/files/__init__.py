"""Tables on disk: .txt, .csv, .tsv, .jsonl, .json and .parquet, read and written in chunks of rows.

pandas (`read_csv` and `read_json` with `chunksize`), pyarrow and `datasets` were weighed for the text formats: none of
them names the line of a bad row, keeps lines of JSONL byte for byte, or reads two formats alike (each guesses types and
missing values in its own way), and all of them take longer to import than `score --help` may take. The 160 lines of
formats.py do that in the memory of one chunk, so ours are kept; parquet is read and written by pyarrow.

Whatever in this folder reads, writes or checks a file raises a FileError: the file is missing, is not in its format,
lacks a column, or holds another value than expected; the message names the row, counted from 1.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileError(ValueError):
    """A file cannot be read, written or used as asked; the message names it, and the row where one is to blame."""


def one_line(error: Exception) -> str:
    """The message of an exception on one line."""
    return " ".join(str(error).split())


@contextmanager
def file_errors(path: Path | str) -> Iterator[None]:
    """Turn errors of the operating system into one that names the file."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
