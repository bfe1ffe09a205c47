"""A training run as a YAML file; an unknown key is an error, as a typo must not train something else."""

from dataclasses import dataclass, field

from training.data.sources import Source

# Table 10 of the paper, which does not say how its curriculum is ordered. Here random incorrect texts, which are easy
# to tell, come before contradictions.
STRATEGIES = ("interleaved", "sequential", "curriculum", "contrastive", "random")
STAGED = ("sequential", "curriculum")  # one source after another; the others take turns


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
        batch_size: examples a step, over all processes; `accumulate` such batches make one optimiser step.
        steps: optimiser steps; or `epochs`, passes over all examples.
        lr: peak learning rate; the token embeddings get `embedding_lr` times as much.
        schedule: `kind: one_cycle` with `warmup` (share of the steps), or `kind: exponential` with `decay` per epoch.
        average: decay per step of the moving average of the weights that is validated and kept; 0 keeps the last.
        precision: "bf16" or "no" (accelerate's mixed_precision).
        validate_every, save_every: optimiser steps between validations, and between saved states.
        select_by: the validation figure whose mean over the sets picks the checkpoint that is kept.
        exclude: tables (`path` or `hub`) with `columns` of texts that are kept out of training.
        train: the data.
        strategy: order of the sources (table 10). `interleaved`: batches of all sources in turn; `contrastive` and
            `random`: the same with the sources alone whose incorrect texts contradict, or with the others alone;
            `sequential`: one source after another, in the order of `train`; `curriculum`: the same, the sources with
            random incorrect texts first.
        validate: sets that pick the checkpoint: triplets, positives (against another row's), or graded pairs.
        licence: licence of the weights (an SPDX id in the Hub's spelling); must suit every source.
        base_model: Hub id of the model behind `init`, for the card.
        notes: sentences for the card, on what a reader must know of the weights' origin.
    """

    name: str
    init: str
    train: list[Source]
    validate: list[Source]
    licence: str
    network: dict | None = field(default_factory=dict)
    loss: dict = field(default_factory=lambda: {"kind": "triplet"})
    batch_size: int = 128
    accumulate: int = 1
    steps: int | None = None
    epochs: float | None = None
    lr: float = 1e-4
    embedding_lr: float = 1.0
    weight_decay: float = 0.0
    schedule: dict = field(default_factory=lambda: {"kind": "exponential", "decay": 0.95})
    strategy: str = "interleaved"
    seed: int = 42
    average: float = 0.0
    precision: str = "no"
    validate_every: int = 250
    save_every: int = 250
    select_by: str = "auc"
    exclude: list[dict] = field(default_factory=list)
    base_model: str = ""
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError(f"steps, epochs: expected exactly one of them, got {self.steps} and {self.epochs}")
        if not self.train or not self.validate:
            raise ValueError("train, validate: expected at least one entry each")
        if self.strategy not in STRATEGIES:
            raise ValueError(f"strategy: expected one of {', '.join(STRATEGIES)}, got {self.strategy!r}")
        if not self.sources():
            raise ValueError(f"strategy {self.strategy}: expected sources with such incorrect texts, got none in train")

    def sources(self) -> list[Source]:
        """The entries of `train` that the strategy draws from, in its order."""
        contrastive = [source for source in self.train if source.has_contradictions]
        random = [source for source in self.train if not source.has_contradictions]
        chosen = {"contrastive": contrastive, "random": random, "curriculum": random + contrastive}
        return chosen.get(self.strategy, self.train)

    def total_steps(self, examples: int) -> int:
        """Optimiser steps of the whole run over `examples` examples."""
        return self.steps if self.steps is not None else max(1, round(self.epochs * self.steps_per_epoch(examples)))

    def steps_per_epoch(self, examples: int) -> float:
        """Optimiser steps that go through `examples` examples once."""
        return examples / (self.batch_size * self.accumulate)
