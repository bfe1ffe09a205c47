"""Consensus' scores: what MATCHA, STSScore and NLI say together. `evaluate` is not needed."""

from dataclasses import dataclass, field

import numpy as np
from typing_extensions import Required, TypedDict, Unpack

from semantic_metrics.consensus.attribution import METHODS, explain
from semantic_metrics.consensus.parts import NAMES, PairModels, Parts
from semantic_metrics.consensus.verdict import EMPTY, verdict
from semantic_metrics.consensus.weights import DEFAULT, Weights
from semantic_metrics.core.inputs import References, check_choice, check_same_length
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunArguments, RunOptions
from semantic_metrics.core.signature import NOT_IN_SIGNATURE, Signature
from semantic_metrics.core.text_scoring import TextScoring
from semantic_metrics.core.texts import MULTI_REFERENCE, best_or_mean, can_compare, flatten
from semantic_metrics.core.threshold import ResultArguments, ResultOptions
from semantic_metrics.cross_encoder.pair_attribution import Explanation, read_pair
from semantic_metrics.quantities.manners import plain, without_thoughts
from semantic_metrics.quantities.rules import count_unread

VERSION = "0.18.0"


class ExplainArguments(RunArguments, total=False):
    """Arguments of `compute` that `explain` takes too."""

    weights: str | dict[str, float] | None


class Arguments(ExplainArguments, ResultArguments, total=False):
    """Arguments of `compute` besides the texts."""

    multi_reference: str


class Result(TypedDict, total=False):
    """The result of `compute`; which keys there are depends on its arguments."""

    consensus: Required[float]
    scores: list[float]
    parts: dict[str, list[float]]
    verdicts: list[str]
    reasons: list[str]
    signature: str
    undefined: int
    truncated: int
    best_reference: list[int]
    contradiction_scores: list[float]
    margins: list[float]
    unread: int
    thoughts: int
    correct: list[bool]
    decided_by: str


@dataclass(frozen=True)
class Options(ResultOptions):
    """Settings of one call of `compute`, whose docstring explains them."""

    weights: Weights = DEFAULT
    run: RunOptions = DEFAULT_OPTIONS
    multi_reference: str = "best"
    # signatures have it from the models' fields
    matcha_run: RunOptions = field(default=DEFAULT_OPTIONS, metadata=NOT_IN_SIGNATURE)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("multi_reference", self.multi_reference, MULTI_REFERENCE)


@dataclass(frozen=True)
class Scored:
    """n predictions judged against their references."""

    scores: np.ndarray  # (n,) float64
    best: np.ndarray  # (n,) int, index of the best reference among those of its prediction
    parts: Parts  # of each prediction with its best reference
    blank: np.ndarray  # (n,) bool, whether there is nothing to compare
    truncated: int  # number of pairs that were cut


class ConsensusScoring(TextScoring):
    """Scores texts; `config_name` names the cross-encoder (see `resolve_checkpoint`)."""

    models: PairModels

    def load_models(self) -> None:
        """See `TextScoring`."""
        self.models = PairModels(None if self.config_name == "default" else self.config_name)

    def compute(
        self,
        *,
        predictions: list[str] | None = None,
        references: References | None = None,
        contradictions: list[str] | None = None,
        **arguments: Unpack[Arguments],
    ) -> Result:
        """Score predictions against references, together with those added before."""
        columns = {"predictions": predictions, "references": references}
        options = self._options(arguments)
        result: Result = self.compute_checked(columns, options, {"contradictions": contradictions})
        return result

    def _options(self, arguments: Arguments | ExplainArguments) -> Options:
        """The arguments of `compute`, checked, with the checkpoint's own values where they are None."""
        given, others = RunOptions.split(arguments, Arguments)
        run, matcha_run = self.models.scorer.resolve(given), self.models.matcha_run(given)
        weights = Weights.read(others.pop("weights", None), self.models.scorer.checkpoint_sha256)
        return Options(weights, run, **others, matcha_run=matcha_run)

    def _compute(
        self, predictions: list[str], references: References, options: Options, contradictions: list[str] | None = None
    ) -> Result:
        predictions, thoughts = without_thoughts(predictions)
        if contradictions is not None:
            check_same_length("predictions", len(predictions), "contradictions", len(contradictions))
        scored = self._score(predictions, references, options)
        result: Result = {"consensus": float(np.mean(scored.scores))}
        if options.output == "mean":
            return result
        undefined, truncated = int(scored.blank.sum()), scored.truncated
        rows = range(len(predictions))
        empty = EMPTY, "A text is blank, or punctuation alone."
        judged = [empty if scored.blank[i] else verdict(scored.parts, i) for i in rows]
        result |= {
            "scores": scored.scores.tolist(),
            "parts": {name: getattr(scored.parts, name).tolist() for name in NAMES},
            "verdicts": [word for word, _ in judged],
            "reasons": [reason for _, reason in judged],
            "signature": str(self._signature(options)),
        }
        if isinstance(references[0], list):
            result["best_reference"] = scored.best.tolist()
        if contradictions is not None:
            contradictions, more = without_thoughts(contradictions)
            thoughts += more
            against = self._score(contradictions, references, options)
            result["contradiction_scores"] = against.scores.tolist()
            result["margins"] = (scored.scores - against.scores).tolist()
            undefined, truncated = undefined + int(against.blank.sum()), truncated + against.truncated
        assert scored.parts.rulings is not None, "the models' parts have a ruling for each pair"
        unread = count_unread(scored.parts.rulings)
        result |= {"undefined": undefined, "truncated": truncated, "unread": unread, "thoughts": thoughts}
        return result

    def _score(self, predictions: list[str], references: References, options: Options) -> Scored:
        texts, counts = flatten(references)
        owners = np.repeat(np.arange(len(predictions)), counts)
        parts = self.models.parts([predictions[i] for i in owners], texts, options.run, options.matcha_run)
        pairs = [(plain(predictions[i]), plain(text)) for i, text in zip(owners, texts, strict=True)]
        defined = np.array([can_compare(*pair) for pair in pairs])
        merged, best = best_or_mean(options.weights.score(parts), counts, options.multi_reference, defined)
        begins = counts.cumsum() - counts
        blank = ~np.logical_or.reduceat(defined, begins)
        return Scored(merged, best, parts.take(begins + best), blank, int(parts.truncated.sum()))

    def signature(self, **arguments: Unpack[Arguments]) -> str:
        """Every setting that can change a score, given arguments of `compute`; equal signatures can be compared."""
        return str(self._signature(self._options(arguments)))

    def _signature(self, options: Options) -> Signature:
        models = {**self.models.signature_fields(options.matcha_run), "weights": options.weights}
        return Signature.of("consensus", models, options, VERSION)

    def explain(
        self, prediction: str, reference: str, method: str = "leave_one_out", **arguments: Unpack[ExplainArguments]
    ) -> Explanation:
        """Loss of the score where a word is left out, for each word of both texts; see `attribution.explain`.

        `method` is "leave_one_out". The other arguments are those of `compute`, which refuses the same ones.
        """
        texts = read_pair(prediction, reference)
        check_choice("method", method, METHODS)
        options = self._options(arguments)
        return explain(self.models, texts, options.weights, options.run, options.matcha_run)
