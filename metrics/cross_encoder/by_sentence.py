"""Contradictions that a reading of whole texts misses: one sentence among several that say the same.

A model of NLI that reads two texts of several sentences goes by what most of them say. So each sentence is read beside
the whole of the other text too.
"""

from dataclasses import dataclass

from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import nli_probabilities
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.cross_encoder.sentences import sentence_spans

LIKELY = 0.5  # probability above which a contradiction decides


@dataclass(frozen=True)
class Worst:
    """The sentence that contradicts the other text most.

    Attributes:
        contradiction: how sure that is, in [0, 1].
        reason: a sentence that quotes it, without its final stop; empty where a contradiction is not likelier than not.
    """

    contradiction: float = 0.0
    reason: str = ""


def worst_sentences(pairs: list[tuple[str, str]], scorer: PairScorer, run: RunOptions) -> list[Worst]:
    """The sentence of either text that contradicts the other text most, for each of n pairs.

    A sentence of the prediction counts with the probability that the reference contradicts it and does not entail it;
    one of the reference with the square of that: a prediction that leaves out what stands around a sentence is easily
    taken for a contradiction of it (docs/decisions/consensus.md, W14). Of a pair with a text of one sentence, which the
    reading of the whole texts has read already, there is none.

    Args:
        pairs: references and predictions.
        scorer: a cross-encoder with labels of NLI.
        run: how it runs.
    """
    asked = [(i, *one) for i, pair in enumerate(pairs) for one in _sentences(pair)]
    worst = [Worst() for _ in pairs]
    if not asked:
        return worst
    logits = scorer.logits([(whole, sentence) for _, _, whole, sentence in asked], run)
    entailed, contradicted = nli_probabilities(logits.values, scorer.labels).T
    for (i, side, _, sentence), sure in zip(asked, contradicted * (1 - entailed), strict=True):
        sure = float(sure if side == "prediction" else sure**2)
        if sure > worst[i].contradiction:
            reason = f"A sentence of the {side} contradicts the other text: {sentence!r}"
            worst[i] = Worst(sure, reason if sure > LIKELY else "")
    return worst


def _sentences(pair: tuple[str, str]) -> list[tuple[str, str, str]]:
    """Each sentence of both texts: whose it is, the whole other text, itself. None if a text has only one."""
    sentences = [[text[begin:end] for begin, end in sentence_spans(text)] for text in pair]
    if min(map(len, sentences)) < 2:
        return []
    of_reference, of_prediction = sentences
    reference, prediction = pair
    return [
        *(("prediction", reference, sentence) for sentence in of_prediction),
        *(("reference", prediction, sentence) for sentence in of_reference),
    ]
