"""A text with its numbers, units, dates and names written as another text writes them, for a model."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from semantic_metrics.quantities.characters import unfold
from semantic_metrics.quantities.compare import EQUAL, relate
from semantic_metrics.quantities.names import short_and_long
from semantic_metrics.quantities.read import DOUBTFUL, IDENTIFIER, NUMBER, Quantity, read
from semantic_metrics.quantities.spelling import respelled

JOINED_BEFORE, JOINED_AFTER = re.compile(r"\w[:/.,'\u2019-]$"), re.compile(r"[:/.,'\u2019-]\w")
MOST_TRIED = 20  # quantities of the other text that one is compared with


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

    Only what is equal beyond doubt is exchanged (`compare.relate`), "100 °C" beside "100 degrees", names beside their
    initials, and words of another spelling (`spelling.respelled`). What the other text has in the same form stays, and
    so does a lone "one", "second" or "third", which are often no numbers.
    """
    reading, other = read(text), unfold(other)
    theirs = _Known(read(other).atoms)
    written = {quantity.text.casefold() for quantity in theirs.atoms}
    changes = []
    for quantity in reading.atoms if written else ():
        if quantity.text.casefold() in written or _doubtful(quantity, reading.text):
            continue
        for one in theirs.near(quantity):
            if not _doubtful(one, other) and _alike(replace(quantity, bound=""), replace(one, bound="")):
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


class _Known:
    """The quantities of a text, found by value, so that not each is compared with each."""

    def __init__(self, atoms: tuple[Quantity, ...]) -> None:
        self.atoms = atoms
        self.alike: dict[tuple[Fraction, ...] | str, list[Quantity]] = {}
        self.written: dict[tuple[str, Fraction], list[Quantity]] = {}  # of one unit and precision, by value
        for atom in atoms:
            self.alike.setdefault(_key(atom), []).append(atom)
            if atom.kind == NUMBER:
                self.written.setdefault((atom.unit.name, atom.step), []).append(atom)
        for group in self.written.values():
            group.sort(key=_value)

    def near(self, quantity: Quantity) -> Iterator[Quantity]:
        """Those with the same value, then the next ones of each other unit and precision: "16.1 km" for "10 miles"."""
        yield from self.alike.get(_key(quantity), [])[:MOST_TRIED]
        if quantity.kind != NUMBER:
            return
        for writing, group in islice(self.written.items(), MOST_TRIED):
            if writing != (quantity.unit.name, quantity.step):
                place = bisect_left(group, _value(quantity), key=_value)
                yield from group[max(place - 1, 0) : place + 1]


def _value(quantity: Quantity) -> Fraction:
    return quantity.values[0]


def _key(quantity: Quantity) -> tuple[Fraction, ...] | str:
    """What equal quantities have alike, but for rounding."""
    return "".join(quantity.text.casefold().split()) if quantity.kind == IDENTIFIER else tuple(sorted(quantity.values))


def _alike(one: Quantity, other: Quantity) -> bool:
    """Whether two are equal, or differ in that one leaves out the scale of its degrees."""
    scaled = {one.unit.dimension, other.unit.dimension} == {"degrees", "temperature"}
    return (scaled and one.number == other.number) or relate(one, other) == EQUAL


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
