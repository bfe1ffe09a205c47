"""An output that is written chunk by chunk, under another name until it is complete: a killed run can be continued.

Beside `out.jsonl` there are `.out.jsonl.partial`, the rows so far, and the note `.out.jsonl.partial.json`: how many
rows these are, how many bytes they take (more may follow from a chunk that was cut off), the hashes of the rows that
were read and of the bytes that were written, and the options of the run. Both are removed when the output is complete.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.scoring import LoadedMetric
from semantic_metrics.files import FileError, file_errors
from semantic_metrics.files.output import create
from semantic_metrics.files.readers import Reader
from semantic_metrics.files.rows import Chunk
from semantic_metrics.files.writers import Scores, open_writer

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # never follow a symlink at the partial file's path
HASH_BLOCK_BYTES = 2**20  # bytes that are read and hashed at a time
RESUMABLE = ("csv", "tsv", "jsonl")  # formats to which rows can be added at their end


class OtherRun(InputError):
    """The rows that are to be continued belong to another run."""


class Output:
    """A file of scored rows in the making, in one of writers.TABLE_FORMATS, of which `rows` are done.

    With `resume` it goes on with what an earlier run of the same options left, if it left anything, and the metrics get
    the sums of those rows. It is refused while another run writes it, and if its rows belong to another run (OtherRun).
    """

    def __init__(
        self,
        path: Path,
        format: str,
        reader: Reader,
        metrics: list[LoadedMetric],
        options: dict[str, Any],
        resume: bool,
    ) -> None:
        self._path = path.resolve()  # a link stays a link
        self._aside = self._path.with_name(f".{self._path.name}.partial")
        self._note = self._path.with_name(f"{self._aside.name}.json")
        self._new_note = self._note.with_name(f"{self._note.name}.new")
        self._name, self._reader, self._metrics = str(path), reader, metrics
        self._options = json.loads(json.dumps(options | {f"signature of {m.name}": m.signature for m in metrics}))
        self._keeps = format in RESUMABLE and reader.total is not None
        self._read_hash, self._written_hash = hashlib.sha256(), hashlib.sha256()
        with file_errors(path):
            self._file = _open_locked(self._aside, str(path))
        try:
            note = self._read_note() if resume else None
            with file_errors(path):
                self._begin(note)
        except (InputError, FileError):
            self._file.close()
            raise
        columns = {name: type for metric in metrics for name, type in metric.columns.items()}
        self._writer = open_writer(format, self._file, reader, columns, begun=self.rows > 0)

    def _begin(self, note: dict[str, Any] | None) -> None:
        self.rows: int = 0 if note is None else note["rows"]
        self._read: str = "" if note is None else note["read"]
        size = 0 if note is None else note["bytes"]
        if note is None:
            self._note.unlink(missing_ok=True)  # first: a partial file without a note is never continued
        else:
            self._add_written(0, size)
            if self._written_hash.hexdigest() != note["written"]:
                self._refuse(f"{self._aside} was changed")
        self._file.truncate(size)
        self._file.seek(size)

    def remaining(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The reader's chunks that are not done."""
        passed, done = 0, self.rows
        for chunk in chunks:
            if passed >= done:
                yield chunk
                continue
            passed += len(chunk)
            self._add_read(chunk)
            if passed >= done and (passed > done or self._read_hash.hexdigest() != self._read):
                self._refuse(f"the first {done} rows of {self._reader.name} are not those that were scored")
        if passed < done:
            self._refuse(f"{self._reader.name} has {passed} rows, and {done} were scored")

    def write(self, chunk: Chunk, scores: Scores) -> None:
        """Add the rows of a chunk."""
        with file_errors(self._name):
            begin = self._file.tell()
            self._writer.write(chunk, scores)
            self._file.flush()
            self.rows += len(chunk)
            if self._keeps:
                self._add_read(chunk)
                self._add_written(begin, self._file.tell())
                self._write_note()

    def finish(self) -> None:
        """Give the file its name: it is complete."""
        with file_errors(self._name):
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._aside.replace(self._path)
            self._note.unlink(missing_ok=True)
            self._new_note.unlink(missing_ok=True)
            self._file.close()

    def abandon(self) -> str:
        """Stop before the end; rows that can be continued are kept.

        Returns:
            The end of a message that says so; empty if nothing is kept.
        """
        with suppress(OSError, ValueError):
            self._writer.close()  # otherwise parquet's writer writes to a closed file when it is garbage-collected
        with suppress(OSError):
            self._file.close()
        if self._keeps and self.rows:
            return f"; {self.rows} rows are scored, --resume continues after them"
        for path in (self._note, self._new_note, self._aside):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        return ""

    def _add_read(self, chunk: Chunk) -> None:
        self._read_hash.update(repr(chunk.lines or chunk.rows).encode("utf-8", "surrogatepass"))

    def _add_written(self, begin: int, end: int) -> None:
        """Add the bytes from `begin` to `end`, where the file then stays."""
        self._file.seek(begin)
        while data := self._file.read(min(HASH_BLOCK_BYTES, end - self._file.tell())):
            self._written_hash.update(data)

    def _write_note(self) -> None:
        sums = {metric.name: {"total": metric.total, "counts": metric.counts} for metric in self._metrics}
        note = {
            "rows": self.rows,
            "bytes": self._file.tell(),
            "read": self._read_hash.hexdigest(),
            "written": self._written_hash.hexdigest(),
            "options": self._options,
            "metrics": sums,
        }
        with create(self._new_note) as file:
            file.write(json.dumps(note).encode())
        self._new_note.replace(self._note)

    def _read_note(self) -> dict[str, Any] | None:
        """The note that an earlier run left; None if it left none."""
        if not self._aside.stat().st_size:
            return None  # only the note is left of a run that was killed after it had renamed its rows
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            self._refuse(f"{self._note} cannot be read ({error})")
        if not _is_note(note, [metric.name for metric in self._metrics]):
            self._refuse(f"{self._note} is no note of a run")
        before, now = note["options"], self._options
        for name in dict.fromkeys([*now, *before]):
            if before.get(name) != now.get(name):
                self._refuse(f"{name} was {_spell(before.get(name))}, now it is {_spell(now.get(name))}")
        if self._aside.stat().st_size < note["bytes"]:
            self._refuse(f"{self._aside} is shorter than its note says")
        for metric in self._metrics:
            sums = note["metrics"][metric.name]
            metric.rows, metric.total = note["rows"], sums["total"]
            metric.counts.update(sums["counts"])
        return note

    def _refuse(self, why: str) -> NoReturn:
        self._file.close()
        raise OtherRun(f"--resume: {self._name} cannot be continued: {why}; without --resume it is started over")


def _is_note(note: object, metrics: list[str]) -> bool:
    """Whether a note holds what `_write_note` writes; metrics may be missing: options are compared later."""
    if not isinstance(note, dict) or not isinstance(note.get("options"), dict):
        return False
    sums, counts = note.get("metrics"), [note.get("rows"), note.get("bytes")]
    if not isinstance(sums, dict) or not all(isinstance(note.get(name), str) for name in ("read", "written")):
        return False
    for own in (sums[name] for name in metrics if name in sums):
        if not (
            isinstance(own, dict)
            and isinstance(own.get("counts"), dict)
            and type(own.get("total")) is float
            and isfinite(own["total"])
        ):
            return False
        counts += own["counts"].values()
    return all(type(count) is int and count >= 0 for count in counts)


def _spell(value: object) -> str:
    return "not given" if value is None else " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _open_locked(path: Path, name: str) -> BinaryIO:
    """Open a file without truncating it, to be written by this process alone."""
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666), "r+b")
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not a POSIX system: two runs at once go unnoticed
            return file
        except BlockingIOError:
            file.close()
            raise InputError(f"{name}: expected a file that no other run is writing") from None
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()  # the other run finished in between, and the file opened here is its output
