"""The tab that checks a text against its source, without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.conftest import judging

pytest.importorskip("gradio")

from semantic_metrics.demo.check_page import EXAMPLE, MAX_CHARACTERS, check
from semantic_metrics.demo.page import CHECKPOINT_VARIABLE, load_metric

SCRIPT = ROOT / "metrics" / "support"


@pytest.fixture
def tiny_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the tab load a tiny checkpoint."""
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
