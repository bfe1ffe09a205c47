"""How fast NLI+lex is inside evaluation harnesses, beside one call of `compute` on the same answers.

    python -m benchmarks.speed harnesses --data FOLDER [--answers 200] [--processor-time]

On the answers of NQ-open 301. The line of inspect_ai scores a log again; that of DeepEval is its `evaluate`. A harness
hands over one answer at a time. Harnesses that are not installed are left out.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np
from sklearn.metrics import matthews_corrcoef

from benchmarks.common import options
from benchmarks.common.timing import Speed, SpeedTable, evenly_spaced, largest_difference, medians, print_tables
from benchmarks.nli_lex.sets import TITLES, JudgedSet, load_judged
from semantic_metrics.integrations.micro_batcher import shared_batcher

SET = "nq301"
METRIC = "nli_lex"
REPEATS = 1
AT_ONCE = 500  # test cases that DeepEval measures at once

Run = Callable[[], list[float]]  # the scores of all answers, in their order


def direct(answers: JudgedSet, checkpoint: str | None, run: dict[str, object]) -> Run:
    """One call of `compute`, with these options of how the model runs."""
    metric = shared_batcher(METRIC, checkpoint, **run).metric
    columns = {"predictions": answers.candidates, "references": answers.references, "questions": answers.questions}
    return lambda: metric.compute(**columns, **run)["scores"]


def by_inspect(answers: JudgedSet, checkpoint: str | None, run: dict[str, object], folder: Path) -> Run:
    """`inspect_ai.score` on a log of these answers, which is written into the folder before."""
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from semantic_metrics.integrations.inspect_ai import SCORERS

    @solver
    def recite() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput.from_content("mockllm/model", state.metadata["answer"])
            return state

        return solve

    rows = zip(answers.questions, answers.references, answers.candidates, strict=True)
    samples = [Sample(input=q, target=gold, id=i, metadata={"answer": a}) for i, (q, gold, a) in enumerate(rows)]
    task = inspect_ai.Task(dataset=samples, solver=recite())
    (log,) = inspect_ai.eval(task, model="mockllm/model", log_dir=str(folder), display="none", score=False)
    scorer = SCORERS[METRIC](checkpoint=checkpoint, **run)

    def score() -> list[float]:
        scored = inspect_ai.score(log, scorer, action="overwrite", display="none")
        by_id = {sample.id: sample.scores[METRIC].metadata["score"] for sample in scored.samples}
        return [by_id[i] for i in range(len(answers))]

    return score


def by_deepeval(answers: JudgedSet, checkpoint: str | None, run: dict[str, object], folder: Path) -> Run:
    """DeepEval's `evaluate`; it writes into the working folder, which is `folder` while it runs."""
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"  # read when it is imported
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
    from deepeval.test_case import LLMTestCase

    from semantic_metrics.integrations.deepeval import METRICS

    (metric,) = (kind for kind in METRICS.values() if kind.metric_name == METRIC)
    rows = enumerate(zip(answers.questions, answers.references, answers.candidates, strict=True))
    cases = [
        LLMTestCase(input=q, actual_output=a, expected_output=gold[0], name=str(i), metadata={"gold": gold})
        for i, (q, gold, a) in rows
    ]
    settings = {
        "async_config": AsyncConfig(max_concurrent=AT_ONCE),
        "cache_config": CacheConfig(write_cache=False),
        "display_config": DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
    }

    judge = metric(checkpoint=checkpoint, references="gold", options=run)

    def score() -> list[float]:
        before = Path.cwd()
        os.chdir(folder)
        try:
            results = evaluate(cases, [judge], **settings).test_results
        finally:
            os.chdir(before)
        scores = {result.name: result.metrics_data[0].score for result in results}
        return [scores[case.name] for case in cases]

    return score


HARNESSES = {"inspect_ai": by_inspect, "deepeval": by_deepeval}


def compare(
    answers: JudgedSet, checkpoint: str | None, run: dict[str, object], repeats: int, processor_time: bool
) -> tuple[list[Speed], list[str]]:
    """Time `compute` and each harness that is installed; differences are those of scores."""
    installed = [name for name in HARNESSES if find_spec(name)]
    with tempfile.TemporaryDirectory() as folder:
        harnesses = [HARNESSES[name](answers, checkpoint, run, Path(folder)) for name in installed]
        clock = time.process_time if processor_time else time.perf_counter
        timed = medians([direct(answers, checkpoint, run), *harnesses], repeats, clock)
    lines, expected = [], timed[0][1]
    for name, (seconds, scores) in zip(["compute()", *installed], timed, strict=True):
        correct = np.array(scores) > 0.5
        more = {
            "accuracy": float(np.mean(correct == answers.labels)),
            "MCC": float(matthews_corrcoef(answers.labels, correct)),
        }
        lines.append(Speed(name, len(answers), seconds, largest_difference(scores, expected), more))
    return lines, [name for name in HARNESSES if name not in installed]


def _tables(
    answers: JudgedSet, checkpoint: str | None, run: dict[str, object], repeats: int, processor_time: bool
) -> Iterator[SpeedTable]:
    lines, absent = compare(answers, checkpoint, run, repeats, processor_time)
    notes = [f"{name} is not installed" for name in absent]
    if processor_time:
        notes.append("seconds of the processor, not of the clock")
    yield SpeedTable(f"{METRIC} on {TITLES[SET]}", "answers", lines, 1, tuple(notes))


@click.command("harnesses")
@options.data(required=True)
@options.checkpoint("NLI+lex")
@click.option("--answers", type=click.IntRange(2), help="Largest number of answers; default: all.")
@click.option("--processor-time", is_flag=True, help="Count the time of the processor, for a machine that is busy.")
@options.run
@options.repeats(REPEATS)
@options.record
def harnesses(
    data: Path,
    checkpoint: str | None,
    run: dict[str, object],
    answers: int | None,
    processor_time: bool,
    repeats: int,
    output: Path | None,
) -> None:
    """NLI+lex inside inspect_ai and DeepEval, beside one call of `compute`."""
    try:
        sets, absent = load_judged(data, [SET])
        if SET in absent:
            raise ValueError(f"data: {absent[SET]}")
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    chosen = sets[SET].take(evenly_spaced(len(sets[SET]), answers))
    print_tables(_tables(chosen, checkpoint, run, repeats, processor_time), repeats, output, run)
