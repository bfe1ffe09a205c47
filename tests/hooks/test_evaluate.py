"""The metrics inside `evaluate`'s own tools, with the models and metrics of the package."""

import sys
from collections.abc import Callable
from pathlib import Path

import evaluate
import pytest
from evaluate.evaluator import SUPPORTED_EVALUATOR_TASKS
from transformers import pipeline

from semantic_metrics import load
from tests.hooks.conftest import ROWS, TEXTS, example


def test_two_metrics_combined(run_example: Callable[[str], dict]) -> None:
    result = run_example("evaluate.combine")["result"]
    texts = {"predictions": ["A man plays a guitar."], "references": ["A man is playing the guitar."]}
    for name in ("consensus", "stsscore"):
        alone = load(name).compute(**texts)
        assert result[name] == alone[name]
        assert result[f"{load(name).name}_scores"] == alone["scores"]
        assert result[f"{load(name).name}_signature"] == alone["signature"]


def answers() -> list[str]:
    generate = pipeline("text-generation", model="./model")
    prompts = generate(TEXTS["question"], max_new_tokens=8, do_sample=False, return_full_text=False)
    return [texts[0]["generated_text"] for texts in prompts]


def test_a_model_is_run_and_scored(run_example: Callable[[str], dict]) -> None:
    names = run_example("evaluate.evaluator")
    written = answers()
    assert len(set(written)) > 1
    expected = load("consensus").compute(predictions=written, references=TEXTS["gold"])
    result = names["result"]
    assert {name: result[name] for name in expected} == expected
    assert result["total_time_in_seconds"] > 0
    with pytest.raises(ValueError, match="no_such"):
        names["AnswerEvaluator"]().compute("./model", names["data"], metric=load("matcha"), input_column="no_such")


def load_suite(folder: Path, monkeypatch: pytest.MonkeyPatch) -> evaluate.EvaluationSuite:
    """The suite of the example, imported anew: what an earlier import registered ended with its test."""
    known = dict(SUPPORTED_EVALUATOR_TASKS["text-generation"])
    monkeypatch.setitem(SUPPORTED_EVALUATOR_TASKS, "text-generation", known)
    (folder / "suite.py").write_text(example("EvaluationSuite"))
    for name in [name for name in sys.modules if name.rpartition(".")[2] == "suite"]:
        monkeypatch.delitem(sys.modules, name)
    return evaluate.EvaluationSuite.load("suite.py")


def test_an_empty_cell_is_text(
    run_example: Callable[[str], dict], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pandas, which reads the file, would else make None of it, and the metrics take none."""
    (folder / "answers.csv").write_text("question,gold\nwho sleeps?,\nis the dog awake?,The dog is awake.\n")
    assert run_example("evaluate.evaluator")["data"]["gold"] == ["", "The dog is awake."]
    results = load_suite(folder, monkeypatch).run("./model")
    assert [len(result["scores"]) for result in results] == [2, 2]


def test_a_suite_is_loaded_and_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = load_suite(folder, monkeypatch).run("./model")
    written = answers()
    for name, result in zip(("consensus", "stsscore"), results, strict=True):
        expected = load(name).compute(predictions=written, references=TEXTS["gold"])
        assert (result[name], result["scores"]) == (expected[name], expected["scores"])
    assert len(results[0]["scores"]) == len(ROWS)
