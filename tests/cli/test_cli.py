"""The command line as a whole, the sample files, and what `semantic-metrics score` prints."""

import os
from collections.abc import Callable
from pathlib import Path

import evaluate
import pandas as pd
import pytest
from click.testing import Result

import semantic_metrics
from semantic_metrics.cli import COMMANDS
from semantic_metrics.cli.samples import SAMPLES
from semantic_metrics.cli.terminal import MAX_TABLE_ROWS
from semantic_metrics.core.signature import shorten
from semantic_metrics.files import FileError, readers
from semantic_metrics.files.table import read_table
from tests.cli.conftest import done, invoke, refused
from tests.conftest import ROOT, Run

ROWS = [["the dog bites", "a dog bites", "1"], ["a man sleeps", "the cat is awake", "2"], ["☃", "the dog", "3"]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "rows.csv", [["said", "gold", "id"], *ROWS])


def write(path: Path, rows: list[list[str]]) -> Path:
    pd.DataFrame(rows[1:], columns=rows[0]).to_csv(path, index=False)
    return path


@pytest.fixture
def score(checkpoint: Path) -> Callable[..., Result]:
    usual = {"metric": "matcha", "predictions": "said", "references": "gold", "config": checkpoint}
    return lambda file, *more, width=100, **changed: invoke("score", file, *more, options=usual | changed, width=width)


def test_a_table_is_printed(score: Callable, file: Path, checkpoint: Path) -> None:
    metric = semantic_metrics.load("matcha", str(checkpoint))
    expected = metric.compute(predictions=[row[0] for row in ROWS], references=[row[1] for row in ROWS])
    head, *rows, blank, summary, signature = done(score(file, "--show", "id"))
    assert head.split() == ["score", "id", "said", "gold"]
    for line, values, number in zip(rows, ROWS, expected["scores"], strict=True):
        assert line.startswith(f"{number:7.3f}")
        assert all(value in line for value in values)
    assert blank == ""
    assert summary == f"3 rows, mean {expected['matcha']:.4f}, undefined 1"
    assert signature == shorten(expected["signature"])


@pytest.mark.parametrize("width", [20, 61, 200])
def test_texts_are_cut_to_the_terminal(score: Callable, tmp_path: Path, width: int) -> None:
    long = "the dog bites the man " * 50
    rows = [["said", "gold"], [long, "日本" * 300], ["a\nb\tc", "\x1b[31mred"]]
    lines = done(score(write(tmp_path / "rows.csv", rows), width=width))
    assert "..." in lines[1]
    assert max(len(line) + sum(c in "日本" for c in line) for line in lines[:3]) < max(width, 60)
    assert "a b c" in lines[2]
    assert "\x1b" not in lines[2]
    assert "\\u001b[31mred" in lines[2]


def test_many_rows_are_not_all_printed(score: Callable, tmp_path: Path) -> None:
    rows = [["said", "gold"], *([f"the dog {i}", "a cat"] for i in range(MAX_TABLE_ROWS + 7))]
    file = write(tmp_path / "rows.csv", rows)
    lines = done(score(file))
    assert lines[MAX_TABLE_ROWS + 1] == "and 7 more rows; --output FILE keeps them all"
    assert len(lines) == MAX_TABLE_ROWS + 5
    output = tmp_path / "out.csv"
    assert done(score(file, output=output)) == lines[-2:], "rows that are written are not printed too"
    assert len(pd.read_csv(output)) == MAX_TABLE_ROWS + 7


def test_the_file_itself_can_be_the_output(score: Callable, file: Path) -> None:
    done(score(file, output=file))
    assert list(pd.read_csv(file)) == ["said", "gold", "id", "matcha"]
    refused(score(file, output=file), "expected no column named 'matcha'")


def test_a_column_is_not_printed_under_the_name_of_the_scores(score: Callable, file: Path) -> None:
    done(score(file, output=file))
    assert len(done(score(file))) > 2, "the column of scores is neither read nor printed"
    refused(score(file, "--show", "matcha"), "expected no column named 'matcha', which the scores are printed in")


@pytest.mark.parametrize("output", ["", "missing/out.csv", "rows.csv/out.csv", "pipe"])
def test_an_output_that_cannot_be_written_is_refused(score: Callable, file: Path, output: str) -> None:
    os.mkfifo(file.with_name("pipe"))
    path = file.parent / output
    refused(score(file, output=path), f"{path}: ")
    assert {path.name for path in file.parent.iterdir()} == {"rows.csv", "pipe"}
    assert file.with_name("pipe").is_fifo()


def test_a_link_stays_a_link(score: Callable, file: Path) -> None:
    real, link = file.with_name("real.csv"), file.with_name("link.csv")
    real.write_text("old")
    link.symlink_to(real)
    done(score(file, output=link))
    assert link.is_symlink()
    assert len(pd.read_csv(real)) == 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": "nli_lex"}, "--questions: expected a column, for nli_lex"),
        ({"questions": "id"}, "--questions: only nli_lex takes it"),
        ({"predictions": "answer"}, "--predictions: expected one of the columns 'said', 'gold', 'id', got 'answer'"),
        ({"show": "answer"}, "--show: expected one of the columns 'said', 'gold', 'id', got 'answer'"),
        ({"metric": "macha"}, "matcha, nli_lex, stsscore, support, got 'macha'; did you mean 'matcha'?"),
        ({"metric": "zzz"}, "--metric: expected one of consensus, matcha, nli_lex, stsscore, support, got 'zzz'\n"),
        ({"metric": "set_criteria"}, "got 'set_criteria', which tests an encoder and gives texts no score"),
        ({"config": ""}, "--config: expected a checkpoint, got ''"),
    ],
)
def test_invalid_options_are_refused(score: Callable, file: Path, changed: dict, message: str) -> None:
    refused(score(file, **changed), message)


@pytest.mark.parametrize(
    "line",
    [
        ["score", "in.csv", "--metric", "matcha", "--output", "x\0.csv"],
        ["score", "x\0.csv", "--metric", "matcha"],
        ["explain", "a", "b", "--metric", "matcha", "--html", "x\0.html"],
        ["fit", "x\0.csv", "--output", "x.json"],
    ],
)
def test_nul_in_a_name_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    monkeypatch.chdir(file.parent)
    file.rename("in.csv")
    refused(invoke(*line), "expected a name without NUL")
    assert [path.name for path in file.parent.iterdir()] == ["in.csv"]


def test_any_number_of_rows_may_be_in_memory(score: Callable, file: Path) -> None:
    pd.read_csv(file).to_parquet(file.with_suffix(".parquet"))
    lines = done(score(file))
    for path in (file, file.with_suffix(".parquet")):
        assert done(score(path, batch_rows=10**30))[-2:] == lines[-2:]


def test_the_working_folder_is_gone(
    score: Callable, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    refused(score(file), "the working folder: No such file or directory")


def test_standard_input_that_is_closed_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers.sys, "stdin", None)
    with pytest.raises(FileError, match="standard input: expected rows, it is closed"):
        readers.open_reader(readers.STREAM, "csv").__enter__()


def test_a_cache_without_access_is_not_needed(score: Callable, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = done(score(file))
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", str(file / "metrics"))  # a file is in its place
    monkeypatch.setenv("HOME", str(file / "home"))
    assert done(score(file)) == lines
    with pytest.raises(ValueError, match=r"^cache: expected a folder that can be written .* Not a directory$"):
        semantic_metrics.load("matcha")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_screen_and_shows_an_example(name: str) -> None:
    lines = done(invoke(name, "--help", width=80))
    assert f"Example: semantic-metrics {name}" in " ".join(" ".join(lines).split())
    assert len(lines) <= (46 if name in ("compare", "fit", "score") else 37)
    assert max(map(len, lines)) <= 80
    assert not any(line.split("  ")[-1].startswith("Of ") for line in lines)


def test_an_unknown_command_suggests_the_nearest() -> None:
    refused(invoke("scor", "x.csv"), "got 'scor'; did you mean 'score'?")
    result = invoke("zzz")
    refused(result, "expected a command, one of annotate, check, compare, ")
    assert "did you mean" not in result.output


def test_the_package_runs_as_a_module(run_python: Run, tmp_path: Path) -> None:
    code = "import runpy, sys; sys.argv = ['x', '--version']; runpy.run_module('semantic_metrics', run_name='__main__')"
    ran = run_python(code, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert semantic_metrics.__version__ in ran.stdout


def test_all_samples_are_written_and_none_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    lines = done(invoke("samples", folder))
    shipped = {path.name: path.read_bytes() for path in (ROOT / "metrics" / "samples").iterdir()}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == shipped
    assert set(shipped) == set(SAMPLES)
    assert [line.split(": ")[0] for line in lines] == [str(folder / name) for name in SAMPLES]
    assert done(invoke("samples", folder)) == lines, "what is there already is left as it is"
    (folder / "pairs.csv").write_text("mine")
    for name in SAMPLES.keys() - {"pairs.csv"}:
        (folder / name).unlink()
    refused(invoke("samples", folder), "DIR: expected no other pairs.csv, got those of ")
    assert [path.name for path in folder.iterdir()] == ["pairs.csv"]
    assert (folder / "pairs.csv").read_text() == "mine"
    refused(invoke("samples", tmp_path / "no" / "such"), f"{tmp_path}/no/such: No such file or directory")


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith(".csv")])
def test_a_table_has_the_columns_that_are_listed(tmp_path: Path, name: str) -> None:
    (listed,) = [line for line in done(invoke("samples", tmp_path)) if f"{name}: " in line]
    names = [part.split(" (")[0] for part in listed.rpartition(": ")[2].split(", ")]
    assert read_table(tmp_path / name).columns == names
