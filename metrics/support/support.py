"""Support as an `evaluate.Metric`: which sentences of a summary or an answer its source bears out."""

import evaluate

from semantic_metrics.core.checked_metric import CheckedInputs, text_features
from semantic_metrics.core.run_options import run_inputs
from semantic_metrics.support.scoring import SupportScoring

_DESCRIPTION = """\
Does the source say what a summary or an answer says? Each sentence of a text is compared with the places of its source
that may say so, by a cross-encoder for natural language inference, and gets a support and a contradiction in [0, 1], a
verdict, and the place that decides. The score of a text is the mean support of its sentences, in [0, 1], higher is
better.
"""

_INPUTS = (
    """
Args:
    predictions: list of n strings, the texts to judge.
    references: list of n strings, their sources, or of n lists of strings (several texts that count as one source).
    k: number of sentences of the source that the model reads, each alone, for each sentence (default 8), those that
        share most with it; passages of several sentences in proportion. None for all.
    coverage: also say which sentences of the source the prediction leaves out (default False).
"""
    + run_inputs(
        max_length="tokens of a pair of a passage and a sentence that count. None (default) for the checkpoint's own."
    )
    + """
    output: "all" (default), or "mean" for {"support": mean} alone.
    progress: show a bar where standard error is a terminal and it takes more than two seconds (default True).
    threshold: lowest score of a correct text, a number or a file that `semantic-metrics fit` wrote; adds `correct`.

Returns:
    support: mean of `scores`.
    scores: n floats in [0, 1], higher is better, the mean support of a prediction's sentences.
    minimums: n floats in [0, 1], their lowest support: where there is one wrong sentence, the mean may hide it.
    unsupported: n whole numbers, how many sentences are contradicted or not found.
    sentences: n lists with a dict for each sentence: `text`, `begin` and `end` (characters of the prediction),
        `support` and `contradiction` (probabilities, None for a sentence that claims nothing), `verdict` ("supported",
        "contradicted", "not found" or "skipped") and `places`, at most three sentences of the source, the one that
        decides first: `reference` (index), `begin`, `end`, `text`, and by the model, which reads this sentence alone,
        `entailment` and `contradiction` (None where it reads it among others only).
    coverage: with `coverage`, n floats in [0, 1], the mean support of the references' sentences by the prediction.
    missing: with `coverage`, n lists of the references' sentences that the prediction does not support; as in
        `sentences`, and `reference`, the index of the text that they are from.
    signature: every setting that can change a score, the checkpoint's and tokeniser's sha256 among them.
    undefined: number of predictions without a sentence that claims something, or without a source; their score is 0.
    truncated: number of pairs of a sentence and a passage that were longer than `max_length`.
    passages_read: number of pairs of a sentence and a passage that the model read.
    unread: number of sentences that differ from the nearest passage only in characters that the model cannot read, or
        are mostly of such; their support is below .5.
    thoughts: number of predictions with a part in <think>, which is not judged.
    correct, decided_by: with `threshold`, n bools, and what decided them.

Raises:
    ValueError: unequal lengths, an empty list, None, a number, a bare string, mixed references, a lone surrogate, or an
        invalid option; names the argument, before anything is scored.

Example:
    >>> support = evaluate.load("metrics/support")
    >>> source = "A man is playing the guitar. It rains."
    >>> result = support.compute(predictions=["A man plays the guitar."], references=[source])
    >>> result["sentences"][0][0]["verdict"]
    'supported'
"""
)


class Support(SupportScoring, CheckedInputs, evaluate.Metric):
    """The metric; `config_name` of `evaluate.load` names the checkpoint (see `resolve_checkpoint`)."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=text_features("predictions", "references"),
            license="Apache-2.0",
        )
