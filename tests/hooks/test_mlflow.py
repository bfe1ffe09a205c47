"""A scorer of MLflow: scores and rationales as those of the metric."""

import os
from collections.abc import Callable

import pytest

from semantic_metrics import load
from tests.hooks.conftest import TEXTS

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # read when it is imported
mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed (pip install mlflow)")


def test_an_evaluation_has_the_scores_of_compute(run_example: Callable[[str], dict]) -> None:
    result = run_example("MLflow")["result"]
    expected = load("matcha").compute(predictions=TEXTS["answer"], references=TEXTS["gold"])
    assert result.metrics["matcha/mean"] == pytest.approx(expected["matcha"], abs=1e-12)
    feedbacks = {}
    for trace in mlflow.search_traces(return_type="list"):
        (feedback,) = [each for each in trace.info.assessments if each.name == "matcha"]
        feedbacks[feedback.value] = (feedback.rationale, feedback.metadata["signature"])
    said = {score: (f"matcha {score:.4f}", expected["signature"]) for score in expected["scores"]}
    assert feedbacks == said
