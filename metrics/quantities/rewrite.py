"""A text with its numbers, units, dates and names written as another text writes them, for a model."""

import re
from dataclasses import dataclass, replace

from semantic_metrics.quantities.characters import unfold
from semantic_metrics.quantities.compare import EQUAL, relate
from semantic_metrics.quantities.names import short_and_long
from semantic_metrics.quantities.read import DOUBTFUL, IDENTIFIER, RATE, Quantity, read
from semantic_metrics.quantities.spelling import respelled

JOINED_BEFORE, JOINED_AFTER = re.compile(r"\w[:/.,'\u2019-]$"), re.compile(r"[:/.,'\u2019-]\w")


@dataclass(frozen=True)
class Rewritten:
    """A text in other words.

    Attributes:
        text: the new text.
        origins: for each character of `text` the character that it stands for in the text as it was.
    """

    text: str
    origins: tuple[int, ...]


def rewrite(text: str, other: str) -> Rewritten:
    """Write what another text says in other writing as that text writes it: "42" as "forty-two", "5 kg" as "5000 g".

    Only what is equal beyond doubt is exchanged (`compare.relate`), names beside their initials, and words of another
    spelling (`spelling.respelled`). What the other text has in the same form stays, and so does a lone "one", "second"
    or "third", which are often no numbers.
    """
    reading, other = read(text), unfold(other)
    theirs: dict[tuple[str | int, ...], list[Quantity]] = {}
    written = set()
    for quantity in read(other).atoms:
        theirs.setdefault(_place(quantity), []).append(quantity)
        written.add(quantity.text.casefold())
    changes = []
    for quantity in reading.atoms if theirs else ():
        if quantity.text.casefold() in written or _doubtful(quantity, reading.text):
            continue
        for one in theirs.get(_place(quantity), [])[:50]:
            equal = relate(replace(quantity, bound=""), replace(one, bound="")) == EQUAL
            if equal and not _doubtful(one, other):
                changes.append((quantity.begin, quantity.end, one.text))
                break
    taken = bytearray(len(reading.text))
    for begin, end, _ in changes:
        taken[begin:end] = b"x" * (end - begin)
    for begin, end, form in (*short_and_long(reading.text, other), *respelled(reading.text, other)):
        if not any(taken[begin:end]):
            changes.append((begin, end, form))
            taken[begin:end] = b"x" * (end - begin)
    return _replaced(reading.text, sorted(changes), len(text))


def _place(quantity: Quantity) -> tuple[str | int, ...]:
    """What equal quantities share, so that not each is compared with each: the leading digits in base units."""
    if quantity.kind == IDENTIFIER:
        return (IDENTIFIER, quantity.text.casefold())
    if len(quantity.values) != 1 or quantity.kind == RATE:
        return (len(quantity.values) == 3,)
    value = abs(quantity.values[0])
    return ("value", len(str(int(value))) if value < 10**6 else 7)


def _doubtful(quantity: Quantity, text: str) -> bool:
    """Whether it is a part of something else ("1990-95"), or a word that is often no number: "one" among words."""
    begin, end = quantity.begin, quantity.end
    if JOINED_BEFORE.search(text[max(begin - 2, 0) : begin]) or JOINED_AFTER.match(text, end):
        return True
    around = text[max(begin - 20, 0) : begin] + text[end : end + 20]
    return quantity.text.lower() in DOUBTFUL and any(map(str.isalnum, around))


def _replaced(text: str, changes: list[tuple[int, int, str]], length: int) -> Rewritten:
    """An unfolded text with some changes; places in the text as it was, of another length, are in proportion."""
    parts, origins, last = [], [], 0
    for begin, end, form in [*changes, (len(text), len(text), "")]:
        parts += [text[last:begin], form]
        origins += [*range(last, begin), *(begin + i * (end - begin) // len(form) for i in range(len(form)))]
        last = end
    return Rewritten("".join(parts), tuple(min(i * length // len(text), length - 1) for i in origins))
