"""Chunks of rows that are scored in other processes, while this one reads and writes: for metrics that run no model.

A table is scored by one core, whatever the machine has. Each process has a pipe of its own and at most one chunk at a
time, so neither end ever waits for a full pipe, and results come in the order of the chunks. Nothing depends on a
process: until it is ready, and once it failed in any way, chunks are scored here. A process sees the end of its pipe
when this one ends, however it ends, and ends too.

They are started by `subprocess`: `multiprocessing` would run a user's script again in each of them, and the script may
score a file without asking for its `__name__`. A pool of joblib has no such need, but leaves its processes behind when
the command is killed: all three were still there after half a minute.
"""

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

from semantic_metrics.core.cores import core_count
from semantic_metrics.files.rows import Chunk

MAX_PROCESSES = 2  # by default: more would take memory and wait for this process, which reads and writes for all
START_SECONDS = 1.0  # of the processor's time, after which processes are started: it takes each about as long
READY_WAIT_SECONDS = 0.0  # for a process that starts; meanwhile chunks are scored here
# the path first: the working folder, which -c puts there, may hold a file with the name of a module
CODE = """\
import sys; sys.path[:] = sys.argv[2:]
import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)
from semantic_metrics.cli.processes import serve; serve(int(sys.argv[1]))
"""

Texts = dict[str, list]  # columns of n texts, or lists of texts
Computation = tuple[Callable[..., dict], tuple[str, ...]]  # what scores texts, and the names of its columns
Results = list[dict]  # what each metric returns for a chunk
Value = TypeVar("Value")


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
        self._workers: list[_Worker] = []
        self._waiting: deque[tuple[Chunk, Texts, _Worker]] = deque()
        self._started, self._begin = False, time.process_time()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, chunks: Iterable[tuple[Chunk, Texts]]) -> Iterator[Scored]:
        """Chunks with their results, in order; a few more chunks are taken before the first result comes.

        An error of the chunks is raised after the results of those before it.
        """
        try:
            for chunk, texts in chunks:
                yield from self._add(chunk, texts)
        except Exception:
            yield from self._rest()
            raise
        yield from self._rest()

    def _add(self, chunk: Chunk, texts: Texts) -> Iterator[Scored]:
        """Give a chunk to a process that is free; chunks that are done leave."""
        done = []
        worker = self._attempt(self._free)
        if worker is None and self._waiting:
            done = [self._first()]
            worker = self._attempt(self._free)
        if worker is not None and self._attempt(worker.send, texts):
            self._waiting.append((chunk, texts, worker))
            yield from done  # what follows, such as writing, now runs beside the processes
        else:
            yield from done
            yield from self._rest()
            yield Scored(chunk, texts, None)

    def _free(self) -> "_Worker | None":
        """A process that can take a chunk."""
        if not self._started and time.process_time() - self._begin >= START_SECONDS:
            self._started = True
            self._start()
        return next((worker for worker in self._workers if worker.is_free()), None)

    def _start(self) -> None:
        count = min(core_count(), MAX_PROCESSES) if self._count is None else self._count
        # elsewhere no process can be given a pipe by its number; a frozen program does not take -c
        if count > 1 and os.name == "posix" and not getattr(sys, "frozen", False):
            import pickle

            compute = pickle.dumps(partial(_compute, self._computations))
            for _ in range(count):
                self._workers.append(_Worker(compute))

    def _first(self) -> Scored:
        """The chunk that has waited longest."""
        chunk, texts, worker = self._waiting.popleft()
        return Scored(chunk, texts, self._attempt(worker.receive) if worker in self._workers else None)

    def _rest(self) -> Iterator[Scored]:
        while self._waiting:
            yield self._first()

    def _attempt(self, action: Callable[..., Value], *arguments: object) -> Value | None:
        """What an action of a process returns; None if it failed, which ends all of them."""
        try:
            return action(*arguments)
        except Exception:  # whatever it was: this process scores the chunk, and says what is wrong with it, if anything
            self._end()
            return None

    def _end(self) -> None:
        while self._workers:
            self._workers.pop().end()


class _Worker:
    """A process that was started.

    Args:
        compute: pickled function of texts, for `serve`.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, compute: bytes) -> None:
        from multiprocessing import Pipe

        self._busy = False
        self._compute: bytes | None = compute  # until it is sent
        self._greetings = 2  # that will still come: before and after it has read the function
        self._pipe, other = Pipe()
        with other:
            path = [folder for folder in sys.path if isinstance(folder, str)]
            self._process = subprocess.Popen(
                [sys.executable, *_interpreter_flags(), "-c", CODE, str(other.fileno()), *path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                # the processes are what runs at a time
                env=os.environ | {"TOKENIZERS_PARALLELISM": "false"},
            )

    def is_free(self) -> bool:
        """Whether it is ready and has no chunk.

        Raises:
            Exception: it has ended.
        """
        while self._greetings and self._pipe.poll(READY_WAIT_SECONDS):
            self._pipe.recv()
            self._greetings -= 1
            if self._compute is not None:
                self._pipe.send_bytes(self._compute)
                self._compute = None
        return not self._greetings and not self._busy

    def send(self, texts: Texts) -> bool:
        """Give it a chunk; returns True.

        Raises:
            Exception: it has ended.
        """
        self._pipe.send(texts)
        self._busy = True
        return True

    def receive(self) -> Results:
        """Wait for the results of its chunk.

        Raises:
            Exception: it has ended, perhaps because a text is invalid.
        """
        results = self._pipe.recv()
        self._busy = False
        return results

    def end(self) -> None:
        """End it at once."""
        self._pipe.close()
        self._process.kill()
        self._process.wait()


def _interpreter_flags() -> list[str]:
    """Flags of Python that keep the user's folders and environment out, as this process has them."""
    flags = {"I": "isolated", "E": "ignore_environment", "s": "no_user_site", "S": "no_site", "P": "safe_path"}
    return [f"-{letter}" for letter, name in flags.items() if getattr(sys.flags, name, False)]


def serve(descriptor: int) -> None:
    """Score chunks that come through a pipe until its other end is closed; an error ends the process.

    Args:
        descriptor: number of the pipe, which this process has inherited. A greeting goes out, the pickled function of
            texts comes in, a second greeting goes out; then texts come in, and their results go out.

    Raises:
        Exception: whatever the function raises.
    """
    from multiprocessing.connection import Connection

    with suppress(EOFError, ConnectionError), Connection(descriptor) as pipe:
        pipe.send(None)
        compute: Callable[[Texts], Results] = pipe.recv()
        pipe.send(None)
        while True:
            pipe.send(compute(pipe.recv()))


def _compute(computations: list[Computation], texts: dict[str, Any]) -> Results:
    return [compute(**{name: texts[name] for name in columns}) for compute, columns in computations]
