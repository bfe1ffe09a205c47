"""MATCHA's scores: a cosine between texts in which contradictions fall low. `evaluate` is not needed."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from typing_extensions import Required, TypedDict, Unpack

from semantic_metrics.core.inputs import (
    References,
    Texts,
    check_choice,
    check_same_length,
    check_text,
    check_texts,
    invalid_input,
)
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions, TextRunArguments
from semantic_metrics.core.signature import NOT_IN_SIGNATURE, Signature, no_score_change
from semantic_metrics.core.text_scoring import TextScoring
from semantic_metrics.core.texts import MULTI_REFERENCE, best_or_mean, flatten
from semantic_metrics.core.threshold import ResultArguments, ResultOptions
from semantic_metrics.matcha.attribution import BASELINES, METHODS, Explanation, explain
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable, cosine

if TYPE_CHECKING:  # the table does without torch
    from semantic_metrics.matcha.contextual import ContextualEncoder

VERSION = "0.1.0"
PAIRS_AT_A_TIME = 4096  # bounds the memory; changes no score


class Arguments(TextRunArguments, ResultArguments, total=False):
    """Arguments of `compute` besides the texts."""

    multi_reference: str
    rescale: bool
    calibrated: bool


class Result(TypedDict, total=False):
    """What `compute` returns; which keys there are depends on its arguments."""

    matcha: Required[float]
    scores: list[float]
    signature: str
    undefined: int
    truncated: int
    best_reference: list[int | None]
    ratings: list[float]
    contradiction_scores: list[float]
    margins: list[float]
    correct: list[bool]
    decided_by: str


@dataclass(frozen=True)
class Options(ResultOptions):
    """Settings of one call of `compute`, whose docstring explains them; an invalid one is refused."""

    multi_reference: str = "best"
    rescale: bool = False
    calibrated: bool = no_score_change(False)
    # signatures have it from the encoder's fields
    run: RunOptions = field(default=DEFAULT_OPTIONS, metadata=NOT_IN_SIGNATURE)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("multi_reference", self.multi_reference, MULTI_REFERENCE)
        check_choice("rescale", self.rescale, (False, True))
        check_choice("calibrated", self.calibrated, (False, True))


@dataclass(frozen=True)
class Ratings:
    """From cosines to the ratings that people would give: a line through knots, constant before and after them.

    Attributes:
        cosines: k numbers in [-1, 1], ascending.
        ratings: k numbers in [0, 1], never falling; 0 for texts that contradict each other, 1 for the same meaning.

    Raises:
        ValueError: the knots are not such a line.
    """

    cosines: tuple[float, ...]
    ratings: tuple[float, ...]

    def __post_init__(self) -> None:
        x, y = (np.asarray(values, dtype=float) for values in (self.cosines, self.ratings))
        rising = len(x) == len(y) > 1 and bool((np.diff(x) > 0).all() and (np.diff(y) >= 0).all())
        if not rising or x[0] < -1 or x[-1] > 1 or y[0] < 0 or y[-1] > 1:
            knots = self.cosines, self.ratings
            raise ValueError(f"ratings: expected ascending cosines and ratings in [0, 1], got {knots}")

    @classmethod
    def stored(cls, config: dict[str, list[float]] | None) -> "Ratings | None":
        """The map in a checkpoint's config; None if the config has no map.

        Raises:
            ValueError: the map is damaged.
        """
        if config is None:
            return None
        try:
            return cls(tuple(map(float, config["cosines"])), tuple(map(float, config["ratings"])))
        except (KeyError, TypeError, ValueError) as error:
            reason = f"got a damaged map ({error})"
            raise ValueError(f"ratings: expected cosines and ratings in config.json, {reason}") from None

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """(n,) cosines -> (n,) ratings in [0, 1]."""
        return np.interp(scores, self.cosines, self.ratings)

    @property
    def sha256(self) -> str:
        """Digest of the knots."""
        return hashlib.sha256(json.dumps([self.cosines, self.ratings]).encode()).hexdigest()


class MatchaScoring(TextScoring):
    """Scores texts; `config_name` names the checkpoint (see `checkpoint.load_checkpoint`)."""

    encoder: "MatchaTable | ContextualEncoder"

    def load_models(self) -> None:
        """See `TextScoring`; a contextual checkpoint runs a model, a table does not."""
        self.encoder = load_checkpoint(None if self.config_name == "default" else self.config_name)
        self.runs_model = not isinstance(self.encoder, MatchaTable)

    def compute(
        self,
        *,
        predictions: Texts | None = None,
        references: References | None = None,
        contradictions: Texts | None = None,
        **arguments: Unpack[Arguments],
    ) -> Result:
        """Score predictions against references, together with those added before."""
        options = self._options(arguments)
        if options.calibrated:
            self.ratings()
        columns = {"predictions": predictions, "references": references}
        result: Result = self.compute_checked(columns, options, {"contradictions": contradictions})
        return result

    def _options(self, arguments: Arguments) -> Options:
        """The arguments of `compute`, checked."""
        run, others = RunOptions.split(arguments, Arguments)
        return Options(**others, run=self.encoder.resolve(run))

    def _compute(
        self, predictions: Texts, references: References, options: Options, contradictions: Texts | None = None
    ) -> Result:
        if contradictions is not None:
            check_same_length("predictions", len(predictions), "contradictions", len(contradictions))
        scored = _score(self.encoder, predictions, references, options)
        mean = float(np.mean(scored.scores))
        if options.output == "mean":
            return {"matcha": mean}
        undefined, truncated = int(scored.undefined.sum()), scored.truncated
        result: Result = {
            "matcha": mean,
            "scores": scored.scores.tolist(),
            "signature": str(self._signature(options)),
        }
        if isinstance(references[0], list):
            rows = zip(scored.best, scored.undefined, strict=True)
            result["best_reference"] = [None if no_score else int(best) for best, no_score in rows]
        if options.calibrated:
            cosines = scored.scores * 2 - 1 if options.rescale else scored.scores
            result["ratings"] = self.ratings()(cosines).tolist()
        if contradictions is not None:
            against = _score(self.encoder, contradictions, references, options)
            result["contradiction_scores"] = against.scores.tolist()
            result["margins"] = (scored.scores - against.scores).tolist()
            undefined, truncated = undefined + int(against.undefined.sum()), truncated | against.truncated
        result["undefined"] = undefined
        if self.encoder.config.max_length is not None:
            result["truncated"] = len(truncated)
        return result

    def signature(self, **arguments: Unpack[Arguments]) -> str:
        """Every setting that can change a score, given arguments of `compute`; equal signatures can be compared."""
        return str(self._signature(self._options(arguments)))

    def _signature(self, options: Options) -> Signature:
        signature = Signature.of("matcha", self.encoder.signature_fields(options.run), options, VERSION)
        if not options.calibrated:
            return signature
        return Signature("matcha", {**signature.settings, "ratings": self.ratings().sha256[:16]})

    def ratings(self) -> Ratings:
        """The checkpoint's map from cosines to ratings.

        Raises:
            InvalidInput: the checkpoint has no such map.
        """
        ratings = Ratings.stored(self.encoder.config.ratings)
        if ratings is None:
            raise invalid_input("calibrated", "expected a checkpoint with ratings in its config.json, got one without")
        return ratings

    def encode(self, texts: list[str], **arguments: Unpack[TextRunArguments]) -> np.ndarray:
        """(n, D) float64 vectors of n texts, whose cosines are the scores; zeros for a text without a vector.

        The other arguments are those of `compute`: they say how a contextual checkpoint runs.

        Raises:
            InvalidInput: `texts` is no list of valid strings, or the checkpoint does not take an option.
        """
        run = self.encoder.resolve(RunOptions.split(arguments, TextRunArguments)[0])
        return self.encoder.encode(check_texts("texts", texts), run).vectors

    def explain(
        self,
        prediction: str,
        reference: str,
        method: str = "exact",
        baseline: str | None = None,
        **arguments: Unpack[TextRunArguments],
    ) -> Explanation:
        """Contribution of each token to the score, in both directions; see `attribution.explain`.

        `method` is "exact" (the contributions sum to the score) or "integrated_gradients" (they sum to the score minus
        that of the baseline; paper, appendix C; not for a contextual checkpoint). `baseline` is "token_0" or
        "other_text"; None chooses by the sign of the score. The other arguments are those of `compute`: they say how a
        contextual checkpoint runs, and a table, which runs no model, takes none of them.

        Raises:
            InvalidInput: a text is not a valid string, the method or the baseline is unknown, or the checkpoint does
                not take an option.
        """
        prediction, reference = check_text("prediction", prediction), check_text("reference", reference)
        check_choice("method", method, METHODS)
        check_choice("baseline", baseline, (None, *BASELINES))
        run = self.encoder.resolve(RunOptions.split(arguments, TextRunArguments)[0])
        return explain(self.encoder, prediction, reference, method, baseline, run)


class _Scored(NamedTuple):
    """Scores of n texts.

    Attributes:
        scores: (n,) float.
        best: (n,) int, index of the best reference.
        undefined: (n,) bool.
        truncated: the texts that were cut.
    """

    scores: np.ndarray
    best: np.ndarray
    undefined: np.ndarray
    truncated: set[str]


def _score(
    encoder: "MatchaTable | ContextualEncoder", texts: Texts, references: References, options: Options
) -> _Scored:
    """Score n texts against n (lists of) references, PAIRS_AT_A_TIME at a time."""
    parts, truncated = [], set()
    with progress_bar(len(texts), "text") as bar:
        for chunk in (slice(i, i + PAIRS_AT_A_TIME) for i in range(0, len(texts), PAIRS_AT_A_TIME)):
            others, counts = flatten(references[chunk])
            both = [*texts[chunk], *others]
            encoded, rows = encoder.encode(both, options.run), len(counts)
            left, right = np.arange(rows).repeat(counts), np.arange(rows, len(both))
            defined = encoded.defined[left] & encoded.defined[right]
            scores = cosine(encoded.vectors[left], encoded.vectors[right])
            merged, best = best_or_mean(scores, counts, options.multi_reference, defined)
            parts.append((merged, best, ~np.logical_or.reduceat(defined, counts.cumsum() - counts)))
            truncated |= {text for text, cut in zip(both, encoded.truncated, strict=True) if cut}
            bar.update(rows)
    scores, best, undefined = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Scored((scores + 1) / 2 if options.rescale else scores, best, undefined, truncated)
