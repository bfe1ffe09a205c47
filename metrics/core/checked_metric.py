"""The base of every class that `evaluate` loads: all input is checked before `evaluate` stores any of it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

from datasets import Features, Sequence, Value

from semantic_metrics.core.inputs import invalid_input
from semantic_metrics.core.process import Lock
from semantic_metrics.core.text_scoring import TextScoring

if TYPE_CHECKING:  # what the class in a script derives from, too
    from datasets import DownloadManager
    from evaluate import Metric as _Metric
else:
    _Metric = object


def text_features(*columns: str) -> Features | list[Features]:
    """How `evaluate` stores columns of texts; a row of `references` may also be a list of texts."""
    one_each = Features({name: Value("string") for name in columns})
    if "references" not in columns:
        return one_each
    return [Features({**one_each, "references": Sequence(Value("string"))}), one_each]


class CheckedInputs(TextScoring, _Metric):
    """Checked `add` and `add_batch`, and the way from `compute` to `_compute`.

    A mixin that comes before `evaluate.Metric` among the base classes. It must not be an EvaluationModule itself:
    evaluate instantiates the first one that it sees in a script. A metric lists its arguments in its own `compute`,
    checks its options there and calls `compute_checked`. Its columns are its features (`predictions`, `references`,
    ...), in their order.

    Threads may share an instance: one lock makes their calls wait for one another. A call of `compute` scores its own
    columns, and also the rows that any thread has added; threads that use `add` to keep rows apart need an instance
    each.
    """

    filelocks: list[Any] | None  # of `evaluate`, as the next
    file_paths: list[str] | None

    def __init__(self, *arguments: object, **options: Any) -> None:
        self._lock = Lock()
        super().__init__(*arguments, **options)

    def _download_and_prepare(self, dl_manager: "DownloadManager") -> None:
        self.load_models()

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, MethodType) and value.__doc__ is None:  # `python -OO`; evaluate adds to what it sets here
            value.__func__.__doc__ = ""
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """The state that pickle and copy take."""
        if self.writer is not None:
            raise ValueError("metric: expected one without added rows, got one with some; compute before you copy it")
        return self.__dict__.copy()

    def _build_data_dir(self) -> str:
        # a checkpoint folder or Hub id as config_name must not become a path: evaluate would write inside it
        name = re.sub(r"[^\w.-]+", "--", str(self.config_name))[-100:]  # file systems allow 255 bytes
        folder = Path(self._data_dir_root) / self.name / name
        if not self.keep_in_memory:  # nothing is written then, so that a cache that is read-only will do
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                expected = "expected a folder that can be written (HF_HOME names another), or keep_in_memory=True"
                raise ValueError(f"cache: {expected}, got {folder}: {error.strerror}") from None
        return str(folder)

    def add(self, **row: Any) -> None:
        """Add one row; its arguments are the columns' names without their s (`prediction`, `reference`, ...)."""
        names = {name.removesuffix("s"): name for name in self._feature_names()}
        _check_names(row, list(names))
        self.add_batch(**{name: [row.get(singular)] for singular, name in names.items()})

    def add_batch(self, **columns: list[Any] | None) -> None:
        """Add rows; `compute` scores all rows that were added."""
        names = self._feature_names()
        _check_names(columns, names)
        checked = self.check_columns({name: columns.get(name) for name in names})
        with self._lock:
            if self.writer is not None and "references" in checked:
                several = isinstance(checked["references"][0], list)
                if several == isinstance(self.selected_feature_format["references"], Value):
                    raise invalid_input(
                        "references",
                        "expected the kind that was added before, a string each or a list of strings each; "
                        f"got {type(checked['references'][0]).__name__}",
                    )
            super().add_batch(**checked)

    def _compute_checked(self, columns: Mapping[str, Any], options: object, extra_columns: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Like `TextScoring._compute_checked`, together with the rows that were added before.

        Columns that are all None score only these rows; extra columns have a text for each row, added ones included.
        """
        first, *_ = columns
        given = any(values is not None for values in columns.values())
        if given:  # all input is checked before any is stored, so that a mistake keeps the rows that were added
            columns = self.check_columns(columns)
        elif self.writer is None:
            raise invalid_input(first, "expected a list of strings, got None, and nothing was added before")
        # with several processes only the first of them, in _compute, knows how many rows there are
        rows = len(self) + (len(columns[first]) if given else 0) if self.num_process == 1 else None
        extra = self.check_extra(extra_columns, first, rows)
        if given and self.writer is None and self.num_process == 1:  # nothing to merge: no file is needed
            return self._compute(**columns, options=options, **extra)
        added = len(self)
        try:
            return super().compute(**columns, options=options, **extra)
        except BaseException:  # also when the user interrupts it
            self._add_again(added)
            raise

    def _add_again(self, added: int) -> None:
        """Keep the rows that were added before a call of `compute` that failed, as `evaluate` forgets them."""
        data = getattr(self, "data", None)
        if self.num_process > 1 or self.writer is not None or data is None:
            return  # nothing is forgotten, or others hold a part
        rows = {name: data[name][:added] for name in self._feature_names()}
        self.buf_writer = self.data = None
        for lock, path in zip(self.filelocks or (), self.file_paths or (), strict=True):
            os.remove(path)
            lock.release()
        self.filelocks = self.file_paths = None
        super().add_batch(**rows)


def _check_names(given: Mapping[str, Any], known: list[str]) -> None:
    for name in given:
        if name not in known:
            raise invalid_input(name, f"expected an argument named {' or '.join(map(repr, known))}")
