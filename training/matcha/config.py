"""A training run as a YAML file; an unknown key is an error, as a typo must not train something else."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR
from transformers.activations import ACT2FN

from semantic_metrics.matcha.modeling_matcha import MatchaConfig
from training.data.config_checks import Count, NotNegative, Positive, Precision, Seed, Share, check_names, make_part
from training.data.sources import AnySource, Source
from training.matcha.contextual import MAX_LENGTH
from training.matcha.initial_model import TRANSFORMER
from training.matcha.losses import LOSSES
from training.matcha.set_regulariser import REGULARISERS, SetSource
from training.matcha.validate import FIGURES

STRATEGIES = ("interleaved", "sequential", "curriculum", "contrastive", "random")  # table 10 of the paper
EVEN, ROUND_ROBIN = TURNS = ("even", "round_robin")
Schedule = Callable[[Optimizer, int, float], LRScheduler]  # optimiser, steps of the run, and of an epoch
TABLE = "table"  # the kind of a network that names none


def _check_transformer(dropout: Share = 0.0, max_length: Annotated[int, Field(ge=3)] = MAX_LENGTH) -> None:
    """Take the arguments of a `ContextualModel`, whose types are checked."""


def _check_network(network: dict) -> None:
    if {"vocab_size", "n_embd"} & network.keys():
        raise ValueError("network: expected no vocab_size and n_embd, which follow from init")
    if network.get("kind") == TRANSFORMER:
        make_part("network", network, {TRANSFORMER: _check_transformer})
        return
    table = {"kind": TABLE, "vocab_size": 1, "n_embd": 1} | network
    activation = make_part("network", table, {TABLE: MatchaConfig, TRANSFORMER: _check_transformer}).activation_function
    if activation not in ACT2FN:
        raise ValueError(f"network.activation_function: expected one of {', '.join(ACT2FN)}, got {activation!r}")


def one_cycle(warmup: float = 0.3) -> Schedule:
    """Up for a share `warmup` of the steps, then down to almost 0. ValueError: the share is not between 0 and 1."""
    if not 0 < warmup < 1:
        raise ValueError(f"schedule.warmup: expected a share of the steps between 0 and 1, got {warmup}")

    def schedule(optimizer: Optimizer, steps: int, steps_per_epoch: float) -> LRScheduler:
        peaks = [group["lr"] for group in optimizer.param_groups]
        return OneCycleLR(optimizer, peaks, total_steps=steps, pct_start=warmup)

    return schedule


def exponential(decay: float) -> Schedule:
    """Times `decay` after each epoch. Raises ValueError: the decay is not above 0 and at most 1."""
    if not 0 < decay <= 1:
        raise ValueError(f"schedule.decay: expected a factor above 0 and at most 1, got {decay}")

    def schedule(optimizer: Optimizer, steps: int, steps_per_epoch: float) -> LRScheduler:
        return LambdaLR(optimizer, lambda step: decay ** int(step / steps_per_epoch))

    return schedule


SCHEDULES: dict[str, Callable[..., Schedule]] = {"one_cycle": one_cycle, "exponential": exponential}


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides a run's weights.

    Attributes:
        name: name of the checkpoint in its card.
        init: where tokeniser and token embeddings come from: a folder, a Hub id, `package:NAME/FOLDER` for a model
            that an installed package carries, or `checkpoint:NAME` for a folded MATCHA table.
        network: fields of `MatchaConfig` that differ from the paper's; null trains the table itself (fine-tuning);
            `kind: transformer` (and arguments of `ContextualModel`) trains the transformer that `init` names.
        loss: `kind` (a key of `losses.LOSSES`) and its arguments.
        regulariser: what is added to the loss: `kind: set_criteria` and arguments of `SetCriteria`; null for nothing.
        sets: the samples of the regulariser (`training.matcha.set_regulariser.SetSource`).
        batch_size: examples a step, over all processes; `accumulate` such batches make one optimiser step.
        steps: optimiser steps; or `epochs`, passes over all examples.
        lr: peak learning rate; the token embeddings get `embedding_lr` times as much.
        schedule: `kind: one_cycle` with `warmup` (share of the steps), or `kind: exponential` with `decay` per epoch.
        average: decay per step of the moving average of the weights that is validated and kept; 0 keeps the last.
        precision: "bf16" or "no" (accelerate's mixed_precision).
        validate_every, save_every: optimiser steps between validations, and between saved states.
        select_by: the validation figure whose mean over the sets picks the checkpoint that is kept.
        max_tokens: tokens after which a training text is cut; None for whole texts.
        exclude: tables (`path` or `hub`) with `columns` of texts that are kept out of training.
        train: the data.
        strategy: order of the sources (table 10). `interleaved`: batches of all sources in turn; `contrastive` and
            `random`: the same with the sources alone whose incorrect texts contradict, or with the others alone;
            `sequential`: one source after another, in the order of `train`; `curriculum`: one level of `difficulty` of
            the sources after another, the sources of a level in turn.
        turns: how sources take turns. `even`: spread evenly, by their shares; `round_robin`: a batch of each until it
            is empty, then a new pass, as the authors' code does it.
        validate: sets that pick the checkpoint: triplets, positives (against another row's), or graded pairs.
        licence: licence of the weights (an SPDX id in the Hub's spelling); must suit every source.
        base_model: Hub id of the model behind `init`, for the card.
        notes: sentences for the card, on what a reader must know of the weights' origin.
    """

    name: str
    init: str
    train: list[AnySource]
    validate: list[AnySource]
    licence: str
    network: dict | None = field(default_factory=dict)
    loss: dict = field(default_factory=lambda: {"kind": "triplet"})
    regulariser: dict | None = None
    sets: list[SetSource] = field(default_factory=list)
    batch_size: Count = 128
    accumulate: Count = 1
    steps: Count | None = None
    epochs: Positive | None = None
    lr: Positive = 1e-4
    embedding_lr: NotNegative = 1.0
    weight_decay: NotNegative = 0.0
    schedule: dict = field(default_factory=lambda: {"kind": "exponential", "decay": 0.95})
    strategy: str = "interleaved"
    turns: str = EVEN
    seed: Seed = 42
    average: Share = 0.0
    precision: Precision = "no"
    validate_every: Count = 250
    save_every: Count = 250
    select_by: str = "auc"
    max_tokens: Count | None = None
    exclude: list[dict] = field(default_factory=list)
    base_model: str = ""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_names(self.name, train=[*self.train, *self.sets], validate=self.validate)
        allowed = {"select_by": FIGURES, "strategy": STRATEGIES, "turns": TURNS}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name}: expected one of {', '.join(values)}, got {getattr(self, name)!r}")
        make_part("loss", self.loss, LOSSES)
        make_part("schedule", self.schedule, SCHEDULES)
        if self.regulariser is not None:
            make_part("regulariser", self.regulariser, REGULARISERS)
        if (self.regulariser is None) == bool(self.sets):
            raise ValueError("regulariser, sets: expected both or neither, got one")
        if self.network is not None:
            _check_network(self.network)
        if (self.steps is None) == (self.epochs is None):
            raise ValueError(f"steps, epochs: expected exactly one of them, got {self.steps} and {self.epochs}")
        if not self.sources():
            raise ValueError(f"strategy {self.strategy}: expected sources with such incorrect texts, got none in train")

    def sources(self) -> list[Source]:
        """The entries of `train` that the strategy draws from, in its order."""
        if self.strategy == "curriculum":
            return sorted(self.train, key=lambda source: source.level)
        if self.strategy in ("contrastive", "random"):
            return [one for one in self.train if one.has_contradictions == (self.strategy == "contrastive")]
        return self.train

    def total_steps(self, examples: int) -> int:
        """Optimiser steps of the whole run over `examples` examples."""
        return self.steps if self.steps is not None else max(1, round(self.epochs * self.steps_per_epoch(examples)))

    def steps_per_epoch(self, examples: int) -> float:
        """Optimiser steps that go through `examples` examples once."""
        return examples / (self.batch_size * self.accumulate)
