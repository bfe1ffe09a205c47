"""Scorers of inspect_ai: a task with a model that only recites, and logs that are scored again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from semantic_metrics import load
from semantic_metrics.core.contract import text_metrics
from tests.hooks.conftest import ROWS, TEXTS, example

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed (semantic-metrics[inspect])")
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import EvalLog, read_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from semantic_metrics.integrations import inspect_ai as scorers  # noqa: E402

# with a usage, or inspect_ai would download a tokeniser to count the tokens
MOCKED = """
import csv, os
from inspect_ai import task, task_with
from inspect_ai.model import ModelOutput, ModelUsage, get_model

os.environ.setdefault("HF_HUB_OFFLINE", "1")
with open("answers.csv", newline="", encoding="utf-8") as file:
    ANSWERS = {row["question"]: row["answer"] for row in csv.DictReader(file)}


def recite(messages, *_):
    output = ModelOutput.from_content("mockllm/model", ANSWERS[messages[-1].text])
    output.usage = ModelUsage()
    return output


@task
def recited():
    return task_with(answers(), model=get_model("mockllm/model", custom_outputs=recite))
"""


def recite(rows: list[tuple[str, str, object]], scorer: object, folder: Path, **options: object) -> EvalLog:
    """The log of an evaluation whose model answers rows of question, answer and target(s) as written; read back."""
    answers = {question: answer for question, answer, _ in rows}

    def answer(messages: list, *_: object) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", answers[messages[-1].text])
        output.usage = ModelUsage()
        return output

    task = inspect_ai.Task(
        dataset=[Sample(input=question, target=target, **options) for question, _, target in rows],
        model=get_model("mockllm/model", custom_outputs=answer),
        scorer=scorer,
    )
    (log,) = inspect_ai.eval(task, log_dir=str(folder / "logs"), display="none")
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def samples(log: EvalLog, scorer: str) -> list:
    return [sample.scores[scorer] for sample in sorted(log.samples, key=lambda sample: sample.id)]


def figures(log: EvalLog, scorer: str) -> dict[str, float]:
    (results,) = [results for results in log.results.scores if results.name == scorer]
    return {name: figure.value for name, figure in results.metrics.items()}


ANSWERS = list(zip(*TEXTS.values(), strict=True))


def test_every_metric_that_scores_texts_is_a_scorer() -> None:
    assert sorted(scorers.SCORERS) == sorted(text_metrics())
    assert all(getattr(scorers, name) is scorer for name, scorer in scorers.SCORERS.items())


def test_a_log_has_the_scores_of_compute_and_all_that_they_say(tmp_path: Path) -> None:
    expected = load("matcha").compute(predictions=TEXTS["answer"], references=TEXTS["gold"])
    log = recite(ANSWERS, scorers.matcha(explain=True), tmp_path)
    scores = samples(log, "matcha")
    assert [score.value for score in scores] == expected["scores"]
    assert [score.answer for score in scores] == TEXTS["answer"]
    assert figures(log, "matcha")["mean"] == pytest.approx(expected["matcha"], abs=1e-12)
    assert figures(log, "matcha")["stderr"] > 0
    assert {score.metadata["signature"] for score in scores} == {expected["signature"]}
    assert [score.reason for score in scores] == [None, None, "no_response"]
    assert scores[0].explanation.startswith(f"matcha {expected['scores'][0]:.4f}")
    assert "lowered by 'not' -" in scores[0].explanation


def test_several_targets_are_several_references(tmp_path: Path) -> None:
    golds = [["The dog is asleep.", "The dog is awake."], ["The cat sleeps."], ["The cat sleeps.", "No."]]
    rows = [(question, answer, gold) for (question, answer, _), gold in zip(ANSWERS, golds, strict=True)]
    expected = load("matcha").compute(predictions=TEXTS["answer"], references=golds)
    scores = samples(recite(rows, scorers.matcha(), tmp_path), "matcha")
    assert [score.value for score in scores] == expected["scores"]
    assert scores[0].metadata["best_reference"] == expected["best_reference"][0]


def test_a_metric_that_decides_counts_what_is_correct(tmp_path: Path) -> None:
    texts = {"predictions": TEXTS["answer"], "references": TEXTS["gold"], "questions": TEXTS["question"]}
    expected = load("nli_lex").compute(**texts)
    log = recite(ANSWERS, scorers.nli_lex(), tmp_path)
    scores = samples(log, "nli_lex")
    assert [score.value for score in scores] == [float(correct) for correct in expected["correct"]]
    assert [score.metadata["score"] for score in scores] == pytest.approx(expected["scores"], abs=1e-6)
    assert figures(log, "nli_lex")["mean"] == pytest.approx(expected["nli_lex"], abs=1e-12)


def test_the_question_may_be_in_the_metadata(tmp_path: Path) -> None:
    rows = [(f"Answer briefly. {question}", answer, gold) for question, answer, gold in ANSWERS[1:2]]
    log = recite(rows, scorers.nli_lex(question="asked"), tmp_path, metadata={"asked": TEXTS["question"][1]})
    texts = {"predictions": TEXTS["answer"][1:2], "references": TEXTS["gold"][1:2]}
    expected = load("nli_lex").compute(**texts, questions=TEXTS["question"][1:2])
    assert samples(log, "nli_lex")[0].metadata["score"] == pytest.approx(expected["scores"][0], abs=1e-6)


def test_a_row_that_the_metric_refuses_does_not_count(tmp_path: Path) -> None:
    rows = [ANSWERS[0], ("who sleeps?", "The cat.", " ")]
    log = recite(rows, scorers.nli_lex(), tmp_path)
    refused = samples(log, "nli_lex")[1]
    assert (refused.reason, refused.explanation.partition(":")[0]) == ("scoring_failed", "references[0][0]")
    (results,) = log.results.scores
    assert (results.scored_samples, results.unscored_samples) == (1, 1)


def test_mistakes_are_refused_before_a_model_runs() -> None:
    with pytest.raises(ValueError, match=r"^options: expected some of .*, got \['rescaled'\]"):
        scorers.matcha(rescaled=True)
    with pytest.raises(ValueError, match=r"^threshold: expected a number, a file or None, got nan"):
        scorers.matcha(threshold=float("nan"))
    with pytest.raises(ValueError, match=r"^checkpoint"):
        scorers.matcha(checkpoint="./no/such/folder")


@pytest.mark.slow
def test_the_command_line(folder: Path) -> None:
    """`inspect eval` on the printed task, and `inspect score` on its log, by the scorers' registered names."""

    def run(*arguments: object) -> None:
        command = [sys.executable, "-m", "inspect_ai", *map(str, arguments), "--display", "plain"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr

    (folder / "task.py").write_text(example("inspect_ai") + MOCKED, encoding="utf-8")
    run("eval", "task.py@recited", "--log-dir", "logs")
    (log,) = (folder / "logs").glob("*.eval")
    named = ("consensus", [], "matcha", ["-S", "rescale=true"])
    for i, (name, arguments) in enumerate(zip(named[::2], named[1::2], strict=True)):
        scorer = ("--scorer", f"semantic_metrics/{name}", *arguments)
        run("score", log, *scorer, "--action", "append", "--output-file", f"scored{i}.eval")
    expected = load("matcha").compute(predictions=TEXTS["answer"], references=TEXTS["gold"])["scores"]
    first, second = (read_eval_log(str(folder / f"scored{i}.eval")) for i in (0, 1))
    assert {score.value for score in samples(first, "nli_lex")} <= {0.0, 1.0}
    assert len(samples(first, "consensus")) == len(ROWS)
    assert [score.value for score in samples(second, "matcha")] == [(value + 1) / 2 for value in expected]
    assert json.loads(json.dumps([score.metadata for score in samples(first, "nli_lex")]))
    assert len(first.samples) == len(ROWS)
