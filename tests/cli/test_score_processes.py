"""Chunks scored in other processes: the bytes are those of one, whatever happens to a process, and none is left."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.cli import processes
from semantic_metrics.cli.processes import Processes
from semantic_metrics.cli.scoring import LoadedMetric
from semantic_metrics.files.rows import Chunk
from tests.cli.conftest import done, invoke, refused, write_jsonl
from tests.tiny_table import WORDS

WAIT_SECONDS = 60.0  # for what takes a moment; a test that waits longer fails
# a command whose chunks all go to processes, in a script that would run again if they imported it
EAGER = """
from semantic_metrics.cli import main, processes
processes.START_SECONDS = 0.0
main({!r})
"""


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes start at once."""
    monkeypatch.setattr(processes, "START_SECONDS", 0.0)


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, str]]:
    draw = random.Random(0)
    return [{name: " ".join(draw.choices([*WORDS, "☃"], k=6)) for name in ("said", "gold")} for _ in range(400)]


@pytest.fixture
def score(checkpoint: Path, tmp_path: Path) -> Callable[..., tuple[Result, bytes]]:
    """Run `semantic-metrics score FILE` with the small checkpoint, 30 rows at a time; gives what it wrote, too."""

    def run(file: Path, workers: int) -> tuple[Result, bytes]:
        output = tmp_path / f"{file.stem}{workers}.jsonl"
        options = {"metric": "matcha", "predictions": "said", "references": "gold", "config": checkpoint}
        options |= {"batch_rows": 30, "workers": workers, "output": output, "threshold": "0.3"}
        result = invoke("score", file, options=options)
        return result, output.read_bytes() if output.exists() else b""

    return run


def never(self: LoadedMetric, *_: object) -> None:
    raise AssertionError("scored in this process")


def test_everything_is_the_same_to_the_byte(
    score: Callable, pairs: list, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_jsonl(tmp_path / "in.jsonl", pairs)
    result, whole = score(file, 1)
    monkeypatch.setattr(LoadedMetric, "score", never)
    again, written = score(file, 2)
    assert done(again) == done(result)
    assert written == whole
    assert len(whole.splitlines()) == len(pairs)


@pytest.mark.parametrize("invalid", ['{"said": "\\ud800", "gold": "dog"}', '{"said": 5, "gold": "dog"}', "torn"])
def test_the_first_invalid_row_is_named_though_a_later_one_is_read_too(
    score: Callable, pairs: list, tmp_path: Path, invalid: str
) -> None:
    file = write_jsonl(tmp_path / "in.jsonl", pairs)
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[199], lines[229] = invalid, '{"said": "\\ud800", "gold": "dog"}'
    file.write_text("\n".join(lines), encoding="utf-8")
    messages = [score(file, workers)[0] for workers in (1, 2)]
    for message in messages:
        refused(message, f"{file}, line 200", "; 180 rows are scored, --resume continues after them")
    assert messages[0].stderr == messages[1].stderr


def chunk_of(texts: list[str]) -> tuple[Chunk, dict[str, list]]:
    return Chunk("row", list(range(len(texts)))), {"a": texts}


@pytest.fixture(scope="module")
def two() -> Iterator[Processes]:
    """Two processes; they return texts that have three items, and fail for others."""
    with Processes([("{a[2]}".format, ("a",))], 2) as made:
        yield made


@settings(max_examples=30)
@given(chunks=st.lists(st.lists(st.text(), min_size=1, max_size=4), max_size=9), stop=st.none() | st.integers(0, 8))
def test_any_chunks_come_in_their_order(two: Processes, chunks: list[list[str]], stop: int | None) -> None:
    """Also where a process fails, whose chunk is left to this one, and where reading fails."""

    def read() -> Iterator[tuple[Chunk, dict[str, list]]]:
        for i, texts in enumerate(chunks):
            if i == stop:
                raise ValueError("unreadable")
            yield chunk_of(texts)

    scored = []
    try:
        for _, texts, results in two.run(read()):
            assert results == ([texts["a"][2]] if len(texts["a"]) > 2 else None)
            scored.append(texts["a"])
    except ValueError:
        assert stop is not None
    assert scored == chunks[:stop]


@pytest.mark.parametrize("computation", [lambda **_: {}, os.abort], ids=["cannot be pickled", "dies"])
def test_what_no_process_can_do_is_left_to_this_one(computation: Callable) -> None:
    with Processes([(computation, ())], 2) as made:
        assert [scored.results for scored in made.run(map(chunk_of, "abcdef"))] == [None] * 6


def test_processes_start_where_they_help(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored_elsewhere(cores: int, count: int | None, start: float = 0.0) -> bool:
        monkeypatch.setattr(processes, "core_count", lambda: cores)
        monkeypatch.setattr(processes, "START_SECONDS", start)
        with Processes([(dict, ("a",))], count) as made:
            return [scored.results for scored in made.run([chunk_of(["x"])])] == [[{"a": ["x"]}]]

    assert scored_elsewhere(2, None)
    assert scored_elsewhere(1, 2)
    assert not scored_elsewhere(1, None)
    assert not scored_elsewhere(2, 1)
    assert not scored_elsewhere(2, None, start=WAIT_SECONDS), "a short file is scored here"


def wait_until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not done():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def ignores_interrupts(pid: str) -> bool:
    ignored = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigIgn"))
    return bool(int(ignored.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_leaves_no_process_and_what_can_be_continued(
    score: Callable, pairs: list, tmp_path: Path, checkpoint: Path, number: signal.Signals
) -> None:
    file, output, partial = (tmp_path / name for name in ("in.jsonl", "out.jsonl", ".out.jsonl.partial.json"))
    write_jsonl(file, pairs * 200)
    options = ["--metric=matcha", "--predictions=said", "--references=gold", f"--config={checkpoint}"]
    options += [f"--output={output}", "--batch-rows=10", "--workers=2", "--threshold=0.3"]
    script = tmp_path / "script.py"
    script.write_text(EAGER.format(["score", str(file), *options]))
    with subprocess.Popen([sys.executable, str(script)], start_new_session=True, stderr=subprocess.PIPE) as run:
        wait_until(lambda: partial.exists() and json.loads(partial.read_text())["rows"] > 0)
        wait_until(lambda: sum(map(ignores_interrupts, children_of(run.pid))) == 3)  # two, and what tracks resources
        children = children_of(run.pid)
        # Ctrl-C reaches all processes of a terminal
        (os.killpg if number == signal.SIGINT else os.kill)(run.pid, number)
        said = run.communicate(timeout=WAIT_SECONDS)[1].decode()
    wait_until(lambda: not any(map(is_running, children)))
    rows = json.loads(partial.read_text())["rows"]
    assert 0 < rows < len(pairs) * 200
    if number == signal.SIGINT:
        assert said == f"Error: interrupted; {rows} rows are scored, --resume continues after them\n"
    done(invoke("score", file, *options, "--resume"))
    assert output.read_bytes() == score(file, 1)[1]
