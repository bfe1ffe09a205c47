"""The recipes for `evaluate`'s own tools, harnesses and CI, each run as printed, against what `compute` returns."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import evaluate
import pandas as pd
import pytest
import yaml
from evaluate.evaluator import SUPPORTED_EVALUATOR_TASKS
from transformers import pipeline

from semantic_metrics import load
from tests.hooks.conftest import ROWS, TEXTS, example


@pytest.mark.parametrize("row", ROWS)
def test_the_assertion_of_promptfoo(run_example: Callable[[str], dict], row: dict[str, str]) -> None:
    get_assert = run_example("promptfoo")["get_assert"]
    texts = {"predictions": [row["answer"]], "references": [row["gold"]], "questions": [row["question"]]}
    (expected,) = load("nli_lex").compute(**texts)["scores"]
    context = {"prompt": row["question"], "vars": {"question": row["question"], "gold": row["gold"]}}
    verdict = get_assert(row["answer"], context)
    assert verdict["pass"] == (expected >= 0.5)
    assert verdict["score"] == pytest.approx(expected, abs=1e-6)
    assert verdict["reason"].startswith(f"nli_lex {expected:.4f}, correct ")
    assert get_assert(row["answer"], {**context, "config": {"lowest": 0.0}})["pass"]
    assert not get_assert(row["answer"], {**context, "config": {"lowest": 1.1}})["pass"]


def test_a_harness_of_ones_own(run_example: Callable[[str], dict]) -> None:
    results = run_example("Your own harness")["results"]
    columns = {"predictions": ["The cat.", "Two."], "references": [["The cat sleeps."], ["2", "three"]]}
    expected = load("nli_lex").compute(**columns, questions=["who sleeps?", "how many?"])
    assert [score for score, _ in results] == pytest.approx(expected["scores"], abs=1e-6)
    assert [correct for _, correct in results] == expected["correct"]


def test_a_custom_metric_of_lighteval(run_example: Callable[[str], dict]) -> None:
    """By lighteval's own way from answers to scores.

    Not by its pipeline: `import lighteval.pipeline` fails in lighteval 0.11.0 beside huggingface_hub 2, as it gives
    `HfApi.list_models` an argument that is gone. In 0.13.0 the import works; a judge model makes the same call there.
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
    scores = [row["nli_lex"] for row in apply_metric(docs=docs, responses=responses, metrics=[metric])]
    expected = load("nli_lex").compute(predictions=TEXTS["answer"], references=golds, questions=TEXTS["question"])
    assert scores == pytest.approx(expected["scores"], abs=1e-6)
    assert metric.get_corpus_aggregations()["nli_lex"](scores) == pytest.approx(sum(scores) / len(scores), abs=1e-12)


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
    expected = load("consensus").compute(predictions=written, references=TEXTS["gold"])
    assert done["results"]["my_answers"]["consensus,none"] == pytest.approx(expected["consensus"], abs=1e-6)
    scores = [sample["consensus"] for sample in done["samples"]["my_answers"]]
    assert scores == pytest.approx(expected["scores"], abs=1e-6)


def test_an_evaluation_of_mlflow(run_example: Callable[[str], dict], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")  # read when it is imported
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed (pip install mlflow)")
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


def test_a_metric_of_ragas(run_example: Callable[[str], dict], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "true")
    pytest.importorskip("ragas", reason="ragas is not installed (pip install ragas)")
    result = run_example("ragas")["result"]
    columns = {"predictions": ["The cat."], "references": ["The cat sleeps."], "questions": ["who sleeps?"]}
    (expected,) = load("nli_lex").compute(**columns)["scores"]
    assert result.value == pytest.approx(expected, abs=1e-6)
    assert result.reason.startswith(f"nli_lex {expected:.4f}, correct ")


def test_the_metric_function_of_diver_qa(tmp_path: Path) -> None:
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


def test_the_job_of_github_actions_passes_and_fails_by_its_gate(folder: Path) -> None:
    (job,) = yaml.safe_load(example("GitHub Actions"))["jobs"].values()
    (command,) = [step["run"] for step in job["steps"] if step.get("run", "").startswith("semantic-metrics ")]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    assert "--max-wrong 2 " in command
    for gate, code in ((2, 0), (1, 1)):
        clean = folder / str(gate)
        clean.mkdir()
        (clean / "answers.csv").write_bytes((folder / "answers.csv").read_bytes())
        gated = command.replace("--max-wrong 2 ", f"--max-wrong {gate} ")
        ran = subprocess.run(["bash", "-e", "-c", gated], cwd=clean, env=environment, capture_output=True, check=False)
        assert ran.returncode == code, ran.stderr
        summary = json.loads((clean / "summary.json").read_text())
        assert (summary["metrics"]["nli_lex"]["wrong"], len(summary["failed"])) == (2, code)
        assert pd.read_csv(clean / "scored.csv")["nli_lex_correct"].tolist() == [False, True, False]


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
    texts = {"questions": TEXTS["question"], "references": TEXTS["gold"]}
    expected = load("nli_lex").compute(predictions=written, **texts)
    result = names["result"]
    assert {name: result[name] for name in expected} == expected
    assert result["total_time_in_seconds"] > 0
    columns = {"input_column": "question", "label_column": "gold", "generation_kwargs": {"max_new_tokens": 8}}
    judged = names["AnswerEvaluator"]().compute("./model", names["data"], metric=load("consensus"), **columns)
    del texts["questions"]
    assert judged["scores"] == load("consensus").compute(predictions=written, **texts)["scores"]
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


def test_an_answer_that_looks_missing_is_text(
    run_example: Callable[[str], dict], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pandas, which reads the file, would else make a missing value of it."""
    (folder / "answers.csv").write_text("question,gold\nwho sleeps?,None\nis the dog awake?,The dog is awake.\n")
    assert run_example("evaluate.evaluator")["data"]["gold"] == ["None", "The dog is awake."]
    results = load_suite(folder, monkeypatch).run("./model")
    assert [len(result["scores"]) for result in results] == [2, 2]


def test_a_suite_is_loaded_and_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = load_suite(folder, monkeypatch).run("./model")
    written = answers()
    for name, result in zip(("nli_lex", "consensus"), results, strict=True):
        questions = {"questions": TEXTS["question"]} if name == "nli_lex" else {}
        expected = load(name).compute(predictions=written, references=TEXTS["gold"], **questions)
        assert (result[name], result["scores"]) == (expected[name], expected["scores"])
    assert len(results[0]["scores"]) == len(ROWS)
