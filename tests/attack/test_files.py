"""Files of every kind through the commands: a table of scores, or one line; nothing written that was not asked for."""

import datetime
import decimal
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from semantic_metrics.cli import main
from tests.attack.conftest import MAX_MESSAGE_CHARACTERS, time_limit
from tests.tiny_table import WORDS

pytestmark = pytest.mark.slow

BATCHES = 10
FILES = 60  # in a batch: 600 together
CALLS = 40  # of each further command
NAMES = ("prediction", "reference", "question")  # columns of texts
JUDGED = "judged"  # column of what people said of a row, in files that have one
EVIL = (
    *("dog", "", " ", "=1+1", '"', '""', "a,b", "a;b", "\t", "nan", "NaN", "null", "1e999", "日本", "é", "\u2028"),
    "x" * 999,
)
BYTES = (b"\xff", b"\x00", b"\xed\xa0\x80", b"\r", b"\n", b'"', b",", b"{", b"}", b"\xef\xbb\xbf", b"\xf0\x9f", b"\x1a")
JSON = (
    *('"dog"', '""', "null", "true", "1", "-0.0", "1e999", "NaN", "Infinity", '["dog"]', '["dog","cat"]', "[]", "{}"),
    *('"\\ud800"', '"\\u0000"', "[" * 3000 + "]" * 3000, '{"a":' * 2000 + "1" + "}" * 2000, "1" * 5000, '[["dog"]]'),
    *("[null]", '"dog', "'dog'", "dog", "", ","),
)


JUDGEMENTS = {  # valid cells of the column JUDGED
    "compare": ("",),
    "report": ("0", "1", "true", "False"),
    "check": ("",),
    "criteria": ("overlap", "difference", "union"),
    "fit": ("0", "1", "1", "0.0"),
}


def random_csv(draw: random.Random, separator: str) -> bytes:
    """A table of texts, most of them valid, with some bytes changed."""
    rows = [list(NAMES)]
    rows += [[draw.choice(EVIL) for _ in range(draw.choice((3, 3, 3, 3, 2, 4)))] for _ in range(draw.randrange(6))]
    if draw.random() < 0.3:
        rows[0] = [draw.choice((*EVIL, "prediction", "reference")) for _ in rows[0]]
    quoted = draw.random() < 0.8
    spell = (lambda cell: '"' + cell.replace('"', '""') + '"') if quoted else str
    text = draw.choice(("\n", "\r\n")).join(separator.join(spell(cell) for cell in row) for row in rows)
    return with_bytes(draw, text.encode())


def random_jsonl(draw: random.Random) -> bytes:
    """Lines of JSON, most of them objects."""
    lines = []
    for _ in range(draw.randrange(6)):
        odd = draw.random() < 0.3
        cells = [draw.choice(JSON) if odd else json.dumps(draw.choice(EVIL)) for _ in range(3)]
        line = "{" + ", ".join(f'"{name}": {cell}' for name, cell in zip(NAMES, cells, strict=True)) + "}"
        lines.append(draw.choice(JSON) if draw.random() < 0.1 else line)
    return with_bytes(draw, "\n".join(lines).encode())


def with_bytes(draw: random.Random, data: bytes) -> bytes:
    """The same, in a third of the cases with invalid bytes inside."""
    for _ in range(draw.choice((0, 0, 1, 3))):
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
    ending = draw.choice(("csv", "tsv", "jsonl", "parquet"))
    path = folder / f"rows.{ending}"
    if ending == "parquet":
        random_parquet(draw, path)
    else:
        make: dict[str, Callable[[], bytes]] = {
            "csv": lambda: random_csv(draw, ","),
            "tsv": lambda: random_csv(draw, "\t"),
            "jsonl": lambda: random_jsonl(draw),
        }
        path.write_bytes(make[ending]())
    return path


def command_line(
    draw: random.Random, file: Path, folder: Path, checkpoints: dict[str, Path]
) -> tuple[list[str], Path | None]:
    """A command on a file, and the file that it may write."""
    metric = draw.choice(("matcha", "matcha", "consensus", "stsscore", "nli_lex"))
    columns = ["--predictions", "prediction", "--references", "reference", "--metric", metric]
    columns += ["--config", str(checkpoints[metric])]
    columns += ["--questions", "question"] if metric == "nli_lex" else []
    if draw.random() < 0.2:
        human = draw.choice(("beside", "reference", "prediction", "absent"))
        return ["validate", str(file), *columns, "--human", human, "--resamples", "10"], None
    line = ["score", str(file), *columns]
    output = folder / f"out.{draw.choice(('csv', 'tsv', 'jsonl', 'parquet'))}" if draw.random() < 0.6 else None
    line += ["--output", str(output)] if output else []
    line += ["--batch-rows", draw.choice(("1", "2", "1000"))] if draw.random() < 0.5 else []
    line += ["--resume"] if output and draw.random() < 0.2 else []
    line += ["--show", draw.choice(("beside", "question", "absent"))] if draw.random() < 0.3 else []
    return line, output


def judged_file(draw: random.Random, folder: Path, command: str) -> Path:
    """Rows with the column JUDGED, most of them valid, or a file as `random_file` makes it."""
    if draw.random() < 0.3:
        return random_file(draw, folder)
    rows = []
    for number in range(draw.choice((2, 6, 12, 24))):
        texts = [draw.choice(EVIL) if draw.random() < 0.05 else f"{draw.choice(WORDS)} {number}" for _ in NAMES]
        judged = draw.choice(EVIL if draw.random() < 0.01 else JUDGEMENTS[command])
        rows.append(dict(zip((*NAMES, JUDGED), [*texts, judged], strict=True)))
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

    metric = draw.choice(("matcha", "matcha", "consensus", "stsscore", "nli_lex"))
    question = ["--questions", "question"] if metric == "nli_lex" else []
    model = ["--metric", metric, "--config", str(checkpoints[metric]), *question]
    prediction = draw.choice((*NAMES, "absent")) if draw.random() < 0.1 else "prediction"
    columns = ["--predictions", prediction, "--references", "reference"]
    judged = "--human" if draw.random() < (0.7 if metric == "consensus" else 0.05) else "--label"
    options = {
        "compare": [
            *(str(file), str(file), *columns, "--predictions", "question", *model),
            *("--resamples", draw.choice(("1", "10")), *writes("--output", ".json", ".csv")),
        ],
        "report": [
            *(*columns, *model, *draw.choice(([], ["--label", JUDGED], ["--rows", "0"], ["--title", "<b>"]))),
            *writes("--output", ".html", share=1),
        ],
        "check": [
            *(*draw.choice(([str(file)], columns, columns)), "--config", str(checkpoints["support"])),
            *draw.choice(([], [], ["--coverage"], ["--k", "all"], ["--k", "0"])),
            *(*writes("--output", ".jsonl"), *writes("--html", ".html")),
        ],
        "criteria": [
            *("--a", prediction, "--b", "reference", "--target", "question", "--operator", JUDGED),
            *("--encoder", f"{checkpoints['matcha']}/", "--measure", draw.choice(("cosine", "l1", "ned"))),
            *writes("--output", ".json", ".csv"),
        ],
        "fit": [
            *(*columns, *model, judged, JUDGED, *draw.choice(([], [], ["--criterion", "macro_f1"]))),
            *("--folds", "2", *writes("--output", ".json", share=1)),
        ],
    }
    return [command, str(file), *options[command]]


def call(line: list[str], about: str) -> tuple[Result, str]:
    """Call a command, which neither hangs nor shows a traceback; returns also what to say where a check fails."""
    with time_limit(60):
        result = CliRunner().invoke(main, line)
    about = f"{about}: {' '.join(line)}\n{result.output}"
    assert result.exception is None or isinstance(result.exception, SystemExit), f"{about}{result.exception!r}"
    return result, about


@pytest.mark.parametrize("command", JUDGEMENTS)
def test_further_commands(
    command: str, checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, done = random.Random(command), 0
    for number in range(CALLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        file = judged_file(draw, folder, command)
        content = file.read_bytes()
        line = further_line(draw, command, file, checkpoints)
        outputs = {Path(line[i + 1]) for i, word in enumerate(line) if word in ("--output", "--html")}
        result, about = call(line, f"call {number}, {content[:500]!r}")
        assert result.exit_code in (0, 2), about
        assert file.read_bytes() == content, f"the input was changed: {about}"
        written = set(folder.iterdir()) - {file}
        if result.exit_code:
            *before, last = result.output.splitlines()
            assert last.startswith("Error: "), about
            assert len(last) < 2 * MAX_MESSAGE_CHARACTERS, about
            assert not any(one.startswith("Error: ") for one in before), about
            assert not written, f"{written} left behind: {about}"
        else:
            assert written == outputs, about
            done += 1
    assert CALLS // 5 < done < CALLS, "the attack would show nothing if nearly all were refused, or none"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_commands(batch: int, checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(batch)
    for number in range(FILES):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        file = random_file(draw, folder)
        content = file.read_bytes()
        line, output = command_line(draw, file, folder, checkpoints)
        result, about = call(line, f"batch {batch}, file {number}, {content[:500]!r}")
        assert result.exit_code in (0, 1, 2), about
        assert file.read_bytes() == content, f"the input was changed: {about}"
        written = {path for path in folder.iterdir()} - {file}
        if result.exit_code:
            assert result.output.count("\n") == 1, about
            assert len(result.output) < 2 * MAX_MESSAGE_CHARACTERS, about
            if "--resume continues after them" in result.output:
                written -= {output.with_name(f".{output.name}.partial{end}") for end in ("", ".json")}
            assert not written, f"{written} left behind: {about}"
        else:
            assert written == ({output} if output else set()), about
