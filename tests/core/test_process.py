"""Threads that share a metric: no row is lost, and none gets the score of another."""

import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import evaluate
import pytest

from semantic_metrics.core.process import Lock
from tests.tiny_table import WORDS

CALLERS = 64
CALLS = 1000  # tests/integrations has ten times as many, which are scored in batches


@pytest.fixture(scope="module")
def pairs() -> tuple[list[str], list[str]]:
    """CALLS pairs of texts, each with a score of its own."""
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
