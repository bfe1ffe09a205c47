"""Metrics for DeepEval (extra `deepeval`), a class for each metric that scores texts; none asks a judge model.

    from semantic_metrics.integrations.deepeval import MatchaMetric, NliLexMetric

DEEPEVAL_TELEMETRY_OPT_OUT=1 in the environment stops what DeepEval itself sends.
"""

import asyncio
from pathlib import Path
from typing import Any

from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.integrations import missing_extra
from semantic_metrics.integrations.micro_batcher import RowScore, shared_batcher
from semantic_metrics.integrations.verdicts import reasons, resolve_threshold

try:
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase, SingleTurnParams
except ImportError as error:
    raise missing_extra(__name__, "deepeval", "deepeval") from error


class SemanticMetric(BaseMetric):
    """Scores `actual_output` against `expected_output`; a metric that takes questions reads `input` as the question.

    Args:
        threshold: lowest score that passes, on the metric's own scale; or a file of `semantic-metrics fit`; or None for
            a metric that itself says what is correct.
        checkpoint: as `semantic_metrics.load` takes it.
        references: key of the test case's `metadata` that has a list of references, which are then read in place of
            `expected_output`; the best of them counts.
        explain: name the words that lower the score in `reason`; slow for other metrics than matcha.
        options: options of the metric's `compute`.

    Raises:
        ValueError: an argument is invalid, or the threshold is None and the metric does not say what is correct.
    """

    metric_name: str  # set by the subclasses

    # DeepEval copies a metric by the attributes that are named like these arguments
    def __init__(
        self,
        threshold: float | str | Path | None = None,
        checkpoint: str | None = None,
        references: str | None = None,
        explain: bool = False,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.checkpoint, self.references, self.explain = checkpoint, references, explain
        self.options = dict(options or {})
        self._batcher = shared_batcher(self.metric_name, checkpoint, **self.options)
        self.threshold = resolve_threshold(self.metric_name, self._batcher.metric, threshold, **self.options)
        self.include_reason, self.evaluation_cost = True, 0.0
        self._required_params = [SingleTurnParams.ACTUAL_OUTPUT]
        if references is None:
            self._required_params.append(SingleTurnParams.EXPECTED_OUTPUT)
        if describe(self.metric_name).takes_questions:
            self._required_params.append(SingleTurnParams.INPUT)

    def measure(self, test_case: LLMTestCase, *_: object, **__: Any) -> float:
        """The score of a test case; sets `score`, `reason`, `success` and `score_breakdown`."""
        row = self._row(test_case)
        return self._note(self._batcher.score(*row), row)

    async def a_measure(self, test_case: LLMTestCase, *_: object, **__: Any) -> float:
        """Like `measure`; test cases that are measured at once are scored together."""
        row = self._row(test_case)
        scored = await self._batcher.score_async(*row)
        if self.explain:  # takes passes of the model of its own, for which the event loop must not wait
            return await asyncio.to_thread(self._note, scored, row)
        return self._note(scored, row)

    def _row(self, test_case: LLMTestCase) -> tuple[str, str | list[str], str]:
        # not by DeepEval's own check, which takes an empty answer for a missing one
        missing = [item.value for item in self._required_params if getattr(test_case, item.value) is None]
        if missing:
            self.error: str | None = (
                f"{', '.join(missing)}: expected a text for the metric {self.metric_name}, got None"
            )
            raise MissingTestCaseParamsError(self.error)
        expected = test_case.expected_output
        if self.references is not None:
            expected = (test_case.metadata or {}).get(self.references)
        return test_case.actual_output, expected, test_case.input

    def _note(self, scored: RowScore, row: tuple[str, str | list[str], str]) -> float:
        self.score, self.error = scored.value, None
        self.success = self.is_successful()
        self.reason = "\n".join(reasons(self._batcher, scored, self.explain, *row))
        self.score_breakdown = {"signature": scored.signature, **scored.details, **scored.parts}
        return self.score

    @property
    def __name__(self) -> str:
        return self.metric_name


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Metric"


METRICS = {
    _class_name(name): type(_class_name(name), (SemanticMetric,), {"metric_name": name, "__module__": __name__})
    for name in text_metrics()
}
__all__ = ["SemanticMetric", *sorted(METRICS)]
globals().update(METRICS)  # `from semantic_metrics.integrations.deepeval import MatchaMetric`
