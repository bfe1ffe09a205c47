"""The recipes of harnesses, called as each harness calls them; those that are not installed are skipped."""

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path

import evaluate
import pytest
from evaluate.evaluator import SUPPORTED_EVALUATOR_TASKS
from transformers import pipeline

from semantic_metrics import load
from tests.hooks.conftest import ROWS, TEXTS, example


def test_the_file_of_diver_qa(tmp_path: Path) -> None:
    """Loaded as the harness loads it: from a file of one's own."""
    path = tmp_path / "nli_lex_metric.py"
    path.write_text(example("The harness of DIVER-QA"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("user_metric", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    columns = {"predictions": TEXTS["answer"], "references": TEXTS["gold"], "questions": TEXTS["question"]}
    for options in ({}, {"features": "nli"}):
        judge = partial(module.metric_function, **options)
        verdicts = [judge(row["gold"], row["answer"], row["question"]) for row in ROWS]
        assert verdicts == load("nli_lex").compute(**columns, **options)["correct"]
        assert {type(verdict) for verdict in verdicts} == {int}, "as the harness compares it with labels"
    assert module.metric_function("The dog bites.", "The dog bites.") == 1, "without --include-question"


def test_a_custom_metric_of_lighteval(run_example: Callable[[str], dict]) -> None:
    """By lighteval's own way from answers to scores, and not by its pipeline.

    `import lighteval.pipeline` fails in lighteval 0.11.0 beside huggingface_hub 2, as it gives `HfApi.list_models` an
    argument that is gone. In 0.13.0 the import works; a judge model makes the same call there.
    """
    pytest.importorskip("lighteval", reason="lighteval is not installed (pip install lighteval)")
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
    scores = [row["matcha"] for row in apply_metric(docs=docs, responses=responses, metrics=[metric])]
    expected = load("matcha").compute(predictions=TEXTS["answer"], references=golds)
    assert scores == expected["scores"]
    assert metric.get_corpus_aggregations()["matcha"](scores) == pytest.approx(expected["matcha"], abs=1e-12)


def test_a_task_of_lm_eval(folder: Path) -> None:
    lm_eval = pytest.importorskip("lm_eval", reason="lm-eval is not installed (pip install lm-eval)")
    from lm_eval.tasks import TaskManager

    (folder / "my_answers.yaml").write_text(example("lm-eval"))
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    done = lm_eval.simple_evaluate(
        "hf", "pretrained=./model", tasks=["my_answers"], task_manager=manager, bootstrap_iters=0, device="cpu"
    )
    written = [sample["filtered_resps"][0] for sample in done["samples"]["my_answers"]]
    assert [sample["target"] for sample in done["samples"]["my_answers"]] == TEXTS["gold"]
    assert any(written)
    expected = load("matcha").compute(predictions=written, references=TEXTS["gold"])
    assert done["results"]["my_answers"]["matcha,none"] == pytest.approx(expected["matcha"], abs=1e-12)
    assert [sample["matcha"] for sample in done["samples"]["my_answers"]] == expected["scores"]


def test_an_evaluation_of_mlflow(run_example: Callable[[str], dict], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")  # read when it is imported
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed (pip install mlflow)")
    result = run_example("MLflow")["result"]
    expected = load("matcha").compute(predictions=TEXTS["answer"], references=TEXTS["gold"])
    assert result.metrics["matcha/mean"] == pytest.approx(expected["matcha"], abs=1e-12)
    feedbacks = {}
    for trace in mlflow.search_traces(return_type="list"):
        (feedback,) = [each for each in trace.info.assessments if each.name == "matcha"]
        feedbacks[feedback.value] = (feedback.rationale, feedback.metadata["signature"])
    said = {score: (f"matcha {score:.4f}", expected["signature"]) for score in expected["scores"]}
    assert feedbacks == said


@pytest.mark.parametrize("row", ROWS)
def test_the_assertion_of_promptfoo(run_example: Callable[[str], dict], row: dict[str, str]) -> None:
    get_assert = run_example("promptfoo")["get_assert"]
    texts = {"predictions": [row["answer"]], "references": [row["gold"]]}
    expected = load("matcha").compute(**texts, rescale=True)["matcha"]
    context = {"prompt": row["question"], "vars": {"question": row["question"], "gold": row["gold"]}}
    verdict = get_assert(row["answer"], context)
    assert verdict == {"pass": expected >= 0.75, "score": expected, "reason": f"matcha {expected:.4f}"}
    assert get_assert(row["answer"], {**context, "config": {"lowest": 0.0}})["pass"]
    assert not get_assert(row["answer"], {**context, "config": {"lowest": 1.1}})["pass"]


def test_a_harness_of_ones_own(run_example: Callable[[str], dict]) -> None:
    results = run_example("Your own harness")["results"]
    columns = {"predictions": ["The cat.", "Two."], "references": [["The cat sleeps."], ["2", "three"]]}
    expected = load("nli_lex").compute(**columns, questions=["who sleeps?", "how many?"])
    assert [score for score, _ in results] == pytest.approx(expected["scores"], abs=1e-6)
    assert [correct for _, correct in results] == expected["correct"]


def test_two_metrics_combined(run_example: Callable[[str], dict]) -> None:
    result = run_example("evaluate.combine")["result"]
    texts = {"predictions": ["A man plays a guitar."], "references": ["A man is playing the guitar."]}
    for name in ("matcha", "stsscore"):
        alone = load(name).compute(**texts)
        assert result[name] == alone[name]
        assert result[f"{load(name).name}_scores"] == alone["scores"]
        assert result[f"{load(name).name}_signature"] == alone["signature"]


def answers() -> list[str]:
    """What the model of the examples writes after each question."""
    generate = pipeline("text-generation", model="./model")
    prompts = generate(TEXTS["question"], max_new_tokens=8, do_sample=False, return_full_text=False)
    return [texts[0]["generated_text"] for texts in prompts]


def test_a_model_is_run_and_scored(run_example: Callable[[str], dict]) -> None:
    names = run_example("evaluate.evaluator")
    written = answers()
    assert len(set(written)) > 1
    expected = load("matcha").compute(predictions=written, references=TEXTS["gold"])
    result = names["result"]
    assert {name: result[name] for name in expected} == expected
    assert result["total_time_in_seconds"] > 0
    with pytest.raises(ValueError, match="no_such"):
        names["AnswerEvaluator"]().compute("./model", names["data"], metric=load("matcha"), input_column="no_such")


def test_an_empty_cell_stays_a_text(run_example: Callable[[str], dict], folder: Path) -> None:
    """pandas, which reads the file, would else make None of it, and `matcha` takes none."""
    (folder / "answers.csv").write_text("question,gold\nwho sleeps?,\nis the dog awake?,The dog is awake.\n")
    assert run_example("evaluate.evaluator")["data"]["gold"] == ["", "The dog is awake."]
    (folder / "suite.py").write_text(example("EvaluationSuite"))
    results = evaluate.EvaluationSuite.load("suite.py").run("./model")
    assert [len(result["scores"]) for result in results] == [2, 2]


def test_a_suite_is_loaded_and_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(SUPPORTED_EVALUATOR_TASKS["text-generation"])
    monkeypatch.setitem(SUPPORTED_EVALUATOR_TASKS, "text-generation", known)  # the suite sets what runs it
    (folder / "suite.py").write_text(example("EvaluationSuite"))
    results = evaluate.EvaluationSuite.load("suite.py").run("./model")
    written = answers()
    for name, result in zip(("matcha", "stsscore"), results, strict=True):
        expected = load(name).compute(predictions=written, references=TEXTS["gold"])
        assert (result[name], result["scores"]) == (expected[name], expected["scores"])
    assert len(results[0]["scores"]) == len(ROWS)
