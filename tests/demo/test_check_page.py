"""The tab that checks a text against its source: a result with places, or the reason why there is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("gradio")

from semantic_metrics.demo.check_page import EXAMPLE, MAX_CHARACTERS, check
from semantic_metrics.demo.page import CHECKPOINT_VARIABLE, load_metric
from tests.conftest import ROOT
from tests.support.conftest import judging

SCRIPT = ROOT / "metrics" / "support"


@pytest.fixture(autouse=True)
def tiny_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the demo load a tiny checkpoint."""
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{judging(tmp_path / 'model')}/")
    load_metric.cache_clear()
    yield
    load_metric.cache_clear()


def test_the_example_leads_to_places() -> None:
    html = check(SCRIPT, *EXAMPLE)
    assert html.count('href="#') >= 3 * 3
    assert "Signature" in html


def test_what_is_too_long_for_others_to_wait_is_refused() -> None:
    assert "semantic-metrics check" in check(SCRIPT, "a", "b" * MAX_CHARACTERS)


def test_a_blank_text_is_a_result() -> None:
    assert "Score 0.000" in check(SCRIPT, " ", "A dog sleeps.")
