"""Rules for how many, how much and when: quantifier, number, quantity, date."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.clauses import NEGATIVE, is_negated
from semantic_metrics.contradictions.language import Change, swap
from semantic_metrics.contradictions.words import listed, word_lists
from semantic_metrics.quantities.read import YEAR, read
from semantic_metrics.quantities.spell import NUMBER_WORDS
from semantic_metrics.quantities.spell import ORDINALS as ORDINAL_VALUES

if TYPE_CHECKING:
    from random import Random

    from spacy.tokens import Span, Token

NUMERALS = [*[*NUMBER_WORDS][2:13], "twenty", "thirty"]
ORDINALS = [*ORDINAL_VALUES][:10]
YEAR_STEPS = [-23, -17, -12, -8, -6, 6, 8, 12]  # years by which a date is moved
YEARS = range(1500, 2050)  # those that are moved
LATEST_YEAR = 2020  # later years are not proposed: they would not fit a text about the past
LONG_MONTHS = ("January", "March", "May", "July", "August", "October", "December")
COUNTED_LABELS = ("", "CARDINAL", "DATE", "TIME", "QUANTITY")  # labels of numbers that the rule changes
AMOUNT_LABELS = ("MONEY", "PERCENT", "QUANTITY", "DATE", "TIME")  # labels of numbers that do not count things
# words before a number that make it a bound, so that another number need not contradict it
LOWER_BOUNDS = ("more than", "over", "at least", "above", "greater than", "no fewer than", "no less than")
UPPER_BOUNDS = ("less than", "fewer than", "under", "at most", "up to", "below", "no more than")
JOINED = ("-", "\N{EN DASH}", "--", "/", ":", "$")  # the first may follow a number: 20-year-old
FACTORS = (0.25, 0.5, 2, 3, 5)
SUBJECT_LABELS = ("nsubj", "nsubjpass")


def quantifier(sentence: "Span") -> Iterator[Change]:
    """All, every, some, many, most, few, several; always, often, never; everyone, someone."""
    if sentence.text.strip().endswith("?"):
        return
    opposites = word_lists().opposites
    for token in sentence:
        clause = next((t for t in (token, *token.ancestors) if t.pos_ in ("VERB", "AUX")), sentence.root)
        word, negated = token.lower_, is_negated(clause)
        if word in opposites["frequency"] and _fits_never(token) and (not negated or word == "never"):
            yield Change((swap(token, opposites["frequency"][word]),))
        elif word in opposites["pronoun"] and _whole(token, clause) and (not negated or word in NEGATIVE):
            yield Change((swap(token, opposites["pronoun"][word]),))
        elif not negated and not listed("times", token.head.lower_):
            yield from _determiner(token)


def _whole(token: "Token", verb: "Token") -> bool:
    """Whether "everyone" is the whole subject of a clause without "may"."""
    may = any(child.lower_ in ("may", "might") for child in verb.children)
    return token.dep_ in SUBJECT_LABELS and not may and not any(child.lower_ == "else" for child in token.children)


def _fits_never(adverb: "Token") -> bool:
    """Whether "never" can take the place of an adverb: before its verb, or after a form of "be"."""
    if adverb.dep_ != "advmod" or adverb.i == adverb.sent.start:
        return False
    return adverb.lower_ == "everywhere" or adverb.i < adverb.head.i or adverb.head.lemma_ == "be"


def _determiner(token: "Token") -> Iterator[Change]:
    """Change a word that quantifies the noun after it."""
    noun, word, doc = token.head, token.lower_, token.doc
    follows = doc[token.i + 1] if token.i + 1 < len(doc) else token
    previous = doc[token.i - 1].lower_ if token.i else ""
    is_subject = noun.dep_ in SUBJECT_LABELS or token.dep_ in SUBJECT_LABELS
    if listed("unquantified", previous) or any(child.lower_ == "including" for child in noun.children):
        return
    if follows.lower_ == "of" and word in ("all", "some", "many", "most", "several", "few") and is_subject:
        yield Change((swap(token, "many" if word == "few" else "none"),))
    elif token.dep_ == "predet" and word == "all" and is_subject:
        if follows.lower_ in ("the", "these", "those", "his", "her", "their"):
            yield Change((swap(token, "none of"),))
    elif token.dep_ in ("det", "amod") and noun.i > token.i and follows.tag_ != "CD" and follows.lower_ != "different":
        yield from _noun_determiner(token, is_subject)


def _noun_determiner(token: "Token", is_subject: bool) -> Iterator[Change]:
    """All dogs -> no dogs; many dogs -> few dogs; a few dogs -> many dogs."""
    noun, word, doc = token.head, token.lower_, token.doc
    if word in ("all", "every", "each", "some", "several") and is_subject and noun.tag_ in ("NN", "NNS"):
        yield Change((swap(token, "no"),))
    elif word in ("many", "most") and noun.tag_ == "NNS" and (is_subject or noun.head.lemma_ in ("be", "have")):
        yield Change((swap(token, "few"),))
    elif word == "few" and noun.tag_ == "NNS":
        few = doc[token.i - 1 : token.i + 1] if token.i and doc[token.i - 1].lower_ == "a" else token
        yield Change((swap(few, "many"),))


def number(sentence: "Span", random: "Random") -> Iterator[Change]:
    """Another count, year span, age or ordinal."""
    paired = any(token.lower_ in ("other", "both", "respectively") for token in sentence)  # of two
    summed = sum(token.tag_ == "CD" for token in sentence) > 2  # three people, two men and one woman
    for token in sentence:
        if summed or (paired and token.lower_ in ("two", "2")):
            continue
        if token.lower_ in ORDINALS and token.ent_type_ == "ORDINAL" and token.dep_ == "amod":
            if token.head.tag_ in ("NN", "NNS") and not listed("times", token.head.lower_) and token.head.i > token.i:
                yield Change((swap(token, _other(token.lower_, ORDINALS, random)),))
        elif _counts(token) and not _bounded(token):
            new = _other(token.lower_, NUMERALS, random) if token.lower_ in NUMERALS else _scaled(token.text, random)
            if new:
                yield Change((swap(token, new),))


def _counts(token: "Token") -> bool:
    """Whether a token is a single number that counts something."""
    if token.dep_ != "nummod" or token.tag_ != "CD" or token.ent_type_ not in COUNTED_LABELS:
        return False
    if token.head.tag_ not in ("NN", "NNS") or token.head.i < token.i or any(token.children):
        return False
    if token.ent_type_ in ("DATE", "TIME"):
        return listed("time units", token.head.lower_)
    return token.lower_ in NUMERALS or _figure(token.text) is not None


def _figure(text: str) -> float | None:
    """The number that a text in digits, with commas or a point, is; None for another text."""
    plain = re.fullmatch(r"[\d,]+|[\d.]+", text, re.ASCII)
    atoms = read(text).atoms if plain else ()
    return float(atoms[0].number) if len(atoms) == 1 and atoms[0].values and atoms[0].text == text else None


def _year(token: "Token") -> int:
    """The year that a token is ("1998"), or the first of a decade ("1990s"); 0 for another one."""
    atoms = read(token.text).atoms if token.text[:4].isdigit() else ()
    years = [int(one.number) for one in atoms if one.kind == YEAR and one.text == token.text]
    return years[0] if years and years[0] in YEARS else 0


def _bounded(token: "Token") -> bool:
    """Whether the words around a number allow for other numbers, or it is part of a longer figure."""
    previous = token.doc[token.i - 1] if token.i > token.sent.start else None
    following = token.doc[token.i + 1] if token.i + 1 < token.sent.end else None
    if following is not None and (following.like_num or following.text in JOINED[1:]):
        return True
    return previous is not None and (
        previous.like_num or previous.text in (*JOINED, "(") or listed("open", previous.lower_)
    )


def _other(word: str, words: list[str], random: "Random") -> str:
    """Another word of the first ten of a list, not next to the given one."""
    place = words.index(word)
    return random.choice([other for i, other in enumerate(words[:10]) if abs(i - place) > 1])


def _scaled(text: str, random: "Random") -> str:
    """Figure two to five times as large, or two to four times as small, written in the same way."""
    value, decimals = _figure(text), len(text.partition(".")[2])
    if value is None:
        return ""
    scaled = [round(value * factor, decimals) for factor in FACTORS]
    scaled = [new for new in scaled if new >= 2 or (decimals and new > 0)]
    if not scaled or (text.startswith("0") and not decimals):
        return ""
    new = random.choice(scaled)
    if value >= 100 and value % 10 == 0:
        new = round(new, -1)
    return f"{new:,.{decimals}f}" if "," in text else f"{new:.{decimals}f}"


def quantity(sentence: "Span", random: "Random") -> Iterator[Change]:
    """Other amounts of money, shares and measures; more than and less than; more, fewer and less of something."""
    for token in sentence:
        if token.tag_ == "CD" and token.ent_type_ in ("MONEY", "PERCENT", "QUANTITY") and not _bounded_amount(token):
            new = _scaled(token.text, random) if token.text[0].isdigit() else ""
            if new and not (token.ent_type_ == "PERCENT" and float(new.replace(",", "")) > 100):
                yield Change((swap(token, new),))
        elif token.tag_ == "CD":
            yield from _bound(token)
        elif token.lower_ in ("more", "fewer", "less") and token.dep_ == "amod" and token.head.i == token.i + 1:
            previous = token.doc[token.i - 1].lower_ if token.i else ""
            counted = token.i > sentence.start and token.doc[token.i - 1].like_num
            plain = not counted and previous not in ("no", "any", "not", "and", "some", "for")
            if plain and token.head.tag_ in ("NN", "NNS"):
                less = "fewer" if token.head.tag_ == "NNS" else "less"
                yield Change((swap(token, less if token.lower_ == "more" else "more"),))
        elif token.lower_ == "lot" and token.head.pos_ != "ADV":
            yield from _lot(token)


def _bounded_amount(token: "Token") -> bool:
    begin, end = max(token.sent.start, token.i - 2), min(token.sent.end, token.i + 2)
    near = [token.doc[i] for i in range(begin, end) if i != token.i]
    return any(t.text == "(" for t in near) or any(listed("open", t.lower_) or t.tag_ == "CD" for t in near)


def _bound(token: "Token") -> Iterator[Change]:
    """More than 20 -> fewer than 20."""
    doc, fewer = token.doc, "less" if token.ent_type_ in AMOUNT_LABELS else "fewer"
    if token.lower_ in ("one", "1") or any(word.lower_ in ("no", "not", "n't", "never") for word in token.sent):
        return
    for width in (2, 1):
        if token.i - width < token.sent.start:
            continue
        span = doc[token.i - width : token.i]
        previous = doc[span.start - 1].lower_ if span.start > token.sent.start else ""
        if previous == "no" or any(t.dep_ == "prep" for t in span if t.lower_ in ("over", "under", "above", "below")):
            continue
        if span.text.lower() in LOWER_BOUNDS:
            yield Change((swap(span, f"{fewer} than"),))
        elif span.text.lower() in UPPER_BOUNDS:
            yield Change((swap(span, "more than"),))


def _lot(token: "Token") -> Iterator[Change]:
    """A lot of people -> very few people."""
    doc, i = token.doc, token.i
    of = next((child for child in token.children if child.lower_ == "of"), None)
    noun = next((child for child in of.children if child.dep_ == "pobj"), None) if of is not None else None
    if of is None or noun is None or any(t.dep_ == "cc" for t in noun.lefts for t in (t, *t.children)):
        return
    if of.i == i + 1 and i and doc[i - 1].lower_ == "a" and noun.tag_ in ("NN", "NNS"):
        yield Change((swap(doc[i - 1 : of.i + 1], "very few" if noun.tag_ == "NNS" else "very little"),))


def _step(token: "Token", year: int, steps: list[int]) -> int:
    """Number of years to move a year by, which keeps the order of the years and stays in the past; 0 if none does."""
    years = [_year(t) for t in token.sent if t.i != token.i and _year(t)]
    for step in steps:
        kept = all((year < other) == (year + step < other) and year + step != other for other in years)
        if kept and (year + step <= LATEST_YEAR or step < 0):
            return step
    return 0


def date(sentence: "Span", random: "Random") -> Iterator[Change]:
    """Another year, decade, month, weekday or part of the day; before for after."""
    lists = word_lists()
    for token in sentence:
        previous = token.doc[token.i - 1].lower_ if token.i > sentence.start else ""
        following = token.doc[token.i + 1].text if token.i + 1 < sentence.end else ""
        year, decade = _year(token), token.text[4:] == "s" or following == "'s"
        is_date = token.ent_type_ == "DATE" and not listed("open", previous) and following not in JOINED
        if is_date and year:
            step = _step(token, year, random.sample([-40, -30, -20, -10] if decade else YEAR_STEPS, 4))
            if step:
                yield Change((swap(token, f"{year + step}{token.text[4:]}"),))
        kind = next((k for k in lists.kind_of.get(token.text, ()) if k in ("month", "weekday")), None)
        if is_date and kind and token.pos_ == "PROPN":
            choices = lists.others(token.text, kind)
            near = {t.text for t in token.doc[max(0, token.i - 1) : token.i + 2]}
            if kind == "month" and near & {"29", "30", "31"}:
                choices = [month for month in choices if month in LONG_MONTHS]
            yield Change((swap(token, random.choice(choices)),))
        if token.lower_ in ("morning", "afternoon", "evening") and token.dep_ in ("pobj", "npadvmod"):
            choices = [w for w in ("morning", "afternoon", "evening") if w != token.lower_]
            yield Change((swap(token, random.choice(choices)),))
        if token.lower_ == "night" and previous == "at" and token.dep_ == "pobj":
            yield Change((swap(token.doc[token.i - 1 : token.i + 1], "during the day"),))
        if token.lower_ in ("before", "after") and token.dep_ == "prep" and next(token.children, None) is not None:
            yield Change((swap(token, "after" if token.lower_ == "before" else "before"),))
