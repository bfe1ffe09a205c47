"""Which word moved the probability that an answer is correct, and by how much; see `pair_attribution` for the methods.

Leaving a word out changes both what the model reads and the words that are compared, so the whole judgement is made
again. A gradient does not reach the comparison of words, so integrated gradients explain only what the model adds; the
lexical features keep their values. They are refused for a row that `polar` reads, in three forms of the question.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import torch

from semantic_metrics.core.inputs import invalid_input
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import class_labels, nli_labels
from semantic_metrics.cross_encoder.pair_attribution import (
    INTEGRATED_GRADIENTS,
    LEAVE_ONE_OUT,
    Explainer,
    Explanation,
    Texts,
    TracedPair,
    Value,
    owners,
    piece_spans,
    ruled_value,
    trace,
)
from semantic_metrics.cross_encoder.pair_scorer import PairScorer, Span
from semantic_metrics.nli_lex.features import (
    ENTAILMENT_OF_LONG,
    NLI_PROBABILITIES,
    RICH,
    Features,
    as_read,
    extract,
    length,
)
from semantic_metrics.nli_lex.weights import Weights, contributions
from semantic_metrics.nli_lex.windows import Filled
from semantic_metrics.quantities.manners import legible

BACK = "entailment_back"  # the model's feature of the pair in reverse
MAX_PIECES = 48  # left out in turn; each costs a judgement, of a third of a second for 250 words on two cores
MAX_TOKENS = 1024  # of the texts together; 48 judgements of so many take about a minute on two cores


def explain(
    scorer: PairScorer,
    weights: Weights,
    texts: Texts,
    method: str,
    run: RunOptions,
    score: Callable[[list[Texts]], np.ndarray],
) -> Explanation:
    """Token contributions in three directions.

    Args:
        scorer: the NLI model.
        weights: the judge's weights.
        texts: `prediction`, `reference` and `question`.
        method: "leave_one_out", for texts of MAX_TOKENS at most, or "integrated_gradients".
        run: how the model runs; for integrated gradients in float32, on torch.
        score: maps n variants of the texts to the metric's probabilities.

    Returns:
        The parts of an explanation, which `Explainer` describes; the score is the probability. Where an answer is read
        in several windows, integrated gradients explain the window that decides. With leave_one_out and more than
        MAX_PIECES words, `tokens` are runs of words.

    Raises:
        ValueError: the texts are too long for leave_one_out, or `polar` reads the row, which integrated gradients do
            not explain.
    """
    legible_texts = texts | {side: legible(texts[side]) for side in ("prediction", "reference")}
    shown = texts if weights.whole_question else legible_texts  # as `extract` reads them
    if (
        method == LEAVE_ONE_OUT
        and (count := sum(len(piece_spans(scorer, text)) for text in shown.values())) > MAX_TOKENS
    ):
        raise invalid_input(
            "method",
            f"expected texts of {MAX_TOKENS} tokens at most for {LEAVE_ONE_OUT!r}, got {count}; "
            f"{INTEGRATED_GRADIENTS!r} takes longer ones",
        )
    sides = [texts["question"]], [texts["prediction"]], [[texts["reference"]]]
    form = weights.template, weights.number_words
    features = extract(scorer, *sides, *form, weights.features, run, weights.whole_question)
    (ruling,) = features.rulings
    if features.polar and method == INTEGRATED_GRADIENTS:
        problem = (
            f"expected {LEAVE_ONE_OUT!r} for an answer to a yes-or-no question that says neither, got {method!r}: the "
            "model reads such an answer several times"
        )
        raise invalid_input("method", problem)
    texts = shown
    if method == LEAVE_ONE_OUT:
        explanation = Explainer(scorer, texts, run, by_word=True, max_pieces=MAX_PIECES).leave_one_out(score)
        return explanation | {"rule": ruling.decision}
    whole = float(score([texts])[0])
    explainer = Explainer(scorer, texts, run)
    read = as_read(texts["reference"], texts["prediction"], weights.number_words, weights.whole_question)
    both_ways = BACK in weights.features
    pairs = _traced_pairs(scorer, features, both_ways, texts, explainer.spans, run.max_length, np.array(read.origins))
    value = _value(scorer, weights, features, length(texts["prediction"]))
    explanation = explainer.integrated_gradients(whole, pairs, ruled_value(value, ruling))
    return explanation | {"rule": ruling.decision}


def _traced_pairs(
    scorer: PairScorer,
    features: Features,
    both_ways: bool,
    texts: Texts,
    spans: dict[str, list[Span]],
    max_length: int | None,
    origins: np.ndarray,
) -> list[TracedPair]:
    """The pair that decides, one for each part of the reference, then the same in reverse if the weights use it.

    `origins` has for each character of the reference as the model reads it that of the reference as it is.
    """
    (pairs,) = features.pairs
    traced = []
    for order, pair in product((1, -1)[: 1 + both_ways], pairs):
        tokens, characters = trace(scorer, (pair[::order][0].text, pair[::order][1].text), max_length)
        parts = list(zip(pair, characters[::order], strict=True))  # the premise, then the hypothesis
        (premise, in_premise), (hypothesis, in_hypothesis) = parts
        inside = _inside(in_hypothesis, hypothesis.answer, hypothesis.answer_start)
        places = {
            "prediction": _inside(in_premise, premise.answer, premise.answer_start),
            "reference": np.where(inside < 0, -1, origins[inside]),
            "question": np.maximum(*(_in_question(row, filled, texts["question"]) for filled, row in parts)),
        }
        traced.append(TracedPair(tokens, {side: owners(places[side], spans[side]) for side in texts}))
    return traced


def _in_question(characters: np.ndarray, filled: Filled, question: str) -> np.ndarray:
    """(tokens,) characters of a filled template -> of the question; -1 outside of it."""
    begin, end = filled.question
    start = question.find(filled.text[begin:end])  # the part that is read may have been normalised: then -1
    if end == begin or start < 0:
        return np.full(len(characters), -1)
    return _inside(characters, filled.question, start)


def _inside(characters: np.ndarray, span: Span, start: int) -> np.ndarray:
    """(tokens,) characters of a filled template -> of the text that begins at `start` and fills the span; else -1."""
    begin, end = span
    return np.where((characters >= begin) & (characters < end), characters - begin + start, -1)


def _value(scorer: PairScorer, weights: Weights, features: Features, share: float) -> Value:
    """The judge as a function of the pairs' logits; lexical features keep their values, `share` is `length`."""
    entailment, contradiction = nli_labels(scorer.labels)
    classes = class_labels(scorer.labels)
    parts = len(features.pairs[0])
    forward, back = range(parts), range(parts, 2 * parts)
    columns = {"entailment": (forward, entailment), BACK: (back, entailment), "contradiction": (forward, contradiction)}
    coefficients = dict(zip(weights.features, weights.coefficients, strict=True))
    lexical = features.table.copy()
    lexical[:, [RICH.index(name) for name in (*NLI_PROBABILITIES, ENTAILMENT_OF_LONG)]] = 0
    coefficients["entailment"] = coefficients.get("entailment", 0.0) + share * coefficients.get(ENTAILMENT_OF_LONG, 0.0)
    constant = weights.intercept + float(contributions(weights, lexical).sum())

    def value(logits: list[torch.Tensor]) -> torch.Tensor:
        odds = torch.full((len(logits[0]),), constant, dtype=torch.float64, device=logits[0].device)
        for name, (which, label) in columns.items():
            if name in coefficients and label is not None:
                for part in which:
                    probabilities = logits[part][:, classes].softmax(dim=1)
                    odds = odds + coefficients[name] * probabilities[:, classes.index(label)] / parts
        return torch.sigmoid(odds) if weights.logistic else odds

    return value
