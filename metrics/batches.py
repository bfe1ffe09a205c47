"""A metric as a function of batches: for `datasets.map`, pandas and Ray Data, with the scores of one process."""

import inspect
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from evaluate import EvaluationModule

from semantic_metrics import load

Batch = TypeVar("Batch")  # a dict of columns (lists or arrays), a batch of `datasets.map`, or a pandas data frame


class Scorer:
    """Adds a column of scores to a batch of rows.

    Made once and called often; other processes are sent its settings, and load the model themselves. A score does not
    depend on the batch that its row is in.

    Args:
        name: "matcha", "nli_lex" or "stsscore".
        checkpoint: as `semantic_metrics.load` takes it.
        predictions: column with the texts to judge.
        references: column with what they should say: a string or a list of strings in each row.
        questions: column with what was asked, for nli_lex.
        column: of the scores, by default the metric's name.
        options: of the metric's `compute`, the same for all rows (`multi_reference`, `rescale`, ...).

    Raises:
        ValueError: no such metric, checkpoint or option; when called, a column that is missing or there already, the
            text of one row, or what `compute` refuses.

    Example:
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
        **options: object,
    ) -> None:
        self.name, self.checkpoint, self.options, self.column = name, checkpoint, options, column or name
        self._metric = self._load()
        columns = {"predictions": predictions, "references": references, "questions": questions}
        self.columns = {argument: column for argument, column in columns.items() if column is not None}
        self._check_options()
        known = inspect.signature(self._metric.signature).parameters
        named = {option: value for option, value in options.items() if option in known and option != "weights"}
        self.signature = self._metric.signature(**named)  # `datasets` sees by it when a checkpoint has changed

    def __call__(self, batch: Batch) -> Batch:
        """The batch with its scores, as a float64 array or column; none of its other columns is touched."""
        known = list(batch)  # of a data frame too, the names of its columns
        for argument, column in self.columns.items():
            if column not in known:
                raise ValueError(f"{argument}: expected one of the columns {known}, got {column!r}")
            if isinstance(batch[column], (str, bytes)):
                raise ValueError(f"{argument}: expected a batch of rows (batched=True), got the text of one")
        if self.column in known:
            raise ValueError(f"column: expected a name that no column has, got {self.column!r}")
        texts = {argument: _as_list(batch[column]) for argument, column in self.columns.items()}
        scores: list[float] = []
        if texts["predictions"]:  # an empty block of a distributed data set has nothing to say
            scores = self._metric.compute(**texts, **self.options)["scores"]
        added = {self.column: np.array(scores, dtype=np.float64)}
        return batch.assign(**added) if hasattr(batch, "assign") else batch | added

    def _check_options(self) -> None:
        columns = {"predictions", "references", "questions", "contradictions", "output"}
        known = set(inspect.signature(self._metric.compute).parameters) - columns
        unknown = sorted(set(self.options) - known)
        if unknown:
            raise ValueError(f"options: expected some of {sorted(known)}, got {unknown}")
        if ("questions" in self._metric._feature_names()) != ("questions" in self.columns):
            raise ValueError(f"questions: expected a column for a metric of questions alone, {self.name} is another")

    def _load(self) -> EvaluationModule:
        metric = load(self.name, self.checkpoint, keep_in_memory=True)
        if "predictions" not in metric._feature_names():
            raise ValueError(f"name: expected a metric that scores texts, got {self.name!r}")
        return metric

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_metric"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._metric = self._load()


def _as_list(values: Iterable) -> list:
    """A column as a list: arrays of arrays, as Ray has several references, become lists of lists."""
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
