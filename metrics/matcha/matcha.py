"""MATCHA as an `evaluate.Metric`: a cosine between texts in which contradictions fall low."""

from dataclasses import dataclass
from typing import NamedTuple

import datasets
import evaluate
import numpy as np

from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.inputs import check_choice, check_same_length, check_text, invalid_input
from semantic_metrics.core.references import MULTI_REFERENCE, best_or_mean, flatten
from semantic_metrics.core.signature import Signature, no_score_change
from semantic_metrics.matcha.attribution import BASELINES, METHODS, Explanation, explain
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.matcha.ratings import Ratings
from semantic_metrics.matcha.table import MatchaTable, cosine

VERSION = "0.1.0"
PAIRS_AT_A_TIME = 4096  # bounds the memory; changes no score

_DESCRIPTION = """\
MATCHA scores how far two texts say the same. The score is the cosine of two text vectors, in [-1, 1], higher is better.
The encoder is trained so that contradictions fall low, not only unrelated texts (Li et al., Findings of ACL 2026). By
default a text is a bag of tokens: the order of its words does not count. With a contextual checkpoint it does.
"""

_CITATION = """\
@inproceedings{li2026matcha,
  title = {MATCHA: Matching Text via Contrastive Semantic Alignment},
  author = {Li, Siran and Etoglu, Ece Sena and Eickhoff, Carsten and Bahrainian, Seyed Ali},
  booktitle = {Findings of the Association for Computational Linguistics: ACL 2026},
  year = {2026},
}
"""

_INPUTS = """
Args:
    predictions: list of n strings, the texts to judge. Any text is allowed: one without a token that the checkpoint
        knows (empty, or only unknown characters) has no vector, gets the score 0 (0.5 with `rescale`) and
        is counted in `undefined`.
    references: list of n strings, or of n lists of strings (several references each).
    contradictions: list of n strings, a counterfactual for each prediction, scored against the same references.
    multi_reference: "best" (default) takes the highest score over the references, "mean" their mean. References
        without a vector are passed over where another has one.
    rescale: map every score s to (s + 1) / 2, in [0, 1] (default False).
    calibrated: add `ratings`, the scores as people would rate them (default False).
    output: "all" (default), or "mean" for {"matcha": mean} alone.

Returns:
    matcha: mean of `scores`.
    scores: n floats in [-1, 1] ([0, 1] with `rescale`), higher is better.
    signature: every setting that can change a score, the checkpoint's and tokeniser's sha256 among them.
    undefined: number of scores for which a text has no vector.
    best_reference: with several references, the index of the best for each prediction (the first of equals; None
        where the score is undefined).
    ratings: with `calibrated`, n floats in [0, 1]: 0 for a contradiction, 1 for the same meaning. They are a monotone
        map of the cosines, fitted on the labels of NLI and STS-B and stored in the checkpoint.
    contradiction_scores: with `contradictions`, n floats, their scores.
    margins: with `contradictions`, n floats, `scores` minus `contradiction_scores`.
    truncated: if the checkpoint has a `max_length`, the number of distinct texts that were longer.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate;
        names the argument, before anything is scored.

Example:
    >>> matcha = evaluate.load("metrics/matcha")
    >>> news = ["The court accepted the appeal."]
    >>> matcha.compute(predictions=["The court did not accept the appeal."], references=news)["matcha"] < 0
    True
"""


@dataclass(frozen=True)
class Options:
    """Settings of one call of `compute`, whose docstring explains them; an invalid one is refused."""

    multi_reference: str = "best"
    rescale: bool = False
    calibrated: bool = no_score_change(False)
    output: str = no_score_change("all")

    def __post_init__(self) -> None:
        check_choice("multi_reference", self.multi_reference, MULTI_REFERENCE)
        check_choice("rescale", self.rescale, (False, True))
        check_choice("calibrated", self.calibrated, (False, True))
        check_choice("output", self.output, ("all", "mean"))


class Matcha(CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `checkpoint.load_checkpoint`)."""

    encoder: MatchaTable | ContextualEncoder

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("predictions", "references"),
            homepage="https://aclanthology.org/2026.findings-acl.1055",
            license="Apache-2.0",
        )

    def _download_and_prepare(self, dl_manager: datasets.DownloadManager) -> None:
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
        output: str = "all",
    ) -> dict | None:
        """Score predictions against references, together with those added before."""
        options = Options(multi_reference, rescale, calibrated, output)
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
        return str(self._signature(Options(**settings)))

    def _signature(self, options: Options) -> Signature:
        signature = Signature.of("matcha", self.encoder.signature_fields(), options, VERSION)
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

    def explain(
        self, prediction: str, reference: str, method: str = "exact", baseline: str | None = None
    ) -> Explanation:
        """Contribution of each token to the score, in both directions; see `attribution.explain`.

        Args:
            prediction: the text that was judged.
            reference: the text it was compared with.
            method: "exact" (the contributions sum to the score) or "integrated_gradients" (they sum to the score
                minus that of the baseline; paper, appendix C).
            baseline: for integrated gradients, "token_0" or "other_text"; None chooses by the sign of the score.

        Raises:
            InvalidInput: a text is not a valid string, or the method or the baseline is unknown.
        """
        prediction, reference = check_text("prediction", prediction), check_text("reference", reference)
        check_choice("method", method, METHODS)
        check_choice("baseline", baseline, (None, *BASELINES))
        return explain(self.encoder, prediction, reference, method, baseline)


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


def _score(encoder: MatchaTable | ContextualEncoder, texts: list[str], references: list, options: Options) -> _Scored:
    """Score n texts against n (lists of) references, PAIRS_AT_A_TIME at a time."""
    parts, truncated = [], set()
    for chunk in (slice(i, i + PAIRS_AT_A_TIME) for i in range(0, len(texts), PAIRS_AT_A_TIME)):
        others, counts = flatten(references[chunk])
        both = [*texts[chunk], *others]
        encoded, rows = encoder.encode(both), len(counts)
        left, right = np.arange(rows).repeat(counts), np.arange(rows, len(both))
        defined = encoded.defined[left] & encoded.defined[right]
        scores = cosine(encoded.vectors[left], encoded.vectors[right])
        merged, best = best_or_mean(scores, counts, options.multi_reference, defined)
        parts.append((merged, best, ~np.logical_or.reduceat(defined, counts.cumsum() - counts)))
        truncated |= {text for text, cut in zip(both, encoded.truncated, strict=True) if cut}
    scores, best, undefined = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Scored((scores + 1) / 2 if options.rescale else scores, best, undefined, truncated)
