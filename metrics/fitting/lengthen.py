"""Judged answers made long: each among sentences of answers to like questions, its label as it was.

Much text entails too much: in an answer of two hundred words a model of natural language inference finds nearly any
reference. Judged answers are mostly short, so weights that are fitted on them alone trust it there as well.
Needs scikit-learn, which sentence-transformers brings.
"""

import hashlib
import random
import re

import numpy as np

from semantic_metrics.fitting.judged_answers import Examples, question_key
from semantic_metrics.nli_lex.lexical import token_recall
from semantic_metrics.nli_lex.windows import is_blank

COUNTED = 0.1  # of an answer as it was: how much its long form counts in a fit (training/EXPERIMENTS.md, J3)
WORDS = (60, 300)  # of a long answer: a number between them is drawn, and sentences are added until it is reached
NEAR = 12  # questions whose answers the sentences are taken from
BEFORE = 0.4  # of the sentences stand before the answer
LEAST = 4  # words of a sentence that is taken
_END = re.compile(r"(?<=[.!?])\s+")


def lengthen(examples: Examples, seed: int = 0) -> Examples:
    """Long forms of judged answers.

    The sentences come from answers, right and wrong ones, to the questions that share most words with an answer's own
    (TF-IDF), but not from those to its own question, or to one with a reference of the same words. A sentence about
    something else may still name the reference, as in the long answers that people write.

    Args:
        examples: n judged answers.
        seed: of length, choice and order of the sentences, together with question and answer.

    Returns:
        n answers, in the same order. One that is blank, or that has no such sentences, or has as many words as were
        drawn for it, stays as it is.
    """
    order = _nearest(examples)
    held: dict[str, list[int]] = {}
    for i, question in enumerate(examples.questions):
        held.setdefault(question, []).append(i)
    right = {question: {text for i in rows for text in examples.references[i]} for question, rows in held.items()}
    answers = []
    for question, answer in zip(examples.questions, examples.answers, strict=True):
        others = (other for other in order[question] if _apart(right[question], right[other]))
        near = [other for other, _ in zip(others, range(NEAR), strict=False)]
        pool = [sentence for other in near for i in held[other] for sentence in _END.split(examples.answers[i].strip())]
        draw = random.Random(hashlib.sha256(f"{seed}\n{question}\n{answer}".encode()).hexdigest())
        answers.append(_among(answer, list(dict.fromkeys(pool)), draw))
    return Examples(examples.questions, answers, examples.references, examples.labels, [0] * len(examples))


def _nearest(examples: Examples) -> dict[str, list[str]]:
    """Other questions for each, the nearest first."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    questions = list(dict.fromkeys(examples.questions))
    keys = np.array([question_key(question) for question in questions])
    vectors = TfidfVectorizer(token_pattern=r"\w+").fit_transform([*questions, "a word"])[:-1]  # never without words
    found = {}
    for i, question in enumerate(questions):
        likeness = (vectors @ vectors[i].T).toarray().ravel()
        best = np.argsort(-likeness, kind="stable")[: 4 * NEAR]
        found[question] = [questions[j] for j in best if keys[j] != keys[i] and likeness[j] > 0]
    return found


def _apart(references: set[str], others: set[str]) -> bool:
    """Whether no reference stands in one of the others, or the other way round."""
    return not any(max(token_recall(a, b), token_recall(b, a)) == 1 for a in references for b in others)


def _among(answer: str, pool: list[str], draw: random.Random) -> str:
    if is_blank(answer):
        return answer
    pool = [sentence for sentence in pool if len(sentence.split()) >= LEAST]
    draw.shuffle(pool)
    words, wanted = len(answer.split()), draw.randint(*WORDS)
    before, behind = [], []
    for sentence in pool:
        if words >= wanted:
            break
        (before if draw.random() < BEFORE else behind).append(sentence)
        words += len(sentence.split())
    return " ".join([*before, answer.strip(), *behind])
