"""Files of rows: what is read, that a written file can be read again, and that an error names its place."""

import gzip
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from semantic_metrics.files import FileError, formats, output, readers
from semantic_metrics.files import table as files_table
from semantic_metrics.files.output import atomic_write, check_output
from semantic_metrics.files.readers import open_reader
from semantic_metrics.files.rows import number_of, value_at
from semantic_metrics.files.table import Table, read_table, write_table

TYPED = Table(
    ["text", "references", "count", "share", "known", "nothing"],
    [["the dog", ["a dog", "dogs"], 3, 0.1, True, None], ["", ["été"], -1, 1e-300, False, None]],
)
TEXTS = Table(["a", "b"], [["cat\rsat", ' "x", y\nz '], ["", "\u2028 \x0b日本\x85"]])


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("x.csv", TEXTS),
        ("x.jsonl", TEXTS),
        ("x.parquet", TEXTS),
        ("x.tsv", Table(["a", "b"], [['say "no', "b,c"], ["", "\u2028'"]])),
        ("x.csv", Table(["a"], [[""], ["b"], [""]])),
        ("x.jsonl", TYPED),
        ("x.json", TYPED),
        ("x.parquet", TYPED),
    ],
)
def test_a_written_table_can_be_read_again(tmp_path: Path, name: str, table: Table) -> None:
    write_table(tmp_path / name, table)
    assert read_table(tmp_path / name) == table
    assert {path.name for path in tmp_path.iterdir()} == {name}


CELL = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=8)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
@settings(max_examples=40)
def test_any_texts_survive_csv_and_jsonl(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    table = Table(["a", "b"], [list(row) for row in rows])
    for name in ("x.csv", "x.jsonl"):
        write_table(tmp_path / name, table)
        assert read_table(tmp_path / name) == table


def test_lines_end_as_on_any_system(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes("\ufeffone\r\n\r\na\u2028b\x0bc\x85".encode())
    assert read_table(tmp_path / "x.txt").rows == [["one"], [""], ["a\u2028b\x0bc\x85"]]
    (tmp_path / "x.csv").write_bytes(b"a,b\r1,2\r3,4")
    assert read_table(tmp_path / "x.csv").rows == [["1", "2"], ["3", "4"]]
    (tmp_path / "x.jsonl").write_bytes(b'{"a": 1}\r\n\r\n {"a": 2} \n')
    assert read_table(tmp_path / "x.jsonl").rows == [[1], [2]]


def test_blank_lines_above_a_header_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("\n\r\na,b\n1,2\n")
    assert read_table(tmp_path / "x.csv") == Table(["a", "b"], [["1", "2"]])
    (tmp_path / "x.csv").write_text("\na,b\n1\n")
    refused(lambda: read_table(tmp_path / "x.csv"), "x.csv, line 3: expected 2 values as in the header, got 1")


def test_a_blank_line_in_a_file_of_one_column_is_an_empty_cell(tmp_path: Path) -> None:
    for name in ("x.csv", "x.tsv"):
        (tmp_path / name).write_bytes(b"a\r\n\r\none\r\n\r\n\r\ntwo")
        assert read_table(tmp_path / name).rows == [[""], ["one"], [""], [""], ["two"]]
    (tmp_path / "x.csv").write_bytes(b"a,b\n\n1,2\n\n")
    assert read_table(tmp_path / "x.csv").rows == [["1", "2"]]


def test_rows_of_jsonl_may_lack_columns_and_a_format_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text('{"a": 1}\n{"b": [2], "a": null}\n')
    with readers.open_reader(tmp_path / "x.log", "jsonl") as reader:
        rows = [row for chunk in reader.chunks(9) for row in chunk.rows]
    assert Table.from_records(rows) == Table(["a", "b"], [[1, None], [None, [2]]])
    with pytest.raises(FileError, match=r"expected a file that ends in \.txt, .* or \.parquet, got '\.log'"):
        read_table(tmp_path / "x.log")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.txt", b"", "x.txt: expected lines, got an empty file"),
        ("x.csv", b"", "x.csv: expected a header line and rows, got an empty file"),
        ("x.csv", b"a,b\n", "x.csv: expected rows below the header, got none"),
        ("x.csv", b"a,a\n1,2\n", "x.csv: expected column names that differ, got 'a', 'a'"),
        ("x.csv", b"a,b\n1,\xff\n", "x.csv, line 2: expected UTF-8 text, got the byte 0xff"),
        ("x.csv", b'a,b\n"1,2\n', "x.csv, line 2: expected CSV (unexpected end of data)"),
        ("x.jsonl", b" \n", "x.jsonl: expected rows, got an empty file"),
        ("x.jsonl", b'{"a": 1}\n\n{"a": }\n', "x.jsonl, line 3: expected a JSON object (Expecting value"),
        ("x.jsonl", b"[1]\n", "x.jsonl, line 1: expected a JSON object with values, got [1]"),
        ("x.jsonl", b'{"a": 1, "a": 2}\n', "line 1: expected a JSON object (names that differ, got 'a' twice)"),
        ("x.jsonl", b'{"a": "\xff"}\n', "x.jsonl, line 1: expected UTF-8 text, got the byte 0xff"),
        ("x.jsonl", b'{"a": 1}\n' + b"[" * 100_000, "x.jsonl, line 2: expected a JSON object ("),
        ("x.jsonl", b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", "objects inside one another at most 100 levels deep"),
        ("x.csv", b"a," * 5000 + b"\n1", "expected column names that differ, got 'a', 'a', "),
        ("x.csv", b'a,b\n"1\n2",3\n4\n', "x.csv, line 4: expected 2 values as in the header, got 1"),
        ("x.csv", b'a,b\n"1"2,3\n', "x.csv, line 2: expected CSV ("),
        ("x.parquet", b"PAR1 no PAR1", "x.parquet: expected a parquet file ("),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    refused(lambda: read_table(tmp_path / name), message)


@pytest.mark.parametrize("value", [{}, 2**70, "\ud800"])
def test_what_parquet_cannot_hold_is_refused_and_nothing_is_left(tmp_path: Path, value: object) -> None:
    message = "expected values of one type in each column, and such as .parquet holds ("
    with pytest.raises(FileError, match=re.escape(message)):
        write_table(tmp_path / "x.parquet", Table(["a"], [[value]]))
    assert not list(tmp_path.iterdir())


def test_a_list_of_no_rows_is_json(tmp_path: Path) -> None:
    write_table(tmp_path / "x.json", Table(["a"], []))
    assert json.loads((tmp_path / "x.json").read_text()) == []


def test_a_cut_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"a": ["the dog"] * 1000, "b": list(range(1000))}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"x\.parquet: expected a parquet file \("):
        read_table(path)
    path.write_bytes(b"PAR1" + b"\xff" * 400 + whole[404:])
    with pytest.raises(FileError, match=r"x\.parquet, after row 0: cannot be read \("):
        read_table(path)
    parquet.write_table(pa.table({"a": pa.array([], pa.string())}), path)
    refused(lambda: read_table(path), "expected rows, got none")
    parquet.write_table(pa.table([pa.array(["q"])] * 2, names=["a", "a"]), path)
    refused(lambda: read_table(path), "expected column names that differ, got 'a', 'a'")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([2**62], pa.timestamp("ms")), "expected timestamp[ms] that Python can hold"),
        (pa.array([0], pa.timestamp("s", "Mars/Olympus")), "Mars/Olympus] that Python can hold"),
        (pa.array([2**31 - 1], pa.date32()), "expected date32[day] that Python can hold"),
        (pa.array([b"\xff"]).view(pa.string()), "expected string that Python can hold"),
    ],
)
def test_a_value_of_parquet_that_python_lacks_is_refused(tmp_path: Path, values: pa.Array, message: str) -> None:
    parquet.write_table(pa.table({"a": ["x"], "b": values}), tmp_path / "x.parquet")
    refused(lambda: read_table(tmp_path / "x.parquet"), f"{message} in column 'b' (")
    with open_reader(tmp_path / "x.parquet") as reader:
        assert next(reader.chunks(9)).column("a") == ["x"], "other columns can be read"


def test_columns_of_texts_are_checked_with_their_rows() -> None:
    table = Table(["a", "refs"], [["x", ["y", "z"]], [float("nan"), ["y"]], [None, "y"], ["x", []]])
    with pytest.raises(FileError, match=r"^--a: expected a text in column 'a', got nan in row 2$"):
        table.texts("--a", "a")
    with pytest.raises(FileError, match=r"expected a text or a list of texts, .* in column 'refs', got 'y' in row 3"):
        table.texts("--refs", "refs", several=True)
    assert Table(["refs"], [[["y", "z"]], [["y"]]]).texts("--refs", "refs", several=True) == [["y", "z"], ["y"]]
    with pytest.raises(FileError, match="--b: expected one of the columns 'a', 'refs', got 'b'"):
        table.texts("--b", "b")


@pytest.mark.parametrize(
    ("value", "number"),
    [(" TRUE ", 1), ("false", 0), (True, 1), ("1e-3", 0.001), (Decimal("0.5"), 0.5), (-3, -3), ("-3.5 ", -3.5)],
)
def test_numbers_are_read_from_texts_too(value: object, number: float) -> None:
    assert Table(["a"], [[value]]).numbers("--a", "a") == [number]


@pytest.mark.parametrize("value", ["yes", "", "nan", "inf", None, float("nan"), 10**400, "1" * 400, [1], b"1", 1j])
def test_a_value_that_is_not_a_number_is_named_with_its_row(value: object) -> None:
    assert not math.isfinite(number_of(value))
    with pytest.raises(FileError, match=r"^--a: expected numbers in column 'a', got .{1,50} in row 2$"):
        Table(["a"], [["1"], [value]]).numbers("--a", "a")


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("x.tsv", [["a"], ["a\tb"]], "row 2: expected texts without tabs and line breaks, which TSV cannot hold"),
        ("x.txt", [["a"]], "x.txt: expected .csv, .tsv, .jsonl, .json or .parquet, which hold several columns, got .t"),
        ("x.jsonl", [["a"], ["\ud800"]], "output row 2: expected valid Unicode to write, got a lone surrogate (U+D8"),
        ("x.jsonl", [["a"], [b"a"]], "output row 2: expected texts, numbers and lists, got bytes, which only parquet"),
        ("x.jsonl", [[1.5], [[-math.inf]]], "output row 2: expected finite numbers, got an infinite one, which JSON"),
        ("x.parquet", [["a"], [1]], "expected values of one type in each column"),
    ],
)
def test_values_that_a_format_cannot_hold_are_refused(tmp_path: Path, name: str, rows: list, message: str) -> None:
    (tmp_path / name).write_text("kept")
    refused(lambda: write_table(tmp_path / name, Table(["text"], rows)), message)
    assert (tmp_path / name).read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {name}


def test_other_values_are_written_as_texts_where_there_is_no_type(tmp_path: Path) -> None:
    write_table(tmp_path / "x.csv", Table(["a"], [[None], [date(2026, 1, 2)], [[1, "é"]], [True], [0.1]]))
    assert [row[0] for row in read_table(tmp_path / "x.csv").rows] == ["", "2026-01-02", '[1, "é"]', "true", "0.1"]


def test_nan_and_missing_values(tmp_path: Path) -> None:
    for ending, written in {"parquet": "[nan, None]", "csv": "['NaN', '']", "jsonl": "[None, None]"}.items():
        write_table(tmp_path / f"x.{ending}", Table(["a"], [[math.nan], [None]]))
        assert str([row[0] for row in read_table(tmp_path / f"x.{ending}").rows]) == written
    write_table(tmp_path / "x.jsonl", Table(["a"], [[[{"b": math.nan}]]]))
    assert (tmp_path / "x.jsonl").read_text() == '{"a": [{"b": null}]}\n'


@pytest.mark.parametrize(("name", "line"), [("x.txt", "{}\n"), ("x.jsonl", '{{"a": "{}"}}\n'), ("x.csv", "{}\n")])
def test_chunks_of_any_file_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str) -> None:
    texts = ["short"] * 10 + ["long" * 300] * 4
    (tmp_path / name).write_text("".join(map(line.format, ["a"] * (name == "x.csv") + texts)))
    monkeypatch.setattr(readers, "CHUNK_BYTES", 2000)
    with open_reader(tmp_path / name) as reader:
        chunks = list(reader.chunks(4))
        assert reader.done == reader.total
    assert [len(chunk) for chunk in chunks] == [4, 4, 4, 2]
    assert [row[name] for chunk in chunks for row in chunk.rows for name in row] == texts
    first = 2 if name == "x.csv" else 1
    places = [chunk.place(i) for chunk in chunks for i in range(len(chunk))]
    assert places == [f"{tmp_path / name}, line {number}" for number in range(first, first + 14)]


def test_chunks_of_parquet_cross_its_row_groups(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": list(range(25))}), tmp_path / "x.parquet", row_group_size=10)
    with open_reader(tmp_path / "x.parquet") as reader:
        chunks = list(reader.chunks(7))
    assert [value for chunk in chunks for value in chunk.column("a")] == list(range(25))
    assert max(map(len, chunks)) <= 7
    assert chunks[1].place(0).endswith(f"x.parquet, row {len(chunks[0]) + 1}")


@contextmanager
def endless_pipe(path: Path, head: bytes, line: bytes) -> Iterator[None]:
    """A named pipe that a thread writes lines to for as long as somebody reads."""
    os.mkfifo(path)

    def write() -> None:
        with suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
            pipe.write(head)
            while True:
                pipe.write(line * 500)

    thread = Thread(target=write, daemon=True)
    thread.start()
    yield
    thread.join(60)
    assert not thread.is_alive(), "the reader has closed its end"


@pytest.mark.parametrize(
    ("name", "head", "line"),
    [
        ("x.txt", b"", b"a\n"),
        ("x.csv", b"a,b\n", b"1,2\n"),
        ("x.tsv", b"a\tb\n", b"1\t2\n"),
        ("x.jsonl", b"", b'{"a": 1}\n'),
    ],
)
def test_an_endless_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, head: bytes, line: bytes) -> None:
    path = tmp_path / name
    monkeypatch.setattr(files_table, "MAX_PIPE_ROWS", 10_000)
    with endless_pipe(path, head, line):
        refused(
            lambda: read_table(path),
            f"{path}: expected at most 10,000 rows and 1,024 MiB of a pipe or .gz file, "
            "as all rows are kept in memory, got 12,288 rows and more; write them to a file first",
        )


def test_a_pipe_of_long_lines_is_refused_and_a_file_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_table, "MAX_PIPE_BYTES", 2**20)
    monkeypatch.setattr(readers, "CHUNK_BYTES", 2**18)
    with (
        endless_pipe(tmp_path / "pipe.txt", b"", b"x" * 999 + b"\n"),
        pytest.raises(FileError, match="1 MiB of a pipe"),
    ):
        read_table(tmp_path / "pipe.txt")
    (tmp_path / "file.txt").write_bytes((b"x" * 999 + b"\n") * 2_000)
    assert len(read_table(tmp_path / "file.txt").rows) == 2_000


def test_a_key_inside_a_column_may_be_anything() -> None:
    row = {"a": [{"b": "c"}], "d.e": 1}
    assert value_at(row, "a.0.b") == "c"
    assert value_at(row, "d.e") == 1
    for name in ("a.1.b", "a.x", "a.0.b.c", "a." + "9" * 5000, "a.\u0664"):
        assert value_at(row, name) is None


def test_a_list_is_read_as_a_whole_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MAX_UNPACKED_BYTES", 2**20)
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b"[" + b'{"a": "b"},\n' * 10**5 + b'{"a": "b"}]'))
    refused(lambda: read_table(path), "x.json.gz: expected at most 1 MiB, as a list is read as a whole, got more")
    with endless_pipe(tmp_path / "pipe.json", b"[", b'{"a": "b"},\n'), pytest.raises(FileError, match="write it as"):
        read_table(tmp_path / "pipe.json")
    (tmp_path / "x.json").write_bytes(gzip.decompress(path.read_bytes()))
    assert len(read_table(tmp_path / "x.json").rows) == 10**5 + 1, "a file shows how long it is"
    monkeypatch.setattr(formats, "MAX_WHOLE_BYTES", 2**20)
    refused(lambda: read_table(tmp_path / "x.json"), "x.json: expected at most 1 MiB")


@pytest.mark.parametrize(
    ("name", "head", "part"),
    [("x.jsonl", b'{"a": 1}\n', b"\n"), ("x.csv", b"a,b\n1,2\n", b"\n"), ("y.csv", b"a\n", b'"b\n",')],
)
def test_rows_without_an_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, head: bytes, part: bytes
) -> None:
    monkeypatch.setattr(formats, "MAX_ROW_BYTES", 2**16)
    with endless_pipe(tmp_path / name, head, part), pytest.raises(FileError, match="expected a row in each 0 MiB, got"):
        read_table(tmp_path / name)


def test_a_name_that_stands_twice_among_many_is_found_at_once(tmp_path: Path) -> None:
    names = ", ".join(f'"{i}": 0' for i in range(50_000))
    (tmp_path / "x.jsonl").write_text(f'{{{names}, "49999": 0}}\n', encoding="utf-8")
    refused(lambda: read_table(tmp_path / "x.jsonl"), "names that differ, got '49999' twice")


@pytest.mark.parametrize("named", [True, *([False] if output.NAMELESS else [])])
def test_a_file_that_is_not_complete_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    if named:  # as on a system without files that have no name
        monkeypatch.setattr(output, "NAMELESS", False)
    with atomic_write(tmp_path / "x") as file:
        file.write(b"content")
        assert len(list(tmp_path.iterdir())) == named
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"content"]
    os.umask(mask := os.umask(0))
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o666 & ~mask


def test_what_cannot_be_linked_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    with atomic_write(tmp_path / "x") as file:
        file.write(b"content")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"content"]


def test_the_stream_is_no_file_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(lambda: check_output(Path("-"), "--html"), "--html: expected a file, got -, which only")


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.tsv", "x.jsonl"])
def test_endless_input_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    device = readers.open_reader(Path("/dev/zero"), name[2:])
    refused(lambda: device.__enter__(), "/dev/zero: expected a file or a pipe, got a device")
    with Path("/dev/zero").open("rb") as file:  # as standard input
        lines = f"endless, line 1: expected lines of at most {formats.MAX_LINE_BYTES // 2**20} MiB, got a longer one"
        refused(lambda: readers.TextReader("endless", name[2:], file, None), lines)
    monkeypatch.setattr(formats, "MAX_LINE_BYTES", 2**20)
    (tmp_path / name).write_bytes(b'{"a": 1}\n' + b"x" * (2**20 + 1))
    refused(lambda: read_table(tmp_path / name), "line 2: expected lines of at most 1 MiB, got a longer one")
    (tmp_path / "x.csv").write_bytes(b'a\n"' + b"x\n" * 2**20)
    refused(lambda: read_table(tmp_path / "x.csv"), "expected CSV (field larger than field limit (1048576))")


def refused(call: Callable, message: str) -> None:
    with pytest.raises(FileError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_the_last_of_two_writers_is_whole(tmp_path: Path) -> None:
    """Also in one process, as threads of a server, or in two containers, where both have the same number."""
    with atomic_write(tmp_path / "x") as first:
        first.write(b"fir")
        with atomic_write(tmp_path / "x") as second:
            second.write(b"second")
        first.write(b"st")
        assert (tmp_path / "x").read_bytes() == b"second"
    assert (tmp_path / "x").read_bytes() == b"first"
    assert len(list(tmp_path.iterdir())) == 1
    refused(lambda: check_output(tmp_path / ("x" * 250)), "File name too long")


def test_gzip_is_read_and_never_written(tmp_path: Path) -> None:
    for name in ("x.csv", "x.jsonl", "x.json"):
        write_table(tmp_path / name, TEXTS)
        packed = gzip.compress((tmp_path / name).read_bytes())
        (tmp_path / f"{name}.gz").write_bytes(packed)
        assert read_table(tmp_path / f"{name}.gz") == TEXTS
        (tmp_path / f"{name}.gz").write_bytes(packed[:-9])
        refused(lambda name=name: read_table(tmp_path / f"{name}.gz"), f"{name}.gz: expected a .gz file that is comple")
    refused(lambda: write_table(tmp_path / "y.csv.gz", TEXTS), "expected a name without .gz")
    (tmp_path / "x.jsonl.gz").write_bytes(b"not packed")
    refused(lambda: read_table(tmp_path / "x.jsonl.gz"), "x.jsonl.gz: Not a gzipped file")
    refused(lambda: read_table(tmp_path / "x.parquet.gz"), "x.parquet.gz: expected a file that ends in")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "expected a JSON list of objects, got {}"),
        ("[]", "expected a JSON list of objects, got []"),
        ('[{"a": 1}', "expected a JSON list of objects ("),
        ('[{"a": 1},\n "\udcff"]', "x.json, line 2: expected UTF-8 text, got the byte 0xff"),
        ('[{"a": 1}, 2]', "x.json, row 2: expected a JSON object with values, got 2"),
        (f'[{{"a": {"[" * 200}{"]" * 200}}}]', "x.json, row 1: expected lists and objects inside one another"),
    ],
)
def test_an_invalid_list_of_rows_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    refused(lambda: read_table(tmp_path / "x.json"), message)


def test_a_key_inside_a_column_is_a_column(tmp_path: Path) -> None:
    rows = [{"out": {"text": "a", "all": [{"m": "b"}]}, "a.b": 1}, {"out": {"all": []}, "a.b": 2}]
    rows.append({"out": None, "a.b": 3})
    (tmp_path / "x.json").write_text(json.dumps(rows))
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    for name in ("x.json", "x.parquet"):
        table = read_table(tmp_path / name)
        with open_reader(tmp_path / name) as reader:
            (chunk,) = reader.chunks(9)
        for key, values in {"out.text": ["a", None, None], "out.all.0.m": ["b", None, None], "a.b": [1, 2, 3]}.items():
            assert table.column("--x", key) == chunk.column(key) == values
        refused(lambda table=table: table.column("--x", "no.text"), "--x: expected one of the columns")
