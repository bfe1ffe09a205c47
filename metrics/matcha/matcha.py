"""MATCHA as an `evaluate.Metric`: a cosine between texts in which contradictions fall low."""

import evaluate

from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.matcha.scoring import MatchaScoring

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
    precision, batch_size, device, backend, workers: how a contextual checkpoint runs, as in `stsscore`; a table, which
        runs no model, takes none of them.
    output: "all" (default), or "mean" for {"matcha": mean} alone.
    progress: show a bar where standard error is a terminal and it takes more than two seconds (default True).
    threshold: lowest score of a correct text, a number or a file that `semantic-metrics fit` wrote; adds `correct`.

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
    correct, decided_by: with `threshold`, n bools, and what decided them.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate;
        names the argument, before anything is scored.

Example:
    >>> matcha = evaluate.load("metrics/matcha")
    >>> news = ["The court accepted the appeal."]
    >>> matcha.compute(predictions=["The court did not accept the appeal."], references=news)["matcha"] < 0
    True
"""


class Matcha(MatchaScoring, CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `checkpoint.load_checkpoint`)."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("predictions", "references"),
            homepage="https://aclanthology.org/2026.findings-acl.1055",
            license="Apache-2.0",
        )
