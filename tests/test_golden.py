"""The scores of every metric with every shipped checkpoint stay what they are.

`python -m tests.test_golden` (`make golden`) records them, after a new version. They are kept by signature: what a
signature once stood for never changes.
"""

import json
import sys

import pytest

from benchmarks.suite.guarantees import GOLDEN, SHIPPED, golden_result
from semantic_metrics.core.contract import text_metrics
from tests.conftest import ROOT

SOURCES = [pytest.param(name, marks=[pytest.mark.slow] * (name != "matcha")) for name in SHIPPED]


def tolerance(signature: str) -> float:
    """How far scores may lie from those recorded: sums of the table are exact, a model's differ by processor."""
    is_table = signature.startswith("matcha|") and "|dtype:float16|" in signature
    return 1e-12 if is_table else 1e-5


def difference(source: str) -> tuple[str, float | None]:
    """The signature of a metric and how far its scores lie from those recorded for it; None if none are."""
    result, recorded = golden_result(source)
    distances = [abs(a - b) for a, b in zip(recorded or result["scores"], result["scores"], strict=True)]
    return result["signature"], None if recorded is None else max(distances)


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


def main() -> None:
    """Add the scores of the shipped checkpoints; refuse to change those that are there."""
    stored = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for source in SHIPPED:
        result, recorded = golden_result(source)
        signature, scores = result["signature"], result["scores"]
        if recorded is None:
            stored["scores"][signature] = scores
        elif any(abs(a - b) > tolerance(signature) for a, b in zip(recorded, scores, strict=True)):
            sys.exit(f"{source}: scores have changed, raise its VERSION: {signature}")
    pairs = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in stored["pairs"])
    kept = ",\n".join(f"    {json.dumps(name)}: {json.dumps(values)}" for name, values in stored["scores"].items())
    GOLDEN.write_text(f'{{\n  "pairs": [\n{pairs}\n  ],\n  "scores": {{\n{kept}\n  }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
