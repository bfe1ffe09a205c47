"""One function for each dataset: its published rows -> references with a correct text and, if any, an incorrect one.

Labelled sets are grouped by reference: the first correct and the first incorrect text of each (paper, section 3.3). The
others give correct texts alone; `build` adds the random incorrect ones (paper, appendix A.1).
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from training.data.paper.rows import Row, columns

STSB_CORRECT = 0.8  # "mostly equivalent" and above: 4 of 5; training/configs/matcha/matcha.yaml draws the same line


class Item(NamedTuple):
    """A triplet, or a pair whose `incorrect` is still to be drawn."""

    reference: str
    correct: str
    incorrect: str | None = None


Loader = Callable[[Iterable[Row]], Iterator[Item]]


def digest(text: str) -> bytes:
    """Eight bytes that identify a text."""
    return blake2b(text.encode(), digest_size=8).digest()


def pivot(labelled: Iterable[tuple[str, str, bool]]) -> Iterator[Item]:
    """(reference, text, whether it is correct) -> the first correct and the first incorrect text of each reference.

    Keeps in memory the references that wait for their other text, and eight bytes of each finished one.
    """
    waiting: dict[str, tuple[str, bool]] = {}
    done: set[bytes] = set()
    for reference, text, correct in labelled:
        key = digest(reference)
        if key in done:
            continue
        first, first_correct = waiting.setdefault(reference, (text, correct))
        if first_correct != correct:
            del waiting[reference]
            done.add(key)
            yield Item(reference, text, first) if correct else Item(reference, first, text)


def nli(rows: Iterable[Row]) -> Iterator[Item]:
    """SNLI and MultiNLI: 0 is entailment, 2 contradiction; neutral (1) and unlabelled (-1) rows give nothing."""
    values = columns(rows, "premise", "hypothesis", "label")
    return pivot((premise, hypothesis, label == 0) for premise, hypothesis, label in values if label in (0, 2))


def vitaminc(rows: Iterable[Row]) -> Iterator[Item]:
    """VitaminC: the evidence is the reference, as in the evaluation on Climate-FEVER, and a claim the other text."""
    values = columns(rows, "evidence", "claim", "label")
    return pivot((e, claim, label == "SUPPORTS") for e, claim, label in values if label in ("SUPPORTS", "REFUTES"))


def qqp(rows: Iterable[Row]) -> Iterator[Item]:
    """Quora's question pairs: 1 is a duplicate, 0 not, -1 unlabelled; either question may be the reference."""

    def both_ways() -> Iterator[tuple[str, str, bool]]:
        for first, second, label in columns(rows, "question1", "question2", "label"):
            if label in (0, 1):
                yield first, second, label == 1
                yield second, first, label == 1

    return pivot(both_ways())


def climate_fever(rows: Iterable[Row]) -> Iterator[Item]:
    """Climate-FEVER: a claim with each sentence of evidence that supports it, which is the reference."""
    for claim, evidences in columns(rows, "claim", "evidences"):
        for evidence, label in columns(evidences, "evidence", "evidence_label"):
            if label in (0, "SUPPORTS"):  # a number on the Hub, a name in the file of its authors
                yield Item(evidence, claim)


def newts(rows: Iterable[Row]) -> Iterator[Item]:
    """NEWTS: each of an article's two summaries with the sentences that describe its topic, as in the evaluation."""
    for row in columns(rows, "summary1", "sentences1", "summary2", "sentences2"):
        yield Item(row[0], row[1])
        yield Item(row[2], row[3])


def pairs(reference: str, correct: str) -> Loader:
    """Two columns as they are: sentences and their simpler forms, paragraphs and summaries, captions of an image."""
    return lambda rows: (Item(*pair) for pair in columns(rows, reference, correct))


def stsb(rows: Iterable[Row]) -> Iterator[Item]:
    """STS-B, its scores divided by 5 already: the pairs of at least STSB_CORRECT."""
    values = columns(rows, "sentence1", "sentence2", "score")
    return (Item(first, second) for first, second, score in values if score >= STSB_CORRECT)


def paranmt(rows: Iterable[Row]) -> Iterator[Item]:
    """ParaNMT-50M, lines of text: a sentence, its paraphrase and a score, with tabs between; others give nothing."""
    for (line,) in columns(rows, "text"):
        parts = line.split("\t")
        if len(parts) in (2, 3):
            yield Item(parts[0], parts[1])


def wikianswers(rows: Iterable[Row]) -> Iterator[Item]:
    """WikiAnswers: the first two questions of each cluster that people tagged as the same."""
    for (questions,) in columns(rows, "set"):
        if len(questions) > 1:
            yield Item(questions[0], questions[1])
