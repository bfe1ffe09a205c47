"""The checkpoint and the weights that are shipped with the package."""

import evaluate
import numpy as np
import pytest

from semantic_metrics.core.checkpoint_files import shipped_checkpoints
from semantic_metrics.nli_lex.features import COLUMNS, DEFAULT_CHECKPOINT, FORMS
from semantic_metrics.nli_lex.weights import FILE
from tests.nli_lex.conftest import SCRIPT
from tests.stsscore.test_shipped import run_documented_example

QUESTION = "Who painted the Mona Lisa?"
ANSWERS = [
    "The Mona Lisa was painted by Leonardo da Vinci in the early sixteenth century.",
    "leonardo da vinci",
    "It was painted by Michelangelo.",
    "I do not know.",
    "",
]
EXPECTED = [True, True, False, False, False]


@pytest.fixture(scope="module")
def shipped() -> evaluate.Metric:
    """The metric as a user loads it."""
    folder = shipped_checkpoints(lambda config: "id2label" in config)[DEFAULT_CHECKPOINT]
    assert (folder / FILE).is_file()
    return evaluate.load(SCRIPT)


def judged(metric: evaluate.Metric, **options: object) -> dict:
    count = len(ANSWERS)
    return metric.compute(
        predictions=ANSWERS, references=["Leonardo da Vinci"] * count, questions=[QUESTION] * count, **options
    )


@pytest.mark.parametrize("features", FORMS)
def test_answers_are_judged(shipped: evaluate.Metric, features: str) -> None:
    assert judged(shipped, features=features)["correct"] == EXPECTED


def test_entailment_has_a_positive_weight(shipped: evaluate.Metric) -> None:
    for form in FORMS:
        weights = shipped.weights(form)
        assert set(weights.features) <= set(COLUMNS)
        assert dict(zip(weights.features, weights.coefficients, strict=True))["entailment"] > 0
        assert weights.fitted_on


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_other_precisions_stay_near(shipped: evaluate.Metric, precision: str) -> None:
    plain, other = (np.array(judged(shipped, precision=name)["scores"]) for name in ("float32", precision))
    assert 0 < np.abs(other - plain).max() < 0.05


def test_the_documented_example_holds(shipped: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    run_documented_example(shipped, monkeypatch)
