"""`semantic-metrics score --resume`: a run that was cut off ends with the file of a run that was not."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

from semantic_metrics.cli import score as score_command
from semantic_metrics.cli.scoring import LoadedMetric
from tests.cli.conftest import done, invoke, refused
from tests.conftest import Run
from tests.tiny_table import WORDS

PARTS = {".out.jsonl.partial", ".out.jsonl.partial.json"}
MEMORY_BYTES = 10**9  # that any number of rows may take


def write(path: Path, count: int, first: int = 0) -> Path:
    size = len(WORDS)
    with path.open("a" if first else "w", encoding="utf-8") as file:
        for i in range(first, count):
            said = " ".join(WORDS[(i * j) % size] for j in range(1, 3 + i % 11))
            file.write(json.dumps({"id": i, "said": said, "gold": WORDS[i % size] + " ☃"}, ensure_ascii=False) + "\n")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", 90)


@pytest.fixture
def score(checkpoint: Path) -> Callable[..., Result]:
    usual = {"metric": "matcha", "predictions": "said", "references": "gold", "config": checkpoint, "batch_rows": 10}

    def run(file: Path, *more: object, output: str = "out.jsonl", **changed: object) -> Result:
        return invoke("score", file, *more, options=usual | {"output": file.parent / output} | changed)

    return run


def cut(monkeypatch: pytest.MonkeyPatch, calls: int, error: type[BaseException]) -> None:
    """Let the metric fail after some chunks."""
    score, left = LoadedMetric.score, [calls]

    def failing(self: LoadedMetric, *given: object) -> dict[str, list]:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return score(self, *given)

    monkeypatch.setattr(LoadedMetric, "score", failing)


@pytest.mark.parametrize(("output", "calls"), [("out.csv", 1), ("out.csv", 4), ("out.jsonl", 8)])
def test_a_cut_run_goes_on(
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


def test_an_invalid_row_can_be_corrected_and_the_run_continued(score: Callable, file: Path) -> None:
    done(score(file, output="whole.jsonl"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"id": 42, "said"', '"id": 42, "sad"'), encoding="utf-8")
    result = score(file)
    refused(
        result, f"{file}, line 43: expected a text in column 'said', got None; --miss", "; 40 rows are scored, --resume"
    )
    assert not (file.parent / "out.jsonl").exists()
    refused(score(file, "--resume"), f"{file}, line 43: ", "; 40 rows are scored")
    file.write_text(text, encoding="utf-8")
    done(score(file, "--resume"))
    assert (file.parent / "out.jsonl").read_bytes() == (file.parent / "whole.jsonl").read_bytes()


@pytest.fixture
def half(score: Callable, file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with monkeypatch.context() as patched:
        cut(patched, 4, KeyboardInterrupt)
        assert score(file).exit_code == 130
    return file


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"references": "said"}, "--references was gold, now it is said"),
        ({"batch_rows": 20}, "--batch-rows was 10, now it is 20"),
        ({"threshold": "0.5"}, "--threshold of matcha was not given, now it is 0.5"),
        ({"separator": "d"}, "--separator was not given, now it is d"),
        ({"metric": "stsscore"}, "--metric was matcha, now it is stsscore"),
        ({"config": "matcha"}, "signature of matcha was matcha|checkpoint:"),
    ],
)
def test_another_run_does_not_go_on(score: Callable, half: Path, sts_model: Path, changed: dict, message: str) -> None:
    if "metric" in changed:
        changed = changed | {"config": sts_model}
    before = {path.name: path.read_bytes() for path in half.parent.iterdir()}
    refused(score(half, "--resume", **changed), "out.jsonl cannot be continued: ", message, "without --resume it is st")
    assert {path.name: path.read_bytes() for path in half.parent.iterdir()} == before
    assert done(score(half, "--resume"))[0].startswith("90 rows, ")


def test_a_run_of_another_release_is_refused(score: Callable, half: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_command, "__version__", "99.0")
    refused(score(half, "--resume"), "the release was", "now it is 99.0")


def test_rows_that_were_scored_must_be_the_same(score: Callable, half: Path) -> None:
    lines = half.read_text(encoding="utf-8").splitlines(keepends=True)
    message = "the first 40 rows of"
    for changed in (lines[1:], [*lines[:39], lines[40], lines[39], *lines[41:]], [*lines[:5], lines[4], *lines[5:]]):
        half.write_text("".join(changed), encoding="utf-8")
        refused(score(half, "--resume"), message, "are not those that were scored")
    half.write_text("".join(lines[:30]), encoding="utf-8")
    refused(score(half, "--resume"), "has 30 rows, and 40 were scored")
    half.write_text("".join(lines), encoding="utf-8")
    write(half, 100, first=90)
    assert done(score(half, "--resume"))[0].startswith("100 rows, ")


def test_a_damaged_part_is_refused(score: Callable, half: Path) -> None:
    part, note = (half.parent / name for name in sorted(PARTS))
    whole, content = part.read_bytes(), note.read_text()
    part.write_bytes(whole[:-1])
    refused(score(half, "--resume"), "is shorter than its note says")
    part.write_bytes(whole)
    note.write_text(content[:-9])
    refused(score(half, "--resume"), "cannot be read")
    for other in ("[]", "{}", '{"rows": "x"}', '{"rows":-5,"bytes":7,"options":{},"metrics":{},"read":""}'):
        note.write_text(other)
        refused(score(half, "--resume"), "is no note of a run; without --resume it is started over")
    said = json.loads(content)
    for sums in (
        {"total": None, "counts": {}},
        {"total": 1.0, "counts": {"undefined": -1}},
        {"total": 1.0, "counts": []},
    ):
        note.write_text(json.dumps(said | {"metrics": {"matcha": sums}}))
        refused(score(half, "--resume"), "is no note of a run; without --resume it is started over")
    note.write_text("[" * 10**5)
    refused(score(half, "--resume"), "cannot be read")
    note.write_text(json.dumps(said | {"options": said["options"] | {"--metric": [1]}}))
    refused(score(half, "--resume"), "--metric was 1, now it is matcha")
    note.write_text(json.dumps(said | {"bytes": said["bytes"] - 7}))
    refused(score(half, "--resume"), ".out.jsonl.partial was changed; without --resume it is started over")
    note.write_text(content)
    part.write_bytes(whole.replace(b"the", b"teh", 1))
    refused(score(half, "--resume"), ".out.jsonl.partial was changed; without --resume it is started over")
    part.write_bytes(whole + b"torn")
    assert done(score(half, "--resume"))[0].startswith("90 rows, ")


def test_two_runs_do_not_write_one_file(score: Callable, half: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    with (half.parent / ".out.jsonl.partial").open("rb") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        for more in ([], ["--resume"]):
            refused(score(half, *more), "out.jsonl: expected a file that no other run is writing")
    assert done(score(half, "--resume"))[0].startswith("90 rows, ")


def test_runs_that_cannot_be_continued_are_refused(file: Path, checkpoint: Path) -> None:
    options = ["--metric=matcha", f"--config={checkpoint}", "--predictions=said", "--references=gold", "--resume"]
    text = file.read_text(encoding="utf-8")

    def run(file: Path | str, *more: str) -> Result:
        return invoke("score", file, *options, *more, input=text)

    refused(run(file), "--resume: expected --output with the file that is to be continued")
    refused(run(file, "--output=-"), "--resume: expected --output with the file")
    message = "--resume: expected a FILE that can be read again from its start, got standard input"
    refused(run("-", "--format=jsonl", f"--output={file.parent / 'out.jsonl'}"), message)
    pd.read_json(file, lines=True).to_parquet(file.with_suffix(".parquet"))
    message = "--resume: expected an output of .csv, .tsv, .jsonl, a .parquet cannot be continued"
    refused(run(file.with_suffix(".parquet"), f"--output={file.parent / 'out.parquet'}"), message)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc")
def test_many_rows_take_no_more_memory_than_few(run_python: Run, tmp_path: Path, checkpoint: Path) -> None:
    file = write(tmp_path / "in.jsonl", 200_000)
    code = "import re, sys; from semantic_metrics.cli import main; sys.argv[0] = 'semantic-metrics'\n"
    code += r"try: main()" "\n" r"finally: print(re.search(r'VmHWM:\s+(\d+)', open('/proc/self/status').read())[1])"
    options = ["--predictions=said", "--references=gold", f"--config={checkpoint}", "--output=out.jsonl"]
    result = run_python(code, "score", str(file), "--metric=matcha", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout.splitlines()[-1]) * 1024 < MEMORY_BYTES


def test_links_in_the_places_of_its_own_files_are_not_followed(score: Callable, file: Path) -> None:
    other = file.with_name("other")
    other.write_text("kept")
    for name in (".out.jsonl.partial.json.new", ".out.jsonl.partial.json"):
        file.with_name(name).symlink_to(other)
        assert done(score(file))[0].startswith("90 rows, ")
        assert {path.name for path in file.parent.iterdir()} == {"in.jsonl", "out.jsonl", "other"}
    file.with_name(".out.jsonl.partial").symlink_to(other)
    assert score(file).exit_code == 2
    assert other.read_text() == "kept"
