"""Chunks scored in other processes: the bytes are those of one, whatever happens to a process, and none is left."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.cli import processes
from semantic_metrics.cli.processes import Processes, serve
from semantic_metrics.cli.scoring import LoadedMetric, MetricChoice
from semantic_metrics.files.rows import Chunk
from tests.cli.conftest import done, invoke, refused, write_jsonl
from tests.conftest import ROOT
from tests.tiny_table import WORDS

posix = pytest.mark.skipif(os.name != "posix", reason="processes are started on POSIX systems only")
proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
pytestmark = posix
ROWS, BATCH_ROWS = 400, 30
WAIT_SECONDS = 60.0  # for what takes a moment; a test that waits longer fails
MEMORY_BYTES = 500 * 10**6  # that all processes together may take
# a command whose chunks all go to processes, from the first on; a shell's background job would ignore Ctrl-C
EAGER = f"""
import signal

from semantic_metrics.cli import main, processes

signal.signal(signal.SIGINT, signal.default_int_handler)
processes.START_SECONDS, processes.READY_WAIT_SECONDS = 0.0, {WAIT_SECONDS}
"""


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes start at once, and the first chunk waits for them."""
    monkeypatch.setattr(processes, "START_SECONDS", 0.0)
    monkeypatch.setattr(processes, "READY_WAIT_SECONDS", WAIT_SECONDS)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """The processes that are started."""
    start, begun = subprocess.Popen, []
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: begun.append(start(*given, **more)) or begun[-1])
    return begun


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same rows in every format."""
    folder, draw = tmp_path_factory.mktemp("rows"), random.Random(0)
    said, gold = ([" ".join(draw.choices([*WORDS, "☃"], k=1 + i % 9)) for i in range(ROWS)] for _ in range(2))
    frame = pd.DataFrame({"said": said, "gold": gold, "id": range(ROWS)})
    frame.to_csv(folder / "in.csv", index=False)
    frame.to_csv(folder / "in.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "in.parquet", row_group_size=70)
    write_jsonl(folder / "in.jsonl", frame.to_dict("records"))
    write_jsonl(folder / "lists.jsonl", [{"said": a, "gold": [a, b]} for a, b in zip(gold, said, strict=True)])
    return folder


@pytest.fixture
def score(checkpoint: Path) -> Callable[..., Result]:
    """Run `semantic-metrics score FILE` with the small checkpoint, 30 rows at a time."""
    usual = {"metric": "matcha", "predictions": "said", "references": "gold", "config": checkpoint}

    def run(file: Path | str, *more: object, workers: int = 1, input: str | None = None, **changed: object) -> Result:
        options = usual | {"batch_rows": BATCH_ROWS, "workers": workers} | changed
        return invoke("score", file, *more, options=options, input=input)

    return run


def never(self: LoadedMetric, texts: dict[str, list]) -> None:
    raise AssertionError("scored in this process")


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def folder(path: Path, name: object) -> Path:
    (path / str(name)).mkdir()
    return path / str(name)


@pytest.mark.parametrize("file", ["in.jsonl", "in.csv", "in.tsv", "in.parquet", "lists.jsonl"])
def test_everything_is_the_same_to_the_byte(
    score: Callable, eager: None, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    def run(workers: int) -> tuple[str, str, dict[str, bytes]]:
        made = folder(tmp_path, workers)
        written = {"output": made / f"out.{file.partition('.')[2]}", "signatures": made / "signatures.txt"}
        result = score(rows / file, workers=workers, threshold="0.3", **written)
        done(result)
        return result.stdout, result.stderr, bytes_of(made)

    whole = run(1)
    assert len(whole[2]) == 2
    monkeypatch.setattr(LoadedMetric, "score", never)
    assert run(2) == run(3) == whole


def test_a_table_and_a_stream_are_the_same(
    score: Callable, eager: None, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = rows / "in.jsonl"

    def run(workers: int) -> list[object]:
        made = folder(tmp_path, workers)
        results = [
            score(file, "--show", "id", workers=workers),
            score(file, workers=workers, output="-"),
            score(file, workers=workers, output=made / "out.csv"),
        ]
        assert all(result.exit_code == 0 for result in results)
        return [*((result.stdout, result.stderr) for result in results), bytes_of(made)]

    whole = run(1)
    monkeypatch.setattr(LoadedMetric, "score", never)
    assert run(2) == whole


def test_an_invalid_row_and_what_is_left_are_the_same(score: Callable, eager: None, rows: Path, tmp_path: Path) -> None:
    """Several rows are invalid: a process may have the chunk of a later one when the first is found."""
    lines = (rows / "in.jsonl").read_text(encoding="utf-8").splitlines()
    invalid = {
        "metric": {200: '{"said": "\\ud800", "gold": "dog"}', 230: '{"said": "dog", "gold": "\\ud800"}'},
        "command": {190: '{"said": "dog", "gold": "\\ud800"}', 200: '{"said": 5, "gold": "dog"}'},
        "both": {200: '{"said": "\\ud800", "gold": "dog"}', 215: '{"said": 5, "gold": "dog"}', 250: "torn"},
        "reader": {200: "torn", 230: '{"said": "\\ud800", "gold": "dog"}'},
    }
    for kind, changed in invalid.items():
        file = tmp_path / f"{kind}.jsonl"
        file.write_text("".join(f"{changed.get(i, line)}\n" for i, line in enumerate(lines, 1)), encoding="utf-8")
        messages, left = [], []
        for workers in (1, 2, 3):
            made = folder(tmp_path, f"{kind}{workers}")
            result = score(file, workers=workers, output=made / "out.jsonl")
            refused(result, f"{file}, line 200", "; 180 rows are scored, --resume continues after them")
            messages.append(result.stderr)
            left.append(bytes_of(made))
        assert messages[0] == messages[1] == messages[2]
        assert left[0] == left[1] == left[2]
        assert set(left[0]) == {".out.jsonl.partial", ".out.jsonl.partial.json"}
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for workers in (1, 2) if kind == "both" else ():  # a run goes on with another number of processes
            output = tmp_path / f"{kind}{workers}" / "out.jsonl"
            done(score(file, "--resume", workers=3 - workers, output=output))
            assert len(output.read_bytes().splitlines()) == ROWS
    assert (tmp_path / "both1" / "out.jsonl").read_bytes() == (tmp_path / "both2" / "out.jsonl").read_bytes()


@pytest.mark.parametrize("when", ["before a chunk", "with a chunk"])
def test_a_process_that_is_killed_changes_nothing(
    score: Callable, eager: None, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    whole = done(score(rows / "in.jsonl", output=tmp_path / "whole.jsonl"))
    send, sent = processes._Worker.send, []

    def sending(self: processes._Worker, texts: dict[str, list]) -> bool:
        sent.append(self)
        if len(sent) == 5 and when == "before a chunk":
            self._process.kill()
            self._process.wait()
        result = send(self, texts)
        if len(sent) == 5:
            self._process.kill()
        return result

    monkeypatch.setattr(processes._Worker, "send", sending)
    assert done(score(rows / "in.jsonl", workers=2, output=tmp_path / "out.jsonl")) == whole
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert len(sent) < 9, "the rest was scored here"
    assert all(worker._process.returncode is not None for worker in sent)


def test_what_cannot_start_is_done_without(
    score: Callable, eager: None, rows: Path, monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen]
) -> None:
    def run() -> str:
        result = score(rows / "in.jsonl", workers=2, output="-")
        assert result.exit_code == 0
        assert all(process.returncode is not None for process in started), "no process is left"
        return result.output

    whole = run()
    assert len(started) == 2
    for code in ("raise SystemExit(3)", "import os, time; os.closerange(3, 99); time.sleep(99)", "raise MemoryError"):
        with monkeypatch.context() as patched:
            patched.setattr(processes, "CODE", code)
            assert run() == whole
    for executable in ("/no/such/python", "/bin/false", None, ""):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", executable)
            assert run() == whole
    with monkeypatch.context() as patched:
        patched.setattr(LoadedMetric, "computation", property(lambda self: (lambda **_: {}, ("predictions",))))
        patched.setattr(LoadedMetric, "score", own_score)
        assert run() == whole, "what cannot be pickled"
    begun = len(started)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "frozen", True, raising=False)
        assert run() == whole
    assert len(started) == begun


def own_score(self: LoadedMetric, texts: dict[str, list], *_: object) -> dict[str, list]:
    return self.add(self._metric.compute(predictions=texts["predictions"], references=texts["references"]))


def test_processes_start_where_they_help(
    score: Callable,
    rows: Path,
    sts_model: Path,
    checkpoint: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: list[subprocess.Popen],
) -> None:
    file, text = rows / "in.jsonl", (rows / "in.jsonl").read_text(encoding="utf-8")
    done(score(file, workers=2))
    assert started == [], "a short file is scored here"
    monkeypatch.setattr(processes, "START_SECONDS", 0.0)
    done(score(file, workers=1))
    several = ["--metric=stsscore", f"--config=stsscore={sts_model}"]
    done(
        score(
            write_jsonl(file.with_name("few.jsonl"), [{"said": "a", "gold": "b"}]),
            *several,
            workers=2,
            config=f"matcha={checkpoint}",
        )
    )
    assert score("-", workers=2, format="jsonl", output="-", input=text).exit_code == 0
    options = {"metric": "matcha", "config": checkpoint, "predictions": "said", "references": "gold"}
    monkeypatch.setattr(processes, "core_count", lambda: 1)
    done(invoke("score", file, options=options))
    assert started == []
    monkeypatch.setattr(processes, "core_count", lambda: 2)
    done(invoke("score", file, options=options))
    assert len(started) == 2
    monkeypatch.setattr(processes, "core_count", lambda: 64)
    done(invoke("score", file, options=options))
    assert len(started) == 2 + processes.MAX_PROCESSES


def test_nobody_waits_for_a_process_that_starts(
    score: Callable, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen]
) -> None:
    monkeypatch.setattr(processes, "START_SECONDS", 0.0)
    monkeypatch.setattr(processes, "CODE", "import time; time.sleep(999)")
    done(score(rows / "in.jsonl", workers=2, output=tmp_path / "out.jsonl"))
    assert [process.returncode for process in started] == [-signal.SIGKILL] * 2


@pytest.fixture(scope="module")
def three() -> Iterator[Processes]:
    """Three processes that return the texts they get."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes, "START_SECONDS", 0.0)
        patched.setattr(processes, "READY_WAIT_SECONDS", WAIT_SECONDS)
        with Processes([(dict, ("a",)), (dict, ("b", "a"))], 3) as made:
            yield made
            assert len(made._workers) == 3


def chunk_of(texts: list[str]) -> tuple[Chunk, dict[str, list]]:
    return Chunk("row", list(range(len(texts)))), {"a": texts, "b": texts[::-1]}


@given(chunks=st.lists(st.lists(st.text(), min_size=1), max_size=9), stop=st.none() | st.integers(0, 9))
def test_any_chunks_come_in_their_order(three: Processes, chunks: list[list[str]], stop: int | None) -> None:
    """Also if reading them fails, as soon as those before have come."""

    def read() -> Iterator[tuple[Chunk, dict[str, list]]]:
        for i, texts in enumerate(chunks):
            if i == stop:
                raise ValueError("unreadable")
            yield chunk_of(texts)

    scored = []
    try:
        for chunk, texts, results in three.run(read()):
            assert results == [{"a": texts["a"]}, {"b": texts["b"], "a": texts["a"]}]
            assert len(chunk) == len(texts["a"])
            scored.append(texts["a"])
    except ValueError:
        assert stop is not None
    assert scored == chunks[:stop]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("failing", [0, 1, 4])
def test_an_error_in_a_process_leaves_its_chunk_to_this_one(eager: None, count: int, failing: int) -> None:
    third = "{a[2]}".format  # fails for less than three texts
    chunks = [chunk_of(list("xyz")[: 2 if i == failing else 3]) for i in range(8)]
    with Processes([(third, ("a",))], count) as made:
        scored = list(made.run(chunks))
        assert made._workers == []
    assert [one.chunk for one in scored] == [chunk for chunk, _ in chunks]
    assert [one.results for one in scored[:failing]] == [["z"] if count > 1 else None] * failing
    assert [one.results for one in scored[failing:]] == [None] * (8 - failing)


def test_chunks_are_sent_before_those_that_are_done_are_written(eager: None) -> None:
    read = []
    with Processes([(dict, ("a",))], 2) as made:
        for i, _ in enumerate(made.run(read.append(i) or chunk_of(["x"]) for i in range(6))):
            assert len(read) == min(i + 3, 6), "two are scored beside the one that is written"


def test_serve_ends_with_its_pipe() -> None:
    here, there = Pipe()
    thread = Thread(target=serve, args=(os.dup(there.fileno()),))
    thread.start()
    there.close()
    assert here.recv() is None
    here.send(dict)
    assert here.recv() is None
    here.send({"a": ["x"]})
    here.close()
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive()


@proc
def test_a_process_has_what_the_table_needs_alone(eager: None, checkpoint: Path) -> None:
    metric = LoadedMetric(MetricChoice("matcha", str(checkpoint)))
    texts = {"predictions": ["the dog"], "references": ["a dog"]}
    with Processes([metric.computation], 2) as made:
        (scored,) = made.run([(Chunk("row", [1]), texts)])
        assert scored.results is not None
        maps = Path(f"/proc/{made._workers[0]._process.pid}/maps").read_text()
        env = Path(f"/proc/{made._workers[0]._process.pid}/environ").read_bytes()
    assert "tokenizers" in maps
    assert not [name for name in ("torch", "pyarrow", "pandas", "sklearn") if f"/{name}/" in maps]
    assert b"TOKENIZERS_PARALLELISM=false" in env


def test_a_script_is_not_run_again(rows: Path, checkpoint: Path, tmp_path: Path) -> None:
    """Though it does not ask for its `__name__`, as `multiprocessing` wants; nor are files beside it imported."""
    for name in ("json", "signal", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise AssertionError('imported')")
    options = ["--metric=matcha", "--predictions=said", "--references=gold", f"--config={checkpoint}", "--output=-"]
    line = ["score", str(rows / "in.jsonl"), *options, f"--batch-rows={BATCH_ROWS}"]
    script = folder(tmp_path, "scripts") / "script.py"
    last = "import subprocess; start = subprocess.Popen; begun = []\n"
    last += "subprocess.Popen = lambda *a, **k: begun.append(start(*a, **k)) or begun[-1]\n"
    call = "try: main({!r})\nfinally: assert len(begun) == {} and {{one.returncode for one in begun}} <= {{-9}}, begun"
    outputs = []
    for workers in (1, 2):
        text = EAGER + last + call.format([*line, f"--workers={workers}"], workers if workers > 1 else 0)
        script.write_text(text)
        ran = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, timeout=WAIT_SECONDS)
        assert ran.returncode == 0, ran.stderr
        outputs.append((ran.stdout, ran.stderr))
    assert outputs[0] == outputs[1]
    assert len(outputs[0][0].splitlines()) == ROWS


def test_a_row_on_a_pipe_is_answered_at_once(checkpoint: Path) -> None:
    """Whoever writes the next row when the score of the last one has come must not wait for ever."""
    options = ["--metric=matcha", "--predictions=said", "--references=gold", f"--config={checkpoint}", "--workers=2"]
    code = f"{EAGER}main()"
    line = [sys.executable, "-c", code, "score", "-", "--format=jsonl", "--output=-", "--batch-rows=1", *options]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as run:
        for i in range(5):
            run.stdin.write(json.dumps({"said": "the dog", "gold": "a dog", "id": i}).encode() + b"\n")
            run.stdin.flush()
            assert json.loads(run.stdout.readline())["id"] == i
        run.stdin.close()
        assert run.wait(WAIT_SECONDS) == 0


def test_an_invalid_row_on_an_open_pipe_is_refused_at_once(checkpoint: Path, tmp_path: Path) -> None:
    options = ["--metric=matcha", "--predictions=said", "--references=gold", f"--config={checkpoint}", "--workers=2"]
    options += ["--format=jsonl", "--batch-rows=1", f"--output={tmp_path / 'out.jsonl'}"]
    line = [sys.executable, "-c", f"{EAGER}main()", "score", "-", *options]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as run:
        run.stdin.write(b'{"said": "the dog", "gold": "a dog"}\n' * 5 + b'{"said": "\\ud800", "gold": "a dog"}\n')
        run.stdin.flush()
        assert run.wait(WAIT_SECONDS) == 2
        assert b"line 6" in run.stderr.read()


def test_a_warning_of_a_later_chunk_does_not_come_before_an_error(
    score: Callable, eager: None, tmp_path: Path, rows: Path
) -> None:
    lines = (rows / "in.jsonl").read_text(encoding="utf-8").splitlines()
    lines[150] = '{"said": "\\ud800", "gold": "dog"}'
    lines[195] = json.dumps({"said": "dog", "gold": '["a", "b"]'})
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    printed = []
    for workers in (1, 2):
        result = score(file, workers=workers, output=folder(tmp_path, workers) / "out.jsonl")
        printed.append((result.exit_code, result.stderr))
    assert printed[0] == printed[1]
    assert "warning: " not in printed[0][1]


def test_processes_run_nothing_that_the_command_keeps_out(checkpoint: Path, tmp_path: Path, rows: Path) -> None:
    """With -I Python reads neither PYTHONPATH nor the folders of the user; nor do the processes."""
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('ran ')\n")
    options = ["--metric=matcha", "--predictions=said", "--references=gold", f"--config={checkpoint}", "--workers=2"]
    line = [sys.executable, "-I", "-c", f"{EAGER}main()", "score", str(rows / "in.jsonl"), "--batch-rows=30", *options]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(line, env=environment, cwd=tmp_path, capture_output=True, timeout=WAIT_SECONDS)
    assert ran.returncode == 0, ran.stderr
    assert not (tmp_path / "ran").exists()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not done():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.005)


@proc
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_no_process_and_what_can_be_continued(
    score: Callable, tmp_path: Path, checkpoint: Path, number: signal.Signals
) -> None:
    draw = random.Random(1)
    texts = [[" ".join(draw.choices(WORDS, k=6)) for _ in range(6_000)] for _ in range(2)]
    pairs = [{"said": said, "gold": gold} for said, gold in zip(*texts, strict=True)]
    file, output = write_jsonl(tmp_path / "in.jsonl", pairs), tmp_path / "out.jsonl"
    done(score(file, output=tmp_path / "whole.jsonl", batch_rows=10))
    options = ["--metric=matcha", "--predictions=said", "--references=gold", f"--config={checkpoint}"]
    options += [f"--output={output}", "--batch-rows=10"]
    line = [sys.executable, "-c", f"{EAGER}main()", "score", str(file), *options, "--workers=2"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as run:
        wait_until(lambda: (tmp_path / ".out.jsonl.partial.json").exists())
        workers = children(run.pid)
        assert len(workers) == 2
        # Ctrl-C reaches all processes of a terminal
        (os.killpg if number == signal.SIGINT else os.kill)(run.pid, number)
        printed, said = run.communicate(timeout=WAIT_SECONDS)
    wait_until(lambda: not any(map(is_running, workers)))
    assert printed == b""
    rows = json.loads((tmp_path / ".out.jsonl.partial.json").read_text())["rows"]
    assert 0 < rows < len(pairs)
    if number == signal.SIGINT:
        assert run.returncode == 130
        expected = f"Error: interrupted; {rows} rows are scored, --resume continues after them\n"
        assert said.decode() == expected, "no process says anything"
    else:
        assert run.returncode == -number
        assert said == b""
    again = subprocess.run([*line, "--resume"], capture_output=True, timeout=WAIT_SECONDS)
    assert again.returncode == 0, again.stderr
    assert output.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl", "out.jsonl", "whole.jsonl"}


def test_the_number_of_processes_is_no_setting_of_a_model(score: Callable, rows: Path) -> None:
    assert score(rows / "in.jsonl", workers=2).stderr == ""
    said = score(rows / "in.jsonl", "--device=cpu", workers=2).stderr
    assert said == "matcha: a table runs no model, --device has no effect\n"


def resident_bytes(pid: int) -> int:
    """Memory of a process, its share of what it has in common with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it has ended
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


@proc
@pytest.mark.slow
def test_the_command_and_two_processes_take_half_a_gigabyte(tmp_path: Path) -> None:
    """With the table that is shipped, and as many words as a large file of plain sentences has."""
    draw = random.Random(2)
    words = ["".join(draw.choices("etaoinshrdlu", k=6)) for _ in range(50_000)]
    pairs = (
        {"said": " ".join(draw.choices(words, k=9)), "gold": " ".join(draw.choices(words, k=9))} for _ in range(100_000)
    )
    file = write_jsonl(tmp_path / "in.jsonl", list(pairs))
    options = ["--metric=matcha", "--predictions=said", "--references=gold", "--workers=2", "--output=out.jsonl"]
    line = [sys.executable, "-m", "semantic_metrics", "score", str(file), *options]
    most = 0
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            with suppress(OSError):
                most = max(most, sum(map(resident_bytes, [run.pid, *children(run.pid)])))
            time.sleep(0.05)
    assert run.returncode == 0
    assert MEMORY_BYTES / 2 < most < MEMORY_BYTES, "there were processes"
