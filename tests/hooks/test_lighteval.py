"""A custom metric of lighteval, by lighteval's own way from answers to scores.

Not by its pipeline: `import lighteval.pipeline` fails in lighteval 0.11.0 beside huggingface_hub 2, as it gives
`HfApi.list_models` an argument that is gone. In 0.13.0 the import works; a judge model makes the same call there.
"""

from collections.abc import Callable

import pytest

from semantic_metrics import load
from tests.hooks.conftest import TEXTS

lighteval = pytest.importorskip("lighteval", reason="lighteval is not installed (pip install lighteval)")


def test_a_custom_metric(run_example: Callable[[str], dict]) -> None:
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    metric = run_example("lighteval")["metric"]
    first, second, third = TEXTS["gold"]
    golds = [[first], [second, first], [third]]
    docs = [
        Doc(query=question, choices=right, gold_index=list(range(len(right))))
        for question, right in zip(TEXTS["question"], golds, strict=True)
    ]
    responses = [ModelResponse(text=[answer]) for answer in TEXTS["answer"]]
    scores = [row["nli_lex"] for row in apply_metric(docs=docs, responses=responses, metrics=[metric])]
    expected = load("nli_lex").compute(predictions=TEXTS["answer"], references=golds, questions=TEXTS["question"])
    assert scores == pytest.approx(expected["scores"], abs=1e-6)
    assert metric.get_corpus_aggregations()["nli_lex"](scores) == pytest.approx(sum(scores) / len(scores), abs=1e-12)
