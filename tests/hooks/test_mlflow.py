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
    texts = {"predictions": TEXTS["answer"], "references": TEXTS["gold"], "questions": TEXTS["question"]}
    expected = load("nli_lex").compute(**texts)
    scores = sorted(expected["scores"])
    assert result.metrics["nli_lex/mean"] == pytest.approx(sum(scores) / len(scores), abs=1e-6)
    values = []
    for trace in mlflow.search_traces(return_type="list"):
        (feedback,) = [each for each in trace.info.assessments if each.name == "nli_lex"]
        values.append(feedback.value)
        assert feedback.rationale.startswith(f"nli_lex {feedback.value:.4f}, correct ")
        assert feedback.metadata["signature"] == expected["signature"]
    assert sorted(values) == pytest.approx(scores, abs=1e-6)
