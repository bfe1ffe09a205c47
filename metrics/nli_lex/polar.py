"""Answers to yes-or-no questions that say neither, such as "It is closed on Sundays." to "Is it open on Sunday?".

With the question before it, as any other answer is read, the model takes hardly any such answer for a "no". So it reads
the answer, and then the question with a full stop, the question and "Yes.", and the question and "No.". What the answer
entails of the first two, or contradicts of the third, says yes; the opposite says no (docs/decisions/judge.md, J12).
"""

import re

import numpy as np

from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import SIMILARITY, nli_labels, nli_probabilities, similarity_label
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.quantities.manners import BARE_YES_OR_NO

ASKS_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\b(?!['\u2019])",
    re.IGNORECASE,
)
UNCLEAR = re.compile(r"\b(?:or|not)\b", re.IGNORECASE)  # a yes to such a question may mean either
SAYS_IT = re.compile(r"\byes\b|\A\W*no\s+(?:it|he|she|they|we|i|you|this|that|there)\b", re.IGNORECASE)
LEAST_WORDS = 4  # of an answer that says something without its question: "Absolutely.", "That is correct." do not
FORMS = ("{}.", "{}? Yes.", "{}? No.")  # of a question, which the model reads behind the answer
MARKS = " \n\t?!."  # around a question: each form brings its own
UNSURE = 0.1  # evidence, of at most 3, that counts for neither yes nor no
ABOUT = 0.2  # least similarity, in [0, 1], of the answer to the question


def is_polar(question: str, answer: str, reference: str) -> bool:
    """Whether a question asks for yes or no, the reference is one of them, and the answer says neither."""
    return (
        BARE_YES_OR_NO.fullmatch(reference) is not None
        and ASKS_YES_OR_NO.match(question) is not None
        and not (UNCLEAR.search(question) or SAYS_IT.search(answer))
        and len(answer.split()) >= LEAST_WORDS
    )


def can_read(scorer: PairScorer) -> bool:
    """Whether a model tells contradictions, and rates similarity on a scale that it names, as our checkpoints do."""
    _, contradiction = nli_labels(scorer.labels)
    rates = SIMILARITY in [label.strip().lower() for label in scorer.labels]
    return contradiction is not None and rates and _scale(scorer) > 0


def probabilities(
    triples: list[tuple[str, str, str]], scorer: PairScorer, run: RunOptions
) -> tuple[np.ndarray, np.ndarray]:
    """How far n answers say what their references say.

    Args:
        triples: questions, answers and references (`is_polar`).
        scorer: a model that `can_read` takes.
        run: how it runs.

    Returns:
        (n, 2) float64 in [0, 1]: the shares of the evidence for what the reference says and for the opposite, below 1
        together. (n,) bool: whether the answer fits into the model and is about what is asked; if not, its shares mean
        nothing.

    Source: this project's own (docs/decisions/judge.md, J12); the paper has no such step.
    """
    asked = [question.strip(MARKS) for question, *_ in triples]
    pairs = [(answer, form.format(one)) for form in FORMS for one, (_, answer, _) in zip(asked, triples, strict=True)]
    logits = scorer.logits(pairs, run)
    statement, yes, no = nli_probabilities(logits.values, scorer.labels).reshape(len(FORMS), -1, 2)
    weighed = statement + yes + no[:, ::-1]
    said = weighed / (weighed.sum(axis=1, keepdims=True) + UNSURE)
    denies = np.array(["no" in reference.lower() for *_, reference in triples])
    similarity = logits.values[: len(triples), similarity_label(scorer.labels)].astype(np.float64) / _scale(scorer)
    fits = ~logits.truncated.reshape(len(FORMS), -1).any(axis=0)
    return np.where(denies[:, None], said[:, ::-1], said), fits & (similarity >= ABOUT)


def _scale(scorer: PairScorer) -> float:
    """Range of the similarity by `config.json`, which the signature stands for; 0 if it names none."""
    own = getattr(scorer.config, "stsscore", None)
    scale = own.get("scale") if isinstance(own, dict) else None
    return float(scale) if isinstance(scale, int | float) else 0.0
