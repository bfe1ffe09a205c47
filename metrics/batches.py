"""A metric as a function of batches: for `datasets.map`, pandas and Ray Data, with the scores of one process."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from semantic_metrics.core.contract import TextMetric, check_options, check_parts, describe
from semantic_metrics.core.loading import load_scoring

Batch = TypeVar("Batch")  # a dict of columns (lists or arrays), a batch of `datasets.map`, or a pandas data frame


class Scorer:
    """Adds a column of scores to a batch of rows.

    Make one scorer and call it often. A pickled scorer contains its settings alone; the process that unpickles it loads
    the model. A score does not depend on the other rows of its batch.

    Args:
        name: a metric that scores texts: "consensus", "matcha", "nli_lex", "stsscore" or "support".
        checkpoint: `checkpoint` of `semantic_metrics.load`.
        predictions: name of the column with the texts to judge.
        references: name of the column with the texts to compare with: a string or a list of strings in each row.
        questions: name of the column with the questions, for nli_lex.
        column: name of the column of scores to add; by default the metric's name.
        options: options of the metric's `compute`, the same for all rows (`multi_reference`, `rescale`, ...).

    Raises:
        ValueError: there is no such metric, checkpoint or option. When called: a column is missing, the column of
            scores is there already, the batch is a single row, or `compute` refuses a text.

    Examples:
        >>> Scorer("matcha", predictions="answer", references="gold")({"answer": ["It rains."], "gold": ["It rains."]})
        {'answer': ['It rains.'], 'gold': ['It rains.'], 'matcha': array([1.])}
    """

    def __init__(
        self,
        name: str,
        checkpoint: str | None = None,
        *,
        predictions: str = "predictions",
        references: str = "references",
        questions: str | None = None,
        column: str | None = None,
        **options: Any,
    ) -> None:
        check_parts(name, "score")
        if column is not None and not isinstance(column, str):
            raise ValueError(f"column: expected a string or None, got {column!r}")
        self.name, self.checkpoint, self.options, self.column = name, checkpoint, options, column or name
        if describe(name).takes_questions != (questions is not None):
            expected = f"None, as {name} takes no questions" if questions else f"a column, as {name} takes questions"
            raise ValueError(f"questions: expected {expected}, got {questions!r}")
        columns = {"predictions": predictions, "references": references, "questions": questions}
        self.columns = {argument: column for argument, column in columns.items() if column is not None}
        self._metric = self._load()
        check_options(name, self._metric, options)
        self.signature = self._metric.signature(**options)  # tells `datasets`, which hashes it, of a new checkpoint

    def __call__(self, batch: Batch) -> Batch:
        """Add the scores as a float64 array or column; the batch itself and its other columns stay as they are."""
        table: Any = batch
        if not (isinstance(table, Mapping) or hasattr(table, "assign")):
            kind = f"{type(table).__module__}.{type(table).__name__}"
            raise ValueError(f"batch: expected a dict of columns or a data frame of pandas, got a {kind}")
        names = list(table)  # a data frame iterates over the names of its columns, too
        for argument, column in self.columns.items():
            if column not in names:
                raise ValueError(f"{argument}: expected one of the columns {names}, got {column!r}")
            if names.count(column) > 1:
                raise ValueError(f"{argument}: expected one column {column!r}, got {names.count(column)}")
            if isinstance(table[column], (str, bytes)):
                raise ValueError(f"{argument}: expected a batch of rows (batched=True), got the text of one")
        if self.column in names:
            raise ValueError(f"column: expected a name that no column has, got {self.column!r}")
        texts = {argument: _as_list(table[column]) for argument, column in self.columns.items()}
        scores: list[float] = []
        if texts["predictions"]:  # a distributed data set may have empty blocks
            scores = self._metric.compute(**texts, **self.options)["scores"]
        added = {self.column: np.array(scores, dtype=np.float64)}
        scored: Batch = table.assign(**added) if hasattr(table, "assign") else table | added
        return scored

    def _load(self) -> TextMetric:
        return load_scoring(self.name, self.checkpoint)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_metric"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._metric = self._load()


def _as_list(values: Iterable[Any]) -> list[Any]:
    """A column as a list; Ray stores several references as an array of arrays, which becomes a list of lists."""
    values = values.to_pylist() if hasattr(values, "to_pylist") else values  # of pyarrow
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
