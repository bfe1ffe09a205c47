"""Chunks of rows that are scored in other processes, while this one reads and writes: for metrics that run no model.

A table is scored by one core, whatever the machine has. Results come in the order of the chunks, and nothing depends on
a process: before START_SECONDS, and where a process fails in any way, chunks are scored here.
"""

import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context, parent_process
from types import ModuleType
from typing import Any, NamedTuple

from semantic_metrics.core.process import core_count
from semantic_metrics.files.rows import Chunk

MAX_PROCESSES = 2  # by default: more would take memory and wait for this process, which reads and writes for all
START_SECONDS = 1.0  # of the processor's time, after which processes are started: it takes each about as long

Texts = dict[str, list[Any]]  # columns of n texts, or lists of texts
Computation = tuple[
    Callable[..., Mapping[str, Any]], tuple[str, ...]
]  # what scores texts, and the names of its columns
Results = list[Mapping[str, Any]]  # what each metric returns for a chunk


class Scored(NamedTuple):
    """A chunk with its results.

    Attributes:
        chunk: the rows.
        texts: texts of the rows.
        results: what the metrics return for them; None where they are to be scored here.
    """

    chunk: Chunk
    texts: Texts
    results: Results | None


class Processes:
    """Processes that score chunks; leaving the `with` block ends them.

    Args:
        computations: what scores the texts, for each metric.
        count: number of processes; None for that of the cores this process may use, at most MAX_PROCESSES. There are
            none if it is 1, where they cannot be started, and before this process has computed for START_SECONDS.
    """

    def __init__(self, computations: list[Computation], count: int | None = None) -> None:
        self._computations, self._count = computations, count
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: deque[tuple[Chunk, Texts, Future[Results]]] = deque()
        self._begin = time.process_time()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(self, chunks: Iterable[tuple[Chunk, Texts]]) -> Iterator[Scored]:
        """Chunks with their results, in order; a few more chunks are taken before the first result comes.

        An error of the chunks is raised after the results of those before it.
        """
        try:
            for chunk, texts in chunks:
                future = self._submit(texts)
                if future is None:
                    yield from self._rest()
                    yield Scored(chunk, texts, None)
                else:
                    self._waiting.append((chunk, texts, future))
                    if len(self._waiting) > (self._count or 1):
                        yield self._first()
        except Exception:
            yield from self._rest()
            raise
        yield from self._rest()

    def _submit(self, texts: Texts) -> Future[Results] | None:
        """Give a chunk to a process; None where it is to be scored here."""
        if time.process_time() - self._begin < START_SECONDS:
            return None
        self._count = self._count or min(core_count(), MAX_PROCESSES)
        if self._count == 1:
            return None
        # a process runs the main module again, which may be a script that does not ask for its `__name__`
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            if self._pool is None:
                compute = pickle.dumps(partial(_compute, self._computations))
                self._pool = ProcessPoolExecutor(self._count, get_context("spawn"), _start, (compute,))
            return self._pool.submit(_run, texts)
        except Exception:  # whatever it was, this process can score
            self._count = 1
            return None
        finally:
            sys.modules["__main__"] = main

    def _first(self) -> Scored:
        """The chunk that has waited longest."""
        chunk, texts, future = self._waiting.popleft()
        try:
            return Scored(chunk, texts, future.result())
        except Exception:  # this process scores the chunk, and says what is wrong with it, if anything
            return Scored(chunk, texts, None)

    def _rest(self) -> Iterator[Scored]:
        while self._waiting:
            yield self._first()


_computation: Callable[[Texts], Results]  # of this process, where it is one of a pool


def _start(compute: bytes) -> None:
    """Prepare a process of the pool: it leaves Ctrl-C to its parent, and ends when the parent does, however it ends."""
    global _computation
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes are what runs at a time
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _computation = pickle.loads(compute)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None, "a process of the pool has a parent"
    parent.join()
    os._exit(1)


def _run(texts: Texts) -> Results:
    return _computation(texts)


def _compute(computations: list[Computation], texts: Texts) -> Results:
    return [compute(**{name: texts[name] for name in columns}) for compute, columns in computations]
