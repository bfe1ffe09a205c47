"""Inputs of the model: question and text in one template, windows over a long answer, parts of a long reference."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from string import Formatter
from typing import Any

from semantic_metrics.core.inputs import check_text, invalid_input, quote
from semantic_metrics.cross_encoder.pair_scorer import PairScorer, Span

PLACEHOLDERS = ("question", "answer")
WINDOW_OVERLAP = 0.5  # share of a window: what one window cuts in two is whole in the next
MIN_WINDOW_SHARE = 0.25  # of what the model reads: where a window would be shorter, the question is cut
MIN_WINDOW_TOKENS = 8  # without any question: where a window would be shorter, the reference is read in parts
PART_SHARE = 1 / 3  # of what the model reads: largest part of a reference; most of the room is the answer's


def check_template(template: Any) -> str:  # noqa: ANN401  (what a user gave)
    """A format string with `{answer}` once, and `{question}` once or not at all; anything else is refused."""
    try:
        parts = list(Formatter().parse(template))
    except (TypeError, ValueError):
        parts = None
    names = [name for _, name, _, _ in parts or [] if name is not None]
    plain = not any(spec or conversion for _, _, spec, conversion in parts or [])
    known = set(names) <= set(PLACEHOLDERS)
    if names.count("answer") != 1 or names.count("question") > 1 or not known or not plain:
        problem = f"expected a string with {{answer}} once and {{question}} at most once, got {quote(template)}"
        raise invalid_input("template", problem)
    return check_text("template", template)


@dataclass(frozen=True)
class Filled:
    """A template filled with a question and a text."""

    text: str  # what the model reads
    question: Span  # begin and end in `text`; equal where there is no question
    answer: Span  # begin and end, in `text`, of the answer or of the reference in its place
    answer_start: int  # the character of the whole answer at which the part in `text` begins


def fill(template: str, question: str, text: str, start: int = 0) -> Filled:
    """Fill a template; white space around the question, the text and the whole is left out.

    `text` is an answer, a part of one that begins at its character `start`, or a reference.
    """
    values = {"question": question.strip(), "answer": text.strip()}
    filled, spans = "", {"question": (0, 0)}
    for literal, name, _, _ in Formatter().parse(template):
        filled += literal
        if name is not None:
            spans[name] = len(filled), len(filled) + len(values[name])
            filled += values[name]
    left = _leading_spaces(filled)
    filled = filled.strip()
    asked, answer = ([min(max(place - left, 0), len(filled)) for place in spans[name]] for name in PLACEHOLDERS)
    return Filled(filled, (asked[0], asked[1]), (answer[0], answer[1]), start + _leading_spaces(text))


def _leading_spaces(text: str) -> int:
    return len(text) - len(text.lstrip())


@dataclass(frozen=True)
class Reading:
    """An answer and a reference as the model reads them."""

    premises: tuple[Filled, ...]  # question and answer; several where the whole answer does not fit into one
    hypothesis: Filled  # question and reference
    cut: bool  # whether the end of the question was cut off


class Windows:
    """Cuts what does not fit into a model: the answer into windows, then the question, then the reference into parts.

    `max_length` is the tokens of a pair, separators included; None for the checkpoint's own limit.
    """

    def __init__(self, scorer: PairScorer, template: str, max_length: int | None) -> None:
        self.scorer, self.template = scorer, check_template(template)
        self.room = scorer.room(max_length)
        self._lengths: dict[str, int] = {}

    def read(self, question: str, answer: str, reference: str, name: str = "reference") -> list[Reading]:
        """One answer and reference as the model reads them: one reading, or one for each part of a long reference.

        A reference that leaves the answer MIN_WINDOW_TOKENS is read whole. Any longer one is read in parts of about the
        same length, which do not overlap. It is refused, by `name`, if even one token of it leaves no room for an
        answer.
        """
        if (reading := self._read(question, answer, reference)) is not None:
            return [reading]
        readings = [self._read(question, answer, part, start) for part, start in self._parts(reference)]
        fitting = [reading for reading in readings if reading is not None]
        if len(fitting) == len(readings):
            return fitting
        problem = (
            f"expected a text that leaves the answer {MIN_WINDOW_TOKENS} of the {self.room} tokens that the model "
            f"reads, got one of {self.count(reference)} tokens: {reference[:40]!r}"
        )
        raise invalid_input(name, problem)

    def _parts(self, reference: str) -> list[tuple[str, int]]:
        """Parts of a reference, begun at white space where there is any, and the character at which each begins."""
        spans, parts, begin = self.scorer.token_spans(reference), [], 0
        if not spans:
            return [(reference, 0)]
        size = max(int(PART_SHARE * self.room), 1)
        size = math.ceil(len(spans) / math.ceil(len(spans) / size))
        word_starts = _word_starts(reference, spans)
        while begin < len(spans):
            end = min(begin + size, len(spans))
            end = _last_start(word_starts, begin + 1, end) if end < len(spans) else end
            parts.append((_part(reference, spans, begin, end), spans[begin][0]))
            begin = end
        return parts

    def _read(self, question: str, answer: str, reference: str, start: int = 0) -> Reading | None:
        """Like `read`, of one part of a reference that begins at the character `start`; None if it has no room."""
        whole, hypothesis = fill(self.template, question, answer), fill(self.template, question, reference, start)
        # an ASCII token has at least one character, except one that may begin each text: most pairs need no counting
        characters = len(whole.text) + len(hypothesis.text) + 2
        short = characters <= self.room and (whole.text + hypothesis.text).isascii()
        if short or self._fit(whole, hypothesis):
            return Reading((whole,), hypothesis, False)
        kept = self._shorten(question, answer, reference)
        if kept is None:
            return None
        hypothesis = fill(self.template, kept, reference, start)
        premises = self._split(kept, answer, hypothesis)
        return Reading(tuple(premises), hypothesis, kept != question and "{question}" in self.template)

    def _fit(self, premise: Filled, hypothesis: Filled) -> bool:
        return self.count(premise.text) + self.count(hypothesis.text) <= self.room

    def count(self, text: str) -> int:
        """Number of tokens in a text."""
        if text not in self._lengths:
            self._lengths[text] = len(self.scorer.encode_text(text).ids)
        return self._lengths[text]

    def _shorten(self, question: str, answer: str, reference: str) -> str | None:
        """The question, its end cut off where a window of the answer would be too short beside it; None if all are."""
        spans = self.scorer.token_spans(question)
        for left in (len(spans), *range(min(len(spans) - 1, self.room // 2), -1, -1)):  # it is read twice
            kept = question if left == len(spans) else _part(question, spans, 0, left)
            empty, hypothesis = (fill(self.template, kept, text).text for text in ("", reference))
            least = min(self.count(answer), int(MIN_WINDOW_SHARE * self.room) if left else MIN_WINDOW_TOKENS)
            if self.count(empty) + self.count(hypothesis) + least <= self.room:
                return kept
        return None

    def _split(self, question: str, answer: str, hypothesis: Filled) -> list[Filled]:
        """Overlapping parts of the answer, begun and ended at white space where there is any; each of them fits."""
        spans = self.scorer.token_spans(answer)
        budget = self.room - self.count(hypothesis.text) - self.count(fill(self.template, question, "").text)
        word_starts = _word_starts(answer, spans)
        premises: list[Filled] = []
        begin = end = 0
        while end < len(spans) or not premises:
            end = min(begin + budget, len(spans))
            end = _last_start(word_starts, begin + 1, end) if end < len(spans) else end
            premise = self._premise(question, answer, spans[begin:end])
            # tokens at the edge of a part can differ from those inside the text
            while end > begin + 1 and not self._fit(premise, hypothesis):
                end -= 1
                premise = self._premise(question, answer, spans[begin:end])
            premises.append(premise)
            begin = _last_start(word_starts, begin + 1, end - int(WINDOW_OVERLAP * (end - begin)))
        return premises

    def _premise(self, question: str, answer: str, spans: list[Span]) -> Filled:
        """Question and the part of the answer that some of its tokens cover."""
        start = spans[0][0] if spans else 0
        return fill(self.template, question, _part(answer, spans, 0, len(spans)), start)


def _word_starts(text: str, spans: list[Span]) -> list[int]:
    """Indices of the tokens that follow white space, without the first token of the text."""
    return [i for i, (begin, _) in enumerate(spans) if i and text[spans[i - 1][1] : begin + 1][:1].isspace()]


def _last_start(word_starts: list[int], lowest: int, highest: int) -> int:
    """The last token in a range that begins a word; the range's last where none does."""
    place = bisect_right(word_starts, highest)
    return word_starts[place - 1] if place and word_starts[place - 1] >= lowest else max(lowest, highest)


def _part(text: str, spans: list[Span], begin: int, end: int) -> str:
    """The characters that some tokens of a text cover."""
    return text[spans[begin][0] : spans[end - 1][1]] if begin < end else ""
