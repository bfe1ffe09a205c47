"""A cross-encoder's training run as a YAML file, and its entries -> labelled sentence pairs, in the data's own order.

An entry names its rows (a `sources.Table`), the columns of the texts and of the labels, and what these are: class names
for NLI ("not_entailment" rules one out), scores from 0 to `scale` for STS, or numbers that a teacher gave, a column for
each class and for the similarity. `targets` says what they become.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import Dataset
from sentence_transformers import CrossEncoder

from semantic_metrics.cross_encoder.heads import SIMILARITY
from training.cross_encoder.targets import class_target
from training.data.config_checks import Count, NotNegative, Positive, Precision, Seed, Share, check_names
from training.data.sources import Entry, check_columns, drop_texts, take_limit

COLUMNS = ["sentence1", "sentence2", "label"]


@dataclass(frozen=True)
class Outputs:
    """The outputs of a model: the classes of NLI, in the order of its outputs; a similarity, the last one, or not."""

    classes: list[str]
    similarity: bool

    @property
    def names(self) -> list[str]:
        """Names of the outputs, in their order."""
        return [*self.classes, *[SIMILARITY] * self.similarity]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class PairSource(Entry):
    """An entry of `train` or `validate`.

    Attributes:
        columns: first text, second text, label; or, behind the texts, a column of numbers for each class of the model,
            their probabilities, and one more for a similarity in [0, 1] if it is known.
        scale: highest score there can be (STS-B: 5); None if labels are names of classes or a teacher's numbers.
        labels: class name of each label in the column, where the data has others (`SUPPORTS`, 1); rows with a
            label that is no key are left out.
        repeat: how often a pair comes in one pass; with 1.5, every pair comes once and half of them twice.
        both_ways: whether each pair also comes in the other order (for symmetric labels).
    """

    columns: list[str] = field(default_factory=lambda: list(COLUMNS))
    scale: Positive | None = None
    labels: dict | None = None
    repeat: Positive = 1.0
    both_ways: bool = False

    def __post_init__(self) -> None:
        if len(self.columns) < 3:
            raise ValueError(f"columns of {self.name}: expected two texts and a label, got {self.columns!r}")

    def load(self, data: Path | None, outputs: Outputs, excluded: frozenset[str]) -> tuple[pd.DataFrame, Counter]:
        """The pairs of the entry, columns `COLUMNS`, the label a target (see `targets`), and counts of the rows.

        `excluded` are normalised texts of the evaluation sets: a pair that holds one is dropped.

        Raises ValueError: a file or column is missing, a label is invalid, or nothing is left.
        """
        rows = self.table.read(data, self.columns[:2])
        check_columns(rows, self.columns, self.name)
        counts = Counter(rows=len(rows))
        if self.labels is not None:
            rows = rows[rows[self.columns[2]].isin(list(self.labels))].reset_index(drop=True)
            rows = rows.assign(**{self.columns[2]: rows[self.columns[2]].map(self.labels)})
            counts["dropped: other label"] = counts["rows"] - len(rows)
        texts = rows[self.columns[:2]].set_axis(COLUMNS[:2], axis=1).assign(label=np.arange(len(rows)))
        pairs = take_limit(drop_texts(texts, excluded, counts), self.limit, counts)
        counts["kept"] = len(pairs)
        if pairs.empty:
            raise ValueError(f"{self.name}: no pair is left ({dict(counts)})")
        targets = self._targets(rows[self.columns[2:]].iloc[pairs["label"]], outputs)
        return pairs.assign(label=list(targets)), counts

    def _targets(self, labels: pd.DataFrame, outputs: Outputs) -> np.ndarray:
        """(n, outputs) targets of the columns of labels."""
        targets = np.full((len(labels), len(outputs)), np.nan)
        if labels.shape[1] > 1:
            if labels.shape[1] not in (len(outputs.classes), len(outputs)):
                raise ValueError(f"{self.name}: expected a column for each of {outputs.names}, got {list(labels)}")
            targets[:, : labels.shape[1]] = labels.astype(float)
            self._check_range(targets, 1)
        elif self.scale is not None:
            if not outputs.similarity:
                raise ValueError(f"scale of {self.name}: expected a model with a similarity, got {outputs.names}")
            scores = labels.iloc[:, 0].to_numpy(dtype=float)
            self._check_range(scores, self.scale)
            targets[:, -1] = scores / self.scale
        else:
            try:
                known = {label: class_target(label, outputs.classes) for label in labels.iloc[:, 0].unique()}
            except ValueError as error:
                raise ValueError(f"{self.name}: {error}") from None
            targets[:, : len(outputs.classes)] = [known[label] for label in labels.iloc[:, 0]]
        return targets

    def _check_range(self, scores: np.ndarray, top: float) -> None:
        low, high = np.nanmin(scores), np.nanmax(scores)
        if low < 0 or high > top:
            raise ValueError(f"{self.name}: expected scores from 0 to {top}, got {low} to {high}")

    def passes(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """The pairs of one pass: both ways if asked for, and `repeat` times."""
        if self.both_ways:
            swapped = pairs.rename(columns={"sentence1": "sentence2", "sentence2": "sentence1"})[COLUMNS]
            pairs = pd.concat([pairs, swapped])
        whole, part = divmod(self.repeat, 1)
        return pd.concat([*[pairs] * int(whole), pairs.sample(frac=part, random_state=0)])


@dataclass(frozen=True)
class CrossEncoderConfig:
    """Everything that decides a run's weights.

    Attributes:
        name: name of the checkpoint in its card.
        init: the encoder to start from: a folder, a Hub id, or `package:NAME/FOLDER` of an installed package.
        train, validate: the data; the mean validation score picks the step that is kept.
        licence: licence of the weights (an SPDX id in the Hub's spelling); must suit every source.
        classes: names of the classes in the order of the outputs; null for a model of similarity alone.
        similarity: whether the model has an output for similarity, the last one; always so without `classes`.
        similarity_weight: weight of its squared error (in units of the raw score) beside the cross-entropy of classes.
        top_score: raw score of similarity 1 (5 in STS-B), to which labels are scaled.
        centre_head: whether a new output for similarity begins at half of `top_score`; 0 otherwise. One that `init` has
            stays as it is.
        layers: numbers, from 0, of the layers of `init` that are kept, ascending; null keeps all. Half of a trained
            model learns what it lost from a thirtieth of the pairs that a language model needs.
        frozen_layers: number of the encoder's first layers that keep their weights, the embeddings too (0: these
            alone); null trains all. With 4 of 12 frozen a step takes two thirds of the time.
        max_length: most tokens of a pair; longer pairs are left out of training, and cut when they are scored.
        batch_tokens: most tokens of a batch, padding included.
        epochs, lr (peak; linear decay), warmup (share of the steps), weight_decay, dropout, seed.
        share_of_start: share of the weights of `init` in the mean that is written, beside the trained ones: a sitting
            with other data keeps more of what the one before had learnt (Wortsman et al., CVPR 2022).
        precision: "bf16" (autocast) or "no".
        validate_every: optimiser steps between validations; the state is saved as often.
        exclude: tables (`path` or `hub`) with `columns` of texts that are kept out of training.
        base_model: Hub id of the model behind `init`, for the card.
        notes: sentences for the card, on what a reader must know of the weights' origin.
    """

    name: str
    init: str
    train: list[PairSource]
    validate: list[PairSource]
    licence: str
    classes: list[str] | None = None
    similarity: bool = False
    similarity_weight: Positive = 1.0
    top_score: Positive = 5.0
    centre_head: bool = True
    layers: list[int] | None = None
    frozen_layers: Seed | None = None
    max_length: Count = 128
    epochs: Positive = 1.0
    batch_tokens: Count = 3000
    lr: Positive = 1e-4
    warmup: Share = 0.06
    weight_decay: NotNegative = 0.01
    dropout: Share = 0.1
    seed: Seed = 42
    share_of_start: Share = 0.0
    precision: Precision = "no"
    validate_every: Count = 500
    exclude: list[dict] = field(default_factory=list)
    base_model: str = ""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_names(self.name, train=self.train, validate=self.validate)
        if self.layers is not None and (not self.layers or self.layers != sorted({*self.layers}) or self.layers[0] < 0):
            raise ValueError(f"layers: expected numbers from 0 in ascending order, got {self.layers}")
        for source in [*self.train, *self.validate]:
            if self.classes is None and source.scale is None and len(source.columns) == 3:
                raise ValueError(f"scale of {source.name}: expected the highest score of its labels, got None")

    @property
    def outputs(self) -> Outputs:
        """The outputs of the model."""
        return Outputs(self.classes or [], self.similarity or self.classes is None)


def to_dataset(pairs: pd.DataFrame) -> Dataset:
    """Pairs in the form that CrossEncoderTrainer takes."""
    targets = np.stack(pairs["label"])
    labels = pa.FixedSizeListArray.from_arrays(
        pa.array(targets.ravel(), from_pandas=False), targets.shape[1]
    )  # keeps NaN
    texts = [pa.array(pairs[name].astype(str)) for name in COLUMNS[:2]]
    return Dataset(pa.table([*texts, labels], names=COLUMNS))


def leave_out_long(model: CrossEncoder, dataset: Dataset, max_length: int) -> tuple[Dataset, np.ndarray]:
    """The pairs of at most `max_length` tokens, and (n,) those; the label of a cut text may be wrong."""
    ids = model.tokenizer(list(dataset["sentence1"]), list(dataset["sentence2"]), verbose=False)["input_ids"]
    lengths = np.array([len(row) for row in ids])
    kept = np.flatnonzero(lengths <= max_length)
    return dataset.select(kept), lengths[kept]
