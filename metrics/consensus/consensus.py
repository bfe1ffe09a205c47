"""Consensus as an `evaluate.Metric`: what MATCHA, STSScore and NLI say together of two texts."""

import evaluate

from semantic_metrics.consensus.scoring import ConsensusScoring
from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.run_options import RUN_INPUTS, run_inputs

_DESCRIPTION = """\
How well does a text say what its reference says, as people would rate it? Consensus is a weighted mean of three
judgements: MATCHA's cosine (a quarter of the weight of each other), the similarity that a cross-encoder trained on
people's ratings predicts, and its probability that the reference entails the text, minus that of contradiction. A
contradiction limits the score: to .5 where it is as likely as not, to .35 where it is certain. One number in [0, 1],
higher is better, and a verdict in words: contradicts, same, says less, says more, differs, unrelated.
"""

_CITATION = """\
@inproceedings{li2026matcha,
  title = {MATCHA},
  author = {Li, Siran and others},
  booktitle = {Findings of ACL},
  year = {2026},
  url = {https://arxiv.org/abs/2605.27345},
}
@article{herbold2023stsscore,
  title = {Semantic similarity prediction is better than other semantic similarity measures},
  author = {Herbold, Steffen},
  journal = {Transactions on Machine Learning Research},
  year = {2023},
  url = {https://openreview.net/forum?id=bfsNmgN5je},
}
"""

_INPUTS = (
    """
Args:
    predictions: list of n strings, the texts to judge. A blank one scores 0 and is counted.
    references: list of n strings, or of n lists of strings (several references each).
    contradictions: list of n strings, each a text that should score lower than the prediction; adds
        `contradiction_scores` and `margins`.
    multi_reference: "best" (default) takes the highest score over the references, "mean" their mean; parts, verdict
        and reason are always those of the best one.
    weights: path of a JSON file that `semantic-metrics fit --metric consensus` wrote for the same cross-encoder, or a
        dict with a number from 0 for each of "matcha", "similarity" and "nli"; None (default) for .25, 1 and 1.
"""
    + run_inputs(
        precision=f'{RUN_INPUTS["precision"]} With a contextual checkpoint of MATCHA ("pairs+contextual") it runs so '
        'too, and "auto" goes by the drifts of each checkpoint.',
        backend=f"{RUN_INPUTS['backend']} A contextual checkpoint of MATCHA runs on it too.",
    )
    + """
    output: "all" (default), or "mean" for {"consensus": mean} alone.
    progress: show a bar where standard error is a terminal and it takes more than two seconds (default True).
    threshold: lowest score of a correct text, a number or a file that `semantic-metrics fit` wrote; adds `correct`.

Returns:
    consensus: mean of `scores`.
    scores: n floats in [0, 1], higher is better.
    parts: the evidence, a dict of lists of n floats: `matcha` (cosine in [-1, 1]), `similarity` (predicted rating in
        [0, 1]), `entailment` (probability that the reference entails the prediction) and `contradiction` (the mean of
        both directions).
    verdicts: n of "contradicts", "same", "says less", "says more", "differs" (neither entails the other), "unrelated",
        "empty", "no answer" (the prediction says that it gives none) and "unread" (the model cannot read what differs).
    reasons: n sentences that give the reason, a model's or a rule's.
    signature: every setting that can change a score, the checkpoints' sha256 among them.
    undefined: number of predictions that are blank (without a visible character), or punctuation alone beside words, or
        whose references all are, those of `contradictions` included; their score is 0.
    truncated: number of pairs (a prediction or contradiction with one of its references) that were longer than
        `max_length`.
    unread: number of predictions that differ from their reference only in characters that the model cannot read,
        or are mostly of such; their scores are below .5, and a warning says so.
    thoughts: number of predictions with a part in <think>, which is not judged.
    contradiction_scores: with `contradictions`, n floats in [0, 1], their scores.
    margins: with `contradictions`, n floats in [-1, 1], `scores` minus `contradiction_scores`.
    best_reference: with several references, the index of the best for each prediction (the first of equals).
    correct, decided_by: with `threshold`, n bools, and what decided them.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate, or an
        invalid option; names the argument, before anything is scored.

Example:
    >>> consensus = evaluate.load("metrics/consensus")
    >>> result = consensus.compute(predictions=["Nobody is playing."], references=["A man is playing the guitar."])
    >>> result["scores"][0] < 0.3, result["verdicts"]
    (True, ['contradicts'])
"""
)


class Consensus(ConsensusScoring, CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the cross-encoder (see `resolve_checkpoint`)."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("predictions", "references"),
            license="Apache-2.0",
        )
