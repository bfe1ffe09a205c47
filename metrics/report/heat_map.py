"""Heat maps: texts as words, each with its contribution to a score as a sign and one of three strengths."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semantic_metrics.html.explained import Span, adds_up_to, explained_words

LEVELS = 3  # strengths of either sign; people cannot tell more shades apart side by side
FAINT_SHARE = 1 / 12  # of the strongest contribution: weaker ones get no colour


@dataclass(frozen=True)
class Piece:
    """A word, or the characters between two.

    Attributes:
        text: characters of the text.
        share: contribution to the score; None for characters that belong to no word.
        level: sign and strength of the share relative to the strongest of all texts, from -LEVELS to LEVELS.
    """

    text: str
    share: float | None = None
    level: int = 0


@dataclass(frozen=True)
class HeatMap:
    """One text of an explanation.

    Attributes:
        name: prediction, reference or question.
        pieces: pieces that together are the text as it is read, without markup, up to where it is cut.
        hidden: number of words that are cut off.
        sums: what the contributions of all words, the hidden ones included, add up to; empty if to nothing.
        strongest: words with the largest contributions, the largest first.
    """

    name: str
    pieces: list[Piece]
    hidden: int
    sums: str
    strongest: list[Piece]


def heat_maps(explanation: Mapping[str, Any], texts: dict[str, str], most: int, strongest: int = 5) -> list[HeatMap]:
    """Make the heat maps of an explanation.

    Args:
        explanation: result of a metric's `explain`.
        texts: the texts that were explained, by the same names.
        most: number of words of a text that are shown.
        strongest: number of words that are named as the strongest.
    """
    words = {name: explained_words(explanation[name], text) for name, text in texts.items()}
    scale = max((abs(share) for side in words.values() for *_, share in side), default=0.0)
    maps = []
    for name, text in texts.items():
        marked = [(Piece(written, share, _level(share, scale)), span) for written, span, share in words[name]]
        # tokens without characters in the text, such as padding, are always shown
        shown = marked[:most] + [(piece, span) for piece, span in marked[most:] if span is None]
        coloured = sorted((piece for piece, _ in marked if piece.level), key=lambda piece: -abs(piece.share or 0.0))
        hidden = len(marked) - len(shown)
        pieces = _pieces(explanation[name].get("text", text), shown, hidden == 0)
        maps.append(HeatMap(name, pieces, hidden, _sums(explanation, name), coloured[:strongest]))
    return maps


def _sums(explanation: Mapping[str, Any], name: str) -> str:
    """What the contributions to one text add up to, in words; empty if to nothing."""
    if (wanted := adds_up_to(explanation, name)) is None:
        return ""
    score, baseline = explanation["score"], explanation[name].get("baseline_score")
    if baseline is None:
        return f"its words add up to the score, {score:+.4f}"
    return f"its words add up to {wanted:+.4f}: the score, {score:.4f}, minus that of a baseline, {baseline:.4f}"


def _pieces(text: str, words: list[tuple[Piece, Span | None]], whole: bool) -> list[Piece]:
    """The words and the characters between them, and if they are the whole text, those behind the last."""
    pieces, end = [], 0
    for piece, span in words:
        if span is None:
            pieces.append(Piece(" "))
        elif span[0] > end:
            pieces.append(Piece(text[end : span[0]]))
        pieces.append(piece)
        end = end if span is None else max(end, span[1])
    if whole and end < len(text):
        pieces.append(Piece(text[end:]))
    return pieces


def _level(share: float, scale: float) -> int:
    if scale == 0 or abs(share) < FAINT_SHARE * scale:
        return 0
    strength = min(LEVELS, math.ceil(LEVELS * abs(share) / scale))  # rounding may lift the strongest above LEVELS
    return int(math.copysign(strength, share))
