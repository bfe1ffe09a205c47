"""The checkpoint that is shipped with the package."""

import doctest

import evaluate
import numpy as np
import pytest

from semantic_metrics.core.checkpoint_files import shipped_checkpoints
from semantic_metrics.stsscore.scoring import DEFAULT_CHECKPOINT
from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.stsscore.conftest import SCRIPT
from tests.stsscore.test_metric import ROUNDING


@pytest.fixture(scope="module")
def shipped() -> evaluate.Metric:
    """The metric as a user loads it."""
    assert DEFAULT_CHECKPOINT in shipped_checkpoints(lambda config: "id2label" in config)
    return evaluate.load(SCRIPT)


def run_documented_example(metric: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the example in the help of a metric's arguments as a doctest."""
    monkeypatch.chdir(ROOT)
    names = {"evaluate": evaluate}
    example = doctest.DocTestParser().get_doctest(metric.inputs_description, names, metric.name, None, 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_documented_example_holds(shipped: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    run_documented_example(shipped, monkeypatch)


PAIRS = [
    ("A man is playing a guitar.", "A man plays the guitar."),
    ("A woman is slicing an onion.", "A woman is cutting vegetables."),
    ("The cat sleeps on the sofa.", "The parliament voted on the budget."),
    ("", "The dog barks."),
]


def test_scores_fall_with_the_similarity(shipped: evaluate.Metric) -> None:
    result = shipped.compute(predictions=[b for _, b in PAIRS[:3]], references=[a for a, _ in PAIRS[:3]])
    assert result["scores"] == sorted(result["scores"], reverse=True)
    assert result["scores"][0] > 0.75
    assert result["scores"][2] < 0.25
    assert result["undefined"] == result["truncated"] == 0


def test_scores_are_those_of_the_listing(shipped: evaluate.Metric) -> None:
    listing = tiny.listing(shipped.scorer.folder)
    result = shipped.compute(predictions=[b for _, b in PAIRS], references=[a for a, _ in PAIRS])
    assert result["scores"] == pytest.approx([listing(*pair) for pair in PAIRS], abs=ROUNDING)


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_other_precisions_stay_near(shipped: evaluate.Metric, precision: str) -> None:
    texts = {"predictions": [b for _, b in PAIRS], "references": [a for a, _ in PAIRS]}
    plain, other = (np.array(shipped.compute(**texts, precision=name)["scores"]) for name in ("float32", precision))
    assert 0 < np.abs(other - plain).max() < 0.03
