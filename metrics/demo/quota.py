"""How much a demo does for one visitor: as one job runs at a time, nobody may keep the others waiting for long."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address, ip_network

from gradio.context import LocalContext
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WORK_SECONDS = 600  # some six jobs of the largest size
WINDOW_SECONDS = 3600  # in which a visitor has so many


class Quota:
    """Seconds of work that each visitor has in a window of so many seconds, which moves with the clock."""

    def __init__(
        self, seconds: float = WORK_SECONDS, window: float = WINDOW_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds, self._window, self._clock = seconds, window, clock
        self._jobs: dict[str, list[tuple[float, float]]] = {}  # by visitor: when each job ended, and its seconds

    @contextmanager
    def charge(self, visitor: str | None) -> Iterator[None]:
        """Charge a visitor (None: one without a limit) for the time of the block; a job that has begun is never cut."""
        if visitor is None:
            yield
            return
        begin = self._clock()
        self._forget(begin)
        jobs = self._jobs.get(visitor, [])
        used = sum(seconds for _, seconds in jobs)
        if used >= self._seconds:
            minutes = math.ceil((self._end_of_wait(jobs) - begin) / 60)
            raise ValueError(
                f"expected at most {self._seconds:.0f} seconds of work for one visitor in {self._window / 60:.0f} "
                f"minutes, got {used:.0f}; try again in {minutes} min, or run the metric on your own machine"
            )
        try:
            yield
        finally:
            end = self._clock()
            self._jobs.setdefault(visitor, []).append((end, end - begin))

    def _end_of_wait(self, jobs: list[tuple[float, float]]) -> float:
        """When so many of a visitor's jobs, the oldest first, have left the window that there are seconds again."""
        used = sum(seconds for _, seconds in jobs)
        for ended, seconds in jobs:
            leaves = ended + self._window
            used -= seconds
            if used < self._seconds:
                break
        return leaves

    def _forget(self, now: float) -> None:
        """Drop the jobs that the window has left behind."""
        kept = {name: [job for job in jobs if job[0] > now - self._window] for name, jobs in self._jobs.items()}
        self._jobs = {name: jobs for name, jobs in kept.items() if jobs}


def visitor() -> str | None:
    """Address of the visitor whose job runs; empty where no server does, None for a browser on the server's machine.

    Behind a proxy, as on Hugging Face Spaces, the header X-Forwarded-For ends with it. It counts only where the request
    itself comes from a private address: anyone else could write what they like into it, as those of a private network
    can where no proxy stands before the demo. A request from the machine itself without the header is that of its own
    user; a proxy on the machine must set the header.
    """
    request = LocalContext.request.get(None)
    if request is None:
        return ""
    host = request.client.host if request.client else ""
    forwarded = ",".join(request.headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()  # proxies add lines
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.is_loopback and not forwarded:
        return None
    return _network(forwarded if forwarded and address.is_private else host)


def _network(address: str) -> str:
    """An address; of an IPv6 one the network of 64 bits, as whoever has one address there has all of them."""
    with suppress(ValueError):
        known = ip_address(address)
        known = getattr(known, "ipv4_mapped", None) or known
        return str(known if known.version == 4 else ip_network((int(known), 64), strict=False))
    return address


class BodyLimit:
    """ASGI middleware that answers 413 where the body of a request has more than `most` bytes, before it is parsed."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count what is read of it."""
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise HTTPException(413, f"expected a request of at most {self._most:,} bytes, got more")
            return message

        await self._app(scope, counted if scope["type"] == "http" else receive, send)
