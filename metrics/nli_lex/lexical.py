"""What the words of an answer and of a reference say, before any model: normalised, matched, counted."""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from semantic_metrics.nli_lex.numerals import is_number, part_raised, plain_numerals, spell_in_digits

ARTICLES = {"a", "an", "the"}  # those of the evaluation script of SQuAD (Rajpurkar et al. 2016)
NEGATIONS = {
    *("no", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot"),
    *("cant", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "wouldnt", "couldnt"),
    *("shouldnt", "hasnt", "havent", "hadnt", "aint", "mustnt"),
}
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
BEGINNING = 4  # letters
ALIKE = 0.6  # of the longer word: an ending in -s, -ing or -al is less; "Austria" and "Australia" share less
CACHED = 65536  # texts; each of a benchmark's references meets several answers

MARKS = re.compile("[\u0300-\u036f]")  # accents of Latin, Greek and Cyrillic; vowel signs of other scripts are letters
APOSTROPHES = re.compile("['\u2018\u2019\u02bc`\u00b4]")
POSSESSIVE = re.compile(r"(?<=[^\W\d_])'s\b")  # "1990's" is "1990s"
LETTER = r"[^\W\d_]"
INITIALS = re.compile(  # "U.S.", "J. K. Rowling", "U.S.A", "U.S"
    rf"\b(?:(?:{LETTER}\.\s?){{2,}}(?:(?<=\.){LETTER}\b)?|{LETTER}\.{LETTER}\b|ph\.\s?d\b\.?)"
)
NUMBER = re.compile(r"\bno\.\s?(?=\d)")
SIGN = r"(?<![^\s(\"\u201c=^~<>:])-(?=\d)"  # not the hyphen of "1990-1995"
OTHER = re.compile(rf"({SIGN}|(?<=\b[a-z])(?:\+\+|#))|[-+#]")  # "C++", "F#"
WORD = re.compile(r"-?\d+\.\d+|[^\s.]+")
MINUS = re.compile(r"(?<!\d )\bminus (?=\d)")
CANNOT = re.compile(r"\bcan not\b")
DAY = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)(?= (?:of )?(?:{MONTHS})\b)|\b((?:{MONTHS}) \d{{1,2}})(?:st|nd|rd|th)\b"
)
LONE_A = re.compile(r"\bA\b")
RUN = re.compile(r"\b(?:[A-Z][\w.'\u2019-]*)(?:(?:\s+(?:of|the|and|de|van|von|la))*\s+[A-Z][\w.'\u2019-]*)*")


class _Signs(dict[int, str]):
    """What stands for a character: itself, or a space for one that is no part of a word; found as texts need it."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        category = unicodedata.category(sign)
        kept = sign if category[0] in "LMN" or sign in ".-+#" else " "
        self[code] = "" if category == "Cf" else kept  # Cf: what joins letters, marks directions, hides a hyphen
        return self[code]


_SIGNS = _Signs()


@dataclass(frozen=True)
class Words:
    """A text as its words.

    Attributes:
        all: in their order, normalised.
        plain: those that are no article; all of them if there is no other.
        numbers: those that are numbers.
        negated: whether one of them negates.
    """

    all: tuple[str, ...]
    plain: tuple[str, ...]
    numbers: frozenset[str]
    negated: bool


@lru_cache(CACHED)
def read_words(text: str, number_words: bool = True) -> Words:
    """Normalise a text as answers to questions are compared.

    Case, accents, punctuation, possessives and white space do not count; "U.S." is "us", "1,000" is "1000", "3.50" is
    "3.5", "%" is "percent", "4th July" is "4 July". A number keeps its sign, "C++" and "C#" their marks. A text of
    nothing but punctuation is one word.

    Args:
        text: any.
        number_words: read "two" as "2", "three million" as "3000000", "first" as "1st".
    """
    words = WORD.findall(_clean(text).translate(_SIGNS))
    joined = " ".join(spell_in_digits(words) if number_words else words)
    joined = DAY.sub(lambda match: match[1] or match[2], joined)
    words = CANNOT.sub("cannot", MINUS.sub("-", joined)).split() or text.split()
    plain = [word for word in words if word not in ARTICLES]
    numbers = frozenset(word for word in words if is_number(word))
    return Words(tuple(words), tuple(plain or words), numbers, not NEGATIONS.isdisjoint(words))


def _clean(text: str) -> str:
    """Characters and abbreviations written one way."""
    clean = MARKS.sub("", unicodedata.normalize("NFKD", part_raised(text)).casefold())
    clean = APOSTROPHES.sub("'", unicodedata.normalize("NFC", clean)).replace("\u2212", "-")
    clean = plain_numerals(POSSESSIVE.sub("", clean))
    clean = INITIALS.sub(lambda match: re.sub(r"[.\s]", "", match[0]) + " ", clean)
    clean = OTHER.sub(lambda match: match[1] or " ", NUMBER.sub("number ", clean))
    return clean.replace("'", "").replace("&", " and ").replace("%", " percent ")


def normalize(text: str, number_words: bool = True) -> str:
    """A text as `lexical_match` compares it: `read_words`, articles left out, one space between words."""
    return " ".join(read_words(text, number_words).plain)


def lexical_match(answer: str, reference: str, number_words: bool = True) -> bool:
    """Whether the reference stands in the answer as a run of whole words ("art" is not in "party"), normalised.

    A reference of nothing but articles ("The The") is looked for among all words; a lone "A", which is a letter, only
    in an answer that has it as a capital, or has no other word.
    """
    held, wanted = _held(answer, reference, number_words), read_words(reference, number_words).plain
    return bool(held) and f" {' '.join(wanted)} " in f" {' '.join(held)} "


def token_recall(answer: str, reference: str, number_words: bool = True) -> float:
    """Share of the reference's words, each counted once, that the answer has; in [0, 1]."""
    held, wanted = _held(answer, reference, number_words), set(read_words(reference, number_words).plain)
    return len(wanted.intersection(held)) / max(len(wanted), 1)


def stem_recall(answer: str, reference: str, number_words: bool = True) -> float:
    """As `token_recall`, but a word is also held where one of the answer begins alike ("problem" for "problems")."""
    held, wanted = set(_held(answer, reference, number_words)), set(read_words(reference, number_words).plain)
    beginnings: dict[str, list[str]] = defaultdict(list)
    for word in held:
        beginnings[word[:BEGINNING]].append(word)
    found = (word in held or any(_alike(word, other) for other in beginnings[word[:BEGINNING]]) for word in wanted)
    return sum(found) / max(len(wanted), 1)


def new_token_recall(question: str, answer: str, reference: str, number_words: bool = True) -> float:
    """As `token_recall`, of those words alone that the question does not hold; of all if it holds all."""
    asked, held, wanted = (set(read_words(text, number_words).plain) for text in (question, answer, reference))
    new = wanted - asked or wanted
    return len(new & held) / max(len(new), 1)


def new_token_precision(question: str, answer: str, reference: str, number_words: bool = True) -> float:
    """Share of the answer's words, those of the question left out, that the reference has; 0 where none is left."""
    asked, held, wanted = (set(read_words(text, number_words).plain) for text in (question, answer, reference))
    new = held - asked
    return len(new & wanted) / max(len(new), 1)


def number_agreement(answer: str, reference: str, number_words: bool = True) -> float:
    """1 where the answer has all numbers of the reference, -1 where it has none of them, 0 where there are none."""
    wanted = read_words(reference, number_words).numbers
    return _agreement(sorted(number in read_words(answer, number_words).numbers for number in wanted))


def entity_agreement(answer: str, reference: str, number_words: bool = True) -> float:
    """As `number_agreement`, of names: runs of capitalised words in the reference.

    The answer has a name if it has its last word, more than half of its words, or its initials ("US" for "United
    States"), or a name whose initials it is.
    """
    held = set(read_words(answer, number_words).plain)
    short = {_initials(name) for name in _names(answer)}
    return _agreement([_has_name(held, short, name, number_words) for name in _names(reference)])


def negation_mismatch(answer: str, reference: str, number_words: bool = True) -> bool:
    """Whether one of the two holds a negation ("not", "never", "without", ...) and the other none."""
    return read_words(answer, number_words).negated != read_words(reference, number_words).negated


def _held(answer: str, reference: str, number_words: bool) -> tuple[str, ...]:
    """The answer's words among which those of the reference are looked for: articles count if it has nothing else."""
    words, wanted = read_words(answer, number_words), read_words(reference, number_words)
    letter = wanted.all == ("a",) and "A" in reference and not LONE_A.search(answer)
    return words.all if ARTICLES.issuperset(wanted.plain) and not letter else words.plain


def _alike(first: str, second: str) -> bool:
    """Whether two words share their beginning: four letters or more, and most of the longer word."""
    shared = max(BEGINNING, ceil(ALIKE * max(len(first), len(second))))
    return first[:shared] == second[:shared] and (first + second).isalpha()


def _agreement(found: list[bool]) -> float:
    return 2 * sum(found) / len(found) - 1 if found else 0.0


@lru_cache(CACHED)
def _names(text: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFC", text)
    capitals = "".join("A" if sign.isupper() else sign for sign in text)  # re knows no class of them
    return tuple(text[match.start() : match.end()] for match in RUN.finditer(capitals))


def _initials(name: str) -> str:
    return "".join(word[0] for word in name.split() if word[0].isupper()).casefold()


def _has_name(held: set[str], short: set[str], name: str, number_words: bool) -> bool:
    words = read_words(name, number_words).plain
    initials = _initials(name)
    found = sum(word in held for word in words)
    alone = len(words) == 1 and len(words[0]) > 1 and words[0] in short
    return words[-1] in held or 2 * found > len(words) or (len(initials) > 1 and initials in held) or alone
