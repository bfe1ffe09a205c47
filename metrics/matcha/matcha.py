"""MATCHA as an `evaluate.Metric`: a cosine between texts in which contradictions fall low."""

import datasets
import evaluate
import numpy as np
from datasets import Features, Sequence, Value

from semantic_metrics.core.checked_metric import Intake
from semantic_metrics.core.inputs import check_choice, check_same_length, check_text
from semantic_metrics.core.resolve import find_folder
from semantic_metrics.matcha.attribution import BASELINES, METHODS, Explanation, explain
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.matcha.modeling_matcha import MatchaModel
from semantic_metrics.matcha.ratings import Ratings
from semantic_metrics.matcha.table import MatchaTable, cosine
from semantic_metrics.matcha.vectors import TextVectors

# evaluate copies only the siblings that this script itself imports
__all__ = ["Matcha", "MatchaModel", "TextVectors", "find_folder"]

VERSION = "0.1.0"
PAIRS_AT_A_TIME = 4096  # bounds the memory; changes no score

_DESCRIPTION = """\
MATCHA scores how far two texts say the same: the cosine of two text vectors, in [-1, 1], higher is better. The
encoder is trained so that contradictions fall low, not only unrelated texts (Li et al., Findings of ACL 2026). By
default it is a bag of tokens: the order of the words does not count. It does to a contextual checkpoint.
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
        knows (empty, or only unknown characters) has no vector, scores 0 and is counted in `undefined`.
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
    undefined: how many of the scores are of a text without a vector.
    best_reference: with several references, the index of the best for each prediction (the first of equals; None
        where the score is undefined).
    ratings: with `calibrated`, n floats in [0, 1]: 0 for a contradiction, 1 for the same meaning; a monotone map of the
        cosines that was fitted on the labels of NLI and STS-B and is stored in the checkpoint.
    contradiction_scores, margins: with `contradictions`, their scores, and `scores` minus those.
    truncated: for a checkpoint with a `max_length`, how many distinct texts were longer than it.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate;
        names the argument, before anything is scored.

Example:
    >>> matcha = evaluate.load("metrics/matcha")
    >>> news = ["The court accepted the appeal."]
    >>> matcha.compute(predictions=["The court did not accept the appeal."], references=news)["matcha"] < 0
    True
"""


class Matcha(Intake, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `checkpoint.load_checkpoint`)."""

    table: MatchaTable | ContextualEncoder

    def _info(self) -> evaluate.MetricInfo:
        text = Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[
                Features({"predictions": text, "references": Sequence(text)}),
                Features({"predictions": text, "references": text}),
            ],
            homepage="https://aclanthology.org/2026.findings-acl.1055",
            license="Apache-2.0",
        )

    def _download_and_prepare(self, dl_manager: datasets.DownloadManager) -> None:
        self.table = load_checkpoint(None if self.config_name == "default" else self.config_name)

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
        """Score predictions against references, those added before included."""
        check_choice("multi_reference", multi_reference, ("best", "mean"))
        check_choice("rescale", rescale, (False, True))
        check_choice("calibrated", calibrated, (False, True))
        check_choice("output", output, ("all", "mean"))
        if calibrated:
            self.ratings()
        return self.compute_checked(
            {"predictions": predictions, "references": references},
            {"multi_reference": multi_reference, "rescale": rescale, "calibrated": calibrated, "output": output},
            beside={"contradictions": contradictions},
        )

    def _compute(
        self,
        predictions: list[str],
        references: list,
        contradictions: list[str] | None = None,
        multi_reference: str = "best",
        rescale: bool = False,
        calibrated: bool = False,
        output: str = "all",
    ) -> dict:
        if contradictions is not None:
            check_same_length("predictions", len(predictions), "contradictions", len(contradictions))
        score = _Scorer(self.table, multi_reference, rescale)
        scores, best, undefined = score(predictions, references)
        if output == "mean":
            return {"matcha": float(np.mean(scores))}
        result = {
            "matcha": float(np.mean(scores)),
            "scores": scores.tolist(),
            "signature": self.signature(multi_reference, rescale, calibrated),
            "undefined": int(undefined.sum()),
        }
        if isinstance(references[0], list):
            result["best_reference"] = [None if lost else int(i) for i, lost in zip(best, undefined, strict=True)]
        if calibrated:
            result["ratings"] = self.ratings()(scores * 2 - 1 if rescale else scores).tolist()
        if contradictions is not None:
            against, _, lost = score(contradictions, references)
            result["contradiction_scores"], result["margins"] = against.tolist(), (scores - against).tolist()
            result["undefined"] += int(lost.sum())
        if self.table.config.max_length is not None:
            result["truncated"] = len(score.truncated)
        return result

    def signature(self, multi_reference: str = "best", rescale: bool = False, calibrated: bool = False) -> str:
        """Every setting that can change a score; results with the same signature are comparable."""
        parts = self.table.settings() | {"multi_reference": multi_reference, "rescale": rescale, "version": VERSION}
        if calibrated:
            parts["ratings"] = self.ratings().sha256[:16]
        return "matcha|" + "|".join(f"{key}:{_spell(value)}" for key, value in parts.items())

    def ratings(self) -> Ratings:
        """The checkpoint's map from cosines to ratings.

        Raises:
            ValueError: it has none.
        """
        found = Ratings.stored(self.table.config.ratings)
        if found is None:
            raise ValueError("calibrated: expected a checkpoint with ratings in its config.json, got one without")
        return found

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
            ValueError: a text that is none, an unknown method or baseline.
        """
        prediction, reference = check_text("prediction", prediction), check_text("reference", reference)
        check_choice("method", method, METHODS)
        check_choice("baseline", baseline, (None, *BASELINES))
        return explain(self.table, prediction, reference, method, baseline)


def _spell(value: object) -> str:
    return str(value) if isinstance(value, str) else str(value).lower()


class _Scorer:
    """Scores lists of texts against references, some thousand pairs at a time."""

    def __init__(self, table: MatchaTable | ContextualEncoder, multi_reference: str, rescale: bool) -> None:
        self.table, self.multi_reference, self.rescale = table, multi_reference, rescale
        self.truncated: set[str] = set()

    def __call__(self, texts: list[str], references: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """N texts, n (lists of) references -> (n,) scores, (n,) best reference, (n,) whether undefined."""
        parts = [
            self._score_chunk(texts[i : i + PAIRS_AT_A_TIME], references[i : i + PAIRS_AT_A_TIME])
            for i in range(0, len(texts), PAIRS_AT_A_TIME)
        ]
        scores, best, undefined = (np.concatenate(column) for column in zip(*parts, strict=True))
        return ((scores + 1) / 2 if self.rescale else scores), best, undefined

    def _score_chunk(self, texts: list[str], references: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        several = isinstance(references[0], list)
        counts = np.array([len(group) for group in references]) if several else np.ones(len(texts), dtype=int)
        flat = [text for group in references for text in group] if several else references
        encoded = self.table.encode([*texts, *flat])
        self.truncated.update(text for text, cut in zip([*texts, *flat], encoded.truncated, strict=True) if cut)
        left, right = np.arange(len(texts)).repeat(counts), np.arange(len(texts), len(texts) + len(flat))
        scores = cosine(encoded.vectors[left], encoded.vectors[right])
        defined = encoded.defined[left] & encoded.defined[right]
        if not several:
            return scores, np.zeros(len(texts), dtype=int), ~defined
        return self._merge(scores, defined, counts)

    def _merge(
        self, scores: np.ndarray, defined: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores of all references, `counts` of them for each text -> one for each text."""
        begin = counts.cumsum() - counts
        kept = np.where(defined, scores, -np.inf)
        merged = np.zeros(len(counts))
        best = np.zeros(len(counts), dtype=int)
        for i, (first, count) in enumerate(zip(begin, counts, strict=True)):
            group = slice(first, first + count)
            best[i] = kept[group].argmax()
            if defined[group].any():
                known = np.sort(scores[group][defined[group]])  # sorted: the mean is the same in any order
                merged[i] = known[-1] if self.multi_reference == "best" else known.mean()
        return merged, best, ~np.logical_or.reduceat(defined, begin)
