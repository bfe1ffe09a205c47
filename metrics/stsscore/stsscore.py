"""STSScore as an `evaluate.Metric`: the similarity of two texts, predicted by a cross-encoder."""

import evaluate

from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.run_options import run_inputs
from semantic_metrics.stsscore.scoring import STSScoring

_DESCRIPTION = """\
STSScore predicts how similar two texts are in meaning: a cross-encoder that was trained on human ratings of sentence
pairs (STS-B, 0 to 5) reads both, and its rating divided by five is the score, near [0, 1], higher is better (Herbold,
TMLR 2023).
"""

_CITATION = """\
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
    predictions: list of n strings, the texts to judge. The model reads them second, after the reference. Any text is
        allowed, the empty one included: the model has a score for it too (see `undefined`).
    references: list of n strings, or of n lists of strings (several references each).
    scale: what the model's raw score means: a number divides it, "sigmoid" squashes it into (0, 1). None (default)
        takes what the checkpoint's configuration says; where that says nothing, this argument is needed.
    clip: limit scores to [0, 1] (default False, as in the paper).
    symmetric: score each pair in both directions and take the mean (default False, as in the paper).
    multi_reference: "best" (default) takes the highest score over the references, "mean" their mean.
"""
    + run_inputs()
    + """
    output: "all" (default), or "mean" for {"stsscore": mean} alone.
    progress: show a bar where standard error is a terminal and it takes more than two seconds (default True).
    threshold: lowest score of a correct text, a number or a file that `semantic-metrics fit` wrote; adds `correct`.

Returns:
    stsscore: mean of `scores`.
    scores: n floats, about 0 (nothing in common) to 1 (the same meaning), higher is better; without a sigmoid or
        `clip` a score may lie a little outside of [0, 1].
    signature: every setting that can change a score, the checkpoint's and tokeniser's sha256 among them.
    undefined: number of predictions that are blank, or whose references all are. The model scores them too, but such
        a score compares nothing.
    truncated: number of pairs (a prediction with one of its references) that were longer than `max_length`.
    unread: number of predictions that differ from their reference only in characters that the model cannot read,
        or are mostly of such; their scores are below .5, and a warning says so.
    thoughts: number of predictions with a part in <think>, which is not judged.
    best_reference: with several references, the index of the best for each prediction (the first of equals).
    correct, decided_by: with `threshold`, n bools, and what decided them.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate, an
        invalid option, or no scale; names the argument, before anything is scored.

Example:
    >>> stsscore = evaluate.load("metrics/stsscore")
    >>> close = stsscore.compute(predictions=["A man plays a guitar."], references=["A man is playing the guitar."])
    >>> far = stsscore.compute(predictions=["A man plays a guitar."], references=["The vote was put off again."])
    >>> close["stsscore"] > 0.8 > 0.2 > far["stsscore"]
    True
"""
)


class STSScore(STSScoring, CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `resolve_checkpoint`)."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features("predictions", "references"),
            homepage="https://openreview.net/forum?id=bfsNmgN5je",
            license="Apache-2.0",
        )
