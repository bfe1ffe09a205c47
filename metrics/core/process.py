"""Limits of a process: how many cores it may use, locks, and a fork after a model was loaded.

A model that was loaded before a fork answers in the child too: `datasets.map(num_proc=2)`, gunicorn, pytest-xdist. A
fork copies the memory but not the threads. The child would wait for ever for the threads that torch and tokenizers
started in the parent, so it computes with the one thread that it has. Processes made by "spawn" have all of theirs.
"""

import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a MATCHA table does without torch
    import torch

_importing_process = os.getpid()


def is_forked() -> bool:
    """Whether this process was forked after it had imported the package."""
    return os.getpid() != _importing_process


def check_device(device: "torch.device") -> None:
    """Refuse a GPU in a forked process, where CUDA does not work."""
    import torch

    if device.type == "cuda" and torch.cuda._is_in_bad_fork():
        raise ValueError("device: expected 'cpu' in a forked process, got a GPU; start processes by 'spawn' to use it")


def _use_one_thread() -> None:
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # "true" would make tokenizers wait for threads of the parent


def core_count() -> int:
    """Number of cores that this process may use, but at most OMP_NUM_THREADS; 1 after a fork.

    joblib counts the cores: those that the process is bound to, at most its container's share of the processor.
    A forked process is one of several that share the cores.
    """
    if is_forked():
        return 1
    import joblib  # takes long to import; a short file is scored without it

    cores = joblib.cpu_count()
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(cores, int(limit)) if limit.isdigit() and int(limit) else cores


class Lock:
    """A reentrant lock for `with`, for threads that share a metric; a pickled copy and a forked process find it free.

    A plain lock cannot be pickled, and one that another thread held during a fork would stay closed in the child.
    """

    def __init__(self) -> None:
        self._renew()
        _locks.add(self)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return Lock, ()


_locks: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock._renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_renew_all)
    os.register_at_fork(after_in_child=_use_one_thread)
