"""A task of lm-eval that scores with a metric of ours, run with a tiny model."""

from pathlib import Path

import pytest

from semantic_metrics import load
from tests.hooks.conftest import TEXTS, example

lm_eval = pytest.importorskip("lm_eval", reason="lm-eval is not installed (pip install lm-eval)")


def test_a_task_of_lm_eval(folder: Path) -> None:
    from lm_eval.tasks import TaskManager

    (folder / "my_answers.yaml").write_text(example("lm-eval"))
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    done = lm_eval.simple_evaluate(
        "hf", "pretrained=./model", tasks=["my_answers"], task_manager=manager, bootstrap_iters=0, device="cpu"
    )
    written = [sample["filtered_resps"][0] for sample in done["samples"]["my_answers"]]
    assert [sample["target"] for sample in done["samples"]["my_answers"]] == TEXTS["gold"]
    assert any(written)
    expected = load("consensus").compute(predictions=written, references=TEXTS["gold"])
    assert done["results"]["my_answers"]["consensus,none"] == pytest.approx(expected["consensus"], abs=1e-6)
    scores = [sample["consensus"] for sample in done["samples"]["my_answers"]]
    assert scores == pytest.approx(expected["scores"], abs=1e-6)
