"""The API of each demo, called by gradio's own client."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType

import pytest

from tests.demo.test_bundle import COLUMNS, rounded

gr = pytest.importorskip("gradio")

from gradio_client import Client  # noqa: E402
from gradio_client.exceptions import AppError  # noqa: E402

from semantic_metrics.demo import page  # noqa: E402
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


@pytest.mark.parametrize("name", ["matcha"])
def test_what_the_endpoint_refuses_is_said(app: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(replace(app.PAGE, max_rows=2, max_characters=20)) as client:
        for predictions, references, message in (
            (["a"], ["a", "b"], "references: expected 1 items"),
            (["a"] * 3, ["a"] * 3, "expected at most 2 rows on this page, got 3"),
            (["a" * 20], ["b"], "expected at most 20 characters"),
            ("text", ["b"], "predictions: expected a list of strings, got 'text'"),
            ([1], ["b"], r"predictions: expected a list of strings, got '\[1\]'"),
            ([], [], "predictions: expected "),
        ):
            with pytest.raises(AppError, match=message):
                client.predict(predictions=predictions, references=references, api_name="/score")
        monkeypatch.setattr(page, "QUOTA", Quota(seconds=1e-9))
        monkeypatch.setattr(page, "visitor", lambda: "10.0.0.1")
        client.predict(predictions=["a"], references=["b"], api_name="/score")
        with pytest.raises(AppError, match="seconds of work for one visitor"):
            client.predict(predictions=["a"], references=["b"], api_name="/score")
