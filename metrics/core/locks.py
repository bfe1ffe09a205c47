"""The lock of a metric: threads that share an instance wait for one another."""

import os
import threading
import weakref


class Lock:
    """A reentrant lock for `with`; a copy that was pickled, and a forked process, find it free.

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

    def __reduce__(self) -> tuple:
        return Lock, ()


_locks: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock._renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_renew_all)
