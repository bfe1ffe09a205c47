"""Two texts by their quantities, signs and names: what is equal, what differs, what may both be true."""

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice
from math import ceil, floor, log10

from semantic_metrics.core.texts import cached
from semantic_metrics.quantities.characters import CACHED_TEXTS, fold, word_set
from semantic_metrics.quantities.names import other_initials
from semantic_metrics.quantities.read import (
    CLOCK,
    DATE,
    DATES,
    DOUBTFUL,
    FACTOR,
    IDENTIFIER,
    NUMBER,
    ORDINAL,
    RANGE,
    RATE,
    SCALE,
    SHARE,
    WEEKDAY,
    YEAR,
    Q,
    Quantity,
    Reading,
    read,
)
from semantic_metrics.quantities.units import CURRENCY_SIGNS, ELSEWHERE, NAMES, NO_UNIT, PERCENT, STUFF, SYMBOLS, Unit

EQUAL, OPEN, DIFFERENT = "equal", "open", "different"
ABOUT = Fraction(1, 5)  # beside "about" two numbers less than this share apart may both be true (decisions/numbers.md)
LEAST_ROUNDED = 10_000  # a smaller whole number is not rounded: 1950 is not 1945
LIKE_RATE = Fraction(1, 10)  # by how much periods differ that are called alike: a month, four weeks
CONVERTED = Fraction(1, 100)  # by how much a number may change where it is written in another unit
ONE = Fraction(1)
SURE_DIGITS = 3  # with fewer, a number that another rounds to may be another one
NEGATIONS = word_set(
    "no not never none nobody nothing neither nor without cannot cant dont doesnt didnt isnt arent wasnt wont"
)
LISTED = word_set("and or , times plus x by + * \u00d7 ; &")
JOINING = LISTED | word_set("as well in on at the a")
IN_ORDER = word_set("to into before after from than / > < until over beats \\ \u2192 \u2190")
FILLERS = word_set("answer is the a an it s its was are there they about of that equals in on at day")
IN_BASE = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+")
FOUR_DIGITS = re.compile(r"(\d?\d)\.?([0-5]\d)(?!\d)")
AGAIN = word_set("as well too also then again another more later and did so")
BEFORE_DATES = word_set("on in at the of")
DOLLARS = word_set("CAD AUD HKD SGD")
LONG_PERIODS = word_set("d wk mo yr fortnight decade century")
TELLING = re.compile(  # what only looks like punctuation: "!x", "f'(x)", "n!", "5!", "*p", "A*"
    r"(?<![\w!?.)])!(?=[\w(])|(?<![\w'\u2018\u2019\"])[a-zA-Z]['\u2019](?=\s?(?:[(=+*/<>,.^-]|\Z))"
    r"|(?<![\w'\u2019])[a-z]!(?!\w)|\A\d+!(?=\W*\Z)|\A\*(?=[a-z]\w*(?:\s?[=+\[-][^*]*|[^\w*]*)\Z)"
    r"|(?<!\S)[A-Z]\*(?=\W*\Z)"
)
ROOTS = frozenset("\u221a\u221b\u221c")
OUTER = frozenset(".,;:!()[]{}*_")
MARKED = re.compile(r"(?<![\w+#-])[A-Z](?:\+\+|[+#\u2212-])(?![\w+#-])")  # a grade or a name: "A-", "C++", "C#"
PUNCTUATION = frozenset(".,;:!?()[]{}'\"-_\u2013\u2014\u2026\u00a7")
MOST_WORDS_IN_ORDER = 12
MOST_TRIED = 20  # quantities that are compared with all of another text
MOST_LISTED = 50  # quantities of a list that may change places


@dataclass(frozen=True)
class Difference:
    """What two texts have in the same place, of which only one can be true.

    Attributes:
        written: in the first text.
        other: in the second.
    """

    written: str
    other: str

    def __str__(self) -> str:
        return f"{self.written!r} is not {self.other!r}"


@dataclass(frozen=True)
class Comparison:
    """What rules know of two texts.

    Attributes:
        same: whether they are equal but for case, outer punctuation, white space, compatibility characters and the
            writing of their quantities.
        differences: what differs, where the texts contradict by it; empty if they do not, or if rules cannot tell.
    """

    same: bool
    differences: tuple[Difference, ...] = ()


@cached(CACHED_TEXTS)
def compare(one: str, other: str) -> Comparison:
    """Compare two texts, once for a pair; to exchange them changes only the order in each `Difference`."""
    one, other = " ".join(one.split()), " ".join(other.split())
    if one != other and one.casefold() == other.casefold() and (_has_one_case(one) or _has_one_case(other)):
        one, other = one.casefold(), other.casefold()  # "MW" in capitals is no other unit than "mW"
    first, second = read(one), read(other)
    key, pairs = _key(first), list(zip(first.quantities, second.quantities, strict=False))
    if TELLING.findall(first.text) != TELLING.findall(second.text):
        return Comparison(False, tuple(_differences(first, second)))
    if first.text and _bare(first.text) == _bare(second.text):
        same_count = len(first.quantities) == len(second.quantities)
        wrong = {DIFFERENT} if fold(first.text) == fold(second.text) else {DIFFERENT, OPEN}  # "5 mW", "5 MW"; "($5)"
        if same_count and not any(relate(a, b) in wrong for a, b in pairs):
            return Comparison(True)
    same_marks = first.marks == second.marks or not (first.marks and second.marks)  # "x[0]" is not "x[1]"
    if key and key == _key(second) and same_marks and all(relate(a, b) == EQUAL for a, b in pairs):
        return Comparison(True)
    return Comparison(False, tuple(_differences(first, second)))


def _bare(text: str) -> str:
    """A text without case, accents and outer punctuation; itself if it has no letter."""
    return fold(text).strip("".join(OUTER) + "\"'\u201c\u201d\u2018\u2019 ") if any(map(str.isalpha, text)) else text


def _has_one_case(text: str) -> bool:
    return (text.isupper() or text.islower()) and sum(sign.isalpha() for sign in text) > 6


def _key(reading: Reading) -> tuple[str, ...]:
    """The frame without outer punctuation, nor words that stand before some dates and ordinals alone."""
    words = list(reading.frame)
    if len(reading.quantities) != 1 and not any(word[0].isalnum() for word in words):
        return tuple(words)  # "[1, 2)", ":)"
    while len(words) > 1 and words[-1] in OUTER:
        words.pop()
    while len(words) > 1 and words[0] in OUTER and not (words[0] in "*_" and words[1] == Q):
        words.pop(0)
    kept: list[str] = []
    number = 0
    for i, word in enumerate(words):
        if word == Q:
            dated = reading.quantities[number].kind in (*DATES, CLOCK, WEEKDAY, ORDINAL)
            while dated and kept and kept[-1] in BEFORE_DATES:
                kept.pop()
            number += 1
        if word != "," or kept[-1:] != [Q] or words[i + 1 : i + 2] != [Q]:
            kept.append("a" if word == "an" else word)
    return tuple(kept)


def relate(one: Quantity, other: Quantity) -> str:
    """EQUAL, OPEN (both may be true) or DIFFERENT.

    Equal are amounts in any unit, writing and rounding. Open is what a bound, a range, "about", fewer digits or a part
    of a date leaves open. Another unit or currency is another quantity; identifiers are compared as they are written.
    """
    kinds = {one.kind, other.kind}
    if IDENTIFIER in kinds:
        return _relate_codes(*((one, other) if one.kind == IDENTIFIER else (other, one)))
    if kinds <= {DATE, YEAR}:
        return _relate_dates(one, other)
    if YEAR in kinds and kinds & {NUMBER, ORDINAL}:
        year, number = (one, other) if one.kind == YEAR else (other, one)
        if number.text == year.text[-2:] and not 10 <= number.number <= 30:  # "1969", "69"; 2020 is not 20
            return OPEN
        said = one.unit.name or other.unit.name  # "the 1900s", "nineteen hundred"
        return DIFFERENT if one.number != other.number else OPEN if said else EQUAL
    if (NUMBER in kinds and DATE in kinds) or (kinds & {NUMBER, YEAR} and CLOCK in kinds):
        return OPEN if _may_be_same(*((other, one) if one.kind in (DATE, CLOCK) else (one, other))) else DIFFERENT
    if RANGE in kinds:
        return OPEN if one.text == other.text and len(kinds) > 1 else _relate_ranges(one, other)
    if SHARE in kinds and len(one.values) == len(other.values) == 1:
        return _relate_shares(*((one, other) if one.kind == SHARE else (other, one)))
    if kinds == {CLOCK}:
        return _relate_clocks(one, other)
    if len(kinds) > 1 and not kinds <= {NUMBER, ORDINAL}:
        return OPEN if kinds & {WEEKDAY, SCALE, FACTOR, RATE} else DIFFERENT
    return _relate_amounts(one, other)


def _relate_codes(code: Quantity, other: Quantity) -> str:
    """OPEN where a code may be a range, a time or a number: "50/50", "50-50"; "0900", 9 am; "2.0", "2"; "0xFF", 255."""
    (text, said), parts = ("".join(one.text.split()) for one in (code, other)), re.findall(r"\w+", code.text)
    if text.casefold() == said.casefold():
        return EQUAL if text == said or other.kind == IDENTIFIER else OPEN  # "5G", "5 g"
    if other.kind != IDENTIFIER and text == str(other.number):  # "chapter 4", "chapter IV"
        return EQUAL
    if other.kind in (RANGE, CLOCK):
        written = [*map(str, other.values)], re.findall(r"\w+", said)  # "fifty-fifty", "the ratio 50:50"
        same = parts in written if other.kind == RANGE else _may_be_same(code, other)
        return OPEN if same else DIFFERENT
    if f"{text}.0" == said or f"{said}.0" == text:
        return OPEN
    if other.kind == IDENTIFIER:
        return OPEN if parts == re.findall(r"\w+", said) else DIFFERENT  # of a telephone
    return OPEN if IN_BASE.fullmatch(text) and int(text, 0) == other.number else DIFFERENT


def _relate_dates(one: Quantity, other: Quantity) -> str:
    if one.unit != other.unit:
        years = one.values[0], other.values[0]
        within = 10 if {one.unit.dimension, other.unit.dimension} == {"", "decade"} else 1
        return OPEN if not all(years) or abs(years[0] - years[1]) < within else DIFFERENT
    orders = [(one.values, other.values)]
    if one.open != other.open:
        year, month, day = one.values
        orders.append(((year, day, month), other.values))
    if one.values != other.values and one.open and other.open and sorted(one.values) == sorted(other.values):
        return OPEN
    results = [_relate_parts(*values) for values in orders]
    if one.bound[:1] != other.bound[:1]:
        return DIFFERENT if {one.bound, other.bound} in ({"", "<"}, {"", ">"}) and EQUAL in results else OPEN
    if one.bound and EQUAL not in results:
        return OPEN
    return min(results, key=(EQUAL, OPEN, DIFFERENT).index)


def _relate_parts(one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> str:
    if any(a and b and a != b for a, b in zip(one, other, strict=True)):
        return DIFFERENT
    return EQUAL if one == other else OPEN


def _relate_clocks(one: Quantity, other: Quantity) -> str:
    apart = abs(one.values[0] - other.values[0]) % 1440
    if not apart:
        return EQUAL if one.bound == other.bound else OPEN
    if (apart == 720 and (one.open or other.open)) or one.bound or other.bound:
        return OPEN
    return DIFFERENT


def _relate_ranges(one: Quantity, other: Quantity) -> str:
    scalar, span = (one, other) if other.kind == RANGE else (other, one)
    if len(scalar.values) == 3 and len(span.values) == 6:
        return _relate_date_and_range(scalar, span)
    clock = scalar.kind == CLOCK and max(span.values) <= 60  # "ten to four"
    if clock or len(scalar.values) != (len(span.values) if scalar.kind == RANGE else len(span.values) - 1):
        return OPEN
    if len({one.unit.dimension, other.unit.dimension} - {""}) > 1:
        return OPEN if _leaves_out(one.unit, other.unit) or _leaves_out(other.unit, one.unit) else DIFFERENT
    sides = [(scalar.values, span.values)]
    if NO_UNIT in (one.unit, other.unit) and one.unit != other.unit:  # "10-20%", "10-20"
        bare = [tuple((x - side.unit.zero) / side.unit.size for x in side.values) for side in (scalar, span)]
        sides.append((bare[0], bare[1]))
    if scalar.kind != RANGE:
        within = any(min(span) <= value <= max(span) for (value,), span in sides)
        odds = span.open and scalar.values[0] * sum(span.values) == span.values[0]  # 1:1 and 50%
        return OPEN if within or odds or scalar.bound or scalar.text.replace("/", "-") == span.text else DIFFERENT
    if one.values == other.values or one.text == other.text:
        return EQUAL
    if len(one.values) == 6:  # "3 to 5 May", "May 3 to May 5, 2020"
        return _relate_parts(one.values, other.values)
    return OPEN if any(a == b for a, b in sides) or _may_be_same_range(scalar, span) else DIFFERENT


def _relate_date_and_range(date: Quantity, span: Quantity) -> str:
    if date.bound or span.bound or date.unit.name or span.unit.name:
        return OPEN
    parts = date.values, span.values[:3], span.values[3:]
    known = min(next((i for i, part in enumerate(one) if not part), 3) for one in parts)
    value, first, last = (values[:known] for values in parts)
    return OPEN if first <= value <= last else DIFFERENT


def _may_be_same_range(one: Quantity, other: Quantity) -> bool:
    """Whether two ranges may be the same times of the day ("9-5", "9 am to 5 pm"), or one ratio ("2:4", "1:2")."""
    pairs = [*zip(one.values, other.values, strict=True)]
    if one.open != other.open and all(a * other.values[-1] == b * one.values[-1] for a, b in pairs):
        return True
    if one.open or other.open:
        return all((a - b) % 720 == 0 for a, b in pairs)
    bare = one.unit == other.unit == NO_UNIT
    return bare and any(all((x * a - y * b) % 720 == 0 for a, b in pairs) for x, y in ((60, 1), (1, 60)))


def _relate_shares(share: Quantity, other: Quantity) -> str:
    """A share beside another one, or a number: "3 out of 4" may be 75%, and 6 out of 8."""
    (x,), (y,) = share.values, other.values
    if share.bound or other.bound or (other.kind != SHARE and other.unit != PERCENT and y >= 1):
        return EQUAL if other.kind == SHARE and x == y and share.bound == other.bound else OPEN
    if other.kind == SHARE and x == y and share.number == other.number:
        return EQUAL
    return OPEN if abs(x - y) <= max(other.step / 2, x / 100) else DIFFERENT


def _relate_amounts(one: Quantity, other: Quantity) -> str:
    (x,), (y,) = one.values, other.values
    if one.unit.dimension != other.unit.dimension or (one.unit != other.unit and NO_UNIT in (one.unit, other.unit)):
        coarse = max(one, other, key=lambda quantity: quantity.step)
        near = x == y or (abs(x - y) <= coarse.step / 2 and coarse.digits > 1)
        if one.unit.dimension == other.unit.dimension and near:
            return EQUAL if one.bound == other.bound else OPEN
        left_out = not (one.unit.name and other.unit.name)
        bounded = bool({one.bound[:1], other.bound[:1]} & {"<", ">"})  # "under 32" beside "29 years"
        unsure = left_out and (bounded or one.number == other.number or _in_some_unit(one, other))
        pairs = (one, other), (other, one)
        unsure = unsure or any(_may_be(a, b) or _leaves_out(a.unit, b.unit) for a, b in pairs)
        return OPEN if unsure or _needs_substance(one, other) else DIFFERENT
    if one.number != other.number and _is_habit(one.unit, other.unit):
        return EQUAL if x == y and one.bound == other.bound else OPEN
    if one.bound != other.bound or one.bound:
        return _relate_bounds(one, other, x, y)
    related = _relate_values(one, other, x, y)
    if related != EQUAL and one.unit != other.unit:
        for factor in (ELSEWHERE.get(one.unit.name), 1 / ELSEWHERE.get(other.unit.name, ONE)):
            if factor and _relate_values(one, other, x * factor, y) == EQUAL:
                return OPEN
    return related


def _in_some_unit(one: Quantity, other: Quantity) -> bool:
    """Whether a number without a unit is the other amount in a unit that is not said: "90" beside "1.5 hours"."""
    bare, amount = (other, one) if one.unit.name else (one, other)
    return amount.values[0] / bare.number in _sizes(amount.unit.dimension) if bare.number else False


@cache
def _sizes(dimension: str) -> frozenset[Fraction]:
    """Of all units that measure the same."""
    return frozenset(unit.size for unit in NAMES.values() if unit.dimension == dimension)


def _needs_substance(one: Quantity, other: Quantity) -> bool:
    """Whether one amount may be the other of some substance, as "90 mg/dl" of glucose are "5 mmol/l"."""
    (first, *by), (second, *others) = (quantity.unit.dimension.split("/") for quantity in (one, other))
    return by == others and {first, second} <= STUFF and one.number != other.number


def _leaves_out(unit: Unit, other: Unit) -> bool:
    """Whether a unit is another one that does not say by what it is divided: "$900" beside "$900 a month"."""
    return bool(unit.name) and other.dimension.startswith(unit.dimension + "/")


def _is_habit(unit: Unit, other: Unit) -> bool:
    """Whether both are per time, of which one is a day or longer: who works 8 hours a day works 40 a week."""
    periods = {unit.name.rpartition("/")[2], other.name.rpartition("/")[2]}
    return len(periods) > 1 and "/" in unit.name and bool(periods & LONG_PERIODS)


def _may_be(one: Quantity, other: Quantity) -> bool:
    """Whether a unit may be read as the other: "5m" as minutes or millions, "5 pounds" as money."""
    value, dimension, alike = other.values[0], other.unit.dimension, one.number == other.number
    if one.text[:-1].isdigit() and one.text.casefold() == other.text.casefold():  # "221B", "221b"
        return True
    if one.kind == ORDINAL:  # "wait a second", "the twenty second"
        return one.text.lower() == "second" and dimension == "time" and other.number == 1
    if other.kind == ORDINAL:
        return one.text.endswith("second") and other.number == one.number + 2
    if one.unit == SYMBOLS["m"] and one.text.endswith("m"):
        return value == one.number * {"time": 60, "": 10**6}.get(dimension, 0)
    if one.unit == NAMES["basis_point"] and other.unit == PERCENT:
        return one.number == 10_000 * value
    return alike and (
        (one.unit.name == "USD" and "us" not in one.text.lower() and dimension in DOLLARS)
        or (one.unit == NAMES["degree"] and dimension == "temperature")
        or (one.unit in (NAMES["p"], NAMES["cent"]) and one.text[-1] in "pc")
        or (one.unit == NAMES["basis_point"] and dimension == "data/time")  # "bps" are also bits per second
        or (one.unit.name.split("/")[0] == "lb" and "pound" in one.text and dimension.split("/")[0] == "GBP")
    )


def _may_be_same(number: Quantity, other: Quantity) -> bool:
    """Whether a number may be a date or a time of the day: "12/25", "06/2020", "at 9"."""
    if other.kind == CLOCK:
        if digits := FOUR_DIGITS.match(number.text):  # "1500", "10.30", "0900"
            return (60 * int(digits[1]) + int(digits[2]) - other.values[0]) % 720 == 0
        if number.unit.name:  # "14h30"
            return number.unit.dimension == "time" and number.values[0] in (60 * other.values[0], other.values[0])
        return number.kind == NUMBER and (60 * number.number - other.values[0]) % 720 == 0
    if number.text == "{:04}{:02}{:02}".format(*map(int, other.values)):
        return True
    parts = [part for part in number.text.split("/") if part.isdigit()]
    return len(parts) == 2 and set(map(Fraction, parts)) <= {*other.values}  # "9/11"


def _relate_values(one: Quantity, other: Quantity, x: Fraction, y: Fraction) -> str:
    alike = one.kind == other.kind == RATE and abs(x - y) <= LIKE_RATE * max(x, y)
    if alike and (x != y or one.number != other.number):
        return OPEN  # "twice a day" need not be "every 12 hours", and "twice a month" may be fortnightly
    listed = one.text != other.text or one.unit != NO_UNIT  # not so "3,14" beside "The answer is 3,14."
    if one.open != other.open and listed and (abs(x) == abs(y) or 1000 * x == y or x == 1000 * y):
        return OPEN
    if x == y:
        return EQUAL
    coarse, fine = (one, other) if one.step >= other.step else (other, one)
    apart = abs(x - y)
    if one.kind == other.kind == NUMBER and one.unit != other.unit and min(one.digits, other.digits) > 0:
        exact = (max(sizes := (one.unit.size, other.unit.size)) / min(sizes)).denominator == 1  # hours and minutes
        few = 0 if exact else coarse.step / 10
        limit = max(coarse.step / 2, CONVERTED * abs(fine.values[0])) if coarse.digits > 1 else few
        most = ABOUT * max(abs(x), abs(y)) / 2
        if coarse.unit.zero or fine.unit.zero:
            rounded = not (one.number % 5 or other.number % 5) and apart <= CONVERTED * max(x, y)  # 350 °F, 180 °C
            return EQUAL if apart <= min(coarse.step / 2, most) else OPEN if rounded else DIFFERENT
        limit = min(limit, 2 * CONVERTED * max(abs(x), abs(y)))  # a yard is no metre
        return EQUAL if apart <= limit else OPEN if apart <= min(coarse.step / 2, most) else DIFFERENT
    if coarse.step > fine.step and apart <= coarse.step / 2 and coarse.digits > 1:
        if coarse.step < coarse.unit.size:  # it has decimals
            return EQUAL if coarse.digits >= SURE_DIGITS else OPEN
        scaled = coarse.unit == fine.unit and coarse.step > coarse.unit.size  # "8.4 million"
        return EQUAL if scaled and fine.step <= fine.unit.size and fine.digits > 3 else OPEN
    return OPEN if {one.kind, other.kind} == {NUMBER} and _rounds(one, other) else DIFFERENT


def _rounds(one: Quantity, other: Quantity) -> bool:
    """Whether one of two large numbers, or numbers with decimals, is the other, rounded to two digits or more."""
    x, y = one.values[0] / one.unit.size, other.values[0] / other.unit.size
    if x * y <= 0 or x == y:
        return False
    x, y = abs(x), abs(y)
    place = ceil(log10(2 * abs(x - y)))  # of the first digit that a rounding by so much may keep
    for value, rounded in ((x, y), (y, x)):
        large = value >= LEAST_ROUNDED or value.denominator > 1
        if large and place < floor(log10(value)) and rounded % Fraction(10) ** place == 0:
            return True
    return False


def _relate_bounds(one: Quantity, other: Quantity, x: Fraction, y: Fraction) -> str:
    far = abs(x - y) >= ABOUT * max(abs(x), abs(y)) and x != y
    signs = {one.bound[:1], other.bound[:1]}
    if signs == {"<", ">"}:
        low, high = (x, y) if one.bound[0] == ">" else (y, x)
        return DIFFERENT if low >= high else OPEN
    if len(signs) == 1:
        return EQUAL if x == y and one.bound == other.bound else DIFFERENT if far else OPEN
    if "~" in signs:
        return DIFFERENT if far and signs == {"~", ""} else OPEN
    (bound, limit), value = ((one.bound, x), y) if one.bound else ((other.bound, y), x)
    inside = {"<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit}[bound]
    return OPEN if inside else DIFFERENT


def _differences(first: Reading, second: Reading) -> list[Difference]:
    """What differs where it makes the texts contradict: quantities, signs, letters or the order of things."""
    if found := _other_signs(first, second):
        return [found]
    if found := _other_order(first, second):
        return [found]
    words, others = first.words, second.words
    if words == others and len(first.quantities) == len(second.quantities):
        return _in_same_words(first, second) if _roots(first) == _roots(second) else []
    if letters := _other_letters(first.text, second.text):
        return letters
    if initials := other_initials(words, others):
        return [Difference(*initials)]
    return []


def _other_letters(text: str, other: str) -> list[Difference]:
    """Letters that differ where they are the whole text, or capitals where all else is the same: "Plan A", "Plan B"."""
    tokens, others = (re.findall(r"\w+|[^\w\s]", one.strip("".join(OUTER))) for one in (text, other))
    pairs = [(a, b) for a, b in zip(tokens, others, strict=False) if a != b]
    single = all(len(a) == len(b) == 1 and a.isalpha() and b.isalpha() for a, b in pairs)
    if not single or len(tokens) != len(others):
        return []
    named = len(tokens) == 1 or (len(pairs) == 1 and all(map(str.isupper, pairs[0])))
    return [Difference(a, b) for a, b in pairs] if named else []


def relate_bare(one: str, other: str) -> str:
    """EQUAL or DIFFERENT where both texts are quantities alone, but for "the answer is" and the like; else OPEN."""
    first, second = read(one), read(other)
    words, others = ([word for word in reading.words if word not in FILLERS] for reading in (first, second))
    if words != others or not words or words.count(Q) != len(words) or _roots(first) != _roots(second):
        return OPEN
    sides = first.quantities, second.quantities
    for ours, theirs in (sides, sides[::-1]):  # in any order
        if any(all(relate(a, b) == DIFFERENT for b in theirs[:MOST_TRIED]) for a in ours[:MOST_TRIED]):
            return DIFFERENT
    same = all(relate(a, b) == EQUAL for a, b in zip(*sides, strict=True))
    return EQUAL if same and _signs(first) == _signs(second) else OPEN


def _roots(reading: Reading) -> list[str]:
    """Signs that make another number of the one beside them: a root of 4 may be "2", and "5!" 120."""
    return [*(word for word in reading.frame if word in ROOTS), *TELLING.findall(reading.text)]


def _negations(words: tuple[str, ...]) -> set[str]:
    return {word for word in words if word in NEGATIONS or word.endswith("n't")}


def _in_same_words(first: Reading, second: Reading) -> list[Difference]:
    """What differs where all words are the same; nothing behind a negation or beside a bound that leaves it open."""
    pairs = [(a, b, relate(a, b)) for a, b in zip(first.quantities, second.quantities, strict=True)]
    if any(relation == OPEN and (a.bound or b.bound) for a, b, relation in pairs):
        return []
    different = [(a, b) for a, b, relation in pairs if relation == DIFFERENT]
    if not different or (1 < len(different) <= MOST_LISTED and _relisted(first, different)):
        return []
    places = [i for i, word in enumerate(first.words) if word == Q]
    last = max(i for i, (_, _, relation) in enumerate(pairs) if relation == DIFFERENT)
    if _negations(first.words[: places[last]]):
        return []
    return [Difference(a.said, b.said) for a, b in different]


def _relisted(first: Reading, pairs: list[tuple[Quantity, Quantity]]) -> bool:
    """Whether the quantities of a list change places."""
    left = [b for _, b in pairs]
    for a, _ in pairs:
        match = next((b for b in left if relate(a, b) == EQUAL or (a.number == b.number != 0)), None)
        if match is None:
            return False
        left.remove(match)
    between = first.text[pairs[0][0].end : pairs[-1][0].begin]
    for quantity in first.quantities:
        if pairs[0][0].begin < quantity.begin < pairs[-1][0].begin:
            between = between.replace(quantity.text, " ")
    before = first.text[: pairs[0][0].begin].rstrip()
    words, said = (set(re.findall(r"\w+|[^\w\s]", part.lower())) for part in (between, before))
    bracketed = before.endswith(("(", "["))
    return words <= JOINING | (said - IN_ORDER) and bool(words & LISTED) and not bracketed


def _signs(reading: Reading) -> list[str]:
    """The signs of a text that mean something: operators, arrows, emoji; all of a text that has no words."""
    frame = reading.frame
    if not any(word != Q and word[0].isalnum() for word in frame):
        listed = "-:,;." if len(reading.quantities) > 1 else "."
        return [word for word in frame if word != Q and word not in listed]
    kept = []
    for i, word in enumerate(frame):
        before, after = frame[i - 1] if i else "", frame[i + 1] if i + 1 < len(frame) else ""
        if word == "-":  # one of a pair, or a grade: "A-"
            telling = "-" in (before, after) or (len(frame) == 2 and len(before) == 1)
        else:
            telling = (word == "!" and after == "=") or (word not in PUNCTUATION and not word == before == "=")
        if telling and word != Q and not word[0].isalnum():
            kept.append(word)
    return kept


def _other_signs(first: Reading, second: Reading) -> Difference | None:
    """Signs that differ where the words are the same: "x < y", "x > y"; a grade: "A", "A-"."""
    pairs = zip(first.quantities, second.quantities, strict=False)
    if first.words != second.words or any(relate(a, b) == DIFFERENT for a, b in pairs):
        return None
    marked, others = (MARKED.findall(reading.text) for reading in (first, second))
    if marked != others:
        said, also = " ".join(marked), " ".join(others)
        return Difference(said or also.rstrip("+#-"), also or said.rstrip("+#-"))
    one, other = ([*_signs(reading), *TELLING.findall(reading.text)] for reading in (first, second))
    if one == other:
        return None
    brief = not first.quantities and (not first.words or (len(first.words) == 1 and len(first.words[0]) == 1))
    if (one and other) or brief:
        return Difference("".join(one) or first.text.strip(), "".join(other) or second.text.strip())
    return None


def _other_order(first: Reading, second: Reading) -> Difference | None:
    """The same words in another order around "to", "before" and the like, or a sequence of numbers in another order."""
    ranges = [[q for q in reading.quantities if q.kind == RANGE] for reading in (first, second)]
    if all(len(part) == 1 for part in ranges):
        (a,), (b,) = ranges
        turned = a.values != b.values and sorted(a.values) == sorted(b.values)
        worded = first.words == second.words or all("from" in reading.text.lower() for reading in (first, second))
        if turned and worded and a.unit.dimension == b.unit.dimension:  # "they won 3-1", "they lost 1-3"
            return Difference(a.said, b.said)
    frames = [[word for word in reading.frame if word not in PUNCTUATION] for reading in (first, second)]
    if not 2 <= len(frames[0]) == len(frames[1]) <= MOST_WORDS_IN_ORDER or frames[0] == frames[1]:
        return None
    if Counter(frames[0]) != Counter(frames[1]) or Q in frames[0] or not IN_ORDER.intersection(frames[0]):
        return None
    places = [i for i, (a, b) in enumerate(zip(*frames, strict=True)) if a != b]
    middle = frames[0][places[0] : places[-1] + 1]
    ends = {frame[i] for frame in frames for i in (places[0], places[-1])}
    listed = {"and", "or"}.intersection(middle) or IN_ORDER & ends
    return Difference(first.text.strip(), second.text.strip()) if IN_ORDER & {*middle} and not listed else None


def claims_another(claim: str, sentence: str) -> tuple[Difference, ...]:
    """What a claim has otherwise than a sentence of its source that says as much or more, in the same order.

    The words of the claim stand in the sentence in their order, and a quantity of it stands against another one of the
    same kind there, while no quantity of the sentence agrees with it.
    """
    first, second = read(claim), read(sentence)
    if not second.quantities:
        return ()
    if first.words == second.words:
        return tuple(_differences(first, second))
    words = [word for word in first.words if word not in FILLERS]
    content = [word for word in words if word != Q]
    if len(content) < 2 or _negations(second.words) - _negations(first.words):
        return ()
    pairs = _aligned(first, second, words)
    found = [(a, b) for a, b in pairs if relate(a, b) == DIFFERENT]
    for a, b in found:
        if not _comparable(a, b) or any(_comparable(a, c) and relate(a, c) != DIFFERENT for c in second.quantities):
            return ()
    return tuple(Difference(a.said, b.said) for a, b in found)


def _aligned(first: Reading, second: Reading, words: list[str]) -> list[tuple[Quantity, Quantity]]:
    """Quantities in the same place of two texts, where the first one's words stand in the second in their order."""
    pairs, place, number, numbers = [], 0, -1, iter(first.quantities)
    others = [word for word in second.words if word not in FILLERS]
    for word in words:
        while place < len(others) and others[place] != word:
            number += others[place] == Q
            place += 1
        if place == len(others):
            return []
        if word == Q:
            number += 1
            pairs.append((next(numbers), second.quantities[number]))
        place += 1
    return pairs


def may_say(claim: str, sentence: str) -> bool:
    """Whether a sentence has each quantity of a claim, with all words of the claim or none but those."""
    first, second = read(claim), read(sentence)
    for one in first.quantities:
        others = second.quantities if one.kind == RANGE else second.atoms
        if not any(_comparable(one, b) and relate(one, b) != DIFFERENT for b in others):
            return False
    claimed, said = (
        {word for word in reading.words if word not in FILLERS | AGAIN | {Q}} for reading in (first, second)
    )
    return claimed <= said or said <= claimed


def _is_date(quantity: Quantity) -> bool:
    """Whether it is a date or a range of dates."""
    return quantity.kind in DATES or (quantity.kind == RANGE and len(quantity.values) == 6)


def _comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities may answer the same question."""
    if _is_date(one) or _is_date(other):
        return _is_date(one) and _is_date(other)
    alike = one.kind == other.kind or {one.kind, other.kind} <= {NUMBER, RANGE, SHARE}
    return alike and not _needs_substance(one, other)


def find_conflict(question: str, answer: str, reference: str) -> Difference | None:
    """What quantity an answer has where the reference has another one; those of the question do not count.

    It lacks one of the reference and has one of its own that may answer the same question: of the same kind and, where
    both have a unit, of the same dimension. "One", "first", "second" and "third" among other words do not count, nor
    does an amount without a unit beside one with a unit, unless a question asks for them ("six figures", "$150,000").
    """
    asked = {_written(one): one for one in read(question).atoms}
    readings = read(answer), read(reference)

    def is_asked(one: Quantity) -> bool:
        same = asked.get(_written(one))
        others = [*islice(asked.values(), MOST_TRIED), *([] if same is None else [same])]
        return any(relate(one, known) != DIFFERENT for known in others)

    given, wanted = ([one for one in _telling(*sides) if not is_asked(one)] for sides in (readings, readings[::-1]))
    sorts = dict.fromkeys(map(_sort, given)).keys() & set(map(_sort, wanted))
    alone = len(given) == len(wanted) == 1 and (question or bool(given[0].unit.name) == bool(wanted[0].unit.name))
    for sort in [None] if alone else sorted(sorts):
        lacking, others = (_lacking(*sides, sort) for sides in ((wanted, given), (given, wanted)))
        if lacking and others and (question or not _may_bound(lacking, others, readings)):
            return Difference(others.said, lacking.said)
    return None


def _written(one: Quantity) -> tuple[object, ...]:
    """What a quantity is and how it is written: two that have this in common agree with the same others."""
    return one.kind, one.values, one.unit.name, one.bound, one.text


def _may_bound(one: Quantity, other: Quantity, readings: tuple[Reading, Reading]) -> bool:
    """Whether texts may set one bound: "you must be 18" and "nobody under 18", "no one over 65" and "65 or younger"."""
    if one.values != other.values or one.unit != other.unit or one.bound == other.bound:
        return False
    denied, also = (bool(_negations(reading.words)) for reading in readings)
    return denied != also or not (one.bound and other.bound)


def _lacking(quantities: list[Quantity], others: list[Quantity], sort: tuple[str, str] | None) -> Quantity | None:
    """The first quantity, of one sort, that differs from all others, of MOST_TRIED that they do not have alike."""
    apart = {_written(other): other for other in others}
    exact = {key[:-1] for key in apart}
    tried = (
        one
        for one in quantities
        if (sort is None or _sort(one) == sort) and (one.kind, one.values, one.unit.name, one.bound) not in exact
    )
    return next(
        (one for one in islice(tried, MOST_TRIED) if all(relate(one, b) == DIFFERENT for b in apart.values())), None
    )


def _telling(reading: Reading, other: Reading) -> list[Quantity]:
    """The quantities that count: no identifiers, but the number of a name ("port 80") where the other is a number."""
    alone = len(reading.words) == 1
    telling = [one for one in reading.quantities if one.kind != IDENTIFIER]
    bare = other.words == (Q,) and (other.quantities[0].kind, other.quantities[0].unit) == (NUMBER, NO_UNIT)
    if bare and not telling:
        codes = [one for one in reading.quantities if one.text.isdigit() and reading.text[: one.begin][-1:].isspace()]
        return codes if len(codes) == 1 else []
    return [one for one in telling if alone or not (one.by_article or one.text.lower() in DOUBTFUL)]


def _sort(quantity: Quantity) -> tuple[str, str]:
    """What a quantity may be exchanged for."""
    if _is_date(quantity):
        return "date", ""
    if quantity.kind in (NUMBER, ORDINAL, RANGE, SHARE):
        dimension = quantity.unit.dimension.split("/")[0]
        return "number", "money" if dimension in CURRENCY_SIGNS else dimension
    return quantity.kind, ""
