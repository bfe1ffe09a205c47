"""What the model reads: question and text in one template, and windows over an answer that is too long for it."""

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from string import Formatter

from semantic_metrics.core.inputs import check_text
from semantic_metrics.cross_encoder.pair_scorer import PairScorer

PLACES = ("question", "answer")
OVERLAP = 0.5  # of a window: what one cuts in two, the next holds whole
SHARE = 0.25  # of what the model reads: where a window would be shorter, the question is cut
INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp"}  # of Unicode's categories
LEAST = 8  # tokens of a window without any question: where it would be shorter, the reference is refused


def check_template(template: object) -> str:
    """A format string with `{answer}` once, and `{question}` once or not at all.

    Raises:
        ValueError: it is none.
    """
    try:
        parts = list(Formatter().parse(template))
    except (TypeError, ValueError):
        parts = None
    names = [name for _, name, _, _ in parts or [] if name is not None]
    plain = not any(spec or conversion for _, _, spec, conversion in parts or [])
    if names.count("answer") != 1 or names.count("question") > 1 or not set(names) <= set(PLACES) or not plain:
        raise ValueError(
            f"template: expected a string with {{answer}} once and {{question}} at most once, got {template!r}"
        )
    return check_text("template", template)


def is_blank(text: str) -> bool:
    """Whether a text has no visible character: nothing but white space, controls, and signs that only format."""
    return all(unicodedata.category(sign) in INVISIBLE for sign in text)


def fill(template: str, question: str, text: str) -> str:
    """Question and text as the model reads them, white space around them left out."""
    return template.format(question=question.strip(), answer=text.strip()).strip()


@dataclass(frozen=True)
class Reading:
    """What the model reads of an answer and a reference.

    Attributes:
        premises: question and answer; several where it takes several to hold the whole answer.
        hypothesis: question and reference.
        cut: whether the question lacks its end.
    """

    premises: tuple[str, ...]
    hypothesis: str
    cut: bool


class Windows:
    """Cuts what does not fit into a model: the answer into windows, then the question, and never the reference.

    Args:
        scorer: whose tokeniser counts.
        template: as `check_template` takes it.
        max_length: tokens of a pair, separators included; None for the checkpoint's own.
    """

    def __init__(self, scorer: PairScorer, template: str, max_length: int | None) -> None:
        self.scorer, self.template = scorer, check_template(template)
        added = scorer.tokenizer.num_special_tokens_to_add(pair=True)
        self.room = (max_length or scorer.max_length) - added
        self._lengths: dict[str, int] = {}

    def read(self, question: str, answer: str, reference: str, name: str = "reference") -> Reading:
        """What the model reads of one answer and reference.

        Args:
            question: what was asked.
            answer: to judge, not blank.
            reference: a right answer.
            name: of the reference in an error.

        Raises:
            ValueError: the reference leaves no room for an answer; says how many tokens it has.
        """
        whole, hypothesis = fill(self.template, question, answer), fill(self.template, question, reference)
        # a token of ASCII has a character, but for one that may begin each text: most pairs need not be counted
        short = len(whole) + len(hypothesis) + 2 <= self.room and (whole + hypothesis).isascii()
        if short or self._fit(whole, hypothesis):
            return Reading((whole,), hypothesis, False)
        kept = self._shorten(question, answer, reference, name)
        hypothesis = fill(self.template, kept, reference)
        parts = self._split(kept, answer, hypothesis)
        cut = kept != question and "{question}" in self.template
        return Reading(tuple(fill(self.template, kept, part) for part in parts), hypothesis, cut)

    def _fit(self, premise: str, hypothesis: str) -> bool:
        return self.count(premise) + self.count(hypothesis) <= self.room

    def count(self, text: str) -> int:
        """Tokens of a text."""
        if text not in self._lengths:
            self._lengths[text] = len(
                self.scorer.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
            )
        return self._lengths[text]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Begin and end of each token in the text."""
        encoding = self.scorer.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
        return [(begin, end) for begin, end in encoding.offsets if end > begin]

    def _shorten(self, question: str, answer: str, reference: str, name: str) -> str:
        """The question, its end cut off where a window of the answer would be too short beside it."""
        spans = self._spans(question)
        for left in (len(spans), *range(min(len(spans) - 1, self.room // 2), -1, -1)):  # it is read twice
            kept = question if left == len(spans) else _part(question, spans, 0, left)
            empty, hypothesis = (fill(self.template, kept, text) for text in ("", reference))
            least = min(self.count(answer), int(SHARE * self.room) if left else LEAST)
            if self.count(empty) + self.count(hypothesis) + least <= self.room:
                return kept
        raise ValueError(
            f"{name}: expected a text that leaves the answer {LEAST} of the {self.room} tokens that the model reads, "
            f"got one of {self.count(reference)} tokens: {reference[:40]!r}"
        )

    def _split(self, question: str, answer: str, hypothesis: str) -> list[str]:
        """Overlapping parts of the answer, begun and ended at white space where there is any; each of them fits."""
        spans = self._spans(answer)
        budget = self.room - self.count(hypothesis) - self.count(fill(self.template, question, ""))
        starts = [i for i, (begin, _) in enumerate(spans) if i and answer[spans[i - 1][1] : begin + 1][:1].isspace()]
        parts, begin, end = [], 0, 0
        while end < len(spans) or not parts:
            end = min(begin + budget, len(spans))
            end = _at_start(starts, begin + 1, end) if end < len(spans) else end
            # tokens at the edge of a part can be others than inside the text
            while end > begin + 1 and not self._fit(
                fill(self.template, question, _part(answer, spans, begin, end)), hypothesis
            ):
                end -= 1
            parts.append(_part(answer, spans, begin, end))
            begin = _at_start(starts, begin + 1, end - int(OVERLAP * (end - begin)))
        return parts


def _at_start(starts: list[int], lowest: int, highest: int) -> int:
    """The last token in a range that begins a word; the range's last where none does."""
    place = bisect_right(starts, highest)
    return starts[place - 1] if place and starts[place - 1] >= lowest else max(lowest, highest)


def _part(text: str, spans: list[tuple[int, int]], begin: int, end: int) -> str:
    """What some tokens of a text cover."""
    return text[spans[begin][0] : spans[end - 1][1]] if begin < end else ""
