"""A cross-encoder's training run as a YAML file; an unknown key is an error."""

from dataclasses import dataclass, field

from training.cross_encoder.pairs import Outputs, PairSource
from training.data.config_checks import (
    Count,
    NotNegative,
    Positive,
    Precision,
    Seed,
    Share,
    check_distinct_names,
    check_name,
)


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
    precision: Precision = "no"
    validate_every: Count = 500
    exclude: list[dict] = field(default_factory=list)
    base_model: str = ""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_name(self.name)
        if not self.train or not self.validate:
            raise ValueError("train, validate: expected at least one entry each")
        check_distinct_names("train", self.train)
        check_distinct_names("validate", self.validate)
        if self.layers is not None and (not self.layers or self.layers != sorted({*self.layers}) or self.layers[0] < 0):
            raise ValueError(f"layers: expected numbers from 0 in ascending order, got {self.layers}")
        for source in [*self.train, *self.validate]:
            if self.classes is None and source.scale is None and len(source.columns) == 3:
                raise ValueError(f"scale of {source.name}: expected the highest score of its labels, got None")

    @property
    def outputs(self) -> Outputs:
        """The outputs of the model."""
        return Outputs(self.classes or [], self.similarity or self.classes is None)
