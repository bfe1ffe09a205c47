"""The scores of every metric with every shipped checkpoint stay what they are."""

import pytest

from benchmarks.suite.guarantees import SHIPPED
from semantic_metrics.core.contract import text_metrics
from tests.conftest import ROOT
from tests.record_golden import difference, tolerance

SOURCES = [pytest.param(name, marks=[pytest.mark.slow] * (name != "matcha")) for name in SHIPPED]


@pytest.mark.parametrize("source", SOURCES)
def test_scores_stay_what_they_are(source: str) -> None:
    signature, distance = difference(source)
    assert distance is not None, (
        f"tests/golden/scores.json has no scores for {signature}: "
        "if the checkpoint or the version is meant to be new, record them with `make golden`"
    )
    assert distance <= tolerance(signature)


def test_every_metric_and_every_checkpoint_is_recorded() -> None:
    metrics, checkpoints = zip(*(source.partition(":")[::2] for source in SHIPPED), strict=True)
    assert set(metrics) == set(text_metrics())
    shipped = {path.parent.name for path in (ROOT / "model_cards").glob("*/config.json")}
    assert {*checkpoints, "matcha", "pairs"} - {""} == shipped  # the defaults of the metrics
