"""Answers to yes-or-no questions that say neither, such as "It is closed on Sundays." to "Is it open on Sunday?".

With the question before it, as any other answer is read, the model takes hardly any such answer for a "no". So it reads
the answer, and then the question as a statement, as one that is affirmed, and as one that is denied: what entails the
first two and contradicts the third says yes, what contradicts them and entails that says no (docs/decisions/judge.md,
J12).
"""

import re

import numpy as np

from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.heads import (
    SIMILARITY,
    check_scale,
    checkpoint_scale,
    nli_labels,
    nli_probabilities,
    rating,
)
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.quantities.manners import BARE_YES_OR_NO

ASKS_YES_OR_NO = re.compile(  # at the beginning, or behind an introduction: "In the story, did she leave?"
    r"(?:\A\W*|(?<=[,:]\s))(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might"
    r"|must)\b(?!['\u2019])",  # "Can't you?"
    re.IGNORECASE,
)
PUNCTUATION = " ?!."  # behind a question
FORMS = ("{}.", "{}? Yes.", "{}? No.")  # of the question, as the model reads it behind the answer
UNSURE = 0.1  # a third answer, so that hardly anything does not become everything
ABOUT = 0.2  # similarity of answer and statement below which the answer is about something else


def is_polar(question: str, reference: str) -> bool:
    """Whether a question asks for yes or no, and the reference is one of them."""
    return BARE_YES_OR_NO.fullmatch(reference) is not None and ASKS_YES_OR_NO.search(question) is not None


def can_read(scorer: PairScorer) -> bool:
    """Whether a model tells contradictions, and rates similarity, as our checkpoints do."""
    _, contradiction = nli_labels(scorer.labels)
    return contradiction is not None and SIMILARITY in scorer.labels and _scale(scorer) is not None


def probabilities(
    triples: list[tuple[str, str, str]], scorer: PairScorer, run: RunOptions
) -> tuple[np.ndarray, np.ndarray]:
    """What n answers say of their references: (n, 2) that they say the same, and the opposite; and (n,) bool.

    The last is whether an answer is about what is asked; if not, the probabilities mean nothing.

    Args:
        triples: questions, answers, and references of which each is a yes or a no (`is_polar`).
        scorer: a model that `can_read` takes.
        run: how it runs.
    """
    asked = [question.strip().rstrip(PUNCTUATION) for question, *_ in triples]
    pairs = [(answer, form.format(one)) for form in FORMS for one, (_, answer, _) in zip(asked, triples, strict=True)]
    logits = scorer.logits(pairs, run).values
    statement, yes, no = nli_probabilities(logits, scorer.labels).reshape(len(FORMS), -1, 2)
    weighed = statement + yes + no[:, ::-1]
    said = weighed / (weighed.sum(axis=1, keepdims=True) + UNSURE)
    denies = np.array(["no" in reference.lower() for *_, reference in triples])
    similarity = logits[: len(triples), scorer.labels.index(SIMILARITY)].astype(np.float64)
    about = rating(check_scale(_scale(scorer)), similarity) >= ABOUT
    return np.where(denies[:, None], said[:, ::-1], said), about


def _scale(scorer: PairScorer) -> float | str | None:
    return checkpoint_scale(scorer.folder, scorer.config, "")
