"""The command line, run as a user runs it: what is printed, written and returned."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import semantic_metrics
from semantic_metrics.cli import COMMANDS, main
from semantic_metrics.cli.terminal import BAR_WIDTH, MAX_TABLE_ROWS
from tests.conftest import ROOT, Run
from tests.nli_lex.conftest import nli

SAMPLE = ROOT / "metrics" / "samples" / "pairs.csv"
ROWS = [["the dog bites", "a dog bites", "1"], ["a man sleeps", "the cat is awake", "2"], ["☃", "the dog", "3"]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A CSV file of three rows."""
    path = tmp_path / "rows.csv"
    write(path, [["said", "gold", "id"], *ROWS])
    return path


def write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(rows)


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as opened:
        return list(csv.reader(opened))


@pytest.fixture
def score(checkpoint: Path) -> Callable[..., Result]:
    """Run `semantic-metrics score` with the small checkpoint; options given here replace the usual ones."""

    def run(file: Path, *more: str, width: int = 100, **changed: str) -> Result:
        usual = {"metric": "matcha", "predictions": "said", "references": "gold", "config": str(checkpoint)}
        options = [f"--{name}={value}" for name, value in {**usual, **changed}.items()]
        return CliRunner(env={"COLUMNS": str(width)}).invoke(main, ["score", str(file), *options, *more])

    return run


def refused(result: Result, saying: str) -> None:
    assert result.exit_code == 2
    assert saying in result.output
    assert result.output.count("\n") == 1, "one line says it"
    assert "Traceback" not in result.output


def test_a_table_is_printed(score: Callable, file: Path, checkpoint: Path) -> None:
    metric = semantic_metrics.load("matcha", str(checkpoint))
    expected = metric.compute(predictions=[row[0] for row in ROWS], references=[row[1] for row in ROWS])
    result = score(file, "--show", "id")
    assert result.exit_code == 0, result.output
    head, *rows, blank, summary, signature = result.output.splitlines()
    assert head.split() == ["score", "id", "said", "gold"]
    for line, values, number in zip(rows, ROWS, expected["scores"], strict=True):
        assert line.startswith(f"{number:7.3f}")
        assert all(value in line for value in values)
    assert blank == ""
    assert summary == f"3 rows, mean {expected['matcha']:.4f}, undefined 1"
    assert signature == expected["signature"]


def test_bars_show_low_scores(score: Callable, tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", [["said", "gold"], ["the dog", "the dog"], ["☃", "the dog"], ["dog", "awake"]])
    same, undefined, apart = score(tmp_path / "rows.csv").output.splitlines()[1:4]
    assert "|" + "#" * BAR_WIDTH in same
    assert "|" in undefined
    assert "#" not in undefined + apart
    assert float(apart.split()[0]) < 0
    assert "-|" in apart


@pytest.mark.parametrize("width", [20, 61, 80, 200])
def test_texts_are_cut_to_the_terminal(score: Callable, tmp_path: Path, width: int) -> None:
    long = "the dog bites the man " * 50
    write(tmp_path / "rows.csv", [["said", "gold"], [long, "日本" * 300], ["a\nb\tc", "\x1b[31mred"]])
    lines = score(tmp_path / "rows.csv", width=width).output.splitlines()
    assert "..." in lines[1]
    assert max(len(line) + sum(c in "日本" for c in line) for line in lines[:3]) < max(width, 60)
    assert "a b c" in lines[2]
    assert "\x1b" not in lines[2]
    assert "\\u001b[31mred" in lines[2]


def test_many_rows_are_not_all_printed(score: Callable, tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", [["said", "gold"], *([f"the dog {i}", "a cat"] for i in range(MAX_TABLE_ROWS + 7))])
    lines = score(tmp_path / "rows.csv").output.splitlines()
    assert lines[MAX_TABLE_ROWS + 1] == "and 7 more rows; --output FILE keeps them all"
    assert len(lines) == MAX_TABLE_ROWS + 5
    output = tmp_path / "out.csv"
    written = score(tmp_path / "rows.csv", output=str(output)).output.splitlines()
    assert written == lines[-2:], "what is written is not printed too"
    assert len(read(output)) == MAX_TABLE_ROWS + 8


def test_output_holds_the_same_rows_and_the_scores(score: Callable, file: Path, checkpoint: Path) -> None:
    output = file.with_name("scored.csv")
    assert score(file, output=str(output)).exit_code == 0
    head, *rows = read(output)
    assert head == ["said", "gold", "id", "matcha"]
    assert [row[:3] for row in rows] == ROWS
    metric = semantic_metrics.load("matcha", str(checkpoint))
    expected = metric.compute(predictions=[row[0] for row in ROWS], references=[row[1] for row in ROWS])
    assert [float(row[3]) for row in rows] == expected["scores"]
    assert {path.name for path in file.parent.iterdir()} == {"rows.csv", "scored.csv"}


def test_the_file_itself_can_be_the_output(score: Callable, file: Path) -> None:
    assert score(file, output=str(file)).exit_code == 0
    assert read(file)[0] == ["said", "gold", "id", "matcha"]
    refused(score(file, output=str(file)), "expected no column named 'matcha'")


def test_a_failed_run_leaves_the_old_output(score: Callable, file: Path) -> None:
    output = file.with_name("scored.csv")
    output.write_text("kept")
    refused(score(file, output=str(output), config="no/such/folder"), "checkpoint 'no/such/folder'")
    assert output.read_text() == "kept"
    assert {path.name for path in file.parent.iterdir()} == {"rows.csv", "scored.csv"}


@pytest.mark.parametrize("output", ["", "missing/out.csv", "rows.csv/out.csv"])
def test_an_output_that_cannot_be_written_is_refused(score: Callable, file: Path, output: str) -> None:
    path = file.parent / output
    refused(score(file, output=str(path)), f"{path}: ")
    assert {path.name for path in file.parent.iterdir()} == {"rows.csv"}


def test_answers_to_questions_are_judged(score: Callable, file: Path, tmp_path: Path) -> None:
    model = nli(tmp_path / "model")
    write(file, [["said", "gold", "asked"], ["the dog", "a dog", "who bites"], ["", "the cat", "who runs"]])
    result = score(file, metric="nli_lex", questions="asked", config=str(model))
    assert result.exit_code == 0, result.output
    metric = semantic_metrics.load("nli_lex", str(model))
    texts = {"predictions": ["the dog", ""], "references": ["a dog", "the cat"], "questions": ["who bites", "who runs"]}
    expected = metric.compute(**texts)
    lines = result.output.splitlines()
    assert lines[0].split() == ["score", "asked", "said", "gold"]
    assert lines[1].startswith(f"{expected['scores'][0]:7.3f}")
    assert lines[-2] == f"2 rows, share correct {expected['nli_lex']:.4f}, blank 1"
    assert lines[-1] == expected["signature"]


def test_questions_are_for_nli_lex_alone(score: Callable, file: Path) -> None:
    refused(score(file, metric="nli_lex"), "--questions: expected a column, for nli_lex")
    refused(score(file, questions="id"), "--questions: only nli_lex takes it")


def test_an_option_of_one_value_is_given_once(file: Path) -> None:
    options = ["--metric", "matcha", "--predictions", "said", "--references=gold", "--predictions=id"]
    refused(CliRunner().invoke(main, ["score", str(file), *options]), "--predictions: expected it once, got it 2 times")


@pytest.mark.parametrize("option", ["predictions", "references", "show"])
def test_a_missing_column_lists_the_columns(score: Callable, file: Path, option: str) -> None:
    refused(score(file, **{option: "answer"}), f"--{option}: expected one of the columns 'said', 'gold', 'id', got 'an")


@pytest.mark.parametrize("name", ["macha", "MATCHA", "matcha_score", "zzz"])
def test_an_unknown_metric_suggests_the_nearest(score: Callable, file: Path, name: str) -> None:
    result = score(file, metric=name)
    refused(result, f"--metric: expected one of matcha, nli_lex, stsscore, got {name!r}")
    assert ("; did you mean 'matcha'?" in result.output) == (name != "zzz")


def test_a_metric_that_scores_no_texts_is_refused_with_the_reason(score: Callable, file: Path) -> None:
    refused(score(file, metric="set_criteria"), "got 'set_criteria', which tests an encoder and gives texts no score")


@pytest.mark.parametrize(
    ("content", "saying"),
    [
        (b"", "expected a header line and rows, got an empty file"),
        (b"\n", "expected a header line and rows, got an empty file"),
        (b"said,gold\n", "expected rows below the header, got none"),
        (b"said,said\na,b\n", "expected column names that differ, got 'said', 'said'"),
        (b"said,gold\na\n", "rows.csv, line 2: expected 2 values as in the header, got 1"),
        (b"said,gold\na,b\na,b,c\n", "rows.csv, line 3: expected 2 values as in the header, got 3"),
        (b"said,gold\na,\xff\n", "rows.csv, line 2: expected UTF-8 text, got the byte 0xff"),
        (b'said,gold\n"a,b\n', "rows.csv, line 2: expected CSV (unexpected end of data)"),
    ],
)
def test_a_file_that_is_no_table_is_refused(score: Callable, tmp_path: Path, content: bytes, saying: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    refused(score(path), saying)


def test_what_is_no_file_is_refused(score: Callable, file: Path, tmp_path: Path) -> None:
    refused(score(tmp_path / "missing.csv"), "missing.csv: No such file or directory")
    refused(score(tmp_path), "Is a directory")
    refused(score(file.rename(tmp_path / "rows.xlsx")), "rows.xlsx: expected a file that ends in .txt, .csv,")


def test_odd_files_are_read(score: Callable, tmp_path: Path) -> None:
    path = tmp_path / "ROWS.CSV"
    path.write_bytes('\ufeffsaid,gold\r\n"the ""dog"", the\ncat",dog\r\n\r\n,the dog\r\n'.encode())
    result = score(path)
    assert result.exit_code == 0, result.output
    assert 'the "dog", the cat' in result.output
    assert "2 rows" in result.output
    path.write_text("said,gold\n" + "dog " * 300_000 + ",dog\n")
    assert score(path).output.splitlines()[-2] == "1 rows, mean 1.0000, undefined 0"


def test_help_fits_a_screen_and_shows_an_example() -> None:
    result = CliRunner().invoke(main, ["score", "--help"])
    assert result.exit_code == 0
    assert "Example: semantic-metrics score answers.csv" in result.output
    assert result.output.count("\n") < 24


def test_an_unknown_command_suggests_the_nearest() -> None:
    refused(CliRunner().invoke(main, ["scor", "x.csv"]), "got 'scor'; did you mean 'score'?")
    result = CliRunner().invoke(main, ["zzz"])
    refused(result, "expected a command, one of compare, ")
    assert "did you mean" not in result.output


def test_every_command_loads_and_shows_an_example() -> None:
    for name in COMMANDS:
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0, (name, result.output)
        assert f"Example: semantic-metrics {name}" in " ".join(result.output.split())


def test_the_package_runs_as_a_module(run_python: Run, tmp_path: Path) -> None:
    code = "import runpy, sys; sys.argv = ['x', '--version']; runpy.run_module('semantic_metrics', run_name='__main__')"
    done = run_python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert semantic_metrics.__version__ in done.stdout


def test_the_sample_holds_every_kind_of_pair() -> None:
    head, *rows = read(SAMPLE)
    assert head == ["prediction", "reference", "kind"]
    assert len(rows) >= 16
    kinds = {"paraphrase", "contradiction", "negation", "number", "unrelated", "word order", "no answer"}
    assert {row[2] for row in rows} == kinds


def test_what_is_written_can_be_read_again(tmp_path: Path, checkpoint: Path) -> None:
    source, first, second = (tmp_path / name for name in ("source.csv", "first.csv", "second.csv"))
    source.write_bytes('"a","b"\n"cat\rsat","dog"\n"x\ny, ""z""","é"\n'.encode())
    options = ["--metric", "matcha", "--predictions", "a", "--references", "b", "--config", str(checkpoint)]
    assert CliRunner().invoke(main, ["score", str(source), *options, "--output", str(first)]).exit_code == 0
    first.write_bytes(first.read_bytes().replace(b'"matcha"', b'"before"'))
    assert CliRunner().invoke(main, ["score", str(first), *options, "--output", str(second)]).exit_code == 0
    with second.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["a"] for row in rows] == ["cat\rsat", 'x\ny, "z"']
    assert [row["before"] for row in rows] == [row["matcha"] for row in rows]


def test_a_link_stays_a_link_and_a_pipe_is_refused(tmp_path: Path, checkpoint: Path) -> None:
    source, real, link, pipe = (tmp_path / name for name in ("source.csv", "real.csv", "link.csv", "pipe"))
    source.write_text("a,b\ncat,dog\n")
    real.write_text("old")
    link.symlink_to(real)
    os.mkfifo(pipe)
    options = ["--metric", "matcha", "--predictions", "a", "--references", "b", "--config", str(checkpoint)]
    assert CliRunner().invoke(main, ["score", str(source), *options, "--output", str(link)]).exit_code == 0
    assert link.is_symlink()
    assert "cat" in real.read_text()
    for output in (pipe, tmp_path, tmp_path / "none" / "x.csv"):
        result = CliRunner().invoke(main, ["score", str(source), *options, "--output", str(output)])
        assert result.exit_code == 2, result.output
    assert pipe.is_fifo()
