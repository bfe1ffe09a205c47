"""What is known of an answer beside a reference: an NLI model's opinion, and what their words say; one row a pair.

`extract` is used by the metric and by the fit of its weights alike. An answer too long for the model is read in
overlapping windows: the one that entails the reference most gives all three probabilities. The reference is never cut.
Of a question that tells more than it asks, the part that asks is read; one that leaves no room is cut at its end.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semantic_metrics.core.resolve import resolve_checkpoint, shipped_checkpoints
from semantic_metrics.cross_encoder.pair_checkpoint import OTHER_WEIGHTS, label_names, read_config
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.nli_lex.lexical import (
    entity_agreement,
    lexical_match,
    negation_mismatch,
    new_token_precision,
    new_token_recall,
    number_agreement,
    stem_recall,
    token_recall,
)
from semantic_metrics.nli_lex.question import asked
from semantic_metrics.nli_lex.windows import Reading, Windows, is_blank

DEFAULT_CHECKPOINT = "nli"
TEMPLATE = "{question} {answer}"  # of premise and hypothesis; the paper's own ("full context") was lost in print
NUMBER_WORDS = True

LEXICAL = {  # of answer and reference
    "lexical_match": lexical_match,
    "token_recall": token_recall,
    "stem_recall": stem_recall,
    "number_agreement": number_agreement,
    "entity_agreement": entity_agreement,
    "negation_mismatch": negation_mismatch,
}
CONTEXTUAL = {  # of question, answer and reference
    "new_token_recall": new_token_recall,
    "new_token_precision": new_token_precision,
}
PAPER = ("entailment", "lexical_match")  # Balamurali & Cheng 2025, section 3.2: p = sigmoid(w0 + w1 se + w2 lm)
OPINIONS = ("entailment", "entailment_back", "contradiction")  # of the model
OF_LONG = "entailment_of_long"  # entailment, times how long the answer is: much text entails too much
SHORT, LONG = 25, 200  # words of an answer where `length` begins and ends to grow: round numbers, see EXPERIMENTS J2
RICH = (*OPINIONS, *LEXICAL, *CONTEXTUAL, OF_LONG)
FORMS = {"rich": RICH, "paper": PAPER}

ENTAILMENT = {"entailment", "entail", "entails", "entailed"}
CONTRADICTION = {"contradiction", "contradict", "contradicts", "contradictory"}


@dataclass(frozen=True)
class Features:
    """Features of n pairs of an answer and one of its references.

    Attributes:
        table: (n, len(RICH)) float64, columns as in RICH. `entailment` (the model reads the answer first, then the
            reference), `entailment_back` (turned round) and `contradiction` are probabilities; 0 for a blank answer.
            `entailment_of_long` is the first of them times `length`. See `lexical` for the others.
        owner: (n,) int, ascending: which answer a row is of.
        blank: (answers,) bool: which hold no visible character.
        truncated: pairs of which the model did not read all: the question was cut.
        windowed: pairs whose answer was read in several windows.
        shortened: (answers,) bool: of whose question a part was read, see `asked`.
    """

    table: np.ndarray
    owner: np.ndarray
    blank: np.ndarray
    truncated: int
    windowed: int
    shortened: np.ndarray


def extract(
    scorer: PairScorer,
    questions: list[str],
    answers: list[str],
    references: list[list[str]],
    template: str = TEMPLATE,
    number_words: bool = NUMBER_WORDS,
    features: Iterable[str] = RICH,
    **options: object,
) -> Features:
    """Features of every answer with each of its references.

    Args:
        scorer: an NLI model, as `load_scorer` gives it.
        questions: one for each answer; a blank one is no context.
        answers: n texts.
        references: one or more for each answer.
        template: what the model reads, with `{question}` and `{answer}`, the second for the reference too.
        number_words: read "two" as "2" in the lexical features.
        features: which are needed; columns of others may be 0. Without `entailment_back` the model runs half as often.
        options: of `PairScorer.logits`: precision, max_length, batch_size, device.

    Raises:
        ValueError: a template without its places, a reference that leaves the answer no room, a bad option.
    """
    features = set(features)
    owner = np.repeat(np.arange(len(answers)), [len(group) for group in references])
    blank = np.array([is_blank(answer) for answer in answers], dtype=bool)
    read = [asked(text, group, number_words) for text, group in zip(questions, references, strict=True)]
    shortened = np.array([part != text for part, text in zip(read, questions, strict=True)], dtype=bool)
    triples = [(read[i], answers[i], reference) for i, group in enumerate(references) for reference in group]
    rows = [i for i, answer in enumerate(owner) if not blank[answer]]
    windows = Windows(scorer, template, options.get("max_length"))
    readings = [windows.read(*triples[i], f"references[{owner[i]}]") for i in rows]
    table = np.zeros((len(triples), len(RICH)))
    for name in features.intersection({*LEXICAL, *CONTEXTUAL}):
        table[:, RICH.index(name)] = [_compare(name, *triple, number_words) for triple in triples]
    truncated = 0
    if rows and features.intersection({*OPINIONS, OF_LONG}):
        table[rows, : len(OPINIONS)], truncated = _opinions(scorer, readings, "entailment_back" in features, options)
    table[:, RICH.index(OF_LONG)] = table[:, 0] * np.array([length(answer) for _, answer, _ in triples])
    windowed = sum(len(reading.premises) > 1 for reading in readings)
    return Features(table, owner, blank, truncated, windowed, shortened)


def length(answer: str) -> float:
    """How long an answer is, in [0, 1]: 0 to SHORT words, 1 from LONG words on, by the logarithm between them."""
    words = max(len(answer.split()), 1)
    return float(np.clip(np.log(words / SHORT) / np.log(LONG / SHORT), 0.0, 1.0))


def _compare(name: str, question: str, answer: str, reference: str, number_words: bool) -> float:
    """A lexical feature of a pair."""
    if name in CONTEXTUAL:
        return CONTEXTUAL[name](question, answer, reference, number_words)
    return LEXICAL[name](answer, reference, number_words)


def _opinions(scorer: PairScorer, readings: list[Reading], both_ways: bool, options: dict) -> tuple[np.ndarray, int]:
    """(readings, 3) probabilities, each of its window of the highest entailment; how many were not read in full."""
    pairs = [(premise, reading.hypothesis) for reading in readings for premise in reading.premises]
    found = scorer.logits(pairs + [(b, a) for a, b in pairs] * both_ways, **options)
    entailment, contradiction = nli_labels(scorer.labels)
    logits = found.values.astype(np.float64)
    each = np.exp(logits - logits.max(axis=1, keepdims=True))
    each /= each.sum(axis=1, keepdims=True)
    there, back = each[: len(pairs)], each[-len(pairs) :]
    table = np.zeros((len(readings), len(OPINIONS)))
    truncated, begin = 0, 0
    for row, reading in enumerate(readings):
        end = begin + len(reading.premises)
        best = begin + int(there[begin:end, entailment].argmax())
        opposed = 0.0 if contradiction is None else there[best, contradiction]
        table[row] = there[best, entailment], back[best, entailment] * both_ways, opposed
        truncated += bool(reading.cut or found.truncated[begin:end].any())
        begin = end
    return table, truncated


def nli_labels(labels: list[str]) -> tuple[int, int | None]:
    """Index of the label that stands for entailment, and of that for contradiction (None if there is none).

    Three labels in any order, or two as of zero-shot classifiers (entailment, not_entailment), whose second says
    nothing of a contradiction.

    Raises:
        ValueError: no label, or more than one, is an entailment, or it is the only label; lists the labels.
    """
    names = [label.strip().lower() for label in labels]
    entailment = [i for i, name in enumerate(names) if name in ENTAILMENT]
    contradiction = [i for i, name in enumerate(names) if name in CONTRADICTION]
    if len(entailment) != 1 or len(names) < 2:
        raise ValueError(f"expected labels for NLI, one of them 'entailment', got {', '.join(labels)}")
    return entailment[0], contradiction[0] if contradiction else None


def load_scorer(name: str | Path | None = None) -> PairScorer:
    """Load an NLI model.

    Args:
        name: of a checkpoint, as `resolve_checkpoint` takes it: None for the shipped one, a folder, or a Hub id.

    Raises:
        ValueError: no such checkpoint, a damaged one, or one without a label for entailment; lists its labels.
    """
    name = str(name) + "/" if isinstance(name, Path) else name
    folder = resolve_checkpoint(name, DEFAULT_CHECKPOINT, shipped_checkpoints(_is_nli), OTHER_WEIGHTS)
    try:
        nli_labels(label_names(read_config(folder)))
    except ValueError as error:
        raise ValueError(str(error) if "checkpoint" in str(error) else f"checkpoint {folder}: {error}") from None
    return PairScorer(folder)


def _is_nli(config: dict) -> bool:
    return any(str(label).lower() in ENTAILMENT for label in config.get("id2label", {}).values())
