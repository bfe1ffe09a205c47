"""Which token moved the probability that an answer is correct, and by how much; see `explain_pairs` for the methods.

Leaving a token out changes both what the model reads and the words that are compared: all of the judgement is asked
again. A gradient knows nothing of words, so integrated gradients follow the model alone, with the lexical features held
as they are: what they explain is what the model adds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from string import Formatter

import numpy as np
import torch

from semantic_metrics.cross_encoder.pair_attribution import (
    METHODS,
    Explainer,
    Explanation,
    Sequence,
    Span,
    Texts,
    owners,
    trace,
)
from semantic_metrics.cross_encoder.pair_scorer import PairLogits, PairScorer
from semantic_metrics.nli_lex.features import OF_LONG, OPINIONS, RICH, extract, length, nli_labels
from semantic_metrics.nli_lex.weights import Weights, contributions

BACK = "entailment_back"  # of the features that the model gives, the one of the turned pair
LONGEST = 1024  # tokens of the texts together, each of which costs a judgement; some minutes on a processor


def explain(
    scorer: PairScorer,
    weights: Weights,
    texts: Texts,
    method: str,
    reading: dict[str, object],
    score: Callable[[list[Texts]], np.ndarray],
) -> Explanation:
    """Token contributions in three directions.

    Args:
        scorer: the NLI model.
        weights: of the judge.
        texts: `prediction`, `reference` and `question`.
        method: of METHODS.
        reading: options of `PairScorer.logits`.
        score: probabilities of n sets of texts, as the metric gives them.

    Returns:
        `score`, `method`, and for each of `texts` a dict of `tokens`, `spans` (begin and end characters in the text),
        `contributions` (one per token; positive raises the probability), `total` (their sum), and with integrated
        gradients `baseline`, `baseline_score` and `error` (`total` minus what it should be, the score minus the
        baseline's). These are of the window that decides, where an answer is read in several.

    Raises:
        ValueError: too many tokens to leave out one by one.
    """
    explainer = Explainer(scorer, texts, reading["batch_size"], reading["device"])
    if method == METHODS[0]:
        if (count := sum(map(len, explainer.spans.values()))) > LONGEST:
            raise ValueError(
                f"method: expected texts of {LONGEST} tokens at most for {METHODS[0]!r}, got {count}; "
                f"{METHODS[1]!r} takes longer ones"
            )
        return explainer.leave_one_out(score)
    model = _Listener(scorer)
    rows = ([texts["question"]], [texts["prediction"]], [[texts["reference"]]])
    found = extract(model, *rows, weights.template, weights.number_words, weights.features, **reading)
    sequences = _sequences(model, weights, texts, explainer.spans, reading["max_length"])
    value = _value(scorer, weights, found.table, length(texts["prediction"]))
    return explainer.integrated_gradients(float(score([texts])[0]), sequences, value)


@dataclass
class _Listener:
    """A scorer that keeps what it was asked and what it said."""

    scorer: PairScorer
    pairs: list[tuple[str, str]] = field(default_factory=list)
    found: PairLogits | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self.scorer, name)

    def logits(self, pairs: list[tuple[str, str]], **options: object) -> PairLogits:
        """As `PairScorer.logits`."""
        self.pairs, self.found = pairs, self.scorer.logits(pairs, **options)
        return self.found


def _sequences(
    model: _Listener, weights: Weights, texts: Texts, spans: dict[str, list[Span]], max_length: int | None
) -> list[Sequence]:
    """The pairs that decide: answer and reference, and the same turned round if the weights ask for it."""
    if model.found is None:
        return []
    both = BACK in weights.features
    count = len(model.pairs) // (1 + both)
    entailment, _ = nli_labels(model.labels)
    said = torch.from_numpy(model.found.values[:count]).double().softmax(dim=1)
    best = int(said[:, entailment].argmax())
    pair = model.pairs[best]
    frame = _frame(weights.template, pair[1], texts["reference"])
    begin = frame.begin_of_window([premise for premise, _ in model.pairs[: best + 1]], texts["prediction"])
    made = []
    for turned in (False, True)[: 1 + both]:
        tokens, places = trace(model.scorer, pair[::-1] if turned else pair, max_length)
        premise, hypothesis = places[::-1] if turned else places
        characters = {
            "prediction": frame.of_answer(premise, pair[0], begin),
            "reference": frame.of_answer(hypothesis, pair[1], _leading(texts["reference"])),
            "question": np.maximum(
                *(frame.of_question(place, pair, i, texts["question"]) for i, place in enumerate((premise, hypothesis)))
            ),
        }
        made.append(Sequence(tokens, {side: owners(characters[side], spans[side]) for side in texts}))
    return made


@dataclass(frozen=True)
class _Frame:
    """Where answer and question stand in what the model reads.

    Attributes:
        left, right: characters before and behind the answer.
        asked: begin and end of the question in the hypothesis.
    """

    left: int
    right: int
    asked: Span

    def begin_of_window(self, premises: list[str], answer: str) -> int:
        """Where the last of some windows begins in the answer; each begins behind the one before."""
        at = -1
        for premise in premises:
            at = max(answer.find(premise[self.left : len(premise) - self.right], at + 1), at)
        return at

    def of_answer(self, place: np.ndarray, read: str, begin: int) -> np.ndarray:
        """(tokens,) characters of what the model reads -> of the answer that begins at `begin`; -1 outside of it."""
        return _inside(place, self.left, len(read) - self.right, begin)

    def of_question(self, place: np.ndarray, pair: tuple[str, str], which: int, question: str) -> np.ndarray:
        """(tokens,) characters of the premise (0) or hypothesis (1) -> of the question; -1 outside of it."""
        begin, end = self.asked
        at = question.find(pair[1][begin:end])
        if end <= begin or at < 0:
            return np.full(len(place), -1)
        shift = len(pair[which]) - len(pair[1]) if begin >= self.left else 0  # it may stand behind the answer
        return _inside(place, begin + shift, end + shift, at)


def _frame(template: str, hypothesis: str, reference: str) -> _Frame:
    names, literals = [], [""]
    for literal, name, _, _ in Formatter().parse(template):
        literals[-1] += literal
        if name is not None:
            names.append(name)
            literals.append("")
    # white space around the filled template is left out, and the reference is not blank
    first, last = len(literals[0].lstrip()), len(hypothesis) - len(literals[-1].rstrip())
    size = len(reference.strip())
    if names[0] == "answer":
        asked = (first + size + len(literals[1]), last) if len(names) > 1 else (0, 0)
        return _Frame(first, len(hypothesis) - first - size, asked)
    return _Frame(last - size, len(hypothesis) - last, (first, last - size - len(literals[1])))


def _inside(place: np.ndarray, begin: int, end: int, start: int) -> np.ndarray:
    return np.where((place >= begin) & (place < end), place - begin + start, -1)


def _leading(text: str) -> int:
    return len(text) - len(text.lstrip())


def _value(
    scorer: PairScorer, weights: Weights, table: np.ndarray, share: float
) -> Callable[[list[torch.Tensor]], torch.Tensor]:
    """The judge as a function of logits; lexical features as in the (1, len(RICH)) table, `length` of the answer."""
    entailment, contradiction = nli_labels(scorer.labels)
    columns = {"entailment": (0, entailment), BACK: (1, entailment), "contradiction": (0, contradiction)}
    coefficients = dict(zip(weights.features, weights.coefficients, strict=True))
    lexical = table.copy()
    lexical[:, [RICH.index(name) for name in (*OPINIONS, OF_LONG)]] = 0
    coefficients["entailment"] = coefficients.get("entailment", 0.0) + share * coefficients.get(OF_LONG, 0.0)
    held = weights.intercept + float(contributions(weights, lexical).sum())

    def value(logits: list[torch.Tensor]) -> torch.Tensor:
        odds = torch.full((len(logits[0]),), held, dtype=torch.float64, device=logits[0].device)
        for name, (which, label) in columns.items():
            if name in coefficients and label is not None:
                odds = odds + coefficients[name] * logits[which].softmax(dim=1)[:, label]
        return torch.sigmoid(odds)

    return value
