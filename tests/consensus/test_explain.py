"""What each token adds to a score."""

from pathlib import Path

import evaluate
import pytest

from semantic_metrics import load
from semantic_metrics.consensus.weights import DEFAULT
from semantic_metrics.quantities.rules import DIFFERENT, OPEN, Ruling

PREDICTION, REFERENCE = "the dog barks", "a dog sleeps"


def test_a_token_contributes_what_the_score_loses_without_it(metric: evaluate.Metric) -> None:
    explanation = metric.explain(PREDICTION, REFERENCE)
    score = metric.compute(predictions=[PREDICTION], references=[REFERENCE])["scores"][0]
    assert explanation["score"] == pytest.approx(score, abs=1e-6)
    without = metric.compute(predictions=["the barks"], references=[REFERENCE])["scores"][0]
    assert explanation["prediction"]["tokens"] == ["the", "dog", "barks"]
    assert explanation["prediction"]["contributions"][1] == pytest.approx(score - without, abs=1e-5)


def test_only_a_number_that_differs_takes_the_contradiction_of_numbers_with_it(metric: evaluate.Metric) -> None:
    prediction, reference = "4 dog barks", "5 dog barks"
    explanation = metric.explain(prediction, reference)
    differ = Ruling(DIFFERENT, "another number")
    rulings = [differ, OPEN, differ]
    parts = metric.models.parts([prediction, "dog barks", "4 dog"], [reference] * 3, rulings=rulings)
    whole, without_number, without_verb = DEFAULT.score(parts)
    assert explanation["score"] == pytest.approx(whole)
    contributions = explanation["prediction"]["contributions"]
    assert contributions[0] == pytest.approx(whole - without_number, abs=1e-5)
    assert contributions[-1] == pytest.approx(whole - without_verb, abs=1e-5)


def test_a_text_of_one_token_loses_its_whole_score(metric: evaluate.Metric) -> None:
    explanation = metric.explain("dog", REFERENCE)
    assert explanation["prediction"]["contributions"] == [pytest.approx(explanation["score"])]


def test_it_runs_as_compute_does(model: Path, contextual: Path) -> None:
    metric = load("consensus", f"{model}+{contextual}")
    run = {"precision": "int8", "workers": 2}
    explanation = metric.explain(PREDICTION, REFERENCE, **run)
    score = metric.compute(predictions=[PREDICTION], references=[REFERENCE], **run)["scores"][0]
    assert explanation["score"] == pytest.approx(score, abs=1e-3)
    assert explanation != metric.explain(PREDICTION, REFERENCE)


def test_an_unknown_method_is_refused(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="method: expected"):
        metric.explain(PREDICTION, REFERENCE, method="exact")


def test_it_reads_the_texts_as_compute_does(metric: evaluate.Metric) -> None:
    for prediction in ("<think>the man sleeps</think>the dog barks", "**`a dog sleeps`**", "\u732b \u72ac", "\u2705"):
        (score,) = metric.compute(predictions=[prediction], references=[REFERENCE])["scores"]
        assert metric.explain(prediction, REFERENCE)["score"] == pytest.approx(score, abs=1e-6), prediction
