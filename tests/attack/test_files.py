"""Files of every kind through the commands: a table of scores, or one line; nothing written that was not asked for."""

import datetime
import decimal
import gzip
import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from semantic_metrics.cli import main
from semantic_metrics.files import FileError
from semantic_metrics.files.table import read_table
from tests.attack.conftest import MAX_MESSAGE_CHARACTERS, time_limit
from tests.tiny_table import WORDS

pytestmark = pytest.mark.slow

BATCHES = 10
FILES = 200  # in a batch: 2,000 together
CALLS = 80  # of each further command: 480 together
NAMES = ("prediction", "reference", "question")  # columns of texts
JUDGED = "judged"  # column of what people said of a row, in files that have one
EVIL = (
    *("dog", "", " ", "=1+1", '"', '""', "a,b", "a;b", "\t", "nan", "NaN", "null", "1e999", "日本", "é", "\u2028"),
    *("x" * 999, "5 meter^999999", "31/12/9999 or 99999-99-99", "1e309 kg", "10^400 \u20ac", "every 0 days"),
    *("\u202e\u0661\u0662\u0663 km", "a\u0300\u0316\u200b5", "one hundred million billion " * 9, "1," * 99),
)
VISIBLE = tuple(text for text in EVIL if text.strip() and not any(sign in text for sign in '\t"'))
ROWS = (0, *range(1, 6), *range(1, 6))
BYTES = (b"\xff", b"\x00", b"\xed\xa0\x80", b"\r", b"\n", b'"', b",", b"{", b"}", b"\xef\xbb\xbf", b"\xf0\x9f", b"\x1a")
JSON = (
    *('"dog"', '""', "null", "true", "1", "-0.0", "1e999", "NaN", "Infinity", '["dog"]', '["dog","cat"]', "[]", "{}"),
    *('"\\ud800"', '"\\u0000"', "[" * 3000 + "]" * 3000, '{"a":' * 2000 + "1" + "}" * 2000, "1" * 5000, '[["dog"]]'),
    *("[null]", '"dog', "'dog'", "dog", "", ","),
)


NESTED = ("out.said", "out.all.0.said", "out.all.9.said", "out.all." + "9" * 5000, "out.", ".", "out.all.said")
GATES = (
    *([] for _ in range(12)),
    *(["--json"], ["--json"], ["--fail-under", "0.99"], ["--fail-under", "0"], ["--fail-under", "nan"]),
    *(["--max-wrong", "nan"], ["--max-wrong", "0"], ["--max-wrong", "1.5"], ["--fail-under", "-inf"]),
)
SCORE_OPTIONS = (["--missing", "skip"], ["--missing", "zero"], ["--json-lists"], ["--separator", ","], ["--details"])
JUDGEMENTS = {  # valid cells of the column JUDGED
    "annotate": ("",),
    "compare": ("",),
    "report": ("0", "1", "true", "False"),
    "check": ("",),
    "criteria": ("overlap", "difference", "union"),
    "fit": ("0", "1", "1", "0.0"),
}


def random_csv(draw: random.Random, separator: str) -> bytes:
    """A table of texts, most of them valid, with some bytes changed."""
    rows = [list(NAMES)]
    texts = VISIBLE if draw.random() < 0.5 else EVIL
    rows += [[draw.choice(texts) for _ in range(draw.choice((*[3] * 30, 2, 4)))] for _ in range(draw.choice(ROWS))]
    if draw.random() < 0.1:
        rows[0] = [draw.choice((*EVIL, "prediction", "reference")) for _ in rows[0]]
    quoted = separator == "," and draw.random() < 0.9
    spell = (lambda cell: '"' + cell.replace('"', '""') + '"') if quoted else str
    text = draw.choice(("\n", "\r\n")).join(separator.join(spell(cell) for cell in row) for row in rows)
    return with_bytes(draw, text.encode())


def random_json(draw: random.Random, lines: bool) -> bytes:
    """Lines of JSON or one list, of objects for the most part; what `out` holds can be a column too (see NESTED)."""
    rows, texts = [], VISIBLE if draw.random() < 0.5 else EVIL
    share = draw.choice((0, 0, 0.2))  # of what is no text
    for _ in range(draw.choice(ROWS)):
        cells = [draw.choice(JSON) if draw.random() < share else json.dumps(draw.choice(texts)) for _ in range(3)]
        row = ", ".join(f'"{name}": {cell}' for name, cell in zip(NAMES, cells, strict=True))
        row += f', "out": {{"said": {cells[0]}, "all": [{{"said": {cells[1]}}}]}}'
        rows.append(draw.choice(JSON) if draw.random() < share else f"{{{row}}}")
    return with_bytes(draw, ("\n".join(rows) if lines else f"[{', '.join(rows)}]").encode())


def with_bytes(draw: random.Random, data: bytes) -> bytes:
    """The same, in a third of the cases with other bytes inside."""
    for _ in range(draw.choice((0, 0, 0, 0, 1, 3))):
        place = draw.randrange(len(data) + 1)
        data = data[:place] + draw.choice(BYTES) + data[place:]
    return data


def odd_column(draw: random.Random, rows: int) -> pa.Array:
    """A column of a type that a text could be mistaken for, or of one that Python cannot hold."""
    return draw.choice(
        (
            lambda: pa.array([10**18] * rows, pa.timestamp("ns")),
            lambda: pa.array([2**62] * rows, pa.timestamp("ms")),
            lambda: pa.array([-(2**62)] * rows, pa.timestamp("us", "Asia/Tokyo")),
            lambda: pa.array([0] * rows, pa.timestamp("s", "Mars/Olympus")),
            lambda: pa.array([2**31 - 1] * rows, pa.date32()),
            lambda: pa.array([2**62] * rows, pa.duration("s")),
            lambda: pa.array([2**60] * rows, pa.time64("ns")),
            lambda: pa.array([b"\xff\xfe"] * rows, pa.binary()),
            lambda: pa.array([b"\xff\xfe"] * rows, pa.binary()).view(pa.string()),
            lambda: pa.array(["dog"] * rows, pa.large_string()),
            lambda: pa.array(["dog"] * rows).dictionary_encode(),
            lambda: pa.array([None] * rows, pa.string()),
            lambda: pa.array([float("nan"), *[0.5] * (rows - 1)][:rows]),
            lambda: pa.array([decimal.Decimal("1.5")] * rows),
            lambda: pa.array([{"a": "dog"}] * rows),
            lambda: pa.array([["dog", "cat"]] * rows),
            lambda: pa.array([["dog", None]] * rows),
            lambda: pa.array([[]] * rows, pa.list_(pa.string())),
            lambda: pa.array([[("a", 1)]] * rows, pa.map_(pa.string(), pa.int64())),
            lambda: pa.array([datetime.timedelta(days=1)] * rows),
            lambda: pa.array([True] * rows),
            lambda: pa.array([2**63] * rows, pa.uint64()),
            lambda: pa.nulls(rows),
        )
    )()


def random_parquet(draw: random.Random, path: Path) -> None:
    """A table whose text columns are sometimes of another type, beside columns of odd types."""
    rows = draw.randrange(1, 5)
    columns = {name: pa.array([draw.choice(EVIL) for _ in range(rows)]) for name in NAMES}
    for name in ("beside", *(["prediction", "reference"] if draw.random() < 0.2 else [])):
        columns[name] = odd_column(draw, rows)
    parquet.write_table(pa.table(columns), path)
    if draw.random() < 0.2:
        data = path.read_bytes()
        path.write_bytes(data[: draw.randrange(len(data))])


def random_file(draw: random.Random, folder: Path) -> Path:
    ending = draw.choice(("csv", "tsv", "jsonl", "json", "parquet"))
    path = folder / f"rows.{ending}"
    if ending == "parquet":
        random_parquet(draw, path)
        return path
    make: dict[str, Callable[[], bytes]] = {
        "csv": lambda: random_csv(draw, ","),
        "tsv": lambda: random_csv(draw, "\t"),
        "jsonl": lambda: random_json(draw, True),
        "json": lambda: random_json(draw, False),
    }
    path.write_bytes(make[ending]())
    return packed(draw, path) if draw.random() < 0.25 else path


def packed(draw: random.Random, path: Path) -> Path:
    """The same file as .gz, of two parts, in a third of the cases cut or with another byte."""
    data = path.read_bytes()
    path.unlink()
    half = draw.randrange(len(data) + 1)
    data = gzip.compress(data[:half]) + gzip.compress(data[half:])
    place, kind = draw.randrange(len(data)), draw.random()
    if kind < 0.2:
        data = data[:place]
    elif kind < 0.35:
        data = data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :]
    path.with_name(f"{path.name}.gz").write_bytes(data)
    return path.with_name(f"{path.name}.gz")


def command_line(
    draw: random.Random, file: Path, folder: Path, checkpoints: dict[str, Path]
) -> tuple[list[str], Path | None]:
    """A command on a file, and the file that it may write."""
    metric, config = model_of(draw, checkpoints)
    said = draw.choice(NESTED) if ".json" in file.name and draw.random() < 0.3 else "prediction"
    columns = ["--predictions", said, "--references", "reference", "--metric", metric, "--config", config]
    columns += ["--questions", "question"] if metric == "nli_lex" else []
    if draw.random() < 0.2:
        human = draw.choice(("beside", "reference", "prediction", "absent"))
        return ["validate", str(file), *columns, "--human", human, "--resamples", "10"], None
    line = ["score", str(file), *columns]
    ending = draw.choice(("csv", "tsv", "jsonl", "json", "parquet"))
    output = folder / f"out.{ending}" if draw.random() < 0.6 else None
    line += ["--output", str(output)] if output else []
    line += ["--batch-rows", draw.choice(("1", "2", "1000"))] if draw.random() < 0.5 else []
    line += ["--resume"] if output and draw.random() < 0.2 else []
    line += ["--show", draw.choice(("beside", "question", "absent"))] if draw.random() < 0.3 else []
    line += [*draw.choice(GATES), *(draw.choice(SCORE_OPTIONS) if draw.random() < 0.4 else [])]
    line += ["--threshold", draw.choice(("0.5", "nan", "0"))] if "--max-wrong" in line else []
    return line, output


def model_of(draw: random.Random, checkpoints: dict[str, Path]) -> tuple[str, str]:
    """A metric and its checkpoint; that of consensus is in 8 bits in half of the cases."""
    metric = draw.choice(("matcha", "matcha", "consensus", "stsscore", "nli_lex"))
    name = draw.choice(("consensus", "eight_bits")) if metric == "consensus" else metric
    return metric, str(checkpoints[name])


def judged_file(draw: random.Random, folder: Path, command: str) -> Path:
    """Rows with the column JUDGED, most of them valid, or a file as `random_file` makes it."""
    if draw.random() < 0.3:
        return random_file(draw, folder)
    rows = []
    names = ("a", "b", "target", "operator") if command == "criteria" else (*NAMES, JUDGED)
    for number in range(draw.choice((2, 24, 36, 48) if command == "fit" else (2, 6, 12, 24))):  # five folds
        texts = [draw.choice(EVIL) if draw.random() < 0.05 else f"{draw.choice(WORDS)} {number}" for _ in NAMES]
        judged = draw.choice(EVIL if draw.random() < 0.01 else JUDGEMENTS[command])
        rows.append(dict(zip(names, [*texts, judged], strict=True)))
    path = folder / f"rows.{draw.choice(('jsonl', 'parquet'))}"
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        lines = "\n".join(map(json.dumps, rows)).encode()
        path.write_bytes(with_bytes(draw, lines) if draw.random() < 0.2 else lines)
    return path


def further_line(draw: random.Random, command: str, file: Path, checkpoints: dict[str, Path]) -> list[str]:
    """One of the commands that `command_line` does not call; its options are mostly valid."""

    def writes(option: str, *endings: str, share: float = 0.6) -> list[str]:
        ending = draw.choice(("", ".", ".dog") if draw.random() < 0.05 else endings)
        return [option, str(file.with_name(f"{option[2:]}{ending}"))] if draw.random() < share else []

    metric, config = model_of(draw, checkpoints)
    question = ["--questions", "question"] if metric == "nli_lex" else []
    model = ["--metric", metric, "--config", config, *question]
    prediction = draw.choice((*NAMES, "absent")) if draw.random() < 0.1 else "prediction"
    columns = ["--predictions", prediction, "--references", "reference"]
    judged = "--human" if draw.random() < (0.7 if metric == "consensus" else 0.05) else "--label"
    joined = ratings(draw, file) if command == "annotate" and draw.random() < 0.6 else []
    options = {
        "annotate": [
            *(*columns, *joined, *draw.choice(([], [], ["--scale", "0", "5"], ["--scale", "5", "0"], question))),
            *writes("--output", ".csv" if joined else ".html", share=1),
        ],
        "compare": [
            *(str(file), str(file), *columns, "--predictions", "question", *model),
            *(
                "--resamples",
                draw.choice(("1", "10", "10", "10")),
                *draw.choice(GATES),
                *writes("--output", ".json", ".csv"),
            ),
        ],
        "report": [
            *(*columns, *model, *draw.choice(([], ["--label", JUDGED], ["--rows", "0"]))),
            *writes("--output", ".html", share=1),
        ],
        "check": [
            *(*draw.choice(([str(file)], columns, columns)), "--config", str(checkpoints["support"])),
            *draw.choice(([], [], ["--coverage"], ["--k", "all"], ["--k", "0"])),
            *(*draw.choice(GATES), *writes("--output", ".jsonl", ".json"), *writes("--html", ".html")),
        ],
        "criteria": [
            *("--encoder", f"{checkpoints['matcha']}/", "--measure", draw.choice(("cosine", "l1", "ned"))),
            *writes("--output", ".json", ".csv"),
        ],
        "fit": [
            *(*columns, *model, judged, JUDGED, *draw.choice(([], [], ["--criterion", "macro_f1"]))),
            *writes("--output", ".json", share=1),
        ],
    }
    return [command, str(file), *options[command]]


def ratings(draw: random.Random, file: Path) -> list[str]:
    """The options that join a file with one that a rater saved, whose cells are valid for the most part."""
    try:
        said = read_table(file).column("", "prediction")
    except ValueError:
        said = list(EVIL)
    rows = [
        {"row": i, "prediction": str(text), "ann": draw.choice(EVIL if draw.random() < 0.02 else ("0", "1"))}
        for i, text in enumerate(said, draw.choice((1, 1, 1, 1, 0)))
    ]
    path = file.with_name("ann.jsonl")
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return ["--ratings", str(path)]


def call(line: list[str], about: str) -> tuple[Result, str]:
    """Call a command, which neither hangs nor shows a traceback; returns also what to say where a check fails."""
    with time_limit(60):
        result = CliRunner().invoke(main, line)
    about = f"{about}: {' '.join(line)}\n{result.output}"
    assert result.exception is None or isinstance(result.exception, SystemExit), f"{about}{result.exception!r}"
    return result, about


def check_end(result: Result, written: set[Path], outputs: set[Path], about: str) -> bool:
    """Whether a command did what it was asked for, and wrote that alone; else it says why in its last line."""
    if "--json" in about.partition(": ")[2].split() and result.exit_code < 2:
        text = result.stdout[result.stdout.index("{") :]
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in {about}"))
    if result.exit_code in (0, 1):
        assert written == outputs, about
        assert ("\nfailed: " in f"\n{result.stderr}") == bool(result.exit_code), about
        return True
    assert result.exit_code == 2, about
    *before, last = result.output.splitlines()
    assert last.startswith("Error: "), about
    assert len(last) < 2 * MAX_MESSAGE_CHARACTERS, about
    assert not any(one.startswith("Error: ") for one in before), about
    assert not written, f"{written} left behind: {about}"
    return False


@pytest.mark.parametrize("command", JUDGEMENTS)
def test_others(command: str, checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, done = random.Random(command), 0
    for number in range(CALLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        file = judged_file(draw, folder, command)
        line = further_line(draw, command, file, checkpoints)
        given = {path: path.read_bytes() for path in folder.iterdir()}
        outputs = {Path(line[i + 1]) for i, word in enumerate(line) if word in ("--output", "--html")}
        result, about = call(line, f"call {number}, {given[file][:500]!r}")
        assert all(path.read_bytes() == content for path, content in given.items()), f"an input was changed: {about}"
        done += check_end(result, set(folder.iterdir()) - set(given), outputs, about)
    assert CALLS // 5 < done < CALLS, "the attack would show nothing if nearly all were refused, or none"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_commands(batch: int, checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, done = random.Random(batch), 0
    for number in range(FILES):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        file = random_file(draw, folder)
        content = file.read_bytes()
        line, output = command_line(draw, file, folder, checkpoints)
        result, about = call(line, f"batch {batch}, file {number}, {content[:500]!r}")
        assert file.read_bytes() == content, f"the input was changed: {about}"
        written = set(folder.iterdir()) - {file}
        if "--resume continues after them" in result.output:
            written -= {output.with_name(f".{output.name}.partial{end}") for end in ("", ".json")}
        if check_end(result, written, {output} if output else set(), about):
            done += 1
            if output:
                check_rows(file, output, line, about)
    assert done > FILES // 8, "the attack would show nothing if nearly all were refused"


def check_rows(file: Path, output: Path, line: list[str], about: str) -> None:
    """Each row of the file is there with a finite score, but for those that were to be left out."""
    try:
        rows, scored = read_table(file).rows, read_table(output)
    except FileError:
        assert file.suffix == ".parquet", f"it may hold what Python cannot, and gives it on as it is: {about}"
        return
    assert len(scored.rows) == len(rows) or ("skip" in line and len(scored.rows) < len(rows)), about
    assert all(map(math.isfinite, scored.numbers("", line[line.index("--metric") + 1]))), about


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "txt"])
@pytest.mark.parametrize("part", ["a", "a\n"])
def test_a_bomb_is_refused_before_it_fills_the_memory(ending: str, part: str, tmp_path: Path) -> None:
    """A file of a megabyte that is two gigabytes when it is unpacked: one line, or a row in every second byte."""
    path = tmp_path / f"bomb.{ending}.gz"
    head = {"csv": "prediction,reference\n", "tsv": "prediction\treference\n", "json": "["}.get(ending, "")
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(head.encode())
        for _ in range(2**7):
            file.write(part.encode() * (2**24 // len(part)))
    line = ["report", str(path), "--predictions", "text", "--references", "text", "--output", str(tmp_path / "a.html")]
    result, about = call(line, "a bomb")
    assert not check_end(result, set(tmp_path.iterdir()) - {path}, set(), about)
