"""Files to write: checked before any model runs, written aside, and renamed when they are complete."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import BinaryIO

from semantic_metrics.files import FileError, file_errors
from semantic_metrics.files.formats import GZIP, STREAM

NAMELESS = hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir()  # whether the system has files without a name


def check_output(path: Path, name: str = "", inputs: Iterable[Path] = ()) -> None:
    """Check, before any model runs, that a file can be written and is no input of the command.

    Raises:
        FileError: it cannot, or it is one; calls the file `name`.
    """
    name = name or str(path)
    if path == STREAM:
        raise FileError(f"{name}: expected a file, got {STREAM}, which only `score --output` takes")
    try:
        with file_errors(name), suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # for a name that is too long, `exists` returns False or raises, by the version of Python
    except FileError:
        raise
    except ValueError:
        raise FileError(f"{name!r}: expected a name without NUL and lone surrogates") from None
    if path.suffix.lower() == GZIP:
        raise FileError(f"{name}: expected a name without {GZIP}, which is read and not written")
    if path.exists() and not path.is_file():
        raise FileError(f"{name}: expected a file to write, got a folder or a device")
    if path.resolve() in {one.resolve() for one in inputs}:
        raise FileError(f"{name}: expected another file than those that are read")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileError(f"{name}: expected an existing folder, there is no {folder}")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise FileError(f"{name}: expected a place that can be written, got one that is read-only")
    with file_errors(name), TemporaryFile(dir=folder), suppress(FileNotFoundError):  # to root everything looks writable
        _aside(path.resolve()).stat()  # fails if this longer name is too long


def create(path: Path) -> BinaryIO:
    """A new file to write in the place of an old one; a link there is removed, never followed."""
    path.unlink(missing_ok=True)
    return path.open("xb")  # fails for a link that was put there in between


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which gets its name when it is complete; an incomplete one leaves nothing behind.

    Threads, processes and machines may write one file at a time: the last that is complete stays.

    Raises:
        FileError: the file cannot be written.
    """
    check_output(path)
    path = path.resolve()  # a link stays a link
    aside = _aside(path)
    try:
        with file_errors(path):
            with _named_at_the_end(aside) as file:
                yield file
            aside.replace(path)
    finally:
        with suppress(OSError):
            aside.unlink()


@contextmanager
def _named_at_the_end(path: Path) -> Iterator[BinaryIO]:
    """A new file, which has no name until it is complete where the system can do that: a kill leaves nothing behind."""
    number = -1
    if NAMELESS:
        with suppress(OSError):  # a file system without such files
            number = os.open(path.parent, os.O_RDWR | os.O_TMPFILE, 0o666)
    if number < 0:
        with create(path) as file:
            yield file
        return
    with os.fdopen(number, "w+b") as file:
        yield file
        file.flush()
        try:  # with a folder's number Python calls linkat, which follows the link of /proc
            os.link(f"/proc/self/fd/{number}", path, src_dir_fd=0)
        except OSError:  # some sandboxes forbid links
            file.seek(0)
            with create(path) as copy:
                shutil.copyfileobj(file, copy)


def _aside(path: Path) -> Path:
    """A name for a file until it is complete; in two containers processes may have the same number."""
    return path.with_name(f".{path.name}.{token_hex(4)}")
