"""An output that is written chunk by chunk: aside until it is complete, and so that a killed run can be continued.

Beside `out.jsonl` stand `.out.jsonl.partial`, the rows so far, and `.out.jsonl.partial.json`, what is known of them:
how many they are, how many bytes they take (more may follow of a chunk that was cut off), the hash of the rows that
were read, and the run's options. Both are gone when the output is complete.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.scoring import Running
from semantic_metrics.files.errors import FileError, file_errors
from semantic_metrics.files.readers import Batch, Chunk, Source
from semantic_metrics.files.writers import Scores, open_sink

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # what stands where a partial file should may lead elsewhere
RESUMABLE = ("csv", "tsv", "jsonl")  # formats to which rows can be added at their end


class OtherRun(InputError):
    """What is to be continued is no part of this run."""


class Output:
    """A file of scored rows in the making.

    Args:
        path: of the file.
        format: of sinks.WRITTEN.
        source: of the rows.
        metrics: that score them; with `resume` they get the sums of the rows that are done.
        options: of the run, by name: those that an earlier run must have had too.
        resume: continue what an earlier run left, if it left anything.

    Raises:
        InputError: it cannot be written, or another run is writing it.
        OtherRun: what is to be continued is another run.
    """

    def __init__(
        self, path: Path, format: str, source: Source, metrics: list[Running], options: dict[str, object], resume: bool
    ) -> None:
        self._path = path.resolve()  # a link stays a link
        self._aside = self._path.with_name(f".{self._path.name}.partial")
        self._note = self._path.with_name(f"{self._aside.name}.json")
        self._name, self._source, self._metrics, self._format = str(path), source, metrics, format
        self._options = json.loads(json.dumps(options | {f"signature of {m.name}": m.signature for m in metrics}))
        self._keeps = format in RESUMABLE and source.total is not None
        self._hash = hashlib.sha256()
        with file_errors(path):
            self._file = _open_locked(self._aside, str(path))
        try:
            note = self._read_note() if resume else None
            with file_errors(path):
                self._begin(note)
        except (InputError, FileError):
            self._file.close()
            raise
        names = [metric.name for metric in metrics]
        self._sink = open_sink(format, self._file, source, names, begun=note is not None)

    def _begin(self, note: dict | None) -> None:
        if note is None:
            self._note.unlink(missing_ok=True)  # first: without its note a partial file is nothing
        self.rows, self._read = (0, "") if note is None else (note["rows"], note["read"])
        self._file.truncate(0 if note is None else note["bytes"])
        self._file.seek(0, os.SEEK_END)

    def remaining(self, chunks: Iterable[Chunk | Batch]) -> Iterator[Chunk | Batch]:
        """Those of the source's chunks that are not done.

        Raises:
            OtherRun: what the earlier run read is not what stands there now.
        """
        passed, done = 0, self.rows
        for chunk in chunks:
            if passed >= done:
                yield chunk
                continue
            passed += len(chunk)
            self._add_hash(chunk)
            if passed >= done and (passed > done or self._hash.hexdigest() != self._read):
                self._refuse(f"the first {done} rows of {self._source.name} are not those that were scored")
        if passed < done:
            self._refuse(f"{self._source.name} has {passed} rows, and {done} were scored")

    def write(self, chunk: Chunk | Batch, scores: Scores) -> None:
        """Add the rows of a chunk."""
        with file_errors(self._name):
            self._sink.write(chunk, scores)
            self._file.flush()
            self.rows += len(chunk)
            if self._keeps:
                self._add_hash(chunk)
                self._write_note()

    def finish(self) -> None:
        """Give the file its name: it is complete."""
        with file_errors(self._name):
            self._sink.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._aside.replace(self._path)
            self._note.unlink(missing_ok=True)
            self._file.close()

    def abandon(self) -> str:
        """Stop before the end; what can be continued is kept.

        Returns:
            What is to be said of it; nothing where nothing is kept.
        """
        with suppress(OSError, ValueError):
            self._sink.close()  # parquet's writer would else write to a closed file when it is collected
        with suppress(OSError):
            self._file.close()
        if self._keeps and self.rows:
            return f"; {self.rows} rows are scored, --resume continues after them"
        for path in (self._note, self._aside):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        return ""

    def _add_hash(self, chunk: Chunk | Batch) -> None:
        self._hash.update(repr(chunk.lines or chunk.rows).encode("utf-8", "surrogatepass"))

    def _write_note(self) -> None:
        sums = {metric.name: {"total": metric.total, "counts": metric.counts} for metric in self._metrics}
        note = {
            "rows": self.rows,
            "bytes": self._file.tell(),
            "read": self._hash.hexdigest(),
            "options": self._options,
            "metrics": sums,
        }
        aside = self._note.with_name(f"{self._note.name}.new")
        aside.write_text(json.dumps(note), encoding="utf-8")
        aside.replace(self._note)

    def _read_note(self) -> dict | None:
        """What an earlier run left; None where that is nothing."""
        if not self._aside.stat().st_size:
            return None  # a run that was killed after it gave its rows their name leaves the note alone
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._refuse(f"{self._note} cannot be read ({error})")
        if not _is_note(note, [metric.name for metric in self._metrics]):
            self._refuse(f"{self._note} is no note of a run")
        before, now = note["options"], self._options
        for name in dict.fromkeys([*now, *before]):
            if before.get(name) != now.get(name):
                self._refuse(f"{name} was {_told(before.get(name))}, now it is {_told(now.get(name))}")
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
    """Whether a note holds what `_write_note` writes; not the metrics of other options, which are told by name."""
    if not isinstance(note, dict) or not isinstance(note.get("options"), dict):
        return False
    sums, counts = note.get("metrics"), [note.get("rows"), note.get("bytes")]
    if not isinstance(sums, dict) or not isinstance(note.get("read"), str):
        return False
    held = [sums[name] for name in metrics if name in sums]
    whole = all(isinstance(one, dict) and {"total", "counts"} <= set(one) for one in held)
    return whole and all(type(count) is int and count >= 0 for count in counts)


def _told(value: object) -> str:
    return "not given" if value is None else " ".join(value) if isinstance(value, list) else str(value)


def _open_locked(path: Path, name: str) -> BinaryIO:
    """Open a file as it is, to be written by this process alone."""
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666), "r+b")
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no POSIX system: two runs at once go unnoticed
            return file
        except BlockingIOError:
            file.close()
            raise InputError(f"{name}: expected a file that no other run is writing") from None
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()  # the other run finished in between, and the file opened here is its output
