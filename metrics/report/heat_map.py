"""A text as the pieces of a heat map: what each token adds to a score, as a sign and one of three strengths."""

import math
from dataclasses import dataclass

LEVELS = 3  # strengths of either sign; a person tells no more shades apart beside one another
FAINT = 1 / 12  # of the strongest share: below it a token has no colour


@dataclass(frozen=True)
class Piece:
    """A token, or the characters between two.

    Attributes:
        text: its characters, as the text has them.
        share: what it adds to the score; None for characters that are of no token.
        level: from -LEVELS to LEVELS: sign and strength of the share beside the strongest of all texts.
    """

    text: str
    share: float | None = None
    level: int = 0


@dataclass(frozen=True)
class HeatMap:
    """One text of an explanation.

    Attributes:
        name: prediction, reference or question.
        pieces: of its beginning; together they are the text, up to where it is cut.
        hidden: how many tokens are not among them.
        total: what all its tokens add, the hidden ones included.
        strongest: the tokens with the largest shares, the largest first.
    """

    name: str
    pieces: list[Piece]
    hidden: int
    total: float
    strongest: list[Piece]


def heat_maps(explanation: dict, texts: dict[str, str], most: int, strongest: int = 5) -> list[HeatMap]:
    """The texts of an explanation.

    Args:
        explanation: what a metric's `explain` returns.
        texts: those that it is of, by the same names.
        most: tokens of a text that are shown.
        strongest: how many tokens are named as the strongest.
    """
    scale = max((abs(share) for name in texts for share in explanation[name]["contributions"]), default=0.0)
    found = []
    for name, text in texts.items():
        held = explanation[name]
        rows = list(zip(held["tokens"], held["spans"], held["contributions"], strict=True))
        # what stands for no characters of the text, as its padding, is shown whatever is cut
        shown = rows[:most] + [row for row in rows[most:] if row[1] is None]
        tokens = [Piece(_written(token, span, text), share, _level(share, scale)) for token, span, share in rows]
        first = sorted((piece for piece in tokens if piece.level), key=lambda piece: -abs(piece.share))[:strongest]
        pieces = _pieces(text, shown, scale, len(shown) == len(rows))
        found.append(HeatMap(name, pieces, len(rows) - len(shown), held["total"], first))
    return found


def _pieces(text: str, rows: list[tuple], scale: float, whole: bool) -> list[Piece]:
    pieces, end = [], 0
    for token, span, share in rows:
        if span is not None and span[0] > end:
            pieces.append(Piece(text[end : span[0]]))
        if span is None:
            pieces.append(Piece(" "))
        pieces.append(Piece(_written(token, span, text), share, _level(share, scale)))
        end = end if span is None else max(end, span[1])
    if whole and end < len(text):
        pieces.append(Piece(text[end:]))
    return pieces


def _written(token: str, span: tuple[int, int] | None, text: str) -> str:
    """A token as the text has it, not as the vocabulary does ("##s")."""
    return (text[span[0] : span[1]] if span is not None else "") or token


def _level(share: float, scale: float) -> int:
    if scale == 0 or abs(share) < FAINT * scale:
        return 0
    strength = min(LEVELS, math.ceil(LEVELS * abs(share) / scale))  # rounding may lift the strongest above LEVELS
    return int(math.copysign(strength, share))
