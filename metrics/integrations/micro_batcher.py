"""Batches from rows that come one at a time: evaluation harnesses hand over one sample after another.

A model is slow on single rows and quick on batches. Rows that come within a few milliseconds, from any threads and
event loops, are scored by one call of `compute` in a thread of its own, so that no event loop waits for a model.
"""

import asyncio
import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from semantic_metrics.core.contract import TextMetric, check_options, describe
from semantic_metrics.core.inputs import InvalidInput, check_whole, invalid_input, quote
from semantic_metrics.core.loading import loaded_scoring
from semantic_metrics.core.process import Lock

DELAY_SECONDS = 0.005  # how long a batch waits for more rows: what a harness takes between two samples
MAX_ROWS = 512  # of one call; bounds how long the first row of many waits for its score
SUMMARIES = ("scores", "signature")  # keys of a result that a `RowScore` has under names of their own

Row = dict[str, Any]


@dataclass(frozen=True)
class RowScore:
    """The score of one row.

    Attributes:
        value: on the metric's own scale, higher is better.
        signature: every setting that can change a score.
        details: what else the result says of this row, by the result's key without its s: `correct`, `verdict`,
            `reason`, `best_reference`, ...
        parts: what the score is made of, if the metric says so.
    """

    value: float
    signature: str
    details: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)


class MicroBatcher:
    """Scores rows for many callers, together where they come together.

    A row's score is that of `metric.compute` on all rows at once: to the last bit for `matcha`, and within rounding for
    metrics whose models pad a batch. An error of one row is raised to its own caller alone.

    Args:
        metric: a loaded metric that scores texts; rows that were added to it must have been scored.
        name: its name, one of `semantic_metrics.core.contract.text_metrics()`.
        delay_seconds: how long a row waits for others.
        max_rows: largest number of rows in one call.
        options: options of the metric's `compute`, the same for all rows.

    Raises:
        InvalidInput: `delay_seconds` or `max_rows` is out of range. When a row is scored: whatever `compute` raises,
            and a ValueError if rows were added to the metric.

    Examples:
        >>> from semantic_metrics import load
        >>> batcher = MicroBatcher(load("matcha"), "matcha")
        >>> batcher.score("It rains.", "It rains.").value
        1.0
    """

    def __init__(
        self,
        metric: TextMetric,
        name: str,
        *,
        delay_seconds: float = DELAY_SECONDS,
        max_rows: int = MAX_ROWS,
        **options: Any,
    ) -> None:
        check_whole("max_rows", max_rows, 1)
        if type(delay_seconds) not in (int, float) or not 0 <= delay_seconds < 60:
            raise invalid_input("delay_seconds", f"expected a number from 0, below 60, got {quote(delay_seconds)}")
        self.metric, self.name, self.options = metric, name, options
        self._columns = describe(name).columns
        self._delay, self._max_rows = delay_seconds, max_rows
        self._lock = Lock()
        self._start()

    def _start(self) -> None:
        """Threads do not live on in a forked process, so that it begins anew."""
        self._process = os.getpid()
        self._waiting: list[tuple[Row, Future[Any]]] = []
        self._running = False
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=f"semantic-metrics-{self.name}")

    def submit(self, prediction: str, references: str | list[str], question: str | None = None) -> "Future[RowScore]":
        """Hand in a row; the future has its score, or raises what `compute` raises for it.

        Args:
            prediction: the text to judge.
            references: one text or several to compare it with.
            question: what the prediction answers, for a metric that takes questions; other metrics do not read it.
        """
        row = {"predictions": prediction, "references": references, "questions": question}
        future: Future[RowScore] = Future()
        with self._lock:
            if self._process != os.getpid():
                self._start()
            self._waiting.append(({column: row[column] for column in self._columns}, future))
            if not self._running:
                self._running = True
                self._executor.submit(self._score_waiting)
        return future

    def score(self, prediction: str, references: str | list[str], question: str | None = None) -> RowScore:
        """The score of one row, for callers in threads; the arguments are those of `submit`."""
        return self.submit(prediction, references, question).result()

    async def score_async(self, prediction: str, references: str | list[str], question: str | None = None) -> RowScore:
        """The score of one row, for callers in an asyncio event loop, which goes on meanwhile."""
        return await asyncio.wrap_future(self.submit(prediction, references, question))

    def _score_waiting(self) -> None:
        while True:
            if len(self._waiting) < self._max_rows:
                time.sleep(self._delay)
            with self._lock:
                batch, self._waiting = self._waiting[: self._max_rows], self._waiting[self._max_rows :]
                self._running = bool(batch)
            if not batch:
                return
            # a caller that has given up needs no score; from here on it can no longer give up
            self._score([(row, future) for row, future in batch if future.set_running_or_notify_cancel()])

    def _score(self, batch: list[tuple[Row, Future[Any]]]) -> None:
        while len(batch) > 1:
            try:
                scores = self._compute([row for row, _ in batch])
            except InvalidInput as error:
                if error.index is None:
                    break
                self._score_alone(*batch.pop(error.index))  # found before any model ran
            except BaseException:  # of any kind: the callers wait, and this thread must go on
                break
            else:
                for (_, future), score in zip(batch, scores, strict=True):
                    future.set_result(score)
                return
        for row, future in batch:
            self._score_alone(row, future)

    def _score_alone(self, row: Row, future: Future[Any]) -> None:
        try:
            (score,) = self._compute([row])
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(score)

    def _compute(self, rows: list[Row]) -> list[RowScore]:
        columns = {column: [row[column] for row in rows] for column in self._columns}
        references = columns["references"]
        if not all(isinstance(each, str) for each in references):  # the metrics take no mixture
            columns["references"] = [[each] if isinstance(each, str) else each for each in references]
        result = self.metric.compute(**columns, **self.options)
        added = len(result["scores"]) - len(rows)
        if added:
            raise ValueError(f"metric: expected one without added rows, got one with {added}")
        return split_result(result, len(rows))


def split_result(result: Mapping[str, Any], rows: int) -> list[RowScore]:
    """The result of `compute` row by row; what is said of all rows together, such as the mean, is left out."""
    lists = {key: value for key, value in result.items() if isinstance(value, list) and len(value) == rows}
    parts = {key: value for key, value in result.get("parts", {}).items() if isinstance(value, list)}
    return [
        RowScore(
            result["scores"][i],
            result["signature"],
            {key.removesuffix("s"): values[i] for key, values in lists.items() if key not in SUMMARIES},
            {key: values[i] for key, values in parts.items()},
        )
        for i in range(rows)
    ]


_loading = Lock()
_batchers: "WeakValueDictionary[tuple[Any, ...], MicroBatcher]" = (
    WeakValueDictionary()
)  # those that a caller still holds


def shared_batcher(name: str, checkpoint: str | None = None, **options: Any) -> MicroBatcher:
    """The batcher of these settings; callers of a process share it, and batchers with other options share its metric.

    Args:
        name: a metric that scores texts.
        checkpoint: as `semantic_metrics.load` takes it.
        options: options of the metric's `compute`.

    Raises:
        ValueError: there is no such metric or checkpoint, or an option is invalid.
    """
    with _loading:
        metric = loaded_scoring(name, checkpoint)
        check_options(name, metric, options)  # before the first row comes
        # the signature tells files of one name apart, the options those settings that change no score
        key = (name, checkpoint, metric.signature(**options), json.dumps(options, sort_keys=True, default=repr))
        batcher = _batchers.get(key)
        if batcher is None:  # copied, as the caller may change a dict that is an option
            batcher = _batchers[key] = MicroBatcher(metric, name, **deepcopy(options))
        return batcher
