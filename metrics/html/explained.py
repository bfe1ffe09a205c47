"""Explanations by whole words, and the sums of their contributions."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

Span = tuple[int, int]

ADDITIVE_METHODS = ("exact", "integrated_gradients")  # of `explain`: contributions add up
SUM_TOLERANCE = 0.005  # of a sum of contributions that is said to be the score: half of what two digits show
# letters with their accents and digits, of scripts that put spaces between words, the apostrophe of "don't" and the
# point of "3.5"
WORD = re.compile(r"(?:[^\W_\u2e80-\U0010ffff]|[\u0300-\u036f]|(?<=[^\W\d_])['\u2019](?=[^\W\d_])|(?<=\d)[.,](?=\d))+")


def group_by_word(text: str, spans: Sequence[Span | None]) -> list[list[int]]:
    """Indices of a text's tokens, those of one word together; a token that is no part of a word is alone.

    The spans are begin and end characters of the tokens in their order; None for a token without characters.
    """
    words = [match.span() for match in WORD.finditer(text)]
    begins = [begin for begin, _ in words]
    groups: list[list[int]] = []
    last = -1  # the word of the token before; none
    for i, span in enumerate(spans):
        word = -1 if span is None else bisect_right(begins, span[0]) - 1
        inside = word >= 0 and span is not None and span[1] <= words[word][1]
        if inside and word == last:
            groups[-1].append(i)
        else:
            groups.append([i])
        last = word if inside else -1
    return groups


def explained_words(side: Mapping[str, Any], text: str) -> list[tuple[str, Span | None, float]]:
    """The words of one text of an explanation: their characters, span in the text as it was read, and contribution.

    The contribution of a word is the sum of those of its pieces, so that what adds up still does. A token without
    characters, such as padding, has its own name and no span. `text` is read where the side has none of its own.
    """
    text = side.get("text", text)
    words: list[tuple[str, Span | None, float]] = []
    for group in group_by_word(text, side["spans"]):
        first, last = side["spans"][group[0]], side["spans"][group[-1]]
        span = None if first is None else (first[0], last[1])
        written = "" if span is None else text[slice(*span)]  # as in the text, not as in the vocabulary ("##s")
        words.append((written or side["tokens"][group[0]], span, sum(side["contributions"][i] for i in group)))
    return words


def adds_up_to(explanation: Mapping[str, Any], text: str) -> float | None:
    """Sum of the contributions to one text of an explanation: the score, or its distance from a baseline.

    None if they add up to neither: where each is what the score loses without the token, or where an integral is off.
    """
    if explanation["method"] not in ADDITIVE_METHODS:
        return None
    side = explanation[text]
    wanted = explanation["score"] - side.get("baseline_score", 0.0)
    return wanted if abs(side["total"] - wanted) <= SUM_TOLERANCE else None
