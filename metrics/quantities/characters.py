"""Characters as a model and the rules read them: compatibility characters unfolded, emoji and signs by their names."""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from semantic_metrics.core.texts import cached

CACHED_TEXTS = 4096
RAISED = "\u00b2\u00b3\u00b9\u2070-\u207e"
RAISED_AFTER_WORD = re.compile(rf"(?<=[^\W_])[{RAISED}]+")
FRACTION_AFTER_DIGIT = re.compile("(?<=\\d)(?=[\u00bc-\u00be\u2150-\u215e])")
NUMBER_SIGN = re.compile("\u2116\\.?")
DASH_BEFORE_DIGIT = re.compile('(?<![^\\s("=^~<>:])[\u2010-\u2015\u2212](?=\\d)')
FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
MOST_MARKS = 30  # no language has more (UAX 15, section 13)
MARKS = re.compile(
    "(?:[^\\w\\s\\x00-\\x7f]|[\uff9e\uff9f]){16,}"
)  # marks, and signs of two marks, are among these signs
STROKE = "\u0338"  # makes another sign: "\u2260"
UNDECOMPOSED = str.maketrans(
    {"\u0142": "l", "\u00f8": "o", "\u0111": "d", "\u0127": "h", "\u0131": "i", "\u00df": "ss", "\u00e6": "ae"}
    | {"\u0153": "oe", "\u00fe": "th", "\u00f0": "d"}
)
# what people mean by some signs, where Unicode's name says how they look
MEANINGS = {
    "\u2705": "success", "\u2714": "yes", "\u2713": "yes", "\u274c": "failure", "\u274e": "failure", "\u2717": "no",
    "\u2718": "no", "\U0001f44d": "thumbs up, good", "\U0001f44e": "thumbs down, bad", "\U0001f4c8": "going up",
    "\U0001f4c9": "going down", "\u2260": "is not equal to", "\u2264": "is at most", "\u2265": "is at least",
    "\u2248": "is about", "\u2192": "to", "\u2190": "from",
}  # fmt: skip
# written with letters in plain text
KEPT = frozenset(
    "$\u00a2\u00a3\u00a5\u20ac\u20b9\u00b0\u00b1\u00d7\u00f7\u00b5\u00a7\u00a9\u00ae\u2122\u00ac\u00b4\u00a8\u00b7"
)


def word_set(words: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(words.split())


def normalize(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Unicode's normal form of a text, at most MOST_MARKS marks on a letter: Python sorts them in quadratic time."""
    return unicodedata.normalize(form, MARKS.sub(_without_more_marks, text))


def _without_more_marks(match: re.Match[str]) -> str:
    kept, marks = [], 0
    for sign in match[0]:
        parts = unicodedata.normalize("NFKD", sign)
        marks = marks + len(parts) if unicodedata.combining(parts[0]) else 0
        if marks <= MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


@cached(CACHED_TEXTS)
def unfold(text: str) -> str:
    """Write ligatures, full width, raised digits and the like in plain characters: "10\u00b2" as "10^2"."""
    if text.isascii():
        return text
    text = FRACTION_AFTER_DIGIT.sub(" ", NUMBER_SIGN.sub("No.", text))
    text = RAISED_AFTER_WORD.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
    text = normalize("NFC", "".join(map(_plain, normalize("NFC", text))))
    return DASH_BEFORE_DIGIT.sub("-", text)


@lru_cache(CACHED_TEXTS)
def _plain(sign: str) -> str:
    category = unicodedata.category(sign)
    if sign.isascii() or category == "Cf":
        return "" if category == "Cf" else sign
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    if category == "Zs":
        return " "
    if "\U0001f3fb" <= sign <= "\U0001f3ff":  # the tone of a skin
        return ""
    if sign in KEPT or category == "Mn":
        return "" if "\ufe00" <= sign <= "\ufe0f" else sign
    return unicodedata.normalize("NFKC", sign).replace("\u2044", "/").replace("\u2212", "-").replace("\u03bc", "\u00b5")


@cached(CACHED_TEXTS)
def name_signs(text: str) -> str:
    """Write emoji and signs that few vocabularies have as their names: "x \u2260 5" as "x is not equal to 5"."""
    if text.isascii():
        return text
    flagged = FLAG.sub(lambda match: " flag " + "".join(chr(ord(sign) - 0x1F1E6 + 65) for sign in match[0]) + " ", text)
    named = "".join(map(_named, flagged))
    return text if named == text else " ".join(named.split())


@lru_cache(CACHED_TEXTS)
def _named(sign: str) -> str:
    if sign.isascii() or sign in KEPT or unicodedata.category(sign) not in ("Sm", "So", "Sk"):
        return sign
    if sign in MEANINGS:
        return f" {MEANINGS[sign]} "
    name = unicodedata.name(sign, "").lower().removesuffix(" sign")
    return "" if name.startswith("emoji modifier") else f" {name} "


@cached(CACHED_TEXTS)
def fold(word: str) -> str:
    """A word without case and accents, and with plain letters for those of a few alphabets."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold().translate(UNDECOMPOSED))
    return unicodedata.normalize(
        "NFC", "".join(sign for sign in parts if not ("\u0300" <= sign <= "\u036f" and sign != STROKE))
    )
