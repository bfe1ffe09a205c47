"""Batches on several cores: a worker for each core, each running its own batch on one thread.

Threads inside an operation wait for one another, so that one busy core slows all of them down, and small matrices do
not fill them. Workers with a batch each do not wait. What a batch holds must be settled before; then results are equal
to the last bit for any number of workers, as every operation runs on one thread.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from semantic_metrics.core.process import Lock, core_count

Item = TypeVar("Item")
Result = TypeVar("Result")
_starting = Lock()  # one thread at a time changes torch's number of threads


def worker_count(workers: int | None) -> int:
    """The number given, or else that of the cores this process may use (see `core_count`)."""
    return core_count() if workers is None else workers


def run_in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results of a function for each item, in their order; torch runs on one thread in each of the workers.

    All items are taken at once. An error of the function is raised here, and items that wait are dropped.
    """
    pool = ThreadPoolExecutor(workers, "semantic-metrics", _use_one_thread)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)


def _use_one_thread() -> None:
    """Make torch use one thread in this thread, and in no other.

    `torch.set_num_threads` sets the number of the calling thread, and the one that threads begin with from now on. A
    thread that ends at once sets the latter back.
    """
    with _starting:
        before = torch.get_num_threads()  # in a new thread, the number that threads begin with
        torch.set_num_threads(1)
        restore = threading.Thread(target=torch.set_num_threads, args=(before,))
        restore.start()
        restore.join()
