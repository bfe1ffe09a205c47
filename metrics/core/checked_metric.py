"""What a metric does before it scores: all that it is given is checked before `evaluate` stores any of it."""

import re
from pathlib import Path

from datasets import Value

from semantic_metrics.core.inputs import check_references, check_same_length, check_texts

NAME_BYTES = 100  # of a folder's name; file systems end at 255


class Intake:
    """Checked `add` and `add_batch`, and the way from `compute` to `_compute`; stands before `evaluate.Metric`.

    A metric names its arguments in its own `compute`, checks its options there and calls `compute_checked`. Columns
    are the metric's features (`predictions`, `references`, ...), in their order.
    """

    def _build_data_dir(self) -> str:
        # a checkpoint folder or Hub id as config_name must not become a path: evaluate would write inside it
        name = re.sub(r"[^\w.-]+", "--", str(self.config_name))[-NAME_BYTES:]
        folder = Path(self._data_dir_root) / self.name / name
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    def check_columns(self, columns: dict[str, object]) -> dict[str, list]:
        """Columns as lists of texts, `references` also as lists of lists; a metric with more rules adds them here.

        Raises:
            ValueError: a column holds anything else, or they differ in length; names it.
        """
        first, *_ = columns
        checked: dict[str, list] = {}
        for name, values in columns.items():
            checked[name] = check_references(name, values) if name == "references" else check_texts(name, values)
            check_same_length(first, len(checked[first]), name, len(checked[name]))
        return checked

    def add(self, **row: object) -> None:
        """Add one row: `prediction`, `reference` (or a list of them) and so on, the columns' names without their s."""
        names = {name.removesuffix("s"): name for name in self._feature_names()}
        _check_names(row, list(names))
        self.add_batch(**{name: [row.get(singular)] for singular, name in names.items()})

    def add_batch(self, **columns: list | None) -> None:
        """Add rows; `compute` scores all that was added."""
        names = self._feature_names()
        _check_names(columns, names)
        checked = self.check_columns({name: columns.get(name) for name in names})
        if self.writer is not None and "references" in checked:
            several = isinstance(checked["references"][0], list)
            if several == isinstance(self.selected_feature_format["references"], Value):
                raise ValueError(
                    "references: expected the kind that was added before, a string each or a list of strings each; "
                    f"got {type(checked['references'][0]).__name__}"
                )
        super().add_batch(**checked)

    def compute_checked(
        self, columns: dict[str, object], options: dict[str, object], beside: dict[str, object] | None = None
    ) -> dict | None:
        """Score the columns with the rows that were added before.

        Args:
            columns: each of the metric's; all None to score nothing but what was added.
            options: arguments of `_compute` that are the same for all rows, checked already.
            beside: further arguments of `_compute`: texts, one for each row of all, that are no column; or None.

        Raises:
            ValueError: as `check_columns`; texts beside that are none or too many or few; nothing to score.
        """
        first, *_ = columns
        given = any(values is not None for values in columns.values())
        if given:  # all of it is checked before anything is stored, so that a mistake costs nothing that was added
            columns = self.check_columns(columns)
        elif self.writer is None:
            raise ValueError(f"{first}: expected a list of strings, got None, and none was added before")
        beside = {name: None if texts is None else check_texts(name, texts) for name, texts in (beside or {}).items()}
        if self.num_process == 1:  # else only the first process, in _compute, knows how many rows there are
            rows = len(self) + (len(columns[first]) if given else 0)
            for name, texts in beside.items():
                check_same_length(first, rows, name, rows if texts is None else len(texts))
        if given and self.writer is None and self.num_process == 1:  # nothing to merge: no need to go by way of a file
            return self._compute(**columns, **options, **beside)
        return super().compute(**columns, **options, **beside)


def _check_names(given: dict[str, object], known: list[str]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"{name}: expected an argument named {' or '.join(map(repr, known))}")
