"""`semantic-metrics score --resume`: a run that was cut off ends with the file of a run that was not."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from semantic_metrics.cli import main
from semantic_metrics.cli.scoring import LoadedMetric
from tests.conftest import Run
from tests.tiny_table import WORDS

PARTS = {".out.jsonl.partial", ".out.jsonl.partial.json"}
SECONDS = 200  # that a process is waited for, on a busy machine
LIMIT = 10**9  # bytes of memory that any number of rows may take


def write(path: Path, count: int, first: int = 0) -> Path:
    """Rows of JSONL that differ, some of them longer than others."""
    size = len(WORDS)
    with path.open("a" if first else "w", encoding="utf-8") as file:
        for i in range(first, count):
            said = " ".join(WORDS[(i * j) % size] for j in range(1, 3 + i % 11))
            file.write(json.dumps({"id": i, "said": said, "gold": WORDS[i % size] + " ☃"}, ensure_ascii=False) + "\n")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Ninety rows, nine chunks."""
    return write(tmp_path / "in.jsonl", 90)


@pytest.fixture
def score(checkpoint: Path) -> Callable[..., Result]:
    """Run `semantic-metrics score FILE` with the small checkpoint, ten rows at a time."""

    def run(file: Path, *more: object, output: str = "out.jsonl", **changed: object) -> Result:
        return CliRunner().invoke(main, ["score", *arguments(file, checkpoint, output, **changed), *map(str, more)])

    return run


def arguments(file: Path, checkpoint: Path, output: str = "out.jsonl", **changed: object) -> list[str]:
    usual = {"metric": "matcha", "predictions": "said", "references": "gold", "config": checkpoint, "batch-rows": 10}
    options = {**usual, "output": file.parent / output, **{name.replace("_", "-"): changed[name] for name in changed}}
    return [str(file), *(f"--{name}={value}" for name, value in options.items())]


def cut(monkeypatch: pytest.MonkeyPatch, calls: int, error: type[BaseException]) -> None:
    """Let the metric fail after some chunks."""
    score, left = LoadedMetric.score, [calls]

    def failing(self: LoadedMetric, texts: dict[str, list]) -> list[float]:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return score(self, texts)

    monkeypatch.setattr(LoadedMetric, "score", failing)


def done(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def refused(result: Result, *sayings: str) -> None:
    assert result.exit_code == 2, result.output
    assert all(saying in result.output for saying in sayings), result.output
    assert result.output.count("\n") == 1, "one line says it"


@pytest.mark.parametrize("output", ["out.csv", "out.jsonl"])
@pytest.mark.parametrize("calls", [1, 4, 8])
def test_an_interrupted_run_is_continued(
    score: Callable, file: Path, monkeypatch: pytest.MonkeyPatch, output: str, calls: int
) -> None:
    whole = done(score(file, output=f"whole.{output}"))
    with monkeypatch.context() as patched:
        cut(patched, calls, KeyboardInterrupt)
        result = score(file, output=output)
    assert result.exit_code == 130
    assert result.output == f"Error: interrupted; {calls * 10} rows are scored, --resume continues after them\n"
    assert not (file.parent / output).exists(), "a part never passes for the whole"
    with (file.parent / f".{output}.partial").open("ab") as part:
        part.write(b'"torn')
    with monkeypatch.context() as patched:
        cut(patched, 9 - calls, AssertionError)  # what is done is not done again
        assert done(score(file, "--resume", output=output)) == whole
    assert (file.parent / output).read_bytes() == (file.parent / f"whole.{output}").read_bytes()
    assert {path.name for path in file.parent.iterdir()} == {"in.jsonl", output, f"whole.{output}"}


def test_without_resume_it_is_started_over(score: Callable, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        cut(patched, 4, KeyboardInterrupt)
        score(file)
    assert done(score(file))[0].startswith("90 rows, ")
    assert len((file.parent / "out.jsonl").read_text().splitlines()) == 90
    assert done(score(file, "--resume"))[0].startswith("90 rows, "), "nothing to continue: all of it again"
    assert len((file.parent / "out.jsonl").read_text().splitlines()) == 90


def test_a_wrong_row_can_be_mended_and_the_run_continued(score: Callable, file: Path) -> None:
    done(score(file, output="whole.jsonl"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"id": 42, "said"', '"id": 42, "sad"'), encoding="utf-8")
    result = score(file)
    refused(result, f"{file}, line 43: expected a text in column 'said', got None; 40 rows are scored, --resume")
    assert not (file.parent / "out.jsonl").exists()
    refused(score(file, "--resume"), f"{file}, line 43: ", "; 40 rows are scored")
    file.write_text(text, encoding="utf-8")
    done(score(file, "--resume"))
    assert (file.parent / "out.jsonl").read_bytes() == (file.parent / "whole.jsonl").read_bytes()


@pytest.fixture
def half(score: Callable, file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of which 40 rows are scored."""
    with monkeypatch.context() as patched:
        cut(patched, 4, KeyboardInterrupt)
        assert score(file).exit_code == 130
    return file


@pytest.mark.parametrize(
    ("changed", "saying"),
    [
        ({"references": "said"}, "--references was gold, now it is said"),
        ({"batch_rows": 20}, "--batch-rows was 10, now it is 20"),
        ({"metric": "stsscore"}, "--metric was matcha, now it is stsscore"),
        ({"config": "matcha"}, "signature of matcha was matcha|checkpoint:"),
    ],
)
def test_another_run_is_not_continued(score: Callable, half: Path, changed: dict, saying: str) -> None:
    if "metric" in changed:
        changed = changed | {"config": "stsscore"}
    before = {path.name: path.read_bytes() for path in half.parent.iterdir()}
    refused(score(half, "--resume", **changed), "out.jsonl cannot be continued: ", saying, "without --resume it is st")
    assert {path.name: path.read_bytes() for path in half.parent.iterdir()} == before
    assert done(score(half, "--resume"))[0].startswith("90 rows, ")


def test_rows_that_were_scored_must_be_the_same(score: Callable, half: Path) -> None:
    lines = half.read_text(encoding="utf-8").splitlines(keepends=True)
    saying = "the first 40 rows of"
    for changed in (lines[1:], [*lines[:39], lines[40], lines[39], *lines[41:]], [*lines[:5], lines[4], *lines[5:]]):
        half.write_text("".join(changed), encoding="utf-8")
        refused(score(half, "--resume"), saying, "are not those that were scored")
    half.write_text("".join(lines[:30]), encoding="utf-8")
    refused(score(half, "--resume"), "has 30 rows, and 40 were scored")
    half.write_text("".join(lines), encoding="utf-8")
    write(half, 100, first=90)
    assert done(score(half, "--resume"))[0].startswith("100 rows, ")


@pytest.mark.parametrize("changed", [{}, {"batch_rows": 20}])
def test_a_note_whose_rows_are_complete_is_nothing(score: Callable, half: Path, changed: dict) -> None:
    """What is left of a run that was killed between its last two steps."""
    note = half.parent / ".out.jsonl.partial.json"
    said = note.read_text()
    done(score(half, "--resume"))
    whole = (half.parent / "out.jsonl").read_bytes()
    note.write_text(said)
    assert done(score(half, "--resume", **changed))[0].startswith("90 rows, ")
    assert (half.parent / "out.jsonl").read_bytes() == whole
    assert {path.name for path in half.parent.iterdir()} == {"in.jsonl", "out.jsonl"}


def test_a_damaged_part_is_refused(score: Callable, half: Path) -> None:
    part, note = (half.parent / name for name in sorted(PARTS))
    whole, said = part.read_bytes(), note.read_text()
    part.write_bytes(whole[:-1])
    refused(score(half, "--resume"), "is shorter than its note says")
    part.write_bytes(whole)
    note.write_text(said[:-9])
    refused(score(half, "--resume"), "cannot be read")
    note.write_text(said)
    assert done(score(half, "--resume"))[0].startswith("90 rows, ")


def test_two_runs_do_not_write_one_file(score: Callable, half: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (half.parent / ".out.jsonl.partial").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for more in ([], ["--resume"]):
            refused(score(half, *more), "out.jsonl: expected a file that no other run is writing")
    assert done(score(half, "--resume"))[0].startswith("90 rows, ")


def test_what_cannot_be_continued_is_said(file: Path, checkpoint: Path) -> None:
    options = ["--metric=matcha", f"--config={checkpoint}", "--predictions=said", "--references=gold", "--resume"]

    def run(file: Path | str, *more: str) -> Result:
        return CliRunner().invoke(main, ["score", str(file), *options, *more], input=file_text)

    file_text = file.read_text(encoding="utf-8")
    refused(run(file), "--resume: expected --output with the file that is to be continued")
    refused(run(file, "--output=-"), "--resume: expected --output with the file")
    saying = "--resume: expected a FILE that can be read again from its start, got standard input"
    refused(run("-", "--format=jsonl", f"--output={file.parent / 'out.jsonl'}"), saying)
    pd.read_json(file, lines=True).to_parquet(file.with_suffix(".parquet"))
    saying = "--resume: expected an output of .csv, .tsv, .jsonl, a .parquet cannot be continued"
    refused(run(file.with_suffix(".parquet"), f"--output={file.parent / 'out.parquet'}"), saying)


def start(file: Path, checkpoint: Path, *more: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "semantic_metrics", "score", *arguments(file, checkpoint), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_run_is_continued(score: Callable, tmp_path: Path, checkpoint: Path) -> None:
    file = write(tmp_path / "in.jsonl", 8_000)
    note = tmp_path / ".out.jsonl.partial.json"
    process = start(file, checkpoint)
    limit = time.monotonic() + SECONDS
    while not note.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert {path.name for path in tmp_path.iterdir()} - {f"{note.name}.new"} == {"in.jsonl", *PARTS}
    assert 0 < json.loads(note.read_text())["rows"] < 8_000
    told = done(score(file, "--resume"))
    assert told == done(score(file, output="whole.jsonl"))
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.slow
def test_many_rows_take_no_more_memory_than_few(run_python: Run, tmp_path: Path, checkpoint: Path) -> None:
    file = write(tmp_path / "in.jsonl", 200_000)
    code = "import resource, sys; from semantic_metrics.cli import main; sys.argv[0] = 'semantic-metrics'\n"
    code += "try: main()\nfinally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    result = run_python(code, "score", *arguments(file, checkpoint, batch_rows=2048), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout.splitlines()[-1]) * 1024 < LIMIT


@pytest.mark.parametrize(
    "note", ["[]", "null", "{}", '{"rows": "x"}', '{"rows":-5,"bytes":7,"options":{},"metrics":{},"read":""}']
)
def test_a_note_that_is_none(score: Callable, file: Path, note: str) -> None:
    (file.parent / ".out.jsonl.partial").write_text("anything")
    (file.parent / ".out.jsonl.partial.json").write_text(note)
    result = score(file, "--resume")
    assert result.exit_code == 2
    assert "is no note of a run; without --resume it is started over" in result.output
    assert score(file).exit_code == 0


def test_a_link_in_the_place_of_the_partial_file_is_not_followed(score: Callable, file: Path) -> None:
    (file.parent / ".out.jsonl.partial").symlink_to(file.parent / "elsewhere")
    assert score(file).exit_code == 2
    assert not (file.parent / "elsewhere").exists()
