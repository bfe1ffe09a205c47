"""The base of what scores texts: all input is checked before a model runs. `evaluate` is not needed."""

from collections.abc import Mapping
from typing import Any

from semantic_metrics.core.inputs import check_references, check_same_length, check_texts, invalid_input, quote
from semantic_metrics.core.process import Lock
from semantic_metrics.core.progress import progress
from semantic_metrics.core.threshold import ResultOptions


class TextScoring:
    """Checks columns of texts and hands them to `_compute`.

    The class in a metric's `scoring.py` derives from it: it has `load_models`, `_compute`, and the methods of a
    `contract.TextMetric`. Commands and `semantic_metrics.score` use it as it is; the class in the metric's script adds
    what `evaluate` wants. Threads may share an instance: one lock makes their calls wait for one another.
    """

    config_name: str  # name of the checkpoint, a folder or a Hub id; "default" for the shipped one
    # whether the checkpoint is a model, for which `device`, `precision` and the like mean something
    runs_model: bool = True
    _lock: Lock

    @classmethod
    def from_checkpoint(cls, checkpoint: str | None = None) -> "TextScoring":
        """Load a checkpoint: None for the shipped one, or a name, a folder (written with a slash) or a Hub id."""
        scoring = cls()
        scoring.config_name, scoring._lock = checkpoint or "default", Lock()
        scoring.load_models()
        return scoring

    def load_models(self) -> None:
        """Load the checkpoint that `config_name` names; a metric without a model has nothing to load."""

    def _compute(self, *arguments: Any, **columns: Any) -> Any:  # noqa: ANN401  (each metric has a result of its own)
        """Score checked columns; `options` are those of the call."""
        raise NotImplementedError

    def check_columns(self, columns: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Columns as lists of texts of one length, `references` also as lists of lists; a metric may refuse more."""
        first, *_ = columns
        checked: dict[str, list[Any]] = {}
        for name, values in columns.items():
            checked[name] = check_references(name, values) if name == "references" else check_texts(name, values)
            check_same_length(first, len(checked[first]), name, len(checked[name]))
        return checked

    def check_extra(
        self, extra_columns: Mapping[str, Any], first: str, rows: int | None
    ) -> dict[str, list[Any] | None]:
        """Columns of texts that may be absent (None), as lists; `rows` each, unless that is None."""
        extra = {name: None if texts is None else check_texts(name, texts) for name, texts in extra_columns.items()}
        for name, texts in extra.items():
            if rows is not None and texts is not None:
                check_same_length(first, rows, name, len(texts))
        return extra

    def compute_checked(
        self, columns: Mapping[str, Any], options: object, extra_columns: Mapping[str, Any] | None = None
    ) -> Any:  # noqa: ANN401
        """Check columns, then score them; None in all but the first of several processes that `evaluate` gathers.

        `_compute` receives the columns, the checked `options` of the call, and each of the further columns of texts
        (None for one that is absent) by its name. `ResultOptions` also say whether bars are shown, and decide which
        texts are correct.
        """
        with self._lock, progress(getattr(options, "progress", True)):
            result = self._compute_checked(columns, options, extra_columns or {})
        return options.decide(result) if isinstance(options, ResultOptions) and result is not None else result

    def _compute_checked(self, columns: Mapping[str, Any], options: object, extra_columns: Mapping[str, Any]) -> Any:  # noqa: ANN401
        first, *_ = columns
        columns = self.check_columns(columns)
        extra = self.check_extra(extra_columns, first, len(columns[first]))
        return self._compute(**columns, options=options, **extra)


def check_checkpoint_name(checkpoint: object) -> None:
    """Refuse a name of a checkpoint that is neither None nor a string with characters."""
    if checkpoint is not None and (not isinstance(checkpoint, str) or not checkpoint):
        # `evaluate` would use it as a folder's name, or take it for the shipped checkpoint
        raise invalid_input("checkpoint", f"expected a name, a folder or a Hub id, got {quote(checkpoint)}")
