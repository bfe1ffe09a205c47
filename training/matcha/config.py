"""A training run as a YAML file; an unknown key is an error, as a typo must not train something else."""

from collections.abc import Callable
from dataclasses import dataclass, field

from transformers.activations import ACT2FN

from semantic_metrics.matcha.modeling_matcha import MatchaConfig
from training.data.config_checks import (
    ABOVE_0,
    BELOW_1,
    FROM_0,
    FROM_1,
    check_distinct_names,
    check_name,
    check_numbers,
    check_options,
)
from training.data.set_samples import SetSource
from training.data.sources import AnySource, Source
from training.matcha.contextual import MAX_LENGTH, ContextualModel
from training.matcha.initial_model import TRANSFORMER
from training.matcha.losses import LOSSES
from training.matcha.schedules import SCHEDULES
from training.matcha.set_regulariser import REGULARISERS
from training.matcha.validate import FIGURES

STRATEGIES = ("interleaved", "sequential", "curriculum", "contrastive", "random")  # table 10 of the paper
EVEN, ROUND_ROBIN = TURNS = ("even", "round_robin")
TABLE = "table"  # the kind of a network that names none
NETWORKS = {TABLE: MatchaConfig, TRANSFORMER: ContextualModel}


def make_part(kinds: dict[str, Callable], options: dict) -> Callable:
    """What a mapping of a `kind` and arguments names.

    Raises:
        ValueError: an argument is out of its range.
    """
    return kinds[options["kind"]](**{key: value for key, value in options.items() if key != "kind"})


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
        sets: the samples of the regulariser (`training.data.set_samples.SetSource`).
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
    batch_size: int = 128
    accumulate: int = 1
    steps: int | None = None
    epochs: float | None = None
    lr: float = 1e-4
    embedding_lr: float = 1.0
    weight_decay: float = 0.0
    schedule: dict = field(default_factory=lambda: {"kind": "exponential", "decay": 0.95})
    strategy: str = "interleaved"
    turns: str = EVEN
    seed: int = 42
    average: float = 0.0
    precision: str = "no"
    validate_every: int = 250
    save_every: int = 250
    select_by: str = "auc"
    max_tokens: int | None = None
    exclude: list[dict] = field(default_factory=list)
    base_model: str = ""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_name(self.name)
        check_numbers(
            self,
            **dict.fromkeys(
                ("batch_size", "accumulate", "steps", "validate_every", "save_every", "max_tokens"), FROM_1
            ),
            **dict.fromkeys(("embedding_lr", "weight_decay", "seed"), FROM_0),
            epochs=ABOVE_0,
            lr=ABOVE_0,
            average=BELOW_1,
        )
        allowed = {"precision": ("bf16", "no"), "select_by": FIGURES, "strategy": STRATEGIES, "turns": TURNS}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name}: expected one of {', '.join(values)}, got {getattr(self, name)!r}")
        parts = {"loss": LOSSES, "schedule": SCHEDULES} | ({"regulariser": REGULARISERS} if self.regulariser else {})
        for name, kinds in parts.items():
            check_options(name, getattr(self, name), kinds)
            make_part(kinds, getattr(self, name))
        if (self.regulariser is None) == bool(self.sets):
            raise ValueError("regulariser, sets: expected both or neither, got one")
        if self.network is not None:
            check_options("network", {"kind": TABLE} | self.network, NETWORKS, own=("vocab_size", "n_embd", "source"))
            self._check_network({key: value for key, value in self.network.items() if key != "kind"})
        if (self.steps is None) == (self.epochs is None):
            raise ValueError(f"steps, epochs: expected exactly one of them, got {self.steps} and {self.epochs}")
        if not self.train or not self.validate:
            raise ValueError("train, validate: expected at least one entry each")
        check_distinct_names("train, sets", [*self.train, *self.sets])
        check_distinct_names("validate", self.validate)
        if not self.sources():
            raise ValueError(f"strategy {self.strategy}: expected sources with such incorrect texts, got none in train")

    def _check_network(self, options: dict) -> None:
        if self.network.get("kind") != TRANSFORMER:
            activation = MatchaConfig(vocab_size=1, n_embd=1, **options).activation_function
            if activation not in ACT2FN:
                raise ValueError(
                    f"network.activation_function: expected one of {', '.join(ACT2FN)}, got {activation!r}"
                )
        elif not 0 <= options.get("dropout", 0) < 1 or options.get("max_length", MAX_LENGTH) < 3:
            raise ValueError(f"network: expected dropout from 0 to below 1 and max_length of 3 or more, got {options}")

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
