"""Entries of a cross-encoder's config -> labelled sentence pairs, in the data's own order.

An entry names its rows (a `sources.Table`), three columns, and what the labels are: class names for NLI
("not_entailment" rules one out), or scores from 0 to `scale` for STS.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from datasets import Dataset
from sentence_transformers import CrossEncoder

from training.cross_encoder.partial_labels import label_names
from training.data.config_checks import ABOVE_0, check_numbers
from training.data.sources import Entry, check_columns, drop_texts, take_limit

COLUMNS = ["sentence1", "sentence2", "label"]


@dataclass(frozen=True)
class PairSource(Entry):
    """An entry of `train` or `validate`.

    Attributes:
        columns: first text, second text, label.
        scale: highest score there can be (STS-B: 5); None if labels are names of classes.
        repeat: how often a pair comes in one pass; with 1.5, every pair comes once and half of them twice.
        both_ways: whether each pair also comes in the other order (for symmetric labels).
    """

    columns: list[str] = field(default_factory=lambda: list(COLUMNS))
    scale: float | None = None
    repeat: float = 1.0
    both_ways: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, scale=ABOVE_0, repeat=ABOVE_0)
        if len(self.columns) != 3:
            raise ValueError(f"columns of {self.name}: expected three columns, got {self.columns!r}")

    def load(
        self, data: Path | None, classes: list[str] | None, excluded: frozenset[str]
    ) -> tuple[pd.DataFrame, Counter]:
        """Read the entry.

        Args:
            data: the folder that relative paths begin in.
            classes: names of the classes in the order of the model's outputs; None for a regression.
            excluded: normalised texts of the evaluation sets; a pair whose first or second text is one is dropped.

        Returns:
            Columns `COLUMNS`, the label an index of `partial_labels.label_names` or a score in [0, 1]; and the count of
            rows read, kept, dropped.

        Raises:
            ValueError: a file or column is missing, a label is invalid, or nothing is left.
        """
        rows = self.table.read(data)
        check_columns(rows, self.columns, self.name)
        counts = Counter(rows=len(rows))
        pairs = drop_texts(rows[self.columns].set_axis(COLUMNS, axis=1), excluded, counts)
        pairs = take_limit(pairs, self.limit, counts)
        counts["kept"] = len(pairs)
        if pairs.empty:
            raise ValueError(f"{self.name}: no pair is left ({dict(counts)})")
        return pairs.assign(label=self._labels(pairs["label"], classes)), counts

    def _labels(self, labels: pd.Series, classes: list[str] | None) -> pd.Series:
        if classes is None:
            scores = labels.astype(float) / self.scale
            if not scores.between(0, 1).all():
                limits = f"{labels.min()} to {labels.max()}"
                raise ValueError(f"{self.name}: expected scores from 0 to {self.scale}, got {limits}")
            return scores
        names = label_names(classes)
        unknown = sorted(set(labels.unique()) - set(names))
        if unknown:
            raise ValueError(f"{self.name}: expected labels among {names}, got {unknown}")
        return labels.map(names.index)

    def passes(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """The pairs of one pass: both ways if asked for, and `repeat` times."""
        if self.both_ways:
            swapped = pairs.rename(columns={"sentence1": "sentence2", "sentence2": "sentence1"})[COLUMNS]
            pairs = pd.concat([pairs, swapped])
        whole, part = divmod(self.repeat, 1)
        return pd.concat([*[pairs] * int(whole), pairs.sample(frac=part, random_state=0)])


def to_dataset(pairs: pd.DataFrame) -> Dataset:
    """Pairs in the form that CrossEncoderTrainer takes."""
    return Dataset.from_pandas(pairs[COLUMNS], preserve_index=False)


def token_lengths(model: CrossEncoder, dataset: Dataset, max_length: int) -> np.ndarray:
    """(n,) number of tokens of each pair as the model reads it."""
    ids = model.tokenizer(
        list(dataset["sentence1"]), list(dataset["sentence2"]), truncation=True, max_length=max_length
    )["input_ids"]
    return np.array([len(row) for row in ids])
