"""Rows that come one at a time, from threads and event loops: scored together, and each as if it were alone."""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import evaluate
import pytest

from semantic_metrics import load
from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.integrations.micro_batcher import MicroBatcher, shared_batcher
from tests.tiny_table import WORDS

CALLERS = 64
CALLS = 10_000
PATIENCE_SECONDS = 60  # only a batcher that is stuck takes as long


class CountedMetric:
    """A metric that notes how many rows each call had."""

    def __init__(self, metric: evaluate.Metric) -> None:
        self.metric, self.rows, self.began, self.may_end = metric, [], Event(), Event()
        self.may_end.set()

    def compute(self, predictions: list[str], references: list, **options: object) -> dict:
        """Like that of the metric."""
        self.rows.append(len(predictions))
        self.began.set()
        assert self.may_end.wait(PATIENCE_SECONDS)
        return self.metric.compute(predictions=predictions, references=references, **options)

    @contextmanager
    def held(self, batcher: MicroBatcher) -> Iterator[None]:
        """While a first row is being scored: rows that come here wait for one another, however slow the machine is."""
        self.began.clear()
        self.may_end.clear()
        batcher.submit("a", "a")
        assert self.began.wait(PATIENCE_SECONDS)
        try:
            yield
        finally:
            self.may_end.set()


@pytest.fixture
def counted(metric: evaluate.Metric) -> CountedMetric:
    return CountedMetric(metric)


def texts(count: int, seed: str = "") -> list[str]:
    return [f"{WORDS[i % len(WORDS)]} {WORDS[i // len(WORDS) % len(WORDS)]} {seed}{i}" for i in range(count)]


def test_callers_in_threads_lose_and_swap_nothing(counted: CountedMetric, metric: evaluate.Metric) -> None:
    predictions, references = texts(CALLS), texts(CALLS, "x")
    expected = metric.compute(predictions=predictions, references=references)["scores"]
    assert len(set(expected)) > CALLS / 2, "a swap would be seen"
    batcher = MicroBatcher(counted, "matcha", max_rows=50)
    with ThreadPoolExecutor(CALLERS) as threads:
        scores = [score.value for score in threads.map(batcher.score, predictions, references)]
    assert scores == expected
    assert sum(counted.rows) == CALLS
    assert max(counted.rows) <= 50
    assert len(counted.rows) < CALLS / 4, "rows are scored together"


def test_coroutines_are_scored_in_one_batch_while_the_event_loop_goes_on(counted: CountedMetric) -> None:
    predictions, references = texts(200), texts(200, "y")
    batcher = MicroBatcher(counted, "matcha")

    async def run() -> list[float]:
        with counted.held(batcher):
            rows = [
                asyncio.ensure_future(batcher.score_async(*row)) for row in zip(predictions, references, strict=True)
            ]
            for _ in range(10):  # an event loop that waits for the model would never come to let it go on
                await asyncio.sleep(0.001)
        return [score.value for score in await asyncio.gather(*rows)]

    scores = asyncio.run(run())
    assert counted.rows == [1, 200]
    assert scores == counted.metric.compute(predictions=predictions, references=references)["scores"]


@pytest.mark.parametrize("name", ["consensus", "matcha", "stsscore", "nli_lex", "support"])
def test_scores_are_those_of_one_call(name: str, checkpoints: dict[str, str]) -> None:
    folder = checkpoints[name]
    metric = load(name, folder, keep_in_memory=True)
    predictions, references, questions = ["the dog barks", "", "no man"] * 5, ["a dog", "a cat", "the man"] * 5, None
    columns = {"predictions": predictions, "references": references}
    if name == "nli_lex":
        questions = ["is the dog awake?"] * 15
        columns["questions"] = questions
    result = metric.compute(**columns)
    batcher = MicroBatcher(metric, name)
    rows = [batcher.submit(*row) for row in zip(predictions, references, questions or [None] * 15, strict=True)]
    scores = [row.result() for row in rows]
    assert [score.value for score in scores] == pytest.approx(result["scores"], abs=1e-6)
    assert {score.signature for score in scores} == {result["signature"]}
    if name == "nli_lex":
        assert [score.details["correct"] for score in scores] == result["correct"]


def test_one_and_several_references_share_a_batch(counted: CountedMetric) -> None:
    batcher = MicroBatcher(counted, "matcha")
    with counted.held(batcher):
        first, second = batcher.submit("the dog", "a dog"), batcher.submit("the dog", ["no", "the dog"])
    assert second.result().value == 1
    assert second.result().details["best_reference"] == 1
    assert counted.rows == [1, 2]
    assert first.result().value == counted.metric.compute(predictions=["the dog"], references=["a dog"])["matcha"]


def test_an_invalid_row_is_refused_to_its_own_caller(counted: CountedMetric) -> None:
    batcher = MicroBatcher(counted, "matcha")
    with counted.held(batcher):
        rows = [batcher.submit(*pair) for pair in [("the dog", "a dog"), (None, "a dog"), ("a", 3), ("no", "not")]]
    for row, message in ((rows[1], r"^predictions\[0\]: expected a string, got"), (rows[2], r"^references\[0\]: exp")):
        with pytest.raises(InvalidInput, match=message):
            row.result()
    expected = counted.metric.compute(predictions=["the dog", "no"], references=["a dog", "not"])["scores"]
    assert [rows[0].result().value, rows[3].result().value] == expected


def test_an_error_of_any_kind_reaches_every_caller_and_the_next_rows_are_scored(metric: evaluate.Metric) -> None:
    class Failing(CountedMetric):
        def compute(self, **columns: object) -> dict:
            if "fail" in columns["predictions"]:
                raise MemoryError("no room")
            return super().compute(**columns)

    failing = Failing(metric)
    batcher = MicroBatcher(failing, "matcha")
    with failing.held(batcher):
        good, bad = batcher.submit("a", "a"), batcher.submit("fail", "a")
    with pytest.raises(MemoryError, match="no room"):
        bad.result()
    assert good.result().value == batcher.score("a", "a").value == 1


def test_a_metric_with_added_rows_is_refused(metric: evaluate.Metric) -> None:
    metric.add(prediction="the dog", reference="the dog")
    batcher = MicroBatcher(metric, "matcha")
    with pytest.raises(ValueError, match=r"^metric: expected one without added rows, got one with 1$"):
        batcher.score("a", "a")
    assert batcher.score("a", "a").value == 1


def test_a_caller_that_gives_up_does_not_stop_the_others(counted: CountedMetric) -> None:
    batcher = MicroBatcher(counted, "matcha")
    with counted.held(batcher):
        first, second = batcher.submit("a", "a"), batcher.submit("the dog", "the dog")
        assert first.cancel()
    assert second.result().value == 1
    assert counted.rows == [1, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_scores_too(counted: CountedMetric) -> None:
    batcher = MicroBatcher(counted, "matcha")
    assert batcher.score("a", "a").value == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if batcher.score("a", "a").value == 1 else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_batchers_with_other_options_share_the_metric(checkpoints: dict[str, str]) -> None:
    folder = checkpoints["consensus"]
    weights = {"matcha": 1.0, "similarity": 0.0, "nli": 0.0}
    equal = shared_batcher("consensus", folder)
    weighted = shared_batcher("consensus", folder, weights=weights)
    smaller = shared_batcher("consensus", folder, weights=dict(reversed(weights.items())), batch_size=1)
    assert equal.metric is weighted.metric is smaller.metric
    assert len({equal, weighted, smaller}) == 3
    assert shared_batcher("consensus", folder, weights=dict(reversed(weights.items()))) is weighted
    pair = ("the dog barks", "a dog")
    cosine = weighted.score(*pair).parts["matcha"]
    assert weighted.score(*pair).value == smaller.score(*pair).value == pytest.approx((cosine + 1) / 2)
    assert equal.score(*pair).value != weighted.score(*pair).value
    weights["nli"] = 1.0  # of the caller, not of the batcher
    assert weighted.score(*pair).value == smaller.score(*pair).value


def test_equal_settings_share_a_batcher(checkpoint: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = set(threads.map(lambda _: shared_batcher("matcha", str(checkpoint)), range(8)))
    assert len(made) == 1
    assert shared_batcher("matcha", str(checkpoint), rescale=True) not in made
    with pytest.raises(ValueError, match=r"^options: expected some of .*, got \['output'\]"):
        shared_batcher("matcha", str(checkpoint), output="mean")
    with pytest.raises(ValueError, match=r"^name: expected a metric that works with 'score', got 'set_criteria'"):
        shared_batcher("set_criteria")


@pytest.mark.parametrize(("option", "value"), [("max_rows", 0), ("delay_seconds", -1), ("delay_seconds", "1")])
def test_invalid_settings_are_refused(metric: evaluate.Metric, option: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=f"^{option}: expected"):
        MicroBatcher(metric, "matcha", **{option: value})
