"""Scorers for inspect_ai (extra `inspect`), one for each metric that scores texts: offline, and without a judge model.

    inspect eval task.py --model ...                              # with `scorer=matcha()` in the task
    inspect score LOG --scorer semantic_metrics/matcha            # scores a log again
    inspect score LOG --scorer semantic_metrics/nli_lex -S question=asked

A scorer has the name of its metric. inspect_ai finds them by the entry point group `inspect_ai`.
"""

from collections.abc import Callable
from typing import Any

from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.integrations import missing_extra
from semantic_metrics.integrations.micro_batcher import MicroBatcher, RowScore, shared_batcher
from semantic_metrics.integrations.verdicts import reasons, resolve_threshold

try:
    from anyio import to_thread
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState
    from sniffio import current_async_library
except ImportError as error:
    raise missing_extra(__name__, "inspect_ai", "inspect") from error

NO_RESPONSE, SCORING_FAILED = "no_response", "scoring_failed"  # reasons that inspect_ai knows


def _make(name: str) -> Callable[..., Scorer]:
    """The scorer of a metric, as a function that inspect_ai calls with the arguments of -S."""

    @scorer(metrics=[mean(), stderr()], name=name)
    def make(
        checkpoint: str | None = None,
        threshold: float | str | None = None,
        question: str | None = None,
        explain: bool = False,
        **options: Any,
    ) -> Scorer:
        """Score the completion against the targets, the best of which counts.

        The value is what the metric's own mean is the mean of: the score or, for a metric that decides what is correct
        and with a threshold, 1 or 0. The metadata has the score, the signature and all that the metric says of a row.

        Args:
            checkpoint: as `semantic_metrics.load` takes it.
            threshold: the lowest score that passes, or a file of `semantic-metrics fit`: the value is then 1 or 0.
            question: key of the sample's metadata that has the question; by default the question is the sample's
                input. Only for metrics that take questions.
            explain: name the words that lower the score in `explanation`; slow for other metrics than matcha.
            options: options of the metric's `compute`.
        """
        batcher = shared_batcher(name, checkpoint, **options)
        lowest = None if threshold is None else resolve_threshold(name, batcher.metric, threshold, **options)
        takes_questions = describe(name).takes_questions

        async def score(state: TaskState, target: Target) -> Score:
            answer = state.output.completion
            asked = None
            if takes_questions:
                asked = state.input_text if question is None else state.metadata.get(question)
            row = answer, list(target), asked
            try:
                if current_async_library() == "asyncio":
                    scored = await batcher.score_async(*row)
                else:
                    scored = await to_thread.run_sync(batcher.score, *row)
            except InvalidInput as error:  # such as a target that is blank; the others still count
                return Score.unscored(reason=SCORING_FAILED, answer=answer, explanation=str(error))
            if explain:  # takes passes of the model of its own
                return await to_thread.run_sync(_as_score, batcher, scored, row, lowest, explain)
            return _as_score(batcher, scored, row, lowest, explain)

        return score

    return make


def _as_score(
    batcher: MicroBatcher, scored: RowScore, row: tuple[Any, ...], lowest: float | None, explain: bool
) -> Score:
    answer, _, _ = row
    value = scored.value if lowest is None else float(scored.value >= lowest)
    if lowest is None and "correct" in scored.details:
        value = float(scored.details["correct"])
    metadata = {"score": scored.value, **scored.details, "signature": scored.signature}
    return Score(
        value=value,
        answer=answer,
        explanation="\n".join(reasons(batcher, scored, explain, *row)),
        reason=None if answer.strip() else NO_RESPONSE,
        metadata=metadata | ({"parts": dict(scored.parts)} if scored.parts else {}),
    )


SCORERS = {name: _make(name) for name in text_metrics()}
__all__ = sorted(SCORERS)
globals().update(SCORERS)  # `from semantic_metrics.integrations.inspect_ai import matcha`
