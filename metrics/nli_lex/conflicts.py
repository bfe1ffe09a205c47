"""Whether a text has another number than another text, without a model: "1944" for "1945", "May 6" for "May 5"."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from semantic_metrics.core.texts import same_text
from semantic_metrics.nli_lex.lexical import ARTICLES, CACHED_TEXTS, MONTHS, NEGATIONS, read_words
from semantic_metrics.nli_lex.numerals import roundings, write_as_in

MONTH_NAMES = MONTHS.split("|")
MONTH_OF = {word: i for i, month in enumerate(MONTH_NAMES) for word in (month, month[:3])} | {"sept": 8}
NUMBER = re.compile(r"(-?\d{1,28}(?:\.\d{1,15})?)(?:st|nd|rd|th)?")  # in normalised words
DOUBTFUL = {"1", "1st", "2nd", "3rd"}  # often no numbers where they are words: "one of them", "it first appeared"
SPAN = re.compile(r"(?<!\d)(1\d|20)(\d\d)[-\u2010-\u2015/](\d\d)(?![\d/\u2010-\u2015-])")  # of years: "1979-80"
ISO_DATE = re.compile(r"(?<![\d-])((?:1\d|20)\d\d)-(0[1-9]|1[0-2])-([0-3]\d)(?![\d-])")  # "2021-04-13"
DOTTED_DATE = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.((?:1\d|20)\d\d)(?!\d)")  # "13.4.2021"
LEAST_YEAR = 1000  # smaller numbers are counts or days

# a number with what may be written onto it: "5th", "5kg", "10am", "1980s"
WRITTEN = re.compile(r"(-?\d{1,28}(?:\.\d{1,15})?)(?:st|nd|rd|th|([a-z]{0,3}))")
HALVES = frozenset(("am", "pm"))  # of the day
WEEKDAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
# without their -s; a lone "second" is read as "2nd"
TIME_UNITS = frozenset(("second", "minute", "hour", "day", "week", "month", "year", "decade", "century", "centurie"))
# what a unit measures, and its names, without their -s
UNITS = (
    ("mass", "mg milligram"), ("mass", "g gram gramme"), ("mass", "kg kilo kilogram"), ("mass", "ton tonne"),
    ("mass", "oz ounce"), ("mass", "lb pound"),
    ("length", "mm millimetre millimeter"), ("length", "cm centimetre centimeter"), ("length", "m metre meter"),
    ("length", "km kilometre kilometer"), ("length", "inch inche"), ("length", "foot feet ft"), ("length", "yard"),
    ("length", "mile"),
    ("volume", "ml millilitre milliliter"), ("volume", "l litre liter"), ("volume", "pint"), ("volume", "gallon"),
    ("temperature", "celsius"), ("temperature", "fahrenheit"),
)  # fmt: skip
UNIT_OF = {word: (measure, words.split()[0]) for measure, words in UNITS for word in words.split()}
BEFORE_UNIT = frozenset(("degree", "degrees", "square", "cubic"))
# beside such a word two numbers may both be true if they are less than MOST_APART of the larger one apart
ABOUT = frozenset(
    ("about", "around", "nearly", "almost", "some", "approximately", "approx", "roughly", "circa", "ca", "c")
)
MOST_APART = Decimal("0.2")  # of NLI data's pairs that are further apart 9 of 10 are labelled contradiction (W11)
# Beside such words two numbers may both be true: "at least 5", "older than 5", "5 people or more". So may they beside
# signs that are no words.
BOUND_BEFORE = re.compile(
    rf"\b(?:than|at (?:the )?(?:least|most)|up to|over|under|above|below|{'|'.join(sorted(ABOUT))}|"
    r"min|max|minimum|maximum|minimum of|maximum of|before|after|within|or|"
    r"estimated|beyond|as (?:many|much|few|little) as|upwards? of|in excess of|exceed(?:s|ed|ing)?)(?: an?| the)?$"
)
BOUND_AFTER = re.compile(
    r"^(?:\S+ )?(?:(?:or|and) (?:more|less|fewer|over|under|above|below|older|younger|later|earlier|higher)|"
    r"at (?:the )?(?:least|most)|minimum|maximum|(?:and )?up(?:wards?)?)\b|^(?:or|plus)\b"
)
BOUND_SIGN = re.compile(r"(?<![-=])[<>~\u2248\u2264\u2265\u00b1]=?\s?[$\u20ac\u00a3]?-?\d|\d\s?\+(?!\s?\d)")
CURRENCY_SIGN = re.compile(r"[$\u20ac\u00a3\u00a5\u20b9\u00a2]")
LIST_SIGN = re.compile(r"[,;+*\u00d7]")  # between the numbers of a list, a sum or a product
# what counts sources, steps or sentences: "[1]", "(1) Mix it", "1. Mix it"
MARKER = re.compile(r"\[\d{1,3}(?:[,-] ?\d{1,3})*\]|^\s*(?:\(\d{1,3}\)|\d{1,3}[.)])\s+(?=[^\W\d])")
FULL_YEAR = re.compile(r"(?:1[5-9]|20)(\d\ds?)")  # "1995", "1980s"
POINT_OF_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}\.\d{3}(?![\d.])")  # "1.500" is 1500 in many countries
PLAIN = re.compile(r"[-\w.,:]+")  # what a number is written with, but for signs of currencies and the like
BOUND_WORDS = 4  # on each side of a number that are looked at
BEFORE_MONTH = frozenset(("in", "of", "on", "last", "next", "this", "late", "early", "mid", "from", "to", "every"))
JOINING = {"and", "or", "as", "times", "plus", "x", "by"}  # words of a list of numbers
BETWEEN = {"well", "in", "on", "at"}  # words that may stand beside those
DAY, MONTH, SMALL, LARGE = "day", "month", "small number", "large number"


@dataclass(frozen=True)
class Value:
    """A number of a text, or a month as the number from 0.

    Attributes:
        kind: DAY, MONTH, SMALL or LARGE.
        value: the number.
    """

    kind: str
    value: Decimal

    @property
    def names(self) -> set[tuple[bool, Decimal]]:
        """What it may be called: itself, rounded if it is large or a fraction; months are not numbers."""
        called = {self.value} | (roundings(self.value) if self.kind != MONTH else set())
        return {(self.kind == MONTH, value) for value in called}


def number_conflict(question: str, answer: str, reference: str, number_words: bool = True) -> bool:
    """Whether the answer has another number or month where the reference has one.

    It lacks one of the reference and has one of its own of the same kind: a day or a month of a date, a number below
    1000, or a larger one (as years are); of any kind if each has just one. Numbers of the question do not count, nor do
    "one", "first", "second" and "third" in words among other words. A number from 10,000 on or a fraction agrees with
    one that rounds it to two digits or more ("11 million" and "11,034,000"); an ordinal stands for its number.

    Args:
        question: what was asked.
        answer: the answer to judge.
        reference: a right answer.
        number_words: read "two" as "2", "nineteen twelve" as "1912".

    Returns:
        True speaks against the answer. The rule is this project's own (training/EXPERIMENTS.md, J9).
    """
    asked, given, wanted = (_values(text, number_words) for text in (question, answer, reference))
    known = _names(asked)
    given, wanted = (frozenset(value for value in values if not value.names & known) for values in (given, wanted))
    missing, other = _without(wanted, given), _without(given, wanted)
    if len(given) == len(wanted) == 1:
        return bool(missing and other)
    return not {value.kind for value in missing}.isdisjoint(value.kind for value in other)


@dataclass(frozen=True)
class Difference:
    """Words in the same place of two texts, of which only one can be true.

    Attributes:
        word: normalised, of the first text.
        other: of the second.
    """

    word: str
    other: str


def differing_numbers(one: str, other: str) -> list[Difference]:
    """Where two texts contradict because they have the same words but for numbers or dates: "38 hurt", "37 hurt".

    A number stands against a number, a month against a month, a day of the week against another, "am" against "pm", and
    a unit of time behind the same number against another. There is none if the texts differ otherwise, and none if both
    may be true: where a bound stands beside the number ("at least 38") or a negation before it, one number is the other
    rounded or in another writing ("'95", "19:30", "1.500"), the amounts are of two currencies, or the numbers of a list
    change places ("the 2nd and the 5th"). Behind "about" and the like, in one text or both, the numbers must be a fifth
    of the larger one apart, or more. Numbers of sources and steps ("[1]", "1. Mix it") do not count.

    Args:
        one: any text.
        other: another; to exchange them changes only the order in each `Difference`.

    Returns:
        What differs, in the texts' order; empty if the texts do not contradict so. The rule is this project's own
        (training/EXPERIMENTS.md, W6 and W11).
    """
    one = write_as_in(one, other).text
    read = (read_words(_plain_dates(MARKER.sub(" ", text))).all for text in (one, other))
    (words, rough), (others, other_rough) = map(_without_about, read)
    if len(words) != len(others) or words == others or any(map(BOUND_SIGN.search, (one, other))):
        return []
    places = [i for i, pair in enumerate(zip(words, others, strict=True)) if not _same_number(*pair)]
    if not places or not all(_exclude(words, others, i) and not _bounded(words, i) for i in places):
        return []
    if any(i in rough | other_rough and _near(words[i], others[i]) for i in places):
        return []
    currencies = [set(CURRENCY_SIGN.findall(text)) for text in (one, other)]
    if (all(currencies) and currencies[0] != currencies[1]) or not NEGATIONS.isdisjoint(words[: places[-1]]):
        return []
    both = f"{one} {other}"
    written_otherwise = any(_same_writing(words[i], others[i], both) for i in places)
    if written_otherwise or _same_date(words, others, places) or _reordered(words, others, places, (one, other)):
        return []
    return [Difference(words[i], others[i]) for i in places]


def same_but_for_writing(one: str, other: str) -> bool:
    """Whether two texts are equal but for white space and how their numbers are written: "One", "2.50"; "1", "2.5".

    Signs of currencies and the like are a part of the text, and "1.500" may be 1500 and is not compared.
    """
    if same_text(one, other):
        return True
    words, others = (read_words(_plain_dates(text)).all for text in (one, other))
    equal = bool(words) and len(words) == len(others) and all(map(_same_number, words, others))
    if not equal or any(map(POINT_OF_THOUSANDS.search, (one, other))):
        return False
    return _around_numbers(one) == _around_numbers(other)


def _around_numbers(text: str) -> list[str]:
    """The words of a text that are no numbers, as they are written."""
    return [word for word in text.split() if not (PLAIN.fullmatch(word) and _is_number(word))]


def _is_number(word: str) -> bool:
    return word.lower() == "minus" or all(map(NUMBER.fullmatch, read_words(_plain_dates(word)).all))


def has_differences(one: str, other: str, differences: list[Difference]) -> bool:
    """Whether two texts have all the words that differ, each its own."""
    words, others = (read_words(_plain_dates(text)).all for text in (one, other))
    return all(part.word in words and part.other in others for part in differences)


def _same_number(word: str, other: str) -> bool:
    """Whether two words are equal, or numbers of one value: "07" and "7", "5th" and "5"."""
    if word == other:
        return True
    number, against = WRITTEN.fullmatch(word), WRITTEN.fullmatch(other)
    return bool(number and against) and _value(number) == _value(against)


def _value(number: re.Match[str]) -> tuple[Decimal, str]:
    return Decimal(number[1]), number[2] or ""


def _exclude(words: tuple[str, ...], others: tuple[str, ...], place: int) -> bool:
    """Whether of two different words in one place only one can be true."""
    word, other, before = words[place], others[place], words[place - 1] if place else ""
    number, against = WRITTEN.fullmatch(word), WRITTEN.fullmatch(other)
    if number and against:
        (value, unit), (another, other_unit) = _value(number), _value(against)
        apart = _without(frozenset((Value(LARGE, value),)), frozenset((Value(LARGE, another),)))  # neither is rounded
        return (unit == other_unit and bool(apart)) or {unit, other_unit} == HALVES or _other_unit(unit, other_unit)
    if before != (others[place - 1] if place else ""):
        return False
    counted = words[place - 2] if before in BEFORE_UNIT and place > 1 else before
    if NUMBER.fullmatch(counted):
        units = {word.removesuffix("s"), other.removesuffix("s")}
        if (len(units) == 2 and (units <= TIME_UNITS or units == HALVES)) or _other_unit(word, other):
            return True
    months = word in MONTH_OF and other in MONTH_OF and MONTH_OF[word] != MONTH_OF[other]
    dated = before in BEFORE_MONTH or any(map(NUMBER.fullmatch, (before, *words[place + 1 : place + 2])))
    return (months and dated) or {word.removesuffix("s"), other.removesuffix("s")} <= WEEKDAYS


def _without_about(words: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[int]]:
    """The words without "about" and the like before a number, and the places of such numbers."""
    kept, rough = [], set()
    for word, after in pairwise((*words, "")):
        if word in ABOUT and WRITTEN.fullmatch(after):
            rough.add(len(kept))
        else:
            kept.append(word)
    return tuple(kept), frozenset(rough)


def _near(word: str, other: str) -> bool:
    """Whether two numbers are so close that "about" may stand for what they differ by."""
    numbers = [WRITTEN.fullmatch(word) for word in (word, other)]
    if not all(numbers):
        return False
    value, another = (Decimal(number[1]) for number in numbers)
    return abs(value - another) < MOST_APART * max(abs(value), abs(another))


def _other_unit(word: str, other: str) -> bool:
    """Whether two words are different units of one measure: "kg" and "pounds"."""
    unit, against = (UNIT_OF.get(one) or UNIT_OF.get(one.removesuffix("s")) for one in (word, other))
    return bool(unit and against) and unit[0] == against[0] and unit != against


def _same_writing(word: str, other: str, texts: str) -> bool:
    """Whether two numbers may be one: "'95" and "1995", "1.500" and "1,500", "7:30" and "19:30"."""
    short, long = sorted((word, other), key=len)
    if (year := FULL_YEAR.fullmatch(long)) and year[1] == short:
        return True
    numbers = [WRITTEN.fullmatch(word) for word in (short, long)]
    if not all(numbers):
        return False
    low, high = sorted(Decimal(number[1]) for number in numbers)
    if 1000 * low == high and POINT_OF_THOUSANDS.search(texts):
        return True
    hours = high - low in (12, 24) and low >= 0 and high <= 24
    return hours and bool(re.search(rf"(?<!\d)0?{re.escape(str(low))}:\d\d(?!\d)", texts))


def _same_date(words: tuple[str, ...], others: tuple[str, ...], places: list[int]) -> bool:
    """Whether all that differs is a date in digits in another order: "13/04/2021" and "2021-04-13".

    Behind a year the month comes first, so that of two such dates no order is left open.
    """
    for begin in range(max(places[-1] - 2, 0), places[0] + 1):
        parts = [text[begin : begin + 3] for text in (words, others)]
        if all(len(part) == 3 and all(word.isdecimal() for word in part) for part in parts):
            month, day, year = sorted(map(int, parts[0]))
            years_first = all(int(part[0]) == year for part in parts)
            is_date = month <= 12 and day <= 31 and 1000 <= year < 2200
            if sorted(map(int, parts[1])) == [month, day, year] and is_date and not years_first:
                return True
    return False


def _reordered(words: tuple[str, ...], others: tuple[str, ...], places: list[int], texts: tuple[str, str]) -> bool:
    """Whether the numbers or dates of a list change places."""
    if sorted(words[i] for i in places) != sorted(others[i] for i in places):
        return False
    counted = (word for word in words[places[0] : places[-1]] if word not in MONTH_OF and not WRITTEN.fullmatch(word))
    between = {word for word in counted if word.removesuffix("s") not in WEEKDAYS}
    joined = bool(between & JOINING) or all(map(LIST_SIGN.search, texts))
    return joined and between <= JOINING | BETWEEN | ARTICLES


def _bounded(words: tuple[str, ...], place: int) -> bool:
    """Whether words beside a number or a date leave room for another one."""
    before, after = words[max(place - BOUND_WORDS, 0) : place], words[place + 1 : place + 1 + BOUND_WORDS]
    return bool(BOUND_BEFORE.search(" ".join(before)) or BOUND_AFTER.match(" ".join(after)))


def _names(values: frozenset[Value]) -> set[tuple[bool, Decimal]]:
    return {name for value in values for name in value.names}


def _without(values: frozenset[Value], others: frozenset[Value]) -> list[Value]:
    """The values that agree with none of the others: neither is the other, rounded."""
    exact, rounded = {(value.kind == MONTH, value.value) for value in others}, _names(others)
    return [
        value for value in values if (value.kind == MONTH, value.value) not in rounded and exact.isdisjoint(value.names)
    ]


@lru_cache(CACHED_TEXTS)
def _values(text: str, number_words: bool) -> frozenset[Value]:
    """The numbers of a text and the months beside a number ("May 5", "5th of May")."""
    text = ISO_DATE.sub(_named_month, _plain_dates(text))
    read = read_words(text, number_words)
    words = [word for word in read.all if word != "of"]
    doubtful = DOUBTFUL.difference(read_words(text, number_words=False).all) if len(read.plain) > 1 else ()
    values = set()
    for i, word in enumerate(words):
        beside = words[max(i - 1, 0) : i] + words[i + 1 : i + 2]
        if word in MONTH_OF and any(map(NUMBER.fullmatch, beside)):
            values.add(Value(MONTH, Decimal(MONTH_OF[word])))
        elif (number := NUMBER.fullmatch(word)) and word not in doubtful:
            value = Decimal(number[1])
            small = DAY if any(other in MONTH_OF for other in beside) else SMALL
            values.add(Value(small if value.copy_abs() < LEAST_YEAR else LARGE, value))
    return frozenset(values)


def _plain_dates(text: str) -> str:
    """Spans of years with both years, and dates with points as three numbers: "13 4 2021" for "13.4.2021"."""
    return DOTTED_DATE.sub(r"\1 \2 \3", SPAN.sub(_both_years, text))


def _named_month(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    return f"{day} {MONTH_NAMES[int(month) - 1]} {year}"


def _both_years(match: re.Match[str]) -> str:
    """Both years of a span: "1979 1980" of "1979-80"; what does not end later, as a month ("2019-05"), stays."""
    century, begin, end = match.groups()
    return f"{century}{begin} {century}{end}" if begin < end else match[0]
