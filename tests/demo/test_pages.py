"""The API of each demo by gradio's own client, the tab that checks a text, and the seconds that a visitor has."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from tests import tiny_pairs as tiny
from tests.demo.test_bundle import COLUMNS, rounded

gr = pytest.importorskip("gradio")

from gradio.context import LocalContext  # noqa: E402
from gradio_client import Client  # noqa: E402
from gradio_client.exceptions import AppError  # noqa: E402
from starlette.requests import Request  # noqa: E402

from semantic_metrics.demo import page  # noqa: E402
from semantic_metrics.demo.page import CHECKPOINT_VARIABLE, load_metric  # noqa: E402
from semantic_metrics.demo.quota import Quota, visitor  # noqa: E402
from semantic_metrics.support.app import CHECK_EXAMPLE, MAX_CHARACTERS, check  # noqa: E402


@contextmanager
def served(shown: page.Page) -> Iterator[Client]:
    """A client of the page's API."""
    blocks = page.build(shown).queue()
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False, **page.LIMITS)
    try:
        client = Client(address, verbose=False)
        yield client
        client.close()
    finally:
        blocks.close()


def test_the_one_endpoint_returns_what_compute_returns(app: ModuleType, name: str) -> None:
    with served(app.PAGE) as client:
        body = b"x" * (page.MAX_REQUEST + 1)
        assert httpx.post(f"{client.src}gradio_api/call/score", content=body).status_code == 413
        endpoints = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
        assert list(endpoints) == ["/score"]
        columns = COLUMNS[name]
        assert {given["parameter_name"] for given in endpoints["/score"]["parameters"]} == set(columns)
        result = client.predict(**columns, api_name="/score")
    expected = page.load_metric(app.PAGE.script).compute(**columns)
    assert rounded(result) == rounded(json.loads(json.dumps(expected)))


def test_what_the_endpoint_refuses_is_said(app: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = COLUMNS[name]
    first, rows = next(iter(columns)), len(columns[next(iter(columns))])
    characters = sum(len(text) for column in columns.values() for text in column)
    long, many = "a" * characters, [*columns[first], *columns[first]]
    with served(replace(app.PAGE, max_rows=rows, max_characters=characters)) as client:

        def refuse(message: str, **changed: object) -> None:
            with pytest.raises(AppError, match=message) as caught:
                client.predict(**{**columns, **changed}, api_name="/score")
            assert "\n" not in str(caught.value)

        refuse("expected 1 items|expected [23] items", **{first: ["a"]})
        refuse(f"expected at most {rows} rows on this page, got {2 * rows}", **{first: many})
        refuse(f"expected at most {characters} characters", **{first: [long, *columns[first][1:]]})
        refuse("expected ", **{column: [] for column in columns})
        inside = ([value, *columns[first][1:]] for value in (1, None, ["a"], {"a": "b"}))
        for value in ("text", 3, None, True, *inside):
            refuse(f"{first}: expected a list of strings, got", **{first: value})
        monkeypatch.setattr(page, "QUOTA", Quota(seconds=1e-9))
        monkeypatch.setattr(page, "visitor", lambda: "10.0.0.1")
        client.predict(**columns, api_name="/score")
        refuse("seconds of work for one visitor")


@pytest.fixture
def tiny_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{tiny.judging(tmp_path / 'model')}/")
    load_metric.cache_clear()
    yield
    load_metric.cache_clear()


@pytest.mark.usefixtures("tiny_checkpoint")
def test_the_example_leads_to_places() -> None:
    html = check(*CHECK_EXAMPLE)
    assert html.count('href="#') >= 3 * 3
    assert "Signature" in html


@pytest.mark.usefixtures("tiny_checkpoint")
def test_what_is_too_long_for_others_to_wait_is_refused() -> None:
    assert "semantic-metrics check" in check("a", "b" * MAX_CHARACTERS)


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
        ("10.0.0.3", "made up\n198.51.100.7", "198.51.100.7"),  # or adds a header of its own
        ("93.184.216.34", "198.51.100.7", "93.184.216.34"),  # no proxy of ours: the header is the visitor's own
        ("127.0.0.1", "198.51.100.7", "198.51.100.7"),  # a proxy on the machine
        ("127.0.0.1", None, None),  # the machine's own user
        ("192.168.1.7", None, "192.168.1.7"),  # a neighbour is a visitor
        ("testclient", "198.51.100.7", "testclient"),
        ("10.0.0.3", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),  # of whoever has one of its addresses
        ("10.0.0.3", "::ffff:198.51.100.7", "198.51.100.7"),
    ],
)
def test_a_visitor_is_an_address(host: str, forwarded: str | None, expected: str | None) -> None:
    headers = [(b"x-forwarded-for", line.encode()) for line in (forwarded or "").splitlines()]
    request = gr.Request(Request({"type": "http", "client": (host, 1), "headers": headers}))
    token = LocalContext.request.set(request)
    try:
        assert visitor() == expected
    finally:
        LocalContext.request.reset(token)


def test_without_a_server_there_is_no_visitor() -> None:
    assert visitor() == ""
