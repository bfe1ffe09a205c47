"""The formats of tables, and how text in each of them is parsed, line by line."""

import csv
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from semantic_metrics.core.inputs import quote
from semantic_metrics.files import FileError, file_errors, one_line
from semantic_metrics.files.rows import Cell, Row, check_distinct_columns, hint_of_separator

FORMATS = ("txt", "csv", "tsv", "jsonl", "json", "parquet")
GZIP = ".gz"  # ending of a compressed file, behind that of its format
TEXT = "text"  # the one column of a .txt file
STREAM = Path("-")  # standard input or output
MAX_LEVELS = 100  # of lists and objects inside one another in JSON; Python's own limit of some 1,000 is a crash
MAX_WHOLE_BYTES = 2**30  # of a file that is read as a whole
MAX_UNPACKED_BYTES = 2**26  # of the same in a packed file or a pipe: in memory it may be thirty times as much
BLOCK_BYTES = 2**24  # of such a file, that are read at a time
MAX_ROW_BYTES = 2**27  # of a row of several lines, and of blank lines between rows
MAX_LINE_BYTES = 2**26  # of a line, and characters of a CSV cell: no text is as long, but an endless input is


def format_of(path: Path, given: str | None = None) -> str:
    """The format of a file: the given one, or by default what its name ends in, before GZIP if there is that."""
    streamed = FORMATS[:-1]
    if given is None and path == STREAM:
        raise FileError(f"--format: expected one of {', '.join(streamed)} for {path}, got none")
    packed = path.suffix.lower() == GZIP
    name = Path(path.stem if packed else path).suffix.lower().removeprefix(".") if given is None else given
    if name not in FORMATS or (packed and name not in streamed):
        ends = f"{', '.join(f'.{one}' for one in streamed)} or .{FORMATS[-1]}"
        raise FileError(f"{path}: expected a file that ends in {ends}, got {path.suffix!r}")
    if name not in streamed and path == STREAM:
        raise FileError(f"--format: expected one of {', '.join(streamed)} for {path}, got {name!r}")
    return name


class Lines:
    """The lines of a file without byte order mark, decoded one by one, so that an invalid byte has a line number.

    Attributes:
        name: what messages call the file.
        number: number of the line that was read last, from 1.
        unit: what the numbers count, "line" or "row".
        read: bytes read so far.
        rows_end: bytes read when the last row was complete.
    """

    def __init__(self, name: str, file: BinaryIO, returns: bool, of_known_size: bool = True) -> None:
        self.name, self.number, self.unit, self.read, self.rows_end = name, 0, "line", 0, 0
        self._file, self._returns = file, returns  # returns: a lone carriage return ends a line too, like in CSV
        self._most = MAX_WHOLE_BYTES if of_known_size else MAX_UNPACKED_BYTES

    def __iter__(self) -> Iterator[str]:
        with self._errors():
            while line := self._file.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    self.number += 1
                    self.refuse(f"expected lines of at most {MAX_LINE_BYTES // 2**20} MiB, got a longer one")
                self.read += len(line)
                if self.read - self.rows_end > MAX_ROW_BYTES:
                    self.refuse(f"expected a row in each {MAX_ROW_BYTES // 2**20} MiB, got blank or unfinished ones")
                for part in line.splitlines(keepends=True) if self._returns else [line]:
                    self.number += 1
                    try:
                        text = part.decode("utf-8")
                    except UnicodeDecodeError as error:
                        self.refuse(f"expected UTF-8 text, got the byte 0x{part[error.start]:02x}")
                    yield text.removeprefix("\ufeff") if self.number == 1 else text

    def whole(self) -> str:
        """The whole file as one text: a list of lines would take many times the memory where lines are short.

        Raises:
            FileError: it is longer than MAX_WHOLE_BYTES (of unknown size: MAX_UNPACKED_BYTES), or not UTF-8.
        """
        parts = []
        with self._errors():
            while part := self._file.read(BLOCK_BYTES):
                self.read += len(part)
                if self.read > self._most:
                    most = f"at most {self._most // 2**20:,} MiB, as a list is read as a whole"
                    raise FileError(f"{self.name}: expected {most}, got more; write it as .jsonl")
                parts.append(part)
        data = b"".join(parts)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.number = data.count(b"\n", 0, error.start) + 1
            self.refuse(f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What reading raises becomes a FileError."""
        try:
            with file_errors(self.name):
                yield
        except (EOFError, zlib.error) as error:
            raise FileError(f"{self.name}: expected a {GZIP} file that is complete ({error})") from None

    def refuse(self, problem: str) -> NoReturn:
        """Say what is wrong with the line that was read last."""
        raise FileError(f"{self.name}, {self.unit} {self.number}: {problem}")


def _parse_txt(lines: Lines) -> Iterator[tuple[Row, None]]:
    for line in lines:
        lines.rows_end = lines.read
        yield {TEXT: _strip_end(line)}, None
    if lines.number == 0:
        raise FileError(f"{lines.name}: expected lines, got an empty file")


def _parse_jsonl(lines: Lines) -> Iterator[tuple[Row, str]]:
    empty = True
    for line in lines:
        text = _strip_end(line)
        if not text.strip():
            continue
        try:
            row = _DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            lines.refuse(f"expected a JSON object ({error})")
        _check_object(lines, row, text[:40], text.count("[") + text.count("{") > MAX_LEVELS)
        empty, lines.rows_end = False, lines.read
        yield row, text
    if empty:
        raise FileError(f"{lines.name}: expected rows, got an empty file")


def _parse_json(lines: Lines) -> Iterator[tuple[Row, None]]:
    """The rows of one list; unlike the other formats it is read as a whole."""
    try:
        rows = _DECODER.decode(lines.whole())
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileError(f"{lines.name}: expected a JSON list of objects ({one_line(error)})") from None
    if not isinstance(rows, list) or not rows:
        raise FileError(f"{lines.name}: expected a JSON list of objects, got {quote(rows)}")
    lines.unit = "row"
    for lines.number, row in enumerate(rows, 1):
        _check_object(lines, row, quote(row), True)
        yield row, None


def _check_object(lines: Lines, row: Cell, shown: str, perhaps_deep: bool) -> None:
    """Refuse what is no object with values, or goes too deep."""
    if not isinstance(row, dict) or not row:
        lines.refuse(f"expected a JSON object with values, got {shown}")
    if perhaps_deep and _is_deep(row):
        lines.refuse(f"expected lists and objects inside one another at most {MAX_LEVELS} levels deep")


def _is_deep(value: Cell) -> bool:
    """Whether lists and objects go deeper than MAX_LEVELS; found without recursion, whose depth Python limits."""
    level = [value]
    for _ in range(MAX_LEVELS + 1):
        level = [
            one
            for outer in level
            if isinstance(outer, (dict, list))
            for one in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _distinct_names(pairs: list[tuple[str, Cell]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"names that differ, got {quote(twice)} twice")
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct_names)


def _parse_cells(lines: Lines, **dialect: Any) -> Iterator[tuple[Row, None]]:
    csv.field_size_limit(MAX_LINE_BYTES)
    reader = csv.reader(iter(lines), **dialect)
    empty = True
    try:
        columns = next(filter(None, reader), [])  # blank lines may stand above the header
        if not columns:
            raise FileError(f"{lines.name}: expected a header line and rows, got an empty file")
        check_distinct_columns(lines.name, columns)
        for row in reader:
            if not row and len(columns) > 1:
                continue
            row = row or [""]  # in a file of one column a blank line is an empty cell
            if len(row) != len(columns):
                hint = hint_of_separator(columns)
                lines.refuse(f"expected {len(columns)} values as in the header, got {len(row)}{hint}")
            empty, lines.rows_end = False, lines.read
            yield dict(zip(columns, row, strict=True)), None
    except csv.Error as error:
        lines.refuse(f"expected CSV ({error})")
    if empty:
        raise FileError(f"{lines.name}: expected rows below the header, got none")


def _strip_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


# each yields the rows of a file with their text, or None in place of the text where it is not kept
PARSERS: dict[str, Callable[[Lines], Iterator[tuple[Row, str | None]]]] = {
    "txt": _parse_txt,
    "csv": partial(_parse_cells, strict=True),
    "tsv": partial(_parse_cells, delimiter="\t", quoting=csv.QUOTE_NONE),
    "jsonl": _parse_jsonl,
    "json": _parse_json,
}
