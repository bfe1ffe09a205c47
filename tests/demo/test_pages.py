"""The API of each demo, called by gradio's own client, and the tab that checks a text against its source."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tests.demo.test_bundle import COLUMNS, rounded
from tests.support.conftest import judging

gr = pytest.importorskip("gradio")

from gradio_client import Client  # noqa: E402
from gradio_client.exceptions import AppError  # noqa: E402

from semantic_metrics.demo import page  # noqa: E402
from semantic_metrics.demo.check_page import EXAMPLE, MAX_CHARACTERS, check  # noqa: E402
from semantic_metrics.demo.page import CHECKPOINT_VARIABLE, load_metric  # noqa: E402
from semantic_metrics.demo.quota import Quota  # noqa: E402


@contextmanager
def served(shown: page.Page) -> Iterator[Client]:
    """A client of the page's API."""
    blocks = page.build(shown).queue()
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    try:
        client = Client(address, verbose=False)
        yield client
        client.close()
    finally:
        blocks.close()


def test_the_one_endpoint_returns_what_compute_returns(app: ModuleType, name: str) -> None:
    with served(app.PAGE) as client:
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


SCRIPT = ROOT / "metrics" / "support"


@pytest.fixture
def tiny_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{judging(tmp_path / 'model')}/")
    load_metric.cache_clear()
    yield
    load_metric.cache_clear()


@pytest.mark.usefixtures("tiny_checkpoint")
def test_the_example_leads_to_places() -> None:
    html = check(SCRIPT, *EXAMPLE)
    assert html.count('href="#') >= 3 * 3
    assert "Signature" in html


@pytest.mark.usefixtures("tiny_checkpoint")
def test_what_is_too_long_for_others_to_wait_is_refused() -> None:
    assert "semantic-metrics check" in check(SCRIPT, "a", "b" * MAX_CHARACTERS)
