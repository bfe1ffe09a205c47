"""The seconds of work that a visitor of a demo has."""

import pytest

gr = pytest.importorskip("gradio")

from gradio.context import LocalContext  # noqa: E402
from starlette.requests import Request  # noqa: E402

from semantic_metrics.demo.quota import Quota, visitor  # noqa: E402


class Clock:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


def work(quota: Quota, clock: Clock, name: str | None, seconds: float) -> None:
    with quota.charge(name):
        clock.now += seconds


def test_a_visitor_has_so_many_seconds_and_others_have_theirs() -> None:
    clock = Clock()
    quota = Quota(seconds=100, window=600, clock=clock)
    work(quota, clock, "one", 60)
    work(quota, clock, "one", 60)  # begun with 40 seconds left: it may end
    with pytest.raises(
        ValueError, match="at most 100 seconds of work for one visitor in 10 minutes, got 120; try again"
    ):
        work(quota, clock, "one", 1)
    work(quota, clock, "two", 60)
    clock.now = 660.5  # the first job ended at 60
    work(quota, clock, "one", 41)
    with pytest.raises(ValueError, match="got 101"):
        work(quota, clock, "one", 1)


def test_the_wait_is_until_enough_jobs_have_left_the_window() -> None:
    clock = Clock()
    quota = Quota(seconds=10, window=600, clock=clock)
    for name, seconds in (("one", 1), ("one", 8), ("one", 60)):
        work(quota, clock, name, seconds)
    clock.now = 129
    with pytest.raises(ValueError, match="got 69; try again in 9 min"):  # the job of 60 seconds ended at 69
        work(quota, clock, "one", 1)
    clock.now += 9 * 60
    work(quota, clock, "one", 1)


def test_a_job_that_fails_is_charged_and_old_visitors_are_forgotten() -> None:
    clock = Clock()
    quota = Quota(seconds=10, window=600, clock=clock)

    def fail() -> None:
        with quota.charge("one"):
            clock.now += 20
            raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        fail()
    with pytest.raises(ValueError, match="got 20"):
        work(quota, clock, "one", 1)
    clock.now = 1000
    work(quota, clock, "two", 1)
    assert list(quota._jobs) == ["two"]


@pytest.mark.parametrize(
    ("host", "forwarded", "expected"),
    [
        ("93.184.216.34", None, "93.184.216.34"),
        ("10.0.0.3", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.3", "made up, 198.51.100.7", "198.51.100.7"),  # a proxy appends what it saw itself
        ("93.184.216.34", "198.51.100.7", "93.184.216.34"),  # no proxy of ours: the header is the visitor's own
        ("127.0.0.1", "198.51.100.7", "198.51.100.7"),  # a proxy on the machine
        ("127.0.0.1", None, None),  # the machine's own user
        ("192.168.1.7", None, "192.168.1.7"),  # a neighbour is a visitor
        ("testclient", "198.51.100.7", "testclient"),
    ],
)
def test_a_visitor_is_an_address(host: str, forwarded: str | None, expected: str | None) -> None:
    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]
    request = gr.Request(Request({"type": "http", "client": (host, 1), "headers": headers}))
    token = LocalContext.request.set(request)
    try:
        assert visitor() == expected
    finally:
        LocalContext.request.reset(token)


def test_without_a_server_there_is_no_visitor() -> None:
    assert visitor() == ""
