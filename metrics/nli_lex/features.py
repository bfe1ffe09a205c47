"""The judge's evidence: what an NLI model says about an answer and a reference, and what their words say.

`extract` is used by the metric and by the fit of its weights alike; it makes one row of features for each pair of an
answer and one of its references. An answer too long for the model is read in overlapping windows: the one that entails
the reference most gives all three probabilities. A reference that leaves no room for the answer is read in parts, each
beside its own best window, and the probabilities are the means over the parts (as SummaC-ZS takes the mean over the
sentences of a summary; Laban et al. 2022). Of a long question only the part that asks is read; a question that leaves
no room for the answer is cut at its end. Where the answer writes a number of the reference otherwise ("forty-two" for
"42"), the model reads the reference with the number as the answer writes it. An answer to a yes-or-no question that
says neither is read as `polar` says.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.core.texts import is_blank
from semantic_metrics.cross_encoder.by_sentence import worst_sentences
from semantic_metrics.cross_encoder.heads import nli_probabilities
from semantic_metrics.cross_encoder.pair_scorer import PairScorer, load_nli_scorer
from semantic_metrics.nli_lex import polar
from semantic_metrics.nli_lex.lexical import lexical_match, new_token_precision, new_token_recall, substring
from semantic_metrics.nli_lex.question import extract_question
from semantic_metrics.nli_lex.windows import Filled, Reading, Windows
from semantic_metrics.quantities.compare import find_conflict
from semantic_metrics.quantities.manners import legible
from semantic_metrics.quantities.rewrite import Rewritten, rewrite
from semantic_metrics.quantities.rules import OPEN, SAME, UNREAD_RULING, Ruling, rule

TEMPLATE = "{question} {answer}"  # of premise and hypothesis; the paper's own ("full context") was lost in print
NUMBER_WORDS = True


def number_conflict(question: str, answer: str, reference: str, number_words: bool = True) -> bool:
    """Whether the answer has another quantity than the reference (`find_conflict`); number words always count."""
    return find_conflict(question, answer, reference) is not None


LEXICAL_MATCH = lexical_match.__name__
QUESTION_FEATURES = (new_token_recall, new_token_precision, number_conflict)
CONTEXTUAL = {function.__name__: function for function in QUESTION_FEATURES}  # of question, answer and reference
RECALL = new_token_recall.__name__
SUBSTRING = "substring"
PAPER = ("entailment", SUBSTRING)  # Balamurali & Cheng 2025, section 3.2: p = sigmoid(w0 + w1 se + w2 lm)
TWO_FEATURES = ("entailment", LEXICAL_MATCH)  # the same, with the question and the words as the rich form reads them
NLI_PROBABILITIES = ("entailment", "entailment_back", "contradiction")
ENTAILMENT_OF_LONG = "entailment_of_long"  # entailment times `length`: a long answer entails too much
RECALL_OF_LONG = "recall_of_long"  # new_token_recall times `length`: so its words count for more (docs/decisions)
SHORT_ANSWER_WORDS, LONG_ANSWER_WORDS = 25, 200  # where `length` is 0 and 1: round numbers, docs/decisions/judge.md, J2
CONFLICT = number_conflict.__name__
CONFLICT_OF_BRIEF = "conflict_of_brief"  # number_conflict times `brevity`: a long answer has many numbers
BRIEF_ANSWER_WORDS = 8  # up to which `brevity` is 1; it is 0 from SHORT_ANSWER_WORDS on
PRODUCTS = (ENTAILMENT_OF_LONG, RECALL_OF_LONG, CONFLICT_OF_BRIEF)  # each a feature times a measure of the length
RICH = (*NLI_PROBABILITIES, *CONTEXTUAL, *PRODUCTS)
COLUMNS = (*RICH, LEXICAL_MATCH, SUBSTRING)
Pairs = list[tuple[Filled, Filled]]  # premise and hypothesis of each part of a reference
FORMS = {"rich": RICH, "two_features": TWO_FEATURES, "paper": PAPER}  # with weights
NLI = "nli"  # the form without weights, the paper's "NLI" row: the probability of entailment is that of being correct


@dataclass(frozen=True)
class Features:
    """Features of n pairs of an answer and one of its references."""

    # (n, len(COLUMNS)) float64, columns as in COLUMNS. `entailment` (the model reads the answer first, then the
    # reference), `entailment_back` (the reference first) and `contradiction` are probabilities; 0 for a blank answer.
    # `entailment_of_long` is `entailment` times `length`, `recall_of_long` is `new_token_recall` times `length`,
    # `conflict_of_brief` is `number_conflict` times `brevity`. See `lexical` and `quantities.compare` for the others
    table: np.ndarray
    answer_index: np.ndarray  # (n,) int, ascending: the answer that a row belongs to
    blank: np.ndarray  # (answers,) bool: the answer has no visible character
    truncated: int  # number of pairs that the model did not read in full, as the question was cut
    windowed: int  # number of pairs whose answer was read in several windows
    shortened: np.ndarray  # (answers,) bool: only a part of the question was read, see `extract_question`
    split: int = 0  # number of pairs whose reference was read in several parts
    # for each row and each part of its reference, premise and hypothesis as the model read them, of the window that
    # decides; none where it read nothing, as the answer is blank or no feature needs the model. Empty for features that
    # were put together otherwise
    pairs: tuple[Pairs, ...] = ()
    rulings: tuple[Ruling, ...] = ()  # what rules decide of each row; empty where they are not asked
    polar: frozenset[int] = frozenset()  # rows whose probabilities are those of `polar`, not of `pairs`


def as_read(reference: str, answer: str, number_words: bool, whole_question: bool) -> Rewritten:
    """The reference as the NLI model reads it beside an answer; `number_words` and `whole_question` as in `extract`."""
    if number_words and not whole_question:
        return rewrite(reference, answer)
    return Rewritten(reference, tuple(range(len(reference))))


def extract(
    scorer: PairScorer,
    questions: list[str],
    answers: list[str],
    references: list[list[str]],
    template: str = TEMPLATE,
    number_words: bool = NUMBER_WORDS,
    features: Iterable[str] = COLUMNS,
    run: RunOptions = DEFAULT_OPTIONS,
    whole_question: bool = False,
) -> Features:
    """Features of every answer with each of its references.

    Args:
        scorer: an NLI model, as `load_scorer` returns it.
        questions: one for each answer; a blank one adds no context.
        answers: n texts.
        references: one or more for each answer.
        template: what the model reads, with `{question}` and `{answer}`, the second for the reference too.
        number_words: read numbers of a reference as the answer writes them, and "two" as "2" in lexical features.
        features: names of the features that are needed; other columns may be 0. Without `entailment_back` the model
            runs half as often.
        run: how the model runs.
        whole_question: read every question whole, as the paper does, not only what it asks; and references as they are.

    Raises:
        ValueError: the template lacks a placeholder, `max_length` is too small, or an option is invalid.
    """
    features, run = set(features), scorer.resolve(run)
    features |= {factor for product, factor, _ in products() if product in features}
    answer_index = np.repeat(np.arange(len(answers)), [len(group) for group in references])
    blank = np.array([is_blank(answer) for answer in answers], dtype=bool)
    asked, rulings = list(questions), [OPEN] * len(answer_index)
    if not whole_question:
        asked = [extract_question(text, group, number_words) for text, group in zip(questions, references, strict=True)]
        each = zip(answer_index, (reference for group in references for reference in group), strict=True)
        rulings = [_ruling(scorer, questions[i], answers[i], reference) for i, reference in each]
        answers, references = list(map(legible, answers)), [list(map(legible, group)) for group in references]
    shortened = np.array([part != text for part, text in zip(asked, questions, strict=True)], dtype=bool)
    triples = [
        (asked[i], answers[i], as_read(reference, answers[i], number_words, whole_question).text)
        for i, group in enumerate(references)
        for reference in group
    ]
    windows = Windows(scorer, template, run.max_length)
    rows = [(row, i) for row, i in enumerate(answer_index) if not blank[i]]
    readings = {row: windows.read(*triples[row], f"references[{i}]") for row, i in rows}
    table = lexical_columns(triples, features, number_words)
    read: dict[int, Pairs] = {}
    truncated = 0
    if readings and features.intersection(NLI_PROBABILITIES):
        read, truncated = _fill_probabilities(table, scorer, readings, "entailment_back" in features, run)
    pairs = tuple(read.get(row, []) for row in range(len(triples)))
    as_polar: frozenset[int] = frozenset()
    if read and not whole_question:
        whole = {row for row, parts in readings.items() if len(parts) == len(parts[0].premises) == 1}  # at one go
        left_open = {row: triples[row] for row in sorted(whole) if rulings[row] == OPEN}
        if "{question}" in template:
            as_polar = _fill_yes_or_no(table, scorer, left_open, run)
        rulings = _with_sentences(scorer, left_open, rulings, run)
    for product, factor, measure in products():
        table[:, RICH.index(product)] = table[:, RICH.index(factor)] * [measure(answer) for _, answer, _ in triples]
    windowed = sum(any(len(reading.premises) > 1 for reading in parts) for parts in readings.values())
    split = sum(len(parts) > 1 for parts in readings.values())
    return Features(table, answer_index, blank, truncated, windowed, shortened, split, pairs, tuple(rulings), as_polar)


def _fill_yes_or_no(
    table: np.ndarray, scorer: PairScorer, triples: dict[int, tuple[str, str, str]], run: RunOptions
) -> frozenset[int]:
    """Put what `polar` reads into the rows of a table that ask for yes or no, and return these rows."""
    asking = [row for row, triple in triples.items() if polar.is_polar(*triple)]
    if not asking or not polar.can_read(scorer):
        return frozenset()
    said, about = polar.probabilities([triples[row] for row in asking], scorer, run)
    rows = np.array(asking)[about]
    table[rows, : len(NLI_PROBABILITIES)] = said[about][:, [0, 0, 1]]
    return frozenset(rows.tolist())


def _with_sentences(
    scorer: PairScorer, triples: dict[int, tuple[str, str, str]], rulings: list[Ruling], run: RunOptions
) -> list[Ruling]:
    """The rulings, and what the worst sentence allows of the rows that have triples."""
    ruled = list(rulings)
    texts = [(reference, answer) for _, answer, reference in triples.values()]
    for row, worst in zip(triples, worst_sentences(texts, scorer, run), strict=True):
        reason = f"{worst.reason}." if worst.reason else ""
        ruled[row] = Ruling("", reason, 1 - worst.contradiction)
    return ruled


def _ruling(scorer: PairScorer, question: str, answer: str, reference: str) -> Ruling:
    """What rules decide of an answer and a reference, and whether the model can read what differs."""
    ruled = rule(reference, answer, question)
    if ruled.ruling.kind != SAME and scorer.is_unread(ruled.reference, ruled.prediction):
        return UNREAD_RULING
    return ruled.ruling


def lexical_columns(triples: list[tuple[str, str, str]], features: Collection[str], number_words: bool) -> np.ndarray:
    """(n, len(COLUMNS)) the features of n triples that need no model; the other columns are 0.

    A triple is a question, an answer and a reference; columns that `features` does not name may be 0 too.
    """
    table = np.zeros((len(triples), len(COLUMNS)))
    for i, name in enumerate(COLUMNS):
        if name not in features:
            continue
        if name in CONTEXTUAL:
            table[:, i] = [CONTEXTUAL[name](*triple, number_words) for triple in triples]
        elif name == LEXICAL_MATCH:
            table[:, i] = [lexical_match(answer, reference, number_words) for _, answer, reference in triples]
        elif name == SUBSTRING:
            table[:, i] = [substring(answer, reference) for _, answer, reference in triples]
    return table


def products() -> Iterator[tuple[str, str, Callable[[str], float]]]:
    """Each of PRODUCTS with the feature and the measure of the answer's length that it is the product of."""
    yield ENTAILMENT_OF_LONG, "entailment", length
    yield RECALL_OF_LONG, RECALL, length
    yield CONFLICT_OF_BRIEF, CONFLICT, brevity


def length(answer: str) -> float:
    """How long an answer is: 0 up to SHORT_ANSWER_WORDS, 1 from LONG_ANSWER_WORDS on, between them by logarithm."""
    return _share_of_words(answer, SHORT_ANSWER_WORDS, LONG_ANSWER_WORDS)


def brevity(answer: str) -> float:
    """How short an answer is: 1 up to BRIEF_ANSWER_WORDS, 0 from SHORT_ANSWER_WORDS on, between them by logarithm."""
    return 1 - _share_of_words(answer, BRIEF_ANSWER_WORDS, SHORT_ANSWER_WORDS)


def _share_of_words(answer: str, least: int, most: int) -> float:
    """Where the number of an answer's words lies: 0 up to the least, 1 from the most on."""
    words = max(len(answer.split()), 1)
    return float(np.clip(np.log(words / least) / np.log(most / least), 0.0, 1.0))


def _fill_probabilities(
    table: np.ndarray, scorer: PairScorer, readings: dict[int, list[Reading]], both_ways: bool, run: RunOptions
) -> tuple[dict[int, Pairs], int]:
    """Put the mean probabilities of each row's readings into a table.

    Returns:
        What the model read of each row, and how many rows have a question that was cut.
    """
    probabilities, best, cut = _classify(
        scorer, [part for parts in readings.values() for part in parts], both_ways, run
    )
    pairs: dict[int, Pairs] = {}
    truncated = begin = 0
    for row, parts in readings.items():
        end = begin + len(parts)
        table[row, : len(NLI_PROBABILITIES)] = probabilities[begin:end].mean(axis=0)
        pairs[row] = [(part.premises[i], part.hypothesis) for part, i in zip(parts, best[begin:end], strict=True)]
        truncated += any(cut[begin:end])
        begin = end
    return pairs, truncated


def _classify(
    scorer: PairScorer, readings: list[Reading], both_ways: bool, run: RunOptions
) -> tuple[np.ndarray, list[int], list[bool]]:
    """Probabilities of each reading, taken from its window of the highest entailment.

    Returns:
        (readings, 3) NLI_PROBABILITIES, and for each the index of that window and whether its question was cut.
    """
    pairs = [(premise.text, reading.hypothesis.text) for reading in readings for premise in reading.premises]
    logits = scorer.logits(pairs + [(b, a) for a, b in pairs] * both_ways, run)
    probabilities = nli_probabilities(logits.values, scorer.labels)
    forward, back = probabilities[: len(pairs)], probabilities[-len(pairs) :]
    table, best, cut, begin = np.zeros((len(readings), len(NLI_PROBABILITIES))), [], [], 0
    for row, reading in enumerate(readings):
        end = begin + len(reading.premises)
        best.append(int(forward[begin:end, 0].argmax()))
        i = begin + best[-1]
        table[row] = forward[i, 0], back[i, 0] * both_ways, forward[i, 1]
        cut.append(bool(reading.cut or logits.truncated[begin:end].any()))
        begin = end
    return table, best, cut


def load_scorer(name: str | Path | None = None) -> PairScorer:
    """Load an NLI model; see `load_nli_scorer`."""
    return load_nli_scorer(name, "nli_lex")
