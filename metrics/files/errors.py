"""The error of a file that cannot be used, in the library's form: a ValueError whose message names the file.

Whatever in this folder reads, writes or checks a file raises it: the file is missing, is not in its format, lacks a
column, or holds another value than expected; the message names the row, counted from 1.
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
