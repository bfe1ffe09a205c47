"""Every quantity of a text, and the words around them.

The reader goes through a text once. What begins with a digit, a sign of a currency or a word for a number is read by
small rules: a date, a time of the day, an identifier, or a number with its scale, unit and bound.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from semantic_metrics.quantities.characters import CACHED_TEXTS, fold, unfold, word_set
from semantic_metrics.quantities.spell import (
    NUMBER_WORDS,
    ORDINALS,
    SCALES,
    SHORT_SCALES,
    TENS,
    YEAR_IN_WORDS,
    cardinal,
    years_in_digits,
)
from semantic_metrics.quantities.units import CURRENCY_SIGNS, NAMES, NO_UNIT, PERCENT, Unit, find_unit

# kinds of quantities
NUMBER, ORDINAL, YEAR, DATE, WEEKDAY, CLOCK, RATE, FACTOR, SCALE, IDENTIFIER, RANGE = (
    *("number", "ordinal", "year", "date", "weekday", "clock time", "rate", "factor", "scale", "identifier", "range"),
)
DATES = (YEAR, DATE)
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
MONTH_OF = {word: i for i, month in enumerate(MONTHS.split("|"), 1) for word in (month, month[:3])} | {"sept": 9}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY_OF = {word: i for i, day in enumerate(WEEKDAYS, 1) for word in (day, day + "s")}
BEFORE_MONTH = frozenset(("in", "of", "on", "last", "next", "this", "late", "early", "mid", "from", "to", "every"))
BEFORE_MONTH |= {"until", "since", "before", "after", "by", "around"}
FACTORS: dict[str, int | Fraction] = {"doubled": 2, "tripled": 3, "trebled": 3, "quadrupled": 4}
FACTORS |= {"halved": Fraction(1, 2)}
SCALE_WORDS = {"dozens": 12, "hundreds": 100, "thousands": 1000, "millions": 10**6, "billions": 10**9}
TIMES = {"once": 1, "twice": 2, "thrice": 3}
RATES = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "annually": "year", "yearly": "year"}
CLOCK_WORDS = {"noon": 720, "midday": 720, "midnight": 0}
PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4, "third": 3, "thirds": 3, "tenth": 10, "tenths": 10}
PARTS |= {word + ending: value for word, value in ORDINALS.items() if 5 <= value <= 20 for ending in ("", "s")}
QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
NOTHING = frozenset(("none", "nil", "nothing"))  # numbers where they are the whole text
DOUBTFUL = frozenset(("one", "first", "second", "third"))  # often no numbers: "one of them", "it first appeared"
ATTACHED_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "bn": 10**9, "mn": 10**6} | {
    short: SCALES[word] for short, word in SHORT_SCALES.items()
}
MONEY_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
MAX_DIGITS = 28  # longer numbers are compared as they are written
MAX_POWER = 30
FIRST_YEAR, LAST_YEAR = 1000, 2199
# words behind which digits are a name, not an amount
NAMED = word_set(
    "version release section sec figure fig table chapter appendix clause article paragraph equation page room "
    "gate flight bus route highway code pin zip postcode id isbn sku ticket order invoice case rule item step "
    "part exercise question number no v rev build model series ieee rfc iso din port extension ext account serial "
    "phone tel"
)
ONLY_DECIMALS = NAMED & {"part", "step", "number", "no", "case", "page", "question", "series", "room", "order", "item"}
SMALL_WORDS = word_set(
    "a an and are at about around but by for from had has have he her his i if in is it its just nearly no not of "
    "on only or our over she so some than that the their then there they this to under until up was we were with "
    "you almost approximately exactly pi"
)

TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:(?<=[nN])['\u2019][tT]\b)?|[^\w\s]|_")
UNIT_WORD = re.compile(r"[\s-]?([\u00b0]\s?[A-Za-z]?\b|%|\u2030|\u00a2|[^\W\d_]+(?:/[a-z]+|\^?[23](?!\w))?)")
NEXT_WORD = re.compile(r"[\s-]([^\W\d_]+)")
_MONTH = "|".join(sorted(MONTH_OF, key=len, reverse=True))
_YEAR = r"(?:1\d|20|21)\d\d"
ISO_DATE = re.compile(r"(\d{4})-(0?[1-9]|1[0-2])-([0-3]?\d)(?![\d-])")
ISO_MONTH = re.compile(r"((?:1\d|20)\d\d)-(0[1-9]|1[0-2])(?![\d-])")
DATE_IN_DIGITS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?![\d./-]?\d)")
DAY_MONTH = re.compile(
    rf"(\d\d?)(?:st|nd|rd|th)?(?:\sday)?(?:\sof)?[\s-]({_MONTH})\b\.?(?:[,\s-]{{1,2}}({_YEAR})(?![\w-]))?", re.I
)
MONTH_DAY = re.compile(
    rf"({_MONTH})\b\.?\s(?:the\s)?(\d\d?)(?:st|nd|rd|th)?(?![\w%]|[.,:/]\d)(?:,?\s({_YEAR})(?![\w-]))?", re.I
)
MONTH_YEAR = re.compile(rf"({_MONTH})\b\.?,?\s(?:of\s)?({_YEAR})(?!\w)", re.I)
DAY_IN_WORDS = re.compile(rf"(?:the\s)?([a-z]+(?:-[a-z]+)?)\sof\s({_MONTH})\b(?:,?\s({_YEAR})(?!\w))?", re.I)
QUARTER = re.compile(rf"(?:Q([1-4])|({'|'.join(QUARTERS)})\squarter)\b(?:(?:\sof)?\s({_YEAR})(?!\w))?", re.I)
CLOCK_TIME = re.compile(
    r"(\d\d?)(?:[:.]([0-5]\d))?(?::[0-5]\d)?\s?([ap])(?:m\b|\.\s?m\b\.?)(?:\s(?:UTC|GMT)\b)?"
    r"|(\d\d?):([0-5]\d)(?::[0-5]\d)?(?![\d:])(?:\s(?:UTC|GMT)\b)?|(\d\d?)\so'clock",
    re.I,
)
VERSION = re.compile(r"\d+(?:\.\d+){2,}[\w.-]*\w|\d+(?:-\d+){2,}|\d+[^\W\d_][\w-]*(?:\.\d[\w.]*)*")
ORDINAL_ENDING = re.compile(r"(?:st|nd|rd|th)\b", re.I)
MONEY_LETTERS, SCALE_LETTERS = re.compile(r"\s?([A-Za-z]{1,3})\b"), re.compile(r"([A-Za-z]{1,3})\b")
GROUPED, POINTED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"), re.compile(r"\d{1,3}(?:\.\d{3}){2,}")
POINT_OF_THOUSANDS = re.compile(r"[1-9]\d{0,2}\.\d{3}(?![\d.])")  # "1.500" is 1500 in many countries
SPACED = re.compile(r"\d{1,3}(?:[ \u202f]\d{3})+(?![\d.,]?\d)")
POWER = re.compile(r"[eE]([+-]?\d\d?)(?!\w)|\s?[x\u00d7*\u00b7]\s?10\s?\^\s?\(?(-?\d\d?)\)?(?!\w)")
RAISED = re.compile(r"\s?(?:\^|\*\*)\s?(-?\d\d?)(?![\w.])")
BEFORE_AMOUNT = re.compile(r"[\s$]{0,2}")
SLASH = re.compile(r"\s?/\s?(\d{1,4})(?![\w/]|\.\d)")
MIXED = re.compile(r"\s(\d{1,3})/(\d{1,3})(?![\w/])")
SCALE_WORD = re.compile(rf"[\s-]?(hundred|{'|'.join([*SCALES, *SHORT_SCALES])})\b", re.I)
AND_HALF = re.compile(r"\s(?:and\s)?a\s(half|quarter)\b")
PER_TIME = re.compile(
    r"\s(?:times\s|time\s)?(?:(?:an?|per|each|every)\s|/)(hour|day|week|month|year|minute|second)\b"
    r"|\s(?:times\s)?(hourly|daily|weekly|monthly|annually|yearly)\b",
    re.I,
)
EVERY = re.compile(r"every\s(?:(\d+|two|three|four|five|six)\s)?(hour|day|week|month|year|minute)s?\b", re.I)
PART_OF = re.compile(r"(?=\s(?:of|as)\b|\W*\Z)")
HALVES = frozenset(("half", "quarter"))
BEFORE_HALF = frozenset(("second", "first", "last", "next", "this", "each", "every"))
NO_COUNT = frozenset(("no", "any", "every", "some", "the", "that", "this", "which", "each"))  # "no one", "the one"
DOLLARS, POINTS = re.compile(r"\s?(?:USD|dollars?)\b"), re.compile(r"[\s-]points?\b")
OF_A = re.compile(r"\sof\san?(?=\s)")
ERA = re.compile(r"\s?(BCE?|bce?|AD|CE|B\.C\.|A\.D\.)(?!\w)")
DECADE = re.compile(r"(?:'|\u2019)?s\b")
SHORT_YEAR = re.compile(r"['\u2019](\d\d)(s?)(?!\w)")
JOINED = re.compile(r"\s?[-\u2013\u2014:]\s?|/|\s(?:to|until|till|through)\s", re.I)
BETWEEN = re.compile(r"\sand\s", re.I)
BOUND_WORDS = 40  # characters before a number that are looked at
BOUNDS_BEFORE = (  # the first that fits: "no more than" ends with "more than"
    (">=", r"at (?:the )?(?:very )?least|(?:no|not) (?:less|fewer|earlier|younger|under|below)(?: than)?"
           r"|(?:a )?minimum(?: of)?|min|not before"),
    ("<=", r"at (?:the )?(?:very )?most|(?:no|not) (?:more|later|older|longer|higher|larger|over|above|beyond|after)"
           r"(?: than)?|up to|(?:a )?maximum(?: of)?|max|within|by|as (?:many|much) as"),
    (">", r"(?:more|greater|longer|older|higher|larger|later|taller|heavier|bigger|farther|further) than"
          r"|(?:well )?over|above|beyond|after|exceed(?:s|ed|ing)?|upwards? of|in excess of"),
    ("<", r"(?:less|fewer|shorter|younger|lower|smaller|earlier|lighter) than|(?:well )?under|below|before"),
    ("~", r"about|around|nearly|almost|some|approximately|approx\.?|roughly|circa|ca\.?|c\.|close to"
          r"|(?:an )?estimated|or"),
)  # fmt: skip
BOUND_BEFORE = [
    (bound, re.compile(rf"(?:^|(?<=\s)|(?<=[(,;]))(?:{words})(?:\s(?:an?|the))?\s?\Z", re.I))
    for bound, words in BOUNDS_BEFORE
]
BOUND_ENDS = frozenset(re.findall(r"[a-z]+", " ".join(words for _, words in BOUNDS_BEFORE))) | {
    "a",
    "an",
    "the",
    "s",
    "ed",
    "ing",
}
BOUND_ENDS |= {"exceeds", "exceeded", "exceeding", "upwards"}
BOUND_SIGNS = {
    "=": "<=",
    "<": "<",
    ">": ">",
    "\u2264": "<=",
    "\u2265": ">=",
    "~": "~",
    "\u2248": "~",
    "\u00b1": "~",
    "<=": "<=",
    ">=": ">=",
}  # a sign of two characters ends with "="
BOUND_SIGN = re.compile(r"(?:^|(?<=\s)|(?<=[(]))([<>]=?|[\u2264\u2265~\u2248\u00b1])\s?\Z")
_MORE, _LESS = (
    "more|over|above|older|later|higher|longer|up(?:wards?)?",
    "less|fewer|under|below|younger|earlier|lower|shorter",
)
BOUND_AFTER = [
    (bound, re.compile(words, re.I))
    for bound, words in (
        (">=", r"\s?\+(?!\s?[\d(])(?!\w)|\sminimum\b|\splus\b"),
        (">=", rf"(?:\s\w+)?\s(?:(?:or|and) (?:{_MORE})|at (?:the )?least)\b"),
        ("<=", rf"(?:\s\w+)?\s(?:(?:or|and) (?:{_LESS})|at (?:the )?most)\b|\smaximum\b"),
        ("~", r"\sor\b"),
    )
]
NOUN_BETWEEN = re.compile(r"\s\w+\s(?:or|and|at)\b")  # "5 people or more"
BESIDE_DATES = frozenset(("by",))  # a bound beside a date or a time alone; it stays among the words
MARKER = re.compile(r"\[\d{1,3}(?:[,-] ?\d{1,3})*\]|^\s*(?:\(\d{1,3}\)|\d{1,3}[.)])\s+(?=[^\W\d])")
ROMAN = re.compile(r"(?=[IVXLC])(?:C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\Z")
ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
BEFORE_ROMAN = word_set("chapter stage war part type phase volume act book figure table section bowl grade level class")
Q = "\0"  # stands for a quantity among words


@dataclass(frozen=True)
class Quantity:
    """A quantity of a text.

    Attributes:
        kind: NUMBER, ORDINAL, YEAR, DATE, WEEKDAY, CLOCK, RATE, FACTOR, SCALE, IDENTIFIER or RANGE.
        values: one number in base units; year, month and day of a date, 0 for what is not said; minutes of a time of
            the day; the numbers of a range or another sequence in their order; none for an identifier.
        number: the number as it is written, without its unit.
        unit: of the number.
        bound: "" for an exact value, or one of <, <=, >, >=, ~.
        step: one unit of the last digit that is written, in base units; 0 where nothing is rounded.
        digits: significant digits that are written.
        open: whether a date may be read in two orders, or a time of the day is of either half.
        begin, end: its characters in the text, without words of the bound.
        text: those characters.
    """

    kind: str
    values: tuple[Fraction, ...]
    begin: int
    end: int
    text: str
    number: Fraction = Fraction(0)
    unit: Unit = NO_UNIT
    bound: str = ""
    step: Fraction = Fraction(0)
    digits: int = 0
    open: bool = False


@dataclass(frozen=True)
class Reading:
    """What a text says.

    Attributes:
        text: the text, unfolded.
        atoms: its quantities in their order, each alone.
        quantities: the same, with those of a range or a sequence ("3-1", "from 10 to 20") as one.
        frame: its words and signs, folded, with Q in the place of each of `quantities`; no full stops, no bounds.
    """

    text: str
    atoms: tuple[Quantity, ...]
    quantities: tuple[Quantity, ...]
    frame: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The frame without signs and articles."""
        return tuple(one for one in self.frame if one == Q or (one[0].isalnum() and one not in ("a", "an", "the")))


@lru_cache(CACHED_TEXTS)
def read(text: str) -> Reading:
    """Read a text; the same text is read once."""
    text = unfold(text)
    frame: list[tuple[int, int, str]] = []
    atoms: list[Quantity] = []
    bounds: list[tuple[int, int]] = []
    place = 0
    marks = {match.start(): match.end() for match in MARKER.finditer(text)}
    for token in TOKEN.finditer(text):
        begin = token.start()
        if begin < place:
            continue
        if begin in marks:
            place = marks[begin]
            continue
        quantity = _read_one(text, begin, token[0], frame)
        if quantity is None:
            place = token.end()
            if token[0] not in ".'\u2019\"\u201c\u201d`":
                frame.append(
                    (begin, place, fold(token[0]).replace("\u2019", "'") if token[0][0].isalnum() else token[0])
                )
            continue
        quantity, first, place = _bounded(text, quantity, frame[-1][2] if frame else "")
        while frame and frame[-1][0] >= first:
            frame.pop()
        frame.append((first, place, Q))
        bounds.append((first, place))
        atoms.append(quantity)
    quantities, words = _joined(text, atoms, bounds, frame)
    return Reading(text, tuple(atoms), tuple(quantities), tuple(words))


def _sure_match(pattern: re.Pattern[str], text: str, begin: int) -> re.Match[str]:
    """The match at a place where a pattern always has one, as it may be empty or a token is known to begin there."""
    match = pattern.match(text, begin)
    assert match is not None, "the caller knows what is at this place"
    return match


def _read_one(text: str, begin: int, token: str, frame: list[tuple[int, int, str]]) -> Quantity | None:
    """The quantity that begins at a token, or None."""
    if token[0].isdigit():
        return _from_digits(text, begin, frame)
    if token in ("-", "+", "'", "\u2019") or (
        not token.isalnum() and token in ".$\u00a3\u20ac\u00a5\u20b9\u20a9\u20bd\u20ba\u20aa\u20bf"
    ):
        return _from_sign(text, begin, token, frame)
    word = token.lower()
    if word in MONTH_OF:
        return _from_month(text, begin, frame)
    if word in NOTHING and text.strip(" .").lower() == word:
        return Quantity(NUMBER, (Fraction(0),), begin, begin + len(word), text[begin : begin + len(word)])
    if word in _STARTS:
        return _from_words(text, begin, word, frame)
    if (
        token.isupper()
        and (unit := CURRENCY_SIGNS.get(token))
        and text[begin + len(token) : begin + len(token) + 2].strip(" $")[:1].isdigit()
    ):
        after = _sure_match(BEFORE_AMOUNT, text, begin + len(token)).end()
        return _money(text, begin, after, unit, frame)
    if word == "q" and (match := QUARTER.match(text, begin)):
        return _date(
            text, match, int(match[3] or 0), int(match[1] or QUARTERS[(match[2] or "first").lower()]), 0, "quarter"
        )
    if token.isupper() and ROMAN.match(token) and _may_be_roman(text, begin, token, frame):
        return Quantity(ORDINAL, (Fraction(_roman(token)),), begin, begin + len(token), token, Fraction(_roman(token)))
    return None


def _from_sign(text: str, begin: int, sign: str, frame: list[tuple[int, int, str]]) -> Quantity | None:
    """A negative number, one that begins with its point, a year such as '95, or an amount of a currency."""
    after = text[begin + 1 : begin + 3]
    alone = not begin or text[begin - 1].isspace() or text[begin - 1] in '("\u201c=^~<>:['
    if sign in "'\u2019":
        match = SHORT_YEAR.match(text, begin)
        if not match or not alone:
            return None
        return _date(text, match, 1900 + int(match[1]) if int(match[1]) > 30 else 2000 + int(match[1]), 0, 0, match[2])
    if sign in CURRENCY_SIGNS and after.strip()[:1].isdigit():
        return _money(text, begin, begin + 1 + after[:1].isspace(), CURRENCY_SIGNS[sign], frame)
    if sign in "-+" and alone and after[:1] in CURRENCY_SIGNS and after[1:].isdigit():
        inner = _money(text, begin + 1, begin + 2, CURRENCY_SIGNS[after[0]], frame)
    elif sign == "." and after[:1].isdigit() and alone:
        inner = _from_digits(text, begin + 1, frame, point=True)
    elif sign in "-+" and alone and after[:1].isdigit():
        inner = _from_digits(text, begin + 1, [])
    else:
        return None
    if inner is None or inner.kind in (IDENTIFIER, DATE, CLOCK):
        return None
    values, number = inner.values, inner.number
    if sign == "-":
        values, number = tuple(-value for value in values), -number
    kind = NUMBER if inner.kind == YEAR else inner.kind
    return replace(inner, kind=kind, values=values[:1], number=number, begin=begin, text=text[begin : inner.end])


def _money(text: str, begin: int, digits: int, unit: Unit, frame: list[tuple[int, int, str]]) -> Quantity | None:
    match = TOKEN.match(text, digits)
    read_number = _plain_number(text, digits) if match and match[0][0].isdigit() else None
    return _number(text, begin, *read_number, unit=unit, frame=frame) if read_number else None


def _from_digits(text: str, begin: int, frame: list[tuple[int, int, str]], point: bool = False) -> Quantity | None:
    """What begins with a digit: a date, a time, an identifier or a number."""
    before = text[begin - 1] if begin else " "
    if not point:
        if not (before.isalnum() or before == "_") and (found := _date_from_digits(text, begin) or _clock(text, begin)):
            return found
        if found := _identifier(text, begin, before, frame):
            return found
    number = _plain_number(text, begin, point)
    if number is None:
        end = _sure_match(TOKEN, text, begin).end()
        return Quantity(IDENTIFIER, (), begin, end, text[begin:end])
    return _number(text, begin, *number, unit=None, frame=frame)


def _date_from_digits(text: str, begin: int) -> Quantity | None:
    if match := ISO_DATE.match(text, begin):
        return _date(text, match, int(match[1]), int(match[2]), int(match[3]))
    if match := ISO_MONTH.match(text, begin):
        return _date(text, match, int(match[1]), int(match[2]), 0)
    if (match := DATE_IN_DIGITS.match(text, begin)) and (len(match[4]) == 4 or match[2] == "/"):
        day, month, year = int(match[1]), int(match[3]), int(match[4])
        year += (2000 if year <= 30 else 1900) * (len(match[4]) == 2)
        if month > 12:
            day, month = month, day
        if day and 0 < month <= 12 and day <= 31:
            return replace(_date(text, match, year, month, day), open=day <= 12 and day != month and match[2] != ".")
    if (match := DAY_MONTH.match(text, begin)) and 0 < int(match[1]) <= 31:
        return _date(text, match, int(match[3] or 0), MONTH_OF[match[2].lower()], int(match[1]))
    if match := QUARTER.match(text, begin):
        return _date(text, match, int(match[3] or 0), QUARTERS[match[2].lower()], 0, "quarter")
    return None


def _date(text: str, match: re.Match[str], year: int, month: int, day: int, part: str = "") -> Quantity:
    values = tuple(map(Fraction, (year, month, day)))
    unit = Unit(part, part, Fraction(1)) if part else NO_UNIT
    kind = DATE if month or day else YEAR
    return Quantity(kind, values, match.start(), match.end(), match[0], Fraction(year), unit)


def _clock(text: str, begin: int) -> Quantity | None:
    match = CLOCK_TIME.match(text, begin)
    if not match:
        return None
    hour, minute = int(match[1] or match[4] or match[6]), int(match[2] or match[5] or 0)
    if hour > 24 or (match[3] and not 0 < hour <= 12):
        return None
    half = (match[3] or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    either = not half and 0 < hour <= 12 and (match[4] or match[6] or "")[0] != "0"
    return Quantity(CLOCK, (Fraction(60 * hour + minute),), begin, match.end(), match[0], open=either)


@lru_cache(maxsize=8)
def _in_capitals(text: str) -> bool:
    """Whether a text is in capitals, looked at once: a text of a thousand numbers asks a thousand times."""
    return text.isupper()


@lru_cache(maxsize=8)
def _in_small_letters(text: str) -> bool:
    return text.islower()


def _identifier(text: str, begin: int, before: str, frame: list[tuple[int, int, str]]) -> Quantity | None:
    """Digits that name something: a version, a section, a code, a phone number, or what letters are joined to."""
    plain = _sure_match(TOKEN, text, begin)
    joined = before.isalpha() or before in "_#" or (before in "/." and begin > 1 and text[begin - 2].isalpha())
    version = VERSION.match(text, begin)
    if joined:
        end = max(plain.end(), version.end() if version else 0)
        return Quantity(IDENTIFIER, (), begin, end, text[begin:end])
    if version and version.end() > plain.end():
        written = version[0]
        ending = re.sub(r"\A\d+", "", written)
        grouped = POINTED.fullmatch(written)
        known = ending.isalpha() and _ends_number(ending, text, version.end())
        power = POWER.match(text, plain.end()) or re.match(r"[x\u00d7]\d|e\d", ending)
        if not grouped and not known and not power and not re.match(r"\d+[-.]?[^\W\d_]+[-]", written):
            return Quantity(IDENTIFIER, (), begin, version.end(), written)
    digits, end = plain[0], plain.end()
    if digits[0] == "0" and len(digits) > 2 and digits.isdigit():
        return Quantity(IDENTIFIER, (), begin, end, digits)
    if not frame or frame[-1][1] < begin - 2 or before not in " \u00a0.":
        return None
    first, last, word = frame[-1]
    decimal, name = "." in digits, text[first:last]
    if word in NAMED and (decimal or word not in ONLY_DECIMALS) and "," not in digits:
        return Quantity(IDENTIFIER, (), begin, end, digits)
    capital = (
        name[:1].isupper()
        and len(name) > 1
        and word not in SMALL_WORDS
        and name.isalpha()
        and name not in CURRENCY_SIGNS
    )
    upper = _in_capitals(text) and len(text) > 12
    if (
        decimal
        and capital
        and not upper
        and "," not in digits
        and not _unit(text, end, True)[1]
        and not SCALE_WORD.match(text, end)
    ):
        return Quantity(IDENTIFIER, (), begin, end, digits)
    return None


def _ends_number(ending: str, text: str, end: int) -> bool:
    """Whether letters joined to digits are an ordinal's ending, a scale, a unit or a decade's s."""
    return (
        ending in ("st", "nd", "rd", "th", "s", "x", "h")
        or ending in ATTACHED_SCALES
        or bool(find_unit((ending,), True)[1])
    )


def _plain_number(text: str, begin: int, point: bool = False) -> tuple[Fraction, Fraction, int, int] | None:
    """Value, step, significant digits and end of a number in digits, without scale and unit."""
    match = SPACED.match(text, begin) or _sure_match(TOKEN, text, begin)
    whole, end = match[0].replace(" ", ""), match.end()
    if GROUPED.fullmatch(whole):
        whole = whole.replace(",", "")
    elif POINTED.fullmatch(whole):
        whole = whole.replace(".", "")
    elif "," in whole:
        whole = whole.split(",")[0]
        end = begin + len(whole)
    if whole.count(".") > 1 or len(whole) > MAX_DIGITS:
        return None
    if point:
        if "." in whole:
            return None
        whole = "0." + whole
    _, _, decimals = whole.partition(".")
    step = Fraction(1, 10 ** len(decimals))
    digits = len(whole.replace(".", "").lstrip("0"))
    return Fraction(whole), step, digits, end


def _number(
    text: str,
    begin: int,
    value: Fraction,
    step: Fraction,
    digits: int,
    end: int,
    unit: Unit | None,
    frame: list[tuple[int, int, str]],
) -> Quantity:
    """A number in digits with what follows it: a power, a fraction, a scale, a unit."""
    whole = step == 1
    if (match := POWER.match(text, end)) and abs(int(match[1] or match[2])) <= MAX_POWER:
        factor, end = Fraction(10) ** int(match[1] or match[2]), match.end()
        value, step = value * factor, step * factor
    elif (match := RAISED.match(text, end)) and value and abs(int(match[1])) <= MAX_POWER and value < 1000:
        value, end = value ** int(match[1]), match.end()
    elif whole and (match := MIXED.match(text, end)) and int(match[2]):
        value, end, step = value + Fraction(int(match[1]), int(match[2])), match.end(), Fraction(0)
    elif (
        whole
        and unit is None
        and (match := SLASH.match(text, end))
        and int(match[1])
        and value < 10_000
        and not (value >= FIRST_YEAR and whole)
    ):
        value, end, step = value / int(match[1]), match.end(), Fraction(0)
    scaled, end = _scale(text, end, money=unit is not None)
    if scaled == 1 and unit is None and whole and (found := _ordinal_or_year(text, begin, end, value)):
        return found
    if scaled != 1:
        value, step = value * scaled, step * scaled
    if match := AND_HALF.match(text, end):
        value, end, step = value + Fraction(1, PARTS[match[1]]), match.end(), Fraction(0)
    return _with_unit(text, begin, end, value, step, digits, unit, after_digits=True)


def _scale(text: str, end: int, money: bool = False) -> tuple[int, int]:
    """What a word for a scale behind a number stands for, and its end; 1 if there is none."""
    if match := SCALE_WORD.match(text, end):
        word = match[1].lower()
        return 100 if word == "hundred" else SCALES.get(word) or SCALES[SHORT_SCALES[word]], match.end()
    match = (MONEY_LETTERS if money else SCALE_LETTERS).match(text, end)
    if match and money and match[1].lower() in MONEY_SCALES:
        return MONEY_SCALES[match[1].lower()], match.end()
    if match and match[1] in ATTACHED_SCALES and (match[1] != "K" or text[end - 1 : end].isdigit()):
        return ATTACHED_SCALES[match[1]], match.end()
    return 1, end


def _ordinal_or_year(text: str, begin: int, end: int, value: Fraction) -> Quantity | None:
    if match := ORDINAL_ENDING.match(text, end):
        return Quantity(ORDINAL, (value,), begin, match.end(), text[begin : match.end()], value)
    if match := ERA.match(text, end):
        year = -value if match[1][0] in "Bb" else value
        return Quantity(YEAR, (year, Fraction(0), Fraction(0)), begin, match.end(), text[begin : match.end()], year)
    written = text[begin:end]
    if len(written) in (2, 4) and written[-1] == "0" and (match := DECADE.match(text, end)):
        year = value + 1900 * (len(written) == 2)
        unit = Unit("s", "decade", Fraction(1))
        return Quantity(
            YEAR, (year, Fraction(0), Fraction(0)), begin, match.end(), text[begin : match.end()], year, unit
        )
    if (
        len(written) == 4
        and FIRST_YEAR <= value <= LAST_YEAR
        and written.isdigit()
        and not _unit(text, end, True)[1]
        and text[end : end + 1] != "+"
    ):
        return Quantity(YEAR, (value, Fraction(0), Fraction(0)), begin, end, written, value)
    return None


def _unit(text: str, end: int, after_digits: bool) -> tuple[Unit | None, int]:
    """The unit behind a number and its end; 0 if there is none."""
    match = UNIT_WORD.match(text, end)
    if not match:
        return None, 0
    words, ends = [match[1].replace(" ", "")], [match.end()]
    if words[0].isalpha():
        while len(words) < 3 and (following := NEXT_WORD.match(text, ends[-1])):
            words.append(following[1])
            ends.append(following.end())
    elif words[0] == "\u00b0":
        words = ["\u00b0"]
    unit, count = find_unit(tuple(words), after_digits)
    if unit is not None and unit.name == "time" and _FACTOR.match(text, ends[0]):  # "5 times 6"
        return None, 0
    if (
        unit is not None
        and len(words[0]) == 1
        and words[0].isalpha()
        and count == 1
        and (
            text[ends[0] : ends[0] + 1] in ("'", "\u2019", "/", "-", "+")
            or (words[0] == "A" and text[end : end + 1] not in " \u00a0")
        )
    ):
        return None, 0
    return (unit, ends[count - 1]) if count else (None, 0)


def _with_unit(
    text: str, begin: int, end: int, value: Fraction, step: Fraction, digits: int, unit: Unit | None, after_digits: bool
) -> Quantity:
    """A number with the unit behind it, or with that of a sign before it."""
    if unit is None:
        match = PER_TIME.match(text, end)
        if match and (match[0].lstrip().startswith("time") or match[2]):
            return _rate(text, begin, match.end(), value / _seconds(match))
        unit, place = _unit(text, end, after_digits)
        end = place or end
    elif named := DOLLARS.match(text, end) if unit.dimension == "USD" else None:
        end = named.end()
    unit = unit or NO_UNIT
    if unit is PERCENT and (match := POINTS.match(text, end)):
        unit, end = NAMES["percentage_point"], match.end()
    base = value * unit.size + unit.zero
    thousands = POINT_OF_THOUSANDS.match(text, begin) is not None
    return Quantity(NUMBER, (base,), begin, end, text[begin:end], value, unit, "", step * unit.size, digits, thousands)


def _rate(text: str, begin: int, end: int, value: Fraction) -> Quantity:
    return Quantity(RATE, (value,), begin, end, text[begin:end], value)


def _from_month(text: str, begin: int, frame: list[tuple[int, int, str]]) -> Quantity | None:
    """A date that begins with the name of its month; a lone name is one behind "in", "on" and the like alone."""
    if (match := MONTH_DAY.match(text, begin)) and 0 < int(match[2]) <= 31:
        return _date(text, match, int(match[3] or 0), MONTH_OF[match[1].lower()], int(match[2]))
    if match := MONTH_YEAR.match(text, begin):
        return _date(text, match, int(match[2]), MONTH_OF[match[1].lower()], 0)
    match = _sure_match(TOKEN, text, begin)
    if (
        frame
        and frame[-1][2] in BEFORE_MONTH
        and len(match[0]) > 2
        and (match[0][0].isupper() or _in_small_letters(text))
    ):
        return _date(text, match, 0, MONTH_OF[match[0].lower()], 0)
    return None


def _words_from(text: str, begin: int) -> tuple[list[str], list[int]]:
    """The words from a place on that may make one number, in lower case, with the end of each."""
    words: list[str] = []
    ends: list[int] = []
    place = begin
    while (match := _WORD.match(text, place)) and len(words) < 24:
        word = match[1].lower()
        if word not in _IN_NUMBER:
            break
        words.append(word)
        ends.append(match.end())
        place = match.end()
    return words, ends


def _from_words(text: str, begin: int, word: str, frame: list[tuple[int, int, str]]) -> Quantity | None:
    """What begins with a word for a number, a part, a day, a time or how often."""
    end = begin + len(word)
    for kind, values in _BY_WORD.items():
        if word in values:
            value = Fraction(values[word])
            return Quantity(kind, (value,), begin, end, text[begin:end], value)
    if word in (*RATES, *TIMES, "every"):
        return _how_often(text, begin, word)
    if (match := QUARTER.match(text, begin)) and match[3]:
        return _date(text, match, int(match[3]), QUARTERS[match[2].lower()], 0, "quarter")
    if (match := DAY_IN_WORDS.match(text, begin)) and (day := _ordinal_words(match[1].lower())):
        return _date(text, match, int(match[3] or 0), MONTH_OF[match[2].lower()], day)
    if (match := YEAR_IN_WORDS.match(text, begin)) and (year := years_in_digits(match[0])).isdigit():
        return Quantity(YEAR, (Fraction(year), Fraction(0), Fraction(0)), begin, match.end(), match[0], Fraction(year))
    return _spelt(text, begin, frame[-1][2] if frame else "")


def _how_often(text: str, begin: int, word: str) -> Quantity | None:
    """A rate: "daily", "every two weeks", "twice a day"; or "twice" alone, which is a number of times."""
    end = begin + len(word)
    if word in RATES:
        return _rate(text, begin, end, 1 / NAMES[RATES[word]].size)
    if word == "every":
        match = EVERY.match(text, begin)
        count = ((match and match[1]) or "1").lower()
        number = NUMBER_WORDS.get(count) or int(count)
        return _rate(text, begin, match.end(), 1 / (number * NAMES[match[2].lower()].size)) if match else None
    if match := PER_TIME.match(text, end):
        return _rate(text, begin, match.end(), TIMES[word] / _seconds(match))
    times = Fraction(TIMES[word])
    return Quantity(NUMBER, (times,), begin, end, text[begin:end], times, NAMES["time"]) if times > 1 else None


def _seconds(match: re.Match[str]) -> Fraction:
    """The period of a match of PER_TIME."""
    return NAMES[(match[1] or RATES[(match[2] or "daily").lower()]).lower()].size


def _ordinal_words(words: str) -> int:
    ten, _, last = words.rpartition("-")
    return ORDINALS.get(last, 0) + TENS.get(ten, 0) if last in ORDINALS and (not ten or ten in TENS) else 0


def _spelt(text: str, begin: int, before: str) -> Quantity | None:
    """A number in words, with a part ("two thirds", "two and a half", "half a million"), a scale and a unit."""
    end = _sure_match(_WORD, text, begin).end()
    if (begin and text[begin - 1] == "'") or text[end : end + 1].isdigit():
        return None  # "Twenty20"
    sign = -1 if text[begin : begin + 6].lower() == "minus " else 1
    words, ends = _words_from(text, begin + 6 * (sign < 0))
    if not words:
        return None
    in_words, used = cardinal(words, 0)
    value = None if in_words is None else Fraction(in_words)
    if value is None:
        value, used = _part_of_one(text, words, ends, before)
    if value is None:
        number = Fraction(ORDINALS.get(words[0], 0))
        return Quantity(ORDINAL, (number,), begin, ends[0], text[begin : ends[0]], number) if number else None
    if words[:used] == ["one"] and before in NO_COUNT:
        return None
    end, rest = ends[used - 1] if used else begin, words[used:]
    spaced = rest[:1] == ["second"] and text[end].isspace()  # "a twenty second delay"
    if rest and ORDINALS.get(rest[0], 10) < 10 and not spaced and value % 100 in TENS.values():
        number = value + ORDINALS[rest[0]]
        return Quantity(ORDINAL, (number,), begin, ends[used], text[begin : ends[used]], number)
    value, end = _with_part(text, value, end, rest, ends[used:])
    step = Fraction(1) if value.denominator == 1 else Fraction(0)
    if not step and (match := OF_A.match(text, end)):
        scale, place = _scale(text, match.end())
        if scale > 1 or _unit(text, match.end(), False)[1]:
            return _with_unit(text, begin, place, value * scale, step, 2, None, after_digits=False)
    scale, end = _scale(text, end) if text[end : end + 1] in " -" else (1, end)
    return _with_unit(text, begin, end, sign * value * scale, step * scale, 2, None, after_digits=False)


def _part_of_one(text: str, words: list[str], ends: list[int], before: str) -> tuple[Fraction | None, int]:
    """The value of "half", "a third of" or "a dozen" (as 1, for `_with_part`), and how many words it takes."""
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in HALVES:
        if second in ("a", "an"):
            return Fraction(1, PARTS[first]), 2
        return (None, 0) if before in BEFORE_HALF else (Fraction(1, PARTS[first]), 1)
    if first == "dozen" or (first in ("a", "an") and second == "dozen"):
        return Fraction(1), int(first != "dozen")
    if first in ("a", "an") and second in PARTS and (second in HALVES or PART_OF.match(text, ends[1])):
        return Fraction(1, PARTS[second]), 2
    return None, 0


def _with_part(text: str, value: Fraction, end: int, rest: list[str], ends: list[int]) -> tuple[Fraction, int]:
    """A number with the part or the dozen behind it, and its end."""
    if not rest:
        return value, end
    part = PARTS.get(rest[0], 0)
    if rest[0].endswith("s") or rest[0] in HALVES or (value == 1 and PART_OF.match(text, ends[0])):
        if part and value < 100:
            return value / part, ends[0]
    elif rest[:2] == ["and", "a"] and rest[2:3] and rest[2] in HALVES:
        return value + Fraction(1, PARTS[rest[2]]), ends[2]
    return (value * 12, ends[0]) if rest[0] == "dozen" else (value, end)


def _may_be_roman(text: str, begin: int, token: str, frame: list[tuple[int, int, str]]) -> bool:
    after = text[begin + len(token) : begin + len(token) + 9].lstrip().lower()
    if after.startswith("century"):
        return True
    if not frame or frame[-1][1] != begin - 1 or text[begin - 1] != " ":
        return False
    first, last, word = frame[-2] if frame[-1][2] == "the" and len(frame) > 1 else frame[-1]
    capital = text[first].isupper() and word not in SMALL_WORDS and last - first > 1
    if word in BEFORE_ROMAN:
        return True
    if _in_capitals(text) or not capital:
        return False
    return token != "I" or not after or not after[0].isalnum() or first > 0


def _roman(token: str) -> int:
    values = [ROMAN_VALUES[sign] for sign in token]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _bounded(text: str, quantity: Quantity, before: str) -> tuple[Quantity, int, int]:
    """The quantity with its bound, and begin and end of both."""
    begin, end = quantity.begin, quantity.end
    if quantity.kind in (IDENTIFIER, FACTOR, SCALE, WEEKDAY):
        return quantity, begin, end
    tail = text[max(begin - BOUND_WORDS, 0) : begin]
    if before in BOUND_SIGNS and (match := BOUND_SIGN.search(tail)):
        return replace(quantity, bound=BOUND_SIGNS[match[1]]), begin - len(tail) + match.start(), end
    first, bound = begin, ""
    if before in BOUND_ENDS and tail[-1:].isspace():
        bound, kept = _bound_before(tail, quantity.kind)
        first -= len(tail) - kept
    if bound in ("", "~"):
        for name, pattern in BOUND_AFTER:
            if match := pattern.match(text, end):
                kept = end if name == "~" or NOUN_BETWEEN.match(match[0]) else match.end()
                return replace(quantity, bound=name), first, kept
    return (replace(quantity, bound=bound) if bound else quantity), first, end


def _bound_before(tail: str, kind: str) -> tuple[str, int]:
    """The bound that the characters before a quantity end with, and its first character among them."""
    for name, pattern in BOUND_BEFORE:
        if match := pattern.search(tail):
            words = match[0].lower().split()
            if words[0] in BESIDE_DATES and kind not in (*DATES, CLOCK):
                continue
            return name, len(tail) if words == ["or"] or words[0] in BESIDE_DATES else match.start()
    return "", len(tail)


def _joined(
    text: str, atoms: list[Quantity], bounds: list[tuple[int, int]], frame: list[tuple[int, int, str]]
) -> tuple[list[Quantity], list[str]]:
    """Quantities with ranges and sequences as one, and the words of the frame with one Q for each."""
    merged: list[Quantity] = []
    gone: set[int] = set()  # begins of what a range takes from the frame
    i = 0
    while i < len(atoms):
        one = atoms[i]
        if i + 1 < len(atoms):
            other = atoms[i + 1]
            between = text[bounds[i][1] : other.begin]
            first = text[max(one.begin - 9, 0) : bounds[i][0]].lower()
            joint = JOINED.fullmatch(between) or (BETWEEN.fullmatch(between) and first.rstrip().endswith("between"))
            if (
                joint
                and (between != "/" or one.kind == YEAR)
                and _make_sequence(one, other)
                and bounds[i + 1][0] >= bounds[i][1]
            ):
                one = _sequence(text, one, other)
                gone |= {bounds[i + 1][0]} | set(range(bounds[i][1], atoms[i + 1].begin + 1))
                gone |= {place for place, _, word in _tail(frame, bounds[i][0]) if word in ("from", "between")}
                i += 1
        merged.append(one)
        i += 1
    words = [word for begin, _, word in frame if begin not in gone]
    return merged, words


def _tail(frame: list[tuple[int, int, str]], begin: int) -> Iterator[tuple[int, int, str]]:
    """The last word before a place."""
    place = bisect_left(frame, (begin,))
    if place:
        yield frame[place - 1]


def _make_sequence(one: Quantity, other: Quantity) -> bool:
    dates = one.kind in DATES and other.kind in DATES
    short_year = one.kind == YEAR and other.kind == NUMBER and len(other.text) == 2
    same = one.kind == other.kind and one.kind in (NUMBER, CLOCK, ORDINAL, WEEKDAY)
    return (dates or short_year or same) and not one.bound.startswith(("<", ">"))


def _sequence(text: str, one: Quantity, other: Quantity) -> Quantity:
    if one.kind == YEAR and other.kind == NUMBER:
        year = one.number - one.number % 100 + other.number
        other = replace(other, kind=YEAR, values=(year, Fraction(0), Fraction(0)))
    unit = other.unit
    values = one.values if one.unit.dimension else tuple(value * unit.size + unit.zero for value in one.values)
    step = max(one.step, other.step)
    return Quantity(
        RANGE,
        (*values, *other.values),
        one.begin,
        other.end,
        text[one.begin : other.end],
        other.number,
        unit,
        one.bound,
        step,
        open=one.open or other.open,
    )


_FACTOR = re.compile(r"\s\d")
_WORD = re.compile(r"(?:\s+|\s?-\s?)?([^\W\d_]+)")
_IN_NUMBER = {*NUMBER_WORDS, *TENS, *SCALES, *ORDINALS, *PARTS, "hundred", "and", "a", "an", "dozen"}
_BY_WORD: dict[str, Mapping[str, int | Fraction]] = {WEEKDAY: WEEKDAY_OF, CLOCK: CLOCK_WORDS, SCALE: SCALE_WORDS}
_BY_WORD |= {FACTOR: FACTORS}
_STARTS = {*NUMBER_WORDS, *TENS, *ORDINALS, *WEEKDAY_OF, *CLOCK_WORDS, *FACTORS, *SCALE_WORDS, *RATES, *TIMES}
_STARTS |= {"half", "quarter", "a", "an", "dozen", "every", "minus"}
