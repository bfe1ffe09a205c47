"""MATCHA's scores: a cosine between texts in which contradictions fall low. `evaluate` is not needed."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semantic_metrics.core.batching import BATCH_SEQUENCES
from semantic_metrics.core.inputs import check_choice, check_same_length, check_text, check_texts, invalid_input
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.core.signature import NOT_IN_SIGNATURE, Signature, no_score_change
from semantic_metrics.core.text_scoring import TextScoring
from semantic_metrics.core.texts import MULTI_REFERENCE, best_or_mean, flatten
from semantic_metrics.matcha.attribution import BASELINES, METHODS, Explanation, explain
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.ratings import Ratings
from semantic_metrics.matcha.table import MatchaTable, cosine

if TYPE_CHECKING:  # the table does without torch
    from semantic_metrics.matcha.contextual import ContextualEncoder

VERSION = "0.1.0"
PAIRS_AT_A_TIME = 4096  # bounds the memory; changes no score


@dataclass(frozen=True)
class Options:
    """Settings of one call of `compute`, whose docstring explains them; an invalid one is refused."""

    multi_reference: str = "best"
    rescale: bool = False
    calibrated: bool = no_score_change(False)
    output: str = no_score_change("all")
    progress: bool = no_score_change(True)
    # signatures have it from the encoder's fields
    run: RunOptions = field(default=DEFAULT_OPTIONS, metadata=NOT_IN_SIGNATURE)

    def __post_init__(self) -> None:
        check_choice("multi_reference", self.multi_reference, MULTI_REFERENCE)
        check_choice("rescale", self.rescale, (False, True))
        check_choice("calibrated", self.calibrated, (False, True))
        check_choice("output", self.output, ("all", "mean"))
        check_choice("progress", self.progress, (False, True))


class MatchaScoring(TextScoring):
    """Scores texts; `config_name` names the checkpoint (see `checkpoint.load_checkpoint`)."""

    encoder: "MatchaTable | ContextualEncoder"

    @property
    def runs_model(self) -> bool:
        """See `TextScoring`: a contextual checkpoint does, a table does not."""
        return not isinstance(self.encoder, MatchaTable)

    def load_models(self) -> None:
        """See `TextScoring`."""
        self.encoder = load_checkpoint(None if self.config_name == "default" else self.config_name)

    def compute(
        self,
        *,
        predictions: list[str] | None = None,
        references: list | None = None,
        contradictions: list[str] | None = None,
        multi_reference: str = "best",
        rescale: bool = False,
        calibrated: bool = False,
        precision: str = "float32",
        batch_size: int = BATCH_SEQUENCES,
        device: str | None = None,
        backend: str = "torch",
        workers: int | None = None,
        output: str = "all",
        progress: bool = True,
    ) -> dict | None:
        """Score predictions against references, together with those added before."""
        run = RunOptions(precision, None, batch_size, device, backend, workers)
        options = Options(multi_reference, rescale, calibrated, output, progress, self.encoder.resolve(run))
        if calibrated:
            self.ratings()
        columns = {"predictions": predictions, "references": references}
        return self.compute_checked(columns, options, {"contradictions": contradictions})

    def _compute(
        self, predictions: list[str], references: list, options: Options, contradictions: list[str] | None = None
    ) -> dict:
        if contradictions is not None:
            check_same_length("predictions", len(predictions), "contradictions", len(contradictions))
        scored = _score(self.encoder, predictions, references, options)
        mean = float(np.mean(scored.scores))
        if options.output == "mean":
            return {"matcha": mean}
        undefined, truncated = int(scored.undefined.sum()), scored.truncated
        result = {"matcha": mean, "scores": scored.scores.tolist(), "signature": str(self._signature(options))}
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

    def signature(self, **settings: object) -> str:
        """Every setting that can change a score; results with equal signatures are comparable.

        Args:
            settings: those arguments of `compute` that are not left at their defaults.
        """
        run = self.encoder.resolve(RunOptions.taken_from(settings))
        return str(self._signature(Options(**settings, run=run)))

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

    def encode(
        self,
        texts: list[str],
        precision: str = "float32",
        batch_size: int = BATCH_SEQUENCES,
        device: str | None = None,
        backend: str = "torch",
        workers: int | None = None,
    ) -> np.ndarray:
        """(n, D) float64 vectors of n texts, whose cosines are the scores; zeros for a text without a vector.

        The other arguments are those of `compute`: they say how a contextual checkpoint runs.

        Raises:
            InvalidInput: `texts` is no list of valid strings, or the checkpoint does not take an option.
        """
        run = self.encoder.resolve(RunOptions(precision, None, batch_size, device, backend, workers))
        return self.encoder.encode(check_texts("texts", texts), run).vectors

    def explain(
        self,
        prediction: str,
        reference: str,
        method: str = "exact",
        baseline: str | None = None,
        device: str | None = None,
        precision: str = "float32",
        batch_size: int = BATCH_SEQUENCES,
        backend: str = "torch",
        workers: int | None = None,
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
        run = self.encoder.resolve(RunOptions(precision, None, batch_size, device, backend, workers))
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


def _score(encoder: "MatchaTable | ContextualEncoder", texts: list[str], references: list, options: Options) -> _Scored:
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
