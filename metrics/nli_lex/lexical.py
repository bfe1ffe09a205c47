"""Comparison of the words of an answer and a reference, without a model: normalised, matched, counted."""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from math import ceil

from semantic_metrics.core.texts import cached
from semantic_metrics.quantities import characters
from semantic_metrics.quantities.read import MONTHS
from semantic_metrics.quantities.spell import part_raised, plain_numerals, spell_in_digits, years_in_digits

ARTICLES = {"a", "an", "the"}  # those of the evaluation script of SQuAD (Rajpurkar et al. 2016)
STEM_LETTERS = 4  # letters that words with the same stem share at least
STEM_SHARE = 0.6  # of the longer word, at least: endings such as -s, -ing, -al may differ, "Austria" is not "Australia"
CACHED_TEXTS = 2**14  # a reference of a benchmark is compared with several answers

MARKS = re.compile("[\u0300-\u036f]")  # accents of Latin, Greek and Cyrillic; vowel signs of other scripts are letters
APOSTROPHES = re.compile("['\u2018\u2019\u02bc`\u00b4]")
POSSESSIVE = re.compile(r"(?<=[^\W\d_])'s\b")  # "1990's" is "1990s"
LETTER = r"[^\W\d_]"
INITIALS = re.compile(  # "U.S.", "J. K. Rowling", "U.S.A", "U.S"
    rf"\b(?:(?:{LETTER}\.\s?){{2,}}(?:(?<=\.){LETTER}\b)?|{LETTER}\.{LETTER}\b|ph\.\s?d\b\.?)"
)
NUMBER_SIGN = re.compile(r"\bno\.\s?(?=\d)")
SIGN = r"(?<![^\s(\"\u201c=^~<>:])-(?=\d)"  # not the hyphen of "1990-1995"
OTHER = re.compile(rf"({SIGN}|(?<=\b[a-z])(?:\+\+|#))|[-+#]")  # "C++", "F#"
WORD = re.compile(r"-?\d+\.\d+|[^\s.]+")
MINUS = re.compile(r"(?<!\d )\bminus (?=\d)")
CANNOT = re.compile(r"\bcan not\b")
DAY = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)(?= (?:of )?(?:{MONTHS})\b)|\b((?:{MONTHS}) \d{{1,2}})(?:st|nd|rd|th)\b"
)
LONE_A = re.compile(r"\bA\b")


class _Signs(dict[int, str]):
    """Replacement of each character: itself, or a space if it is no part of a word; filled as texts need it."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        category = unicodedata.category(sign)
        kept = sign if category[0] in "LMN" or sign in ".-+#" else " "
        self[code] = "" if category == "Cf" else kept  # Cf: what joins letters, marks directions, hides a hyphen
        return self[code]


_SIGNS = _Signs()


@dataclass(frozen=True)
class Words:
    """The words of a text."""

    all: tuple[str, ...]  # normalised words in their order
    plain: tuple[str, ...]  # words without articles; all words if there are only articles


@cached(CACHED_TEXTS)
def read_words(text: str, number_words: bool = True) -> Words:
    """Normalise a text as answers to questions are compared.

    Case, accents, punctuation, possessives and white space do not count; "U.S." is "us", "1,000" is "1000", "3.50" is
    "3.5", "%" is "percent", "4th July" is "4 July". A number keeps its sign, "C++" and "C#" their marks. A text of
    punctuation alone is one word. With `number_words`, "two" is "2", "three million" is "3000000", "first" is "1st" and
    "nineteen twelve" is "1912".
    """
    words = WORD.findall(_clean(text, number_words).translate(_SIGNS))
    joined = " ".join(spell_in_digits(words) if number_words else words)
    joined = DAY.sub(lambda match: match[1] or match[2], joined)
    words = CANNOT.sub("cannot", MINUS.sub("-", joined)).split() or text.split()
    plain = [word for word in words if word not in ARTICLES]
    return Words(tuple(words), tuple(plain or words))


def _clean(text: str, number_words: bool) -> str:
    """The text with one spelling for each character and abbreviation and, with `number_words`, each year in words."""
    clean = MARKS.sub("", characters.normalize("NFKD", part_raised(text)).casefold())
    clean = APOSTROPHES.sub("'", characters.normalize("NFC", clean)).replace("\u2212", "-")
    clean = plain_numerals(POSSESSIVE.sub("", years_in_digits(clean) if number_words else clean))
    clean = INITIALS.sub(lambda match: re.sub(r"[.\s]", "", match[0]) + " ", clean)
    clean = OTHER.sub(lambda match: match[1] or " ", NUMBER_SIGN.sub("number ", clean))
    return clean.replace("'", "").replace("&", " and ").replace("%", " percent ")


def normalize(text: str, number_words: bool = True) -> str:
    """A text as `lexical_match` compares it: the plain words of `read_words` with single spaces between them."""
    return " ".join(read_words(text, number_words).plain)


def lexical_match(answer: str, reference: str, number_words: bool = True) -> bool:
    """Whether the answer contains the reference as a run of whole words ("art" is not in "party"), normalised.

    A reference of articles alone ("The The") is looked for among all words; a lone "A", which is a letter, only in an
    answer that has a capital "A" or no other word.
    """
    words, wanted = _answer_words(answer, reference, number_words), read_words(reference, number_words).plain
    return bool(words) and f" {' '.join(wanted)} " in f" {' '.join(words)} "


def substring(answer: str, reference: str) -> bool:
    """Whether the reference is a substring of the answer, ignoring case: the paper's `lm`, taken literally."""
    return reference.lower() in answer.lower()


def token_recall(answer: str, reference: str, number_words: bool = True) -> float:
    """Share of the reference's words, each counted once, that the answer has; in [0, 1]."""
    words, wanted = _answer_words(answer, reference, number_words), set(read_words(reference, number_words).plain)
    return len(wanted.intersection(words)) / max(len(wanted), 1)


def stem_recall(answer: str, reference: str, number_words: bool = True) -> float:
    """Like `token_recall`, but a word of the answer with the same stem counts too ("problem" for "problems")."""
    words, wanted = set(_answer_words(answer, reference, number_words)), set(read_words(reference, number_words).plain)
    stems: dict[str, list[str]] = defaultdict(list)
    for word in words:
        stems[word[:STEM_LETTERS]].append(word)
    matches = (word in words or any(_same_stem(word, other) for other in stems[word[:STEM_LETTERS]]) for word in wanted)
    return sum(matches) / max(len(wanted), 1)


def new_token_recall(question: str, answer: str, reference: str, number_words: bool = True) -> float:
    """Like `token_recall`, of the words that the question does not have; of all words if it has all."""
    asked, words, wanted = (set(read_words(text, number_words).plain) for text in (question, answer, reference))
    new = wanted - asked or wanted
    return len(new & words) / max(len(new), 1)


def new_token_precision(question: str, answer: str, reference: str, number_words: bool = True) -> float:
    """Share of the answer's words, without those of the question, that the reference has; 0 if no word is left."""
    asked, words, wanted = (set(read_words(text, number_words).plain) for text in (question, answer, reference))
    new = words - asked
    return len(new & wanted) / max(len(new), 1)


def _answer_words(answer: str, reference: str, number_words: bool) -> tuple[str, ...]:
    """Words of the answer that may match the reference: with articles if the reference has nothing else."""
    words, wanted = read_words(answer, number_words), read_words(reference, number_words)
    letter = wanted.all == ("a",) and "A" in reference and not LONE_A.search(answer)
    return words.all if ARTICLES.issuperset(wanted.plain) and not letter else words.plain


def _same_stem(first: str, second: str) -> bool:
    """Whether two words begin with the same letters: STEM_LETTERS or more, and most of the longer word."""
    shared = max(STEM_LETTERS, ceil(STEM_SHARE * max(len(first), len(second))))
    return first[:shared] == second[:shared] and (first + second).isalpha()
