"""DeepEval runs the metrics as its own: `evaluate`, `assert_test`, copies of a metric; without a network."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"  # read when it is imported
pytest.importorskip("deepeval", reason="deepeval is not installed (semantic-metrics[deepeval])")
from deepeval import assert_test
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

from semantic_metrics import load
from semantic_metrics.core.contract import text_metrics
from semantic_metrics.integrations import deepeval as ours
from tests.hooks.conftest import ROWS, TEXTS

SAME = LLMTestCase(input="who?", actual_output="The dog barks.", expected_output="The dog barks.")
OTHER = LLMTestCase(input="who?", actual_output="The dog does not bark.", expected_output="The dog barks.")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """DeepEval writes what it found into the working folder."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)


def test_every_metric_that_scores_texts_is_a_class() -> None:
    assert sorted(metric.metric_name for metric in ours.METRICS.values()) == sorted(text_metrics())
    assert ours.MatchaMetric.metric_name == "matcha"


def test_evaluate_gives_the_scores_of_compute(run_example: Callable[[str], dict]) -> None:
    results = sorted(run_example("DeepEval")["results"], key=lambda result: TEXTS["question"].index(result.input))
    consensus = load("consensus").compute(predictions=TEXTS["answer"], references=TEXTS["gold"])
    texts = {"predictions": TEXTS["answer"], "references": TEXTS["gold"], "questions": TEXTS["question"]}
    nli_lex = load("nli_lex").compute(**texts)
    data = [{each.name: each for each in result.metrics_data} for result in results]
    assert [each["consensus"].score for each in data] == pytest.approx(consensus["scores"], abs=1e-6)
    assert [each["consensus"].success for each in data] == [score > 0.5 for score in consensus["scores"]]
    assert [each["nli_lex"].score for each in data] == pytest.approx(nli_lex["scores"], abs=1e-6)
    assert [each["nli_lex"].success for each in data] == nli_lex["correct"]
    assert data[0]["consensus"].reason.startswith(f"{consensus['verdicts'][0]}: ")
    assert len(results) == len(ROWS)


def test_a_text_that_says_something_else_fails_the_assertion() -> None:
    assert_test(SAME, [ours.MatchaMetric(threshold=0.5)])
    with pytest.raises(AssertionError, match=r"matcha \(score: -?0\.\d+, threshold: 0\.5"):
        assert_test(OTHER, [ours.MatchaMetric(threshold=0.5)])


def test_a_metric_says_why() -> None:
    metric = ours.MatchaMetric(threshold=0.5, explain=True)
    assert metric.measure(OTHER) == asyncio.run(metric.a_measure(OTHER)) == metric.score
    assert not metric.success
    assert "lowered by 'not' -" in metric.reason
    assert metric.score_breakdown["signature"] == load("matcha").signature()


def test_the_event_loop_does_not_wait_for_an_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, reasons = [], ours.reasons

    def noted(*row: object) -> Iterator[str]:
        threads.append(threading.current_thread())
        return reasons(*row)

    monkeypatch.setattr(ours, "reasons", noted)
    metric = ours.MatchaMetric(threshold=0.5, explain=True)
    asyncio.run(metric.a_measure(OTHER))
    assert "lowered by 'not' -" in metric.reason
    assert len(threads) == 1
    assert threads != [threading.main_thread()]


def test_a_copy_has_the_settings() -> None:
    """DeepEval measures with copies."""
    (copied,) = copy_metrics([ours.MatchaMetric(threshold=0.4, explain=True, options={"rescale": True})])
    assert (copied.threshold, copied.explain, copied.options) == (0.4, True, {"rescale": True})
    assert copied.measure(SAME) == 1


def test_several_references_are_in_the_metadata() -> None:
    golds = ["The dog sleeps.", "The dog does not bark."]
    case = LLMTestCase(input="", actual_output=OTHER.actual_output, metadata={"golds": golds})
    assert ours.MatchaMetric(threshold=0.5, references="golds").measure(case) == 1
    with pytest.raises(ValueError, match=r"^references\[0\]: expected a string or a list of strings, got NoneType"):
        ours.MatchaMetric(threshold=0.5, references="gold").measure(case)


def test_a_blank_output_is_scored_and_a_missing_one_is_refused() -> None:
    metric = ours.MatchaMetric(threshold=0.5)
    assert metric.measure(LLMTestCase(input="", actual_output="", expected_output="The dog barks.")) == 0
    with pytest.raises(MissingTestCaseParamsError, match="expected_output"):
        metric.measure(LLMTestCase(input="", actual_output="The dog barks."))


def test_a_threshold_is_needed_where_the_metric_draws_no_line() -> None:
    with pytest.raises(ValueError, match=r"^threshold: expected a number or a file of .*, as matcha itself"):
        ours.MatchaMetric()
