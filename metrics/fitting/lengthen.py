"""Judged answers made long: each among sentences of answers to similar questions, with its label as it was.

A long text entails too much: in an answer of two hundred words a model of natural language inference finds nearly any
reference. Judged answers are mostly short, so weights that are fitted on them alone trust it there as well.
Needs scikit-learn, which sentence-transformers brings.
"""

import hashlib
import random
import re

import numpy as np

from semantic_metrics.core.texts import is_blank
from semantic_metrics.fitting.judged_answers import JudgedAnswers, question_key
from semantic_metrics.nli_lex.lexical import token_recall

LONG_FORM_WEIGHT = 0.1  # of a long form in a fit; the answer itself has the weight 1 (docs/decisions/judge.md, J3)
ANSWER_WORDS = (60, 300)  # range of a long answer's length, which is drawn; sentences are added until it is reached
SIMILAR_QUESTIONS = 12  # questions from whose answers the sentences are taken
SHARE_BEFORE = 0.4  # share of the sentences that are put before the answer
MIN_SENTENCE_WORDS = 4  # shorter sentences are not taken
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def lengthen(judged: JudgedAnswers, words: tuple[int, int] = ANSWER_WORDS) -> JudgedAnswers:
    """Long forms of n judged answers, in the same order, of a number of words in a range.

    The sentences come from right and wrong answers to the questions that share most words with an answer's own
    (TF-IDF), but not to its own question, or to one whose reference has the same words. A sentence about something
    else may still contain the reference, as in the long answers that people write. An answer stays as it is if it is
    blank, if there are no such sentences, or if it has as many words as were drawn for it.
    """
    order = _similar_questions(judged)
    rows: dict[str, list[int]] = {}
    for i, question in enumerate(judged.questions):
        rows.setdefault(question, []).append(i)
    right = {question: {text for i in own for text in judged.references[i]} for question, own in rows.items()}
    answers = []
    for question, answer in zip(judged.questions, judged.answers, strict=True):
        others = (other for other in order[question] if _different(right[question], right[other]))
        similar = [other for other, _ in zip(others, range(SIMILAR_QUESTIONS), strict=False)]
        pool = [
            part for other in similar for i in rows[other] for part in _SENTENCE_END.split(judged.answers[i].strip())
        ]
        draw = random.Random(hashlib.sha256(f"0\n{question}\n{answer}".encode()).hexdigest())
        answers.append(_embed(answer, list(dict.fromkeys(pool)), words, draw))
    return JudgedAnswers(judged.questions, answers, judged.references, judged.labels, [0] * len(judged))


def _similar_questions(judged: JudgedAnswers) -> dict[str, list[str]]:
    """For each question the others that share words with it, the most similar first."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    questions = list(dict.fromkeys(judged.questions))
    keys = np.array([question_key(question) for question in questions])
    vectors = TfidfVectorizer(token_pattern=r"\w+").fit_transform([*questions, "a word"])[:-1]  # never without words
    similar = {}
    for i, question in enumerate(questions):
        similarity = (vectors @ vectors[i].T).toarray().ravel()
        best = np.argsort(-similarity, kind="stable")[: 4 * SIMILAR_QUESTIONS]
        similar[question] = [questions[j] for j in best if keys[j] != keys[i] and similarity[j] > 0]
    return similar


def _different(references: set[str], others: set[str]) -> bool:
    """Whether no reference contains all words of one of the others, or the other way round."""
    return not any(max(token_recall(a, b), token_recall(b, a)) == 1 for a in references for b in others)


def _embed(answer: str, pool: list[str], answer_words: tuple[int, int], draw: random.Random) -> str:
    """An answer among sentences of a pool."""
    if is_blank(answer):
        return answer
    pool = [sentence for sentence in pool if len(sentence.split()) >= MIN_SENTENCE_WORDS]
    draw.shuffle(pool)
    words, wanted = len(answer.split()), draw.randint(*answer_words)
    before: list[str] = []
    after: list[str] = []
    for sentence in pool:
        if words >= wanted:
            break
        (before if draw.random() < SHARE_BEFORE else after).append(sentence)
        words += len(sentence.split())
    return " ".join([*before, answer.strip(), *after])
