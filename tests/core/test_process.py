"""Threads that share a metric, forked processes, and progress bars: no row is lost, nothing is shown unasked."""

import os
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import evaluate
import pytest

from semantic_metrics import load
from semantic_metrics.core import progress
from semantic_metrics.core.process import Lock
from semantic_metrics.core.progress import progress_bar, with_progress
from tests.demo.test_bundle import COLUMNS
from tests.tiny_table import WORDS

CALLERS = 64
CALLS = 1000  # tests/integrations has ten times as many, which are scored in batches


@pytest.fixture(scope="module")
def pairs() -> tuple[list[str], list[str]]:
    texts = [f"{WORDS[i % len(WORDS)]} {WORDS[i // len(WORDS) % len(WORDS)]} {i}" for i in range(2 * CALLS)]
    return texts[:CALLS], texts[CALLS:]


def test_callers_at_once_get_their_own_scores(metric: evaluate.Metric, pairs: tuple[list[str], list[str]]) -> None:
    expected = metric.compute(predictions=pairs[0], references=pairs[1])["scores"]
    assert len(set(expected)) > 100

    def score(i: int) -> float:
        return metric.compute(predictions=[pairs[0][i]], references=[pairs[1][i]])["scores"][0]

    with ThreadPoolExecutor(CALLERS) as threads:
        assert list(threads.map(score, range(CALLS))) == expected


def test_rows_added_at_once_are_all_scored(metric: evaluate.Metric, pairs: tuple[list[str], list[str]]) -> None:
    expected = metric.compute(predictions=pairs[0], references=pairs[1])["scores"]
    with ThreadPoolExecutor(CALLERS) as threads:
        list(threads.map(lambda i: metric.add(prediction=pairs[0][i], reference=pairs[1][i]), range(CALLS)))
    assert sorted(metric.compute()["scores"]) == sorted(expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_lock_is_free_in_a_copy_and_in_a_forked_process() -> None:
    lock, held, done = Lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        with lock:  # would wait for ever
            os._exit(0)
    with pickle.loads(pickle.dumps(lock)):
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    done.set()
    thread.join()


CODE = """
import os, sys
import datasets
from semantic_metrics import load
from semantic_metrics.batches import Scorer

name, checkpoint, columns = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
texts = {column: [f"the dog {i} bites a man {len(column)}" for i in range(200)] for column in columns}
metric = load(name, checkpoint, keep_in_memory=True)
before = metric.compute(**texts)["scores"]
child = os.fork()
if child == 0:
    after = metric.compute(**texts)["scores"]
    os._exit(0 if max(abs(a - b) for a, b in zip(after, before, strict=True)) < 1e-5 else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
scorer = Scorer(name, checkpoint, **({"questions": "questions"} if "questions" in texts else {}))
mapped = datasets.Dataset.from_dict(texts).map(scorer, batched=True, batch_size=50, num_proc=2)
print(max(abs(a - b) for a, b in zip(mapped[name][:], before, strict=True)) < 1e-5)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["consensus", "matcha", "stsscore", "nli_lex", "support"])
def test_answers_after_a_fork(name: str, checkpoints: dict[str, str], tmp_path: Path, run_python: Callable) -> None:
    """The parent has started threads, which the child does not have."""
    folder = checkpoints[name]
    columns = "predictions,references" + ",questions" * (name == "nli_lex")
    done = run_python(CODE, name, folder, columns, cwd=tmp_path, OMP_NUM_THREADS="2")
    assert done.stdout.split() == ["0", "True"], done.stderr[-2000:]


TEXTS = (["a dog", "a cat"], ["the dog", "the cat"])


def be_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_items_are_counted_on_a_terminal(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_terminal(monkeypatch)
    assert list(with_progress([1, 2, 3], "row", title="made")) == [1, 2, 3]
    shown = capsys.readouterr().err
    assert "made" in shown
    assert "0.00/3.00" in shown


def test_what_is_no_terminal_stays_empty(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    list(with_progress(iter([1, 2]), "row"))
    assert capsys.readouterr().err == ""


def test_nothing_is_shown_where_standard_error_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    monkeypatch.setattr("semantic_metrics.core.progress.DELAY_SECONDS", 0)
    assert list(with_progress(range(3), "row")) == [0, 1, 2]


def test_a_variable_switches_all_bars_off(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_terminal(monkeypatch)
    for value, shown in (("1", False), ("true", False), ("0", True), ("", True)):
        monkeypatch.setenv("TQDM_DISABLE", value)
        list(with_progress([1, 2, 3], "row"))
        assert bool(capsys.readouterr().err) == shown


@pytest.mark.parametrize("name", COLUMNS)
def test_compute_shows_a_bar_unless_told_otherwise(
    name: str, checkpoints: dict[str, str], capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = load(name, checkpoints[name])
    be_a_terminal(monkeypatch)
    result = metric.compute(**COLUMNS[name])
    assert "/s]" in capsys.readouterr().err
    assert metric.compute(**COLUMNS[name], progress=False) == result
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match=r"^progress: expected one of False, True, got str 'no'"):
        metric.compute(**COLUMNS[name], progress="no")
    if name != "set_criteria":
        assert metric.signature(progress=False) == metric.signature()


def test_no_call_shows_what_its_caller_hides(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_terminal(monkeypatch)
    with progress.progress(False), progress.progress(True), progress_bar(2, "row") as bar:
        bar.update()
    assert capsys.readouterr().err == ""
