"""Every quantity of a text, and the words around them.

The reader goes through a text once. What begins with a digit, a sign of a currency or a word for a number is read by
small rules: a date, a time of the day, an identifier, or a number with its scale, unit and bound.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from semantic_metrics.core.texts import cached
from semantic_metrics.quantities.characters import CACHED_TEXTS, fold, unfold, word_set
from semantic_metrics.quantities.spell import (
    NUMBER_WORDS,
    ORDINALS,
    SCALES,
    SCALES_OF_MONEY,
    SHORT_SCALES,
    TENS,
    YEAR_IN_WORDS,
    cardinal,
    years_in_digits,
)
from semantic_metrics.quantities.units import CURRENCY_SIGNS, NAMES, NO_UNIT, PERCENT, Unit, find_unit

# kinds of quantities
NUMBER, ORDINAL, YEAR, DATE, WEEKDAY, CLOCK = "number", "ordinal", "year", "date", "weekday", "clock time"
RATE, FACTOR, SCALE, IDENTIFIER = "rate", "factor", "scale", "identifier"
RANGE, SHARE = "range", "share"  # of two numbers
DATES = (YEAR, DATE)
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
MONTH_OF = {word: i for i, month in enumerate(MONTHS.split("|"), 1) for word in (month, month[:3])} | {"sept": 9}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY_OF = {word: i for i, day in enumerate(WEEKDAYS, 1) for word in (day, day + "s")}
BEFORE_MONTH = word_set("in of on last next this late early mid from to every until since before after by around")
FACTORS: dict[str, int | Fraction] = {"doubled": 2, "tripled": 3, "trebled": 3, "quadrupled": 4}
FACTORS |= {"halved": Fraction(1, 2)}
SCALE_WORDS = {"dozens": 12, "hundreds": 100, "thousands": 1000, "millions": 10**6, "billions": 10**9}
TIMES = {"once": 1, "twice": 2, "thrice": 3}
RATES = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "annually": "year", "yearly": "year"}
RATES |= {"fortnightly": "fortnight"}
CLOCK_WORDS = {"noon": 720, "midday": 720, "midnight": 0}
PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4, "third": 3, "thirds": 3}
PARTS |= {word + ending: value for word, value in ORDINALS.items() if 4 <= value <= 20 for ending in ("", "s")}
QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
NOTHING = frozenset(("none", "nil", "nothing"))  # numbers where they are the whole text
DOUBTFUL = frozenset(("one", "first", "second", "third"))  # often no numbers: "one of them", "it first appeared"
ATTACHED_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "MM": 10**6, "B": 10**9, "mn": 10**6}
ATTACHED_SCALES |= {short: SCALES[word] for short, word in SHORT_SCALES.items()}
MAX_DIGITS = 28  # longer numbers are compared as they are written
MAX_POWER = 30
MAX_IDENTIFIER = 256  # characters of a version or code; each of an endless row of amounts could begin one
ONE = Fraction(1)
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
# capitalised words before a decimal that is an amount: what is done with it, or measured
MEASURED = word_set(
    "take use add pay bake weigh buy drink eat mix pour give cut walk run drive accuracy inflation gdp bmi score "
    "average mean median rate ratio price growth gpa error loss precision recall ci"
)
BEFORE_AMOUNTS = SMALL_WORDS | MEASURED
# names of those who are numbered by one letter: "Henry V"
NUMBERED_NAMES = word_set(
    "henry charles louis edward george william james richard philip alfonso pius john paul benedict leo gregory "
    "innocent clement elizabeth mary nicholas alexander peter frederick wilhelm ferdinand francis ivan leopold "
    "napoleon victor urban boniface adrian haakon olav gustav christian harald albert rama"
)
TIMES_SIGNS = frozenset("\u00d7\u00b7")
OPERATORS = {"**": "^", "!=": "\u2260", "<>": "\u2260", "<=": "\u2264", ">=": "\u2265", "->": "\u2192"}  # of programs
OPERATOR = re.compile(r"(?<![<>=!-])(?:" + "|".join([*OPERATORS][1:]) + r")(?![<>=-])|(?<=\w)\*\*(?=\w)")
TOKEN = re.compile(r"\d+(?:[.,]\d+){0,12}|[^\W\d_]+(?:(?<=[nN])['\u2019][tT]\b)?|[^\w\s]|_")
UNIT_WORD = re.compile(
    r"[\s-]?(\u00b0(?:\s?[A-Za-z]\b)?|[%\u2030\u00a2\u20ac\u00a3\u00a5$](?!\s?\d)|[^\W\d_]+)(?:\^?([23])(?!\w))?"
)
PER = re.compile(r"(?:\s?/\s?|\sper\s)(?:(\d{1,4})\s?)?|[\s-](?:an?|each|every)[\s-](?!second\b)")
ADVERB = re.compile(rf"\s({'|'.join(RATES)})\b")
AGO = re.compile(r"\s(?:ago|later|earlier|before|after|old)\b")  # "5% a year ago"
DIVISORS = frozenset(("time", "mass", "volume", "length", "area", "amount"))
BEHIND_INCHES = word_set("long wide tall high deep thick of by x in and")  # "12 in all" are none
POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
AFTER_ARTICLE = frozenset(("time", "mass", "length", "volume", *CURRENCY_SIGNS))  # "an hour", not "a degree"
FACTOR_BEGINS = re.compile(r"\s\d")
NEXT_WORD = re.compile(r"[\s-]([^\W\d_]+)")
_MONTH = "|".join(sorted(MONTH_OF, key=len, reverse=True))
_YEAR = r"(?:1\d|20|21)\d\d"
DATE_IN_DIGITS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?![\d./-]?\d)")
_QUARTER = rf"(?:Q(?P<q>[1-4])|(?P<nth>{'|'.join(QUARTERS)})\squarter)\b(?:(?:\sof)?\s(?P<year>{_YEAR})(?!\w))?"
DATE_WRITINGS = [re.compile(writing, re.I) for writing in (
    r"(?P<year>[12]\d{3})-(?P<month>0?[1-9]|1[0-2])-(?P<day>[0-3]?\d)(?![\d-])",
    r"(?P<year>(?:1\d|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?![\d-])",
    rf"(?P<day>\d\d?)(?:st|nd|rd|th)?(?:\sday)?(?:\sof)?[\s-](?P<month>{_MONTH})\b\.?"
    rf"(?:[,\s-]{{1,2}}(?P<year>{_YEAR})(?![\w-]))?",
    rf"(?P<month>{_MONTH})\b\.?\s(?:the\s)?(?P<day>\d\d?)(?:st|nd|rd|th)?(?![\w%]|[.,:/]\d)"
    rf"(?:,?\s(?P<year>{_YEAR})(?![\w-]))?",
    rf"(?P<month>{_MONTH})\b\.?,?\s(?:of\s)?(?P<year>{_YEAR})(?!\w)",
    rf"(?P<day>[a-z]+(?:-[a-z]+)?)\sof\s(?P<month>{_MONTH})\b(?:,?\s(?P<year>{_YEAR})(?!\w))?",
    _QUARTER,
)]  # fmt: skip
_HOURS = "|".join([*NUMBER_WORDS][1:13])
_MINUTE = r":(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?"
_ZONE = r"(?:\s(?:UTC|GMT)\b)?"
_PART_OF_DAY = r"\s(?:in the (morning|afternoon|evening)|at (night))\b"
CLOCK_WRITINGS = [re.compile(writing, re.I) for writing in (
    rf"(?P<hour>\d\d?)(?:{_MINUTE}|\.(?P<part>[0-5]\d))?\s?(?P<half>[ap])(?:m\b|\.\s?m\b\.?){_ZONE}",
    rf"(?P<hour>{_HOURS})\s(?P<half>[ap])(?:m\b|\.\s?m\b\.?)(?!(?<=am)\si\b){_ZONE}",
    rf"(?P<hour>\d\d?){_MINUTE}(?![\d:]|,\d{{3}}){_ZONE}",
    rf"(?P<hour>\d\d?|{_HOURS})\so['\u2019]clock",
    rf"(?:a\s)?(?P<near>half|quarter|five|ten|twenty)\s(?P<to>past|to)\s(?P<hour>{_HOURS}|\d\d?)\b(?![:.]?\d)",
    rf"(?P<hour>{_HOURS}|\d\d?)\b(?P<bare>)(?={_PART_OF_DAY})",
)]  # fmt: skip
PART_OF_DAY = re.compile(_PART_OF_DAY, re.I)
BEFORE_HOUR = word_set("at until till since before after")  # "two in the morning" may be pills
HALVES_OF_DAY = {  # hours of a part of the day, 12 as 0; "five at night" may be of either half
    "morning": {"a": range(12)}, "afternoon": {"p": range(7)}, "evening": {"p": range(4, 12)},
    "night": {"p": range(7, 12), "a": range(5)},
}  # fmt: skip
TO_HOUR = re.compile(r"\s(?:to|until|till)\s", re.I)
AFTER_PART = re.compile(r"\b(?:morning|afternoon|evening|night|[ap]\.?m\.?)\sto\s\Z", re.I)
MINUTES = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
RATIO_BEFORE = re.compile(r"\b(?:ratio|odds|scale|proportion)s?\b[^.;]*\Z", re.I)
RATIO_AFTER = re.compile(r"\s(?:ratio|odds|scale)\b", re.I)
VERSION = re.compile(r"\d+(?:\.\d+){2,}[\w.-]*\w|\d+(?:-\d+){2,}|\d+[^\W\d_][\w-]*(?:\.\d[\w.]*)*")
ORDINAL_ENDING = re.compile(r"(?:st|nd|rd|th)\b", re.I)
MONEY_LETTERS, SCALE_LETTERS = re.compile(r"\s?([A-Za-z]{1,3})\b"), re.compile(r"([A-Za-z]{1,3})\b")
GROUPED = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d\d?(?:,\d\d)+,\d{3})(?:\.\d+)?")  # the second as in India
POINTED = re.compile(r"\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+,\d\d?")  # "1.234,56"
DECIMAL_COMMA = re.compile(r"\d+,\d\d?")  # a list where no unit stands beside it
# amounts in two units, the second of which is not always written: "1h30", "6'2\""
WITH_SMALLER = (
    ("hour", 60, re.compile(r"(\d{1,3})h\s?([0-5]\d)(?:\s?m(?:in)?)?(?!\w)")),
    ("foot", 12, re.compile(r"(\d)['\u2019\u2032]\s?(1[01]|\d)(?:[\"\u201d]|['\u2019\u2032]{2})")),
)
POINT_OF_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.])")  # "1.500" is 1500 in many countries
# thousands behind spaces, or as in Switzerland and in programs
SPACED = re.compile(r"\d{1,3}([ \u202f'\u2019_])\d{3}(?:\1\d{3}){0,9}(?:[.,]\d\d?)?(?![\d.,]?\d)")
POWER = re.compile(r"[eE]([+-]?\d\d?)(?!\w)|\s?[x\u00d7*\u00b7]\s?10\s?\^\s?\(?(-?\d\d?)\)?(?!\w)")
# digits that may begin a date, a time of the day or an amount in two units, by what stands behind them
LONGER = re.compile(r"\d+(?:[.:]\d+)?\s?[^\W\d_]|\d+(?:['\u2019\u2032:]|-\w|[./]\d+[./])")
# what stands behind a number that has a power, a fraction, a scale, an ending or a unit
FOLLOWED = re.compile(r"[^\s\d,;.!?)]|\s(?:[^\s\d]|\d{1,3}/)")
POWER_BEGINS, WORD_BEGINS = re.compile(r"[x\u00d7]\d|e\d"), re.compile(r"\d+[-.]?[^\W\d_]+-")
RAISED = re.compile(r"\s?(?:\^|\*\*)\s?(-?\d\d?)(?!\w|\.\d)")
BEFORE_AMOUNT = re.compile(r"\.?[\s$]{0,2}(-?)(?=\d)")
SLASH = re.compile(r"\s?/\s?(\d{1,4})(?![\w/]|\.\d)")
MIXED = re.compile(r"\s(\d{1,3})/(\d{1,3})(?![\w/])")
SCALE_WORD = re.compile(rf"[\s-]?(hundred|lakh|crore|{'|'.join([*SCALES, *SHORT_SCALES])})s?\b", re.I)
WORD_SCALES = {"hundred": 100, "lakh": 10**5, "crore": 10**7} | SCALES | {a: SCALES[b] for a, b in SHORT_SCALES.items()}
AND_HALF = re.compile(r"\sand\sa\s(half|quarter)\b")
POINTS = re.compile(r"[\s-]points?\b")
_PERIODS = r"hour|day|week|fortnight|month|year|minute"
PER_TIME = re.compile(  # "once every second day" is not once a second
    rf"(?:\s?x|\stimes?)?(?:(?:\s(?:an?|per|each|every)\s|/)({_PERIODS}|second(?!\s(?:{_PERIODS})\b))\b"
    rf"|\s({'|'.join(RATES)})\b)", re.I
)  # fmt: skip
_NTH = "|".join(ORDINALS)
EVERY = re.compile(rf"every\s(?:(?P<nth>other|{_NTH})\s|(\d{{1,4}}|{_HOURS})\s)?({_PERIODS})s?\b", re.I)
PLACE_IN = re.compile(rf"\s(?:of\b|in\s(?:{MONTHS})\b)", re.I)  # "every second week of May" says which
PART_OF = re.compile(r"(?=\s(?:of|as)\b|\W*\Z)")
PART_OR_WHOLE = re.compile(r"\b(?:between|from)\s[^\W\d_]+\s(?:and|to)\s\Z", re.I)  # "between one and three quarters"
HALVES = frozenset(("half", "quarter"))
BEFORE_HALF = frozenset(("second", "first", "last", "next", "this", "each", "every"))
NO_COUNT = frozenset(("no", "any", "every", "some", "the", "that", "this", "which", "each"))  # "no one", "the one"
DOLLARS = re.compile(r"\s?(?:USD|dollars?)\b")
OF_A = re.compile(r"\sof\san?(?=\s)")
COUNTRY = re.compile(r".*?(?<![A-Za-z])([A-Z]{0,2})\Z", re.S)  # before a dollar sign: "US$"
ERA = re.compile(r"\s?(BCE?|bce?|AD|CE|B\.C\.|A\.D\.)(?!\w)")
DECADE = re.compile(r"(?:'|\u2019)?s\b")
SHORT_YEAR = re.compile(r"['\u2019](\d\d)(s?)(?!\w)")
JOINED = re.compile(r"\s?[-\u2013\u2014:]\s?|/|\s(?:to|until|till|through)\s", re.I)
SHARED = re.compile(r"\s(?:out\sof|in)\s")
BETWEEN, BETWEEN_PARTS = re.compile(r"\sand\s", re.I), re.compile(r"\s?|,?\s(?:and\s)?", re.I)
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
          r"|(?:an )?estimated|or")
)  # fmt: skip
BOUND_BEFORE = [
    (bound, re.compile(rf"(?:^|(?<=\s)|(?<=[(,;]))(?:{words})(?:\s(?:an?|the))?\s?\Z", re.I))
    for bound, words in BOUNDS_BEFORE
]
BOUND_ENDS = frozenset(re.findall(r"[a-z]+", " ".join(words for _, words in BOUNDS_BEFORE)))
BOUND_ENDS |= word_set("a an the exceeds exceeded exceeding")
BOUND_SIGNS = {"<": "<", ">": ">", "\u2264": "<=", "\u2265": ">=", "~": "~", "\u2248": "~", "\u00b1": "~"}
BOUND_SIGNS |= {"<=": "<=", ">=": ">=", "=": "<="}  # a sign of two characters ends with "="
BOUND_SIGN = re.compile(r"(?:^|(?<=\s)|(?<=[(]))([<>]=?|[\u2264\u2265~\u2248\u00b1])\s?\Z")
_MORE = "more|over|above|older|later|higher|longer|up(?:wards?)?"
_LESS = "less|fewer|under|below|younger|earlier|lower|shorter"
BOUND_AFTER = [(bound, re.compile(words, re.I)) for bound, words in (
    (">=", r"\s?\+(?!\s?[\d(])(?!\w)|\sminimum\b|\splus\b"),
    (">=", rf"(?:\s\w+)?\s(?:(?:or|and) (?:{_MORE})|at (?:the )?least)\b"),
    ("<=", rf"(?:\s\w+)?\s(?:(?:or|and) (?:{_LESS})|at (?:the )?most)\b|\smaximum\b"),
    ("~", r"\sor\b"),
)]  # fmt: skip
NOUN_BETWEEN = re.compile(r"\s\w+\s(?:or|and|at)\b")  # "5 people or more"
MARKER = re.compile(r"\[\d{1,3}(?:[,-] ?\d{1,3})*\]|^\s*(?:\(\d{1,3}\)|\d{1,3}[.)])\s+(?=[^\W\d])")
ROMAN = re.compile(r"(?=[IVXLC])(?:C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\Z")
ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
BEFORE_ROMAN = word_set("chapter stage war part type phase volume act book figure table section bowl grade level class")
# the unit of a number behind an amount in another, and how many digits it has at least
SMALLER = {"ft": (NAMES["inch"], 1), "metre": (NAMES["centimetre"], 2)}
MONEY = frozenset(CURRENCY_SIGNS.values())
NO_NOUN = re.compile(r"\W*\Z|[.,;:!?)]|\s(?:tall|high|long|wide|each|an?|per|for|and|or|to|in|on|at|by)\b")
Q = "\0"  # stands for a quantity among words
Frame = list[tuple[int, int, str]]  # begin and end of each word, sign and quantity, with the word folded, the sign or Q


@dataclass(frozen=True)
class Quantity:
    """A quantity of a text.

    Attributes:
        kind: NUMBER, ORDINAL, YEAR, DATE, WEEKDAY, CLOCK, RATE, FACTOR, SCALE, IDENTIFIER, RANGE or SHARE.
        values: one number in base units; year, month and day of a date, 0 for what is not said; minutes of a time of
            the day; the numbers of a range or another sequence in their order, those of a ratio divided by its last;
            the quotient of a share ("3 out of 4"); none for an identifier.
        number: the number as it is written, without its unit; how many times in the period of a rate.
        unit: of the number.
        bound: "" for an exact value, or one of <, <=, >, >=, ~.
        step: one unit of the last digit that is written, in base units; 0 where nothing is rounded.
        digits: significant digits that are written.
        open: whether a date may be read in two orders, a time of the day is of either half, a point may be one of
            thousands, "2,3" may be a list, "($5)" a loss, "one and three quarters" two of them, or a range is a ratio.
        begin, end: its characters in the text, without words of the bound.
        text: those characters.
        bound_text: the same with the words of the bound; "" if it has none.
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
    bound_text: str = ""

    @property
    def said(self) -> str:
        """The characters of the quantity with the words of its bound."""
        return self.bound_text or self.text

    @property
    def by_article(self) -> bool:
        """Whether an article is its number: "an hour"."""
        return self.number == 1 and bool(self.unit.name) and self.text[:2] in ("a ", "an", "A ", "An")


@dataclass(frozen=True)
class Reading:
    """What a text says.

    Attributes:
        text: the text, unfolded, with the operators of programs as signs.
        atoms: its quantities in their order, each alone.
        quantities: the same, with those of a range or a sequence ("3-1", "from 10 to 20") as one.
        frame: its words and signs, folded, with Q in the place of each of `quantities`; no full stops, no bounds.
        marks: of sources and of items of a list, which are no part of the frame: "[1]".
    """

    text: str
    atoms: tuple[Quantity, ...]
    quantities: tuple[Quantity, ...]
    frame: tuple[str, ...]
    marks: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The frame without signs and articles."""
        return tuple(one for one in self.frame if one == Q or (one[0].isalnum() and one not in ("a", "an", "the")))


@cached(CACHED_TEXTS)
def read(text: str) -> Reading:
    """Read a text; the same text is read once."""
    text = OPERATOR.sub(lambda match: OPERATORS[match[0]], unfold(text))
    frame: Frame = []
    atoms: list[Quantity] = []
    bounds: list[tuple[int, int]] = []
    place = 0
    marks = {match.start(): match.end() for match in MARKER.finditer(text)}
    while token := TOKEN.search(text, place):
        begin = token.start()
        if begin in marks:
            place = marks[begin]
        elif quantity := _read_one(text, begin, token[0], frame):
            quantity, first, place = _bounded(text, quantity, frame[-1][2] if frame else "")
            if atoms:
                atoms[-1], quantity = _in_smaller(text, atoms[-1], quantity)
            if atoms and _is_part(text, atoms[-1], bounds[-1][1], quantity):
                quantity, first = _whole(text, atoms.pop(), quantity), bounds.pop()[0]
            while frame and frame[-1][0] >= first:
                frame.pop()
            frame.append((first, place, Q))
            bounds.append((first, place))
            atoms.append(quantity)
        else:
            place = token.end()
            if token[0] not in f".'\u2019\"\u201c\u201d`{Q}":
                word = fold(token[0]).replace("\u2019", "'") if token[0][0].isalnum() else token[0]
                word = "*" if word in TIMES_SIGNS else word
                frame.append((begin, place, word))
    quantities, words = _joined(text, atoms, bounds, frame)
    return Reading(text, tuple(atoms), tuple(quantities), tuple(words), tuple(text[a:b] for a, b in marks.items()))


def _sure_match(pattern: re.Pattern[str], text: str, begin: int) -> re.Match[str]:
    """The match at a place where a pattern always has one, as it may be empty or a token is known to begin there."""
    match = pattern.match(text, begin)
    assert match is not None, "the caller knows what is at this place"
    return match


def _simple(kind: str, text: str, begin: int, end: int, value: Fraction | int) -> Quantity:
    """A quantity of one value, without a unit."""
    return Quantity(kind, (Fraction(value),), begin, end, text[begin:end], Fraction(value))


def _date(text: str, begin: int, end: int, parts: tuple[int, int, int], part: str = "") -> Quantity:
    """A date or, where it has no month, a year; `part` is what it is one of: a quarter, a decade."""
    unit = Unit(part, part, Fraction(1)) if part else NO_UNIT
    kind = DATE if any(parts[1:]) else YEAR
    return Quantity(kind, tuple(map(Fraction, parts)), begin, end, text[begin:end], Fraction(parts[0]), unit)


def _read_one(text: str, begin: int, token: str, frame: Frame) -> Quantity | None:
    """The quantity that begins at a token, or None."""
    word, end = token.lower(), begin + len(token)
    if token[0].isdigit():
        return _from_digits(text, begin, frame)
    if token in "-+.'\u2019" or (token in CURRENCY_SIGNS and not token.isalpha()):
        return _from_sign(text, begin, token)
    if word in MONTH_OF:
        return _find_date(text, begin) or _lone_month(text, begin, end, frame)
    if word in NOTHING and _bare(text) == word:
        return _simple(NUMBER, text, begin, end, 0)
    if word in _STARTS:
        return _from_words(text, begin, word, frame)
    if word == "q":
        return _find_date(text, begin)
    if token in CURRENCY_SIGNS and (match := BEFORE_AMOUNT.match(text, end)):
        return _money(text, begin, match, CURRENCY_SIGNS[token])
    if not token.isupper():
        return None
    if ROMAN.match(token) and _may_be_roman(text, begin, token, frame):
        return _simple(ORDINAL, text, begin, end, _roman(token))
    return None


def _from_sign(text: str, begin: int, sign: str) -> Quantity | None:
    """A negative number, one that begins with its point, a year such as '95, or an amount of a currency."""
    after = text[begin + 1 : begin + 3]
    alone = not begin or text[begin - 1].isspace() or text[begin - 1] in '("\u201c=^~<>:['
    if sign in CURRENCY_SIGNS:
        if not (match := BEFORE_AMOUNT.match(text, begin + 1)):
            return None
        before = COUNTRY.match(text[max(begin - 3, 0) : begin]) if sign == "$" else None
        country = before[1] if before else ""
        unit = CURRENCY_SIGNS.get(country + sign)
        return _money(text, begin - len(country) if unit else begin, match, unit or CURRENCY_SIGNS[sign])
    if not alone:
        return None
    if sign in "'\u2019":
        if not (match := SHORT_YEAR.match(text, begin)):
            return None
        year = int(match[1]) + (1900 if int(match[1]) > 30 else 2000)
        return _date(text, begin, match.end(), (year, 0, 0), "decade" if match[2] else "")
    inner = None
    if sign != "." and after[:1] in CURRENCY_SIGNS and after[1:].isdigit():
        inner = _number(text, begin + 1, begin + 2, CURRENCY_SIGNS[after[0]])
    elif after[:1].isdigit():
        inner = _from_digits(text, begin + 1, [], point=sign == ".")
    if inner is None or inner.kind in (IDENTIFIER, DATE, CLOCK):
        return None
    return _negated(inner, text, begin) if sign == "-" else _moved(inner, text, begin)


def _money(text: str, begin: int, before: re.Match[str], unit: Unit) -> Quantity | None:
    """An amount behind the sign of its currency, and behind a minus: "$-5"."""
    amount = _number(text, begin, before.end(), unit)
    if amount and text[begin - 1 : begin] == "(" and text[amount.end : amount.end + 1] == ")":
        amount = replace(amount, open=True)
    return _negated(amount, text, begin) if amount and before[1] else amount


def _negated(quantity: Quantity, text: str, begin: int) -> Quantity:
    """The same below zero, from another character on."""
    zero = quantity.unit.zero
    quantity = replace(quantity, values=(2 * zero - quantity.values[0],), number=-quantity.number)
    return _moved(quantity, text, begin)


def _moved(quantity: Quantity, text: str, begin: int) -> Quantity:
    """A number, which is no year, from another character on."""
    kind = NUMBER if quantity.kind == YEAR else quantity.kind
    return replace(quantity, kind=kind, values=quantity.values[:1], begin=begin, text=text[begin : quantity.end])


def _from_digits(text: str, begin: int, frame: Frame, point: bool = False) -> Quantity | None:
    """What begins with a digit: a date, a time, an identifier or a number."""
    before = text[begin - 1] if begin else " "
    if not point:
        if not (before.isalnum() or before == "_") and LONGER.match(text, begin):
            for name, parts, writing in WITH_SMALLER:
                if match := writing.match(text, begin):
                    value = int(match[1]) + Fraction(int(match[2]), parts)
                    return _with_unit(text, begin, match.end(), value, Fraction(1, parts), 3, NAMES[name], True)
            if found := _find_date(text, begin) or _clock(text, begin, frame[-1][2] if frame else ""):
                return found
        if end := _end_of_identifier(text, begin, before, frame):
            return Quantity(IDENTIFIER, (), begin, end, text[begin:end])
    end = _sure_match(TOKEN, text, begin).end()
    return _number(text, begin, begin, point=point) or Quantity(IDENTIFIER, (), begin, end, text[begin:end])


def _find_date(text: str, begin: int) -> Quantity | None:
    """The date or quarter that begins at a place, in any writing."""
    if (match := DATE_IN_DIGITS.match(text, begin)) and (len(match[4]) == 4 or match[2] == "/"):
        day, month, year = int(match[1]), int(match[3]), int(match[4])
        year += (2000 if year <= 30 else 1900) * (len(match[4]) == 2)
        if month > 12:
            day, month = month, day
        if day and 0 < month <= 12 and day <= 31:
            either = day <= 12 and day != month and match[2] != "."
            return replace(_date(text, begin, match.end(), (year, month, day)), open=either)
    for writing in DATE_WRITINGS:
        if match := writing.match(text, begin):
            parts = match.groupdict("")
            year = int(parts["year"] or 0)
            if "q" in parts:
                quarter = int(parts["q"] or QUARTERS[fold(parts["nth"])])
                sure = year or parts["q"] or parts["nth"][0].isdigit()  # "the first quarter" may be a share
                return _date(text, begin, match.end(), (year, quarter, 0), "quarter") if sure else None
            name, day_written = fold(parts["month"]), parts.get("day", "0")
            number = int(day_written) if day_written.isdigit() else _ordinal_words(fold(day_written))
            if number <= 31 and (number or "day" not in parts):
                return _date(text, begin, match.end(), (year, MONTH_OF.get(name) or int(name), number))
    return None


def _lone_month(text: str, begin: int, end: int, frame: Frame) -> Quantity | None:
    """The name of a month behind "in", "on" and the like, as "May" and "March" are also words."""
    written = text[begin].isupper() or _case(text)[1]
    if not frame or frame[-1][2] not in BEFORE_MONTH or end - begin < 3 or not written:
        return None
    return _date(text, begin, end, (0, MONTH_OF[text[begin:end].lower()], 0))


def _clock(text: str, begin: int, before: str) -> Quantity | None:
    """A time of the day; or, with a unit behind it, how long something takes: "1:30 hours"."""
    match = next((found for writing in CLOCK_WRITINGS if (found := writing.match(text, begin))), None)
    if not match or _said_as_ratio(text, begin, match.end()):
        return None
    parts = match.groupdict("")
    if "bare" in parts and before not in BEFORE_HOUR and not _in_span(text, begin, match.end(), before):
        return None
    near = parts.get("near", "").lower()
    if parts.get("to", "").lower() == "to" and near != "quarter" and before != "at":  # "five to ten people"
        return None
    written, half = fold(parts["hour"]), parts.get("half", "").lower()
    hour, minute = int(NUMBER_WORDS.get(written, written)), int(parts.get("minute") or parts.get("part") or 0)
    time = 60 * hour + minute + Fraction(int(parts.get("second") or 0), 60)
    unit, _ = _unit(text, match.end(), after_digits=True) if "minute" in parts and not half else (None, 0)
    if unit in (NAMES["hour"], NAMES["minute"]):
        return _with_unit(text, begin, match.end(), time / 60, Fraction(1, 60), 3, None, after_digits=True)
    if hour > 24 or ((half or "bare" in parts) and not 0 < hour <= 12):
        return None
    end = match.end()
    time += MINUTES.get(near, 0) * (1 if parts.get("to", "").lower() == "past" else -1)
    sure = "minute" not in parts or not before or before in BEFORE_HOUR  # "she swam 2:05 in the afternoon"
    if not half and 0 < hour <= 12 and sure and (said := PART_OF_DAY.match(text, end)):
        half = _half_of_day(fold(said[1] or said[2]), int(time) // 60 % 12)
        end = said.end() if half else end
    if "bare" in parts and not half:
        return None
    either = not half and 0 < hour <= 12 and written[0] != "0"
    if half:
        time = time % 720 + 720 * (half == "p")
    return Quantity(CLOCK, (Fraction(time),), begin, end, text[begin:end], open=either)


def _half_of_day(part: str, hour: int) -> str:
    """The letter of "am" or "pm" for an hour of a part of the day; "" where it may be of either half."""
    return next((half for half, hours in HALVES_OF_DAY[part].items() if hour in hours), "")


def _in_span(text: str, begin: int, end: int, before: str) -> bool:
    """Whether a bare hour is an end of "from nine in the morning to five in the afternoon"."""
    part = PART_OF_DAY.match(text, end)
    if before == "from":
        return part is not None and TO_HOUR.match(text, part.end()) is not None
    return before == "to" and AFTER_PART.search(text[max(begin - 18, 0) : begin]) is not None


def _said_as_ratio(text: str, begin: int, end: int) -> bool:
    return RATIO_AFTER.match(text, end) is not None or RATIO_BEFORE.search(text[max(begin - 24, 0) : begin]) is not None


@lru_cache(maxsize=8)
def _case(text: str) -> tuple[bool, bool]:
    """Whether a text is in capitals, and in small letters; looked at once, as a text may have a thousand numbers."""
    return text.isupper(), text.islower()


@lru_cache(maxsize=8)
def _bare(text: str) -> str:
    """A text in small letters without what is around it; looked at once, as a text may have a thousand words."""
    return text.strip(" .").lower()


def _end_of_identifier(text: str, begin: int, before: str, frame: Frame) -> int:
    """The end of digits that name something: a version, a section, a code, a phone number; 0 if they do not."""
    plain = _sure_match(TOKEN, text, begin)
    digits, end = plain[0], plain.end()
    version = VERSION.match(text, begin, begin + MAX_IDENTIFIER)
    if before.isalpha() or before in "_#" or (before in "/." and begin > 1 and text[begin - 2].isalpha()):
        return max(end, version.end() if version else 0)
    named = frame and frame[-1][2] in NAMED - ONLY_DECIMALS and frame[-1][1] >= begin - 2
    if version and version.end() > end and (named or not _is_amount(text, end, version[0])):
        return version.end()
    if (match := SLASH.match(text, end)) and digits.isdigit() and _is_no_fraction(int(digits), int(match[1])):
        return match.end()
    if digits[0] == "0" and len(digits) > 2 and digits.isdigit():
        return end
    if not frame or frame[-1][1] < begin - 2 or before not in " \u00a0." or "," in digits:
        return 0
    first, last, word = frame[-1]
    decimal, name = "." in digits, text[first:last]
    if word in NAMED and (decimal or word not in ONLY_DECIMALS):
        return end
    named = len(name) > 1 and name[0].isupper() and name.isalpha() and word not in BEFORE_AMOUNTS
    named = named and not digits.startswith("0.")
    if not decimal or not named or name in CURRENCY_SIGNS or (_case(text)[0] and len(text) > 12):
        return 0
    return 0 if _unit(text, end, True)[1] or SCALE_WORD.match(text, end) else end


def _is_no_fraction(number: int, other: int) -> bool:
    """Whether two numbers around a slash, no years, are as they are written: "24/7", "50/50", "120/80"."""
    return number < FIRST_YEAR and ((number, other) == (24, 7) or number == other or number > other > 16)


def _is_amount(text: str, end: int, written: str) -> bool:
    """Whether digits up to `end` with what is joined to them are an amount: "5kg", "90s", "1.234.567", "2e9"."""
    ending = written.lstrip("0123456789")
    if (
        ending in ("st", "nd", "rd", "th", "s", "x", "h", "ish")
        or ending in ATTACHED_SCALES
        or POINTED.fullmatch(written)
    ):
        return True
    if POWER.match(text, end) or POWER_BEGINS.match(ending) or WORD_BEGINS.match(written):
        return True
    return ending.isalpha() and find_unit((ending,), True)[1] > 0


def _plain_number(text: str, begin: int, point: bool = False) -> tuple[Fraction, Fraction, int, int] | None:
    """Value, step, significant digits and end of a number in digits, without scale and unit."""
    match = SPACED.match(text, begin) or _sure_match(TOKEN, text, begin)
    whole, end = re.sub("[^\\d.,]", "", match[0]), match.end()
    if GROUPED.fullmatch(whole):
        whole = whole.replace(",", "")
    elif POINTED.fullmatch(whole):
        whole = whole.replace(".", "").replace(",", ".")
    elif DECIMAL_COMMA.fullmatch(whole) and _has_decimal_comma(text, begin, end):
        whole = whole.replace(",", ".")
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
    digits = len(whole.replace(".", "").lstrip("0"))
    if not decimals:
        return Fraction(int(whole)), ONE, digits, end  # from a string it takes ten times as long
    return Fraction(whole), Fraction(1, 10 ** len(decimals)), digits, end


def _has_decimal_comma(text: str, begin: int, end: int) -> bool:
    """Whether a number such as "3,14" is one and no list: a unit is beside it, or no bracket and no other comma."""
    before, after = text[max(begin - 2, 0) : begin].rstrip()[-1:], text[end : end + 2].lstrip()[:1]
    beside = before in CURRENCY_SIGNS or _unit(text, end, True)[1] > 0
    return beside or (before not in ("(", "[", "{", ",") and after not in (")", "]", "}", ","))


def _number(text: str, begin: int, place: int, unit: Unit | None = None, point: bool = False) -> Quantity | None:
    """A number whose digits begin at a place, with what follows: a power, a fraction, a scale, a unit.

    It begins with the sign of its unit, if it has one; `point` says that a decimal point stands before the digits.
    """
    plain = _plain_number(text, place, point)
    if plain is None:
        return None
    value, step, digits, end = plain
    whole = step == 1
    if unit is None and not FOLLOWED.match(text, end):
        year = _year(text[begin:end], value) if whole else 0
        return _date(text, begin, end, (year, 0, 0)) if year else _amount(text, begin, end, value, step, digits)
    if (match := POWER.match(text, end)) and abs(int(match[1] or match[2])) <= MAX_POWER:
        factor, end = Fraction(10) ** int(match[1] or match[2]), match.end()
        value, step = value * factor, step * factor
    elif (match := RAISED.match(text, end)) and value and abs(int(match[1])) <= MAX_POWER and value < 1000:
        value, end = value ** int(match[1]), match.end()
    elif whole and (match := MIXED.match(text, end)) and int(match[2]):
        value, end, step = value + Fraction(int(match[1]), int(match[2])), match.end(), Fraction(0)
    elif whole and not unit and value < FIRST_YEAR and (match := SLASH.match(text, end)) and int(match[1]):
        value, end, step = value / int(match[1]), match.end(), Fraction(0)
    scaled, end = _scale(text, end, money=unit is not None)
    if scaled == 1 and unit is None and whole and (found := _ordinal_or_year(text, begin, end, value)):
        return found
    if scaled != 1:
        value, step = value * scaled, step * scaled
    if whole and scaled in (1, *SCALES.values()) and (match := AND_HALF.match(text, end)):  # "2 and a half hours"
        value, end, step = value + Fraction(scaled, PARTS[match[1]]), match.end(), Fraction(0)
    return _with_unit(text, begin, end, value, step, digits, unit, after_digits=True)


def _scale(text: str, end: int, money: bool = False) -> tuple[int, int]:
    """What a word for a scale behind a number stands for, and its end; 1 if there is none."""
    if match := SCALE_WORD.match(text, end):
        return WORD_SCALES[fold(match[1])], match.end()
    match = (MONEY_LETTERS if money else SCALE_LETTERS).match(text, end)
    if match and money and match[1].lower() in SCALES_OF_MONEY:
        return SCALES[SCALES_OF_MONEY[match[1].lower()]], match.end()
    if match and match[1] in ATTACHED_SCALES and (match[1] != "K" or text[end - 1 : end].isdigit()):
        return ATTACHED_SCALES[match[1]], match.end()
    return 1, end


def _ordinal_or_year(text: str, begin: int, end: int, value: Fraction) -> Quantity | None:
    if match := ORDINAL_ENDING.match(text, end):
        return _simple(ORDINAL, text, begin, match.end(), value)
    if match := ERA.match(text, end):
        return _date(text, begin, match.end(), (-int(value) if match[1][0] in "Bb" else int(value), 0, 0))
    written = text[begin:end]
    if len(written) in (2, 4) and written[-1] == "0" and (match := DECADE.match(text, end)):
        return _date(text, begin, match.end(), (int(value) + 1900 * (len(written) == 2), 0, 0), "decade")
    year = _year(written, value)
    if not year or text[end : end + 1] == "+" or _unit(text, end, True)[1]:
        return None
    return _date(text, begin, end, (year, 0, 0))


def _year(written: str, value: Fraction) -> int:
    """The year that four digits may be, or 0."""
    return int(value) if len(written) == 4 and written.isdigit() and FIRST_YEAR <= value <= LAST_YEAR else 0


def _unit(text: str, end: int, after_digits: bool) -> tuple[Unit | None, int]:
    """The unit behind a number, also one of several ("km/h", "mg per kg"), and its end; 0 if there is none."""
    unit, place = _one_unit(text, end, after_digits)
    if unit is None:
        return None, 0
    unit, place = _divided(text, unit, place)
    single = place <= end + 2 and text[place - 1].isalpha() and text[place : place + 1] == "/"
    return (None, 0) if single else (unit, place)


def _divided(text: str, unit: Unit, place: int) -> tuple[Unit, int]:
    """A unit that ends at a place, by those that it is divided by behind it, and their end."""
    while not unit.zero and (match := PER.match(text, place)):
        by_sign = match[0].lstrip()[0] in "/p"
        divisor, last = _one_unit(text, match.end(), by_sign)
        if divisor is None or divisor.dimension.partition("^")[0] not in DIVISORS or not int(match[1] or 1):
            break
        if not by_sign and AGO.match(text, last):
            break
        unit, place = unit.per(divisor, int(match[1] or 1)), last
    if "/" not in unit.name and (match := ADVERB.match(text, place)):
        return unit.per(NAMES[RATES[match[1]]]), match.end()
    return unit, place


def _one_unit(text: str, end: int, after_digits: bool) -> tuple[Unit | None, int]:
    """The unit behind a number without those that it is divided by, and its end; 0 if there is none."""
    match = UNIT_WORD.match(text, end)
    if not match:
        return None, 0
    words, ends, power = [match[1].replace(" ", "")], [match.end()], int(match[2] or 1)
    if words[0].isalpha():
        while len(words) < 3 and (following := NEXT_WORD.match(text, ends[-1])):
            words.append(following[1])
            ends.append(following.end())
        if power == 1 < len(words) and words[0].lower() in POWERS:
            power, words, ends = POWERS[words[0].lower()], words[1:], ends[1:]
    unit, count = find_unit(tuple(words), after_digits)
    if unit is None or (unit.name == "time" and FACTOR_BEGINS.match(text, ends[0])):  # "5 times 6"
        return None, 0
    follows = words[1].lower() if len(words) > 1 else text[ends[0] + 1 : ends[0] + 2]
    if words[0] == "in" and text[end] == " " and follows[:1].isalnum() and follows not in BEHIND_INCHES:
        return None, 0
    after = text[ends[0] : ends[0] + 1]
    if len(words[0]) == count == 1 and words[0].isalpha() and after and after in "'\u2019-+":
        return None, 0
    if words[0] == "A" and text[end : end + 1] not in " \u00a0":
        return None, 0
    if power > 1:
        return (unit.power(power), ends[count - 1]) if unit.dimension in ("length", "time") else (None, 0)
    return unit, ends[count - 1]


def _with_unit(
    text: str, begin: int, end: int, value: Fraction, step: Fraction, digits: int, unit: Unit | None, after_digits: bool
) -> Quantity:
    """A number with the unit behind it, or with that of a sign before it."""
    if unit is None:
        match = PER_TIME.match(text, end)
        if match and (match[0].lstrip()[0] in "tTxX" or match[2]):
            return _rate(text, begin, match.end(), value, _seconds(match))
        unit, place = _unit(text, end, after_digits)
        end = place or end
    else:
        named = DOLLARS.match(text, end) if unit.dimension == "USD" else None
        unit, end = _divided(text, unit, named.end() if named else end)
    unit = unit or NO_UNIT
    if unit.name and step and (match := AND_HALF.match(text, end)):  # "an hour and a half"
        value, end, step = value + Fraction(1, PARTS[match[1]]), match.end(), Fraction(0)
    if unit is PERCENT and (match := POINTS.match(text, end)):  # "5% points"
        unit, end = NAMES["percentage_point"], match.end()
    return _amount(text, begin, end, value, step, digits, unit)


def _amount(
    text: str, begin: int, end: int, value: Fraction, step: Fraction, digits: int, unit: Unit = NO_UNIT
) -> Quantity:
    """A number in a unit."""
    base, base_step = (value * unit.size + unit.zero, step * unit.size) if unit.name else (value, step)
    alone = DECIMAL_COMMA.fullmatch(text, begin, end) is not None and text.strip() == text[begin:end]
    either = alone or POINT_OF_THOUSANDS.search(text, begin, end) is not None
    return Quantity(NUMBER, (base,), begin, end, text[begin:end], value, unit, "", base_step, digits, either)


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


def _from_words(text: str, begin: int, word: str, frame: Frame) -> Quantity | None:
    """What begins with a word for a number, a part, a day, a time or how often."""
    end = begin + len(word)
    for kind, values in _BY_WORD.items():
        if word in values:
            return _simple(kind, text, begin, end, values[word])
    if word in ("minus", "negative"):
        after = TOKEN.match(text, end + 1)
        if after and after[0].lower() in ("minus", "negative"):
            return None
        number = _read_one(text, end + 1, after[0], []) if after and (not frame or frame[-1][2] != Q) else None
        if number and word == "negative":  # a sign in "negative 3%"; not in "tested negative 3 times"
            signed = (
                number.unit.dimension not in ("time", "times") if number.unit.name else NO_NOUN.match(text, number.end)
            )
            number = number if signed else None
        return _negated(number, text, begin) if number and number.kind in (NUMBER, YEAR) else None
    if word in RATES or word in TIMES or word == "every":
        return _how_often(text, begin, end, word)
    if found := _find_date(text, begin) or _clock(text, begin, frame[-1][2] if frame else ""):
        return found
    if (match := YEAR_IN_WORDS.match(text, begin)) and (year := years_in_digits(match[0])).isdigit():
        return _date(text, begin, match.end(), (int(year), 0, 0))
    number = _spelt(text, begin, frame[-1][2] if frame else "")
    if number and number.kind == NUMBER and not number.step and PART_OR_WHOLE.search(text[max(begin - 24, 0) : begin]):
        return replace(number, open=True)
    return number


def _how_often(text: str, begin: int, end: int, word: str) -> Quantity | None:
    """A rate: "daily", "every two weeks", "twice a day"; or "twice" alone, which is a number of times."""
    if word in RATES:
        return _rate(text, begin, end, 1, NAMES[RATES[word]].size)
    if word == "every":
        if not (match := EVERY.match(text, begin)):
            return None
        if match["nth"] and fold(match["nth"]) != "other" and PLACE_IN.match(text, match.end()):
            return None
        written = fold(match["nth"] or match[2] or "1")
        count = 2 if written == "other" else ORDINALS.get(written) or NUMBER_WORDS.get(written) or int(written)
        return _rate(text, begin, match.end(), 1, count * NAMES[fold(match[3])].size) if count else None
    if match := PER_TIME.match(text, end):
        return _rate(text, begin, match.end(), TIMES[word], _seconds(match))
    return replace(_simple(NUMBER, text, begin, end, TIMES[word]), unit=NAMES["time"]) if word != "once" else None


def _rate(text: str, begin: int, end: int, times: Fraction | int, period: Fraction) -> Quantity:
    """How many times in a period of so many seconds."""
    return replace(_simple(RATE, text, begin, end, times / period), number=Fraction(times))


def _seconds(match: re.Match[str]) -> Fraction:
    """The period of a match of PER_TIME."""
    return NAMES[fold(match[1]) if match[1] else RATES[fold(match[2])]].size


def _ordinal_words(words: str) -> int:
    ten, _, last = words.rpartition("-")
    return ORDINALS.get(last, 0) + TENS.get(ten, 0) if last in ORDINALS and (not ten or ten in TENS) else 0


def _spelt(text: str, begin: int, before: str) -> Quantity | None:
    """A number in words, with a part ("two thirds", "two and a half", "half a million"), a scale and a unit."""
    end = _sure_match(_WORD, text, begin).end()
    if (begin and text[begin - 1] == "'") or text[end : end + 1].isdigit():
        return None  # "Twenty20"
    words, ends = _words_from(text, begin)
    if not words:
        return None
    in_words, used = cardinal(words, 0)
    value = None if in_words is None else Fraction(in_words)
    if value is None:
        value, used = _part_of_one(text, words, ends, before)
    if value is None and words[0] in ("a", "an"):
        unit, _ = _unit(text, ends[0], False)
        of_unit = unit and unit.dimension.split("/")[0] in AFTER_ARTICLE and unit != NAMES["second"]
        return _with_unit(text, begin, ends[0], Fraction(1), Fraction(1), 1, None, False) if of_unit else None
    if value is None:
        return _simple(ORDINAL, text, begin, ends[0], ORDINALS[words[0]]) if words[0] in ORDINALS else None
    if words[:used] == ["one"] and before in NO_COUNT:
        return None
    end, rest = ends[used - 1] if used else begin, words[used:]
    spaced = rest[:1] == ["second"] and text[end].isspace()  # "a twenty second delay"
    if rest and ORDINALS.get(rest[0], 10) < 10 and not spaced and value % 100 in TENS.values():
        return _simple(ORDINAL, text, begin, ends[used], value + ORDINALS[rest[0]])
    value, end = _with_part(text, value, end, rest, ends[used:], before)
    step = Fraction(1) if value.denominator == 1 else Fraction(0)
    if not step and (match := OF_A.match(text, end)):
        scale, place = _scale(text, match.end())
        if scale > 1 or _unit(text, match.end(), False)[1]:
            return _with_unit(text, begin, place, value * scale, step, 2, None, after_digits=False)
    scale, end = _scale(text, end) if text[end : end + 1] in " -" else (1, end)
    digits = 1 if value < 10 else 2
    return _with_unit(text, begin, end, value * scale, step * scale, digits, None, after_digits=False)


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


def _with_part(
    text: str, value: Fraction, end: int, rest: list[str], ends: list[int], before: str
) -> tuple[Fraction, int]:
    """A number with the part or the dozen behind it, and its end; "a hundred and a half" may be 150, and is two."""
    if not rest:
        return value, end
    part = PARTS.get(rest[0], 0)
    if rest[0].endswith("s") or rest[0] in HALVES or (value == 1 and PART_OF.match(text, ends[0])):
        if part and value < 100:
            return value / part, ends[0]
    elif rest[:2] == ["and", "a"] and rest[2:3] and rest[2] in PARTS:
        if value < 100:
            return value + Fraction(1, PARTS[rest[2]]), ends[2]
        if value >= 10**6 and rest[2] in HALVES:  # "a million and a half"
            return value + Fraction(max(one for one in SCALES.values() if one <= value), PARTS[rest[2]]), ends[2]
    elif rest[0] == "and" and before != "between":  # "seven and three quarters"
        number, place = cardinal(rest, 1)
        part = PARTS.get(rest[place], 0) if place < len(rest) else 0
        if number is not None and 0 < number < part and value.denominator == 1:
            return value + Fraction(number) / part, ends[place]
    return (value * 12, ends[0]) if rest[0] == "dozen" else (value, end)


def _may_be_roman(text: str, begin: int, token: str, frame: Frame) -> bool:
    after = text[begin + len(token) : begin + len(token) + 9].lstrip().lower()
    if after.startswith("century"):
        return True
    if not frame or frame[-1][1] != begin - 1 or text[begin - 1] != " ":
        return False
    first, last, word = frame[-2] if frame[-1][2] == "the" and len(frame) > 1 else frame[-1]
    capital = text[first].isupper() and word not in SMALL_WORDS and last - first > 1
    numbered = word in BEFORE_ROMAN or word in NUMBERED_NAMES
    if len(token) == 1 and (word != "bowl" if token in "CL" else not numbered):  # "Type C", "Malcolm X"
        return False
    if word in BEFORE_ROMAN:
        return True
    if _case(text)[0] or not capital:
        return False
    return token != "I" or not after or not after[0].isalnum() or first > 0


def _roman(token: str) -> int:
    values = [ROMAN_VALUES[sign] for sign in token]
    smaller = [one for one, following in pairwise(values) if one < following]  # these are taken away
    return sum(values) - 2 * sum(smaller)


def _bounded(text: str, quantity: Quantity, before: str) -> tuple[Quantity, int, int]:
    """The quantity with its bound, and begin and end of both."""
    begin, end = quantity.begin, quantity.end
    if quantity.kind in (IDENTIFIER, FACTOR, SCALE, WEEKDAY):
        return quantity, begin, end
    tail = text[max(begin - BOUND_WORDS, 0) : begin]
    if before in BOUND_SIGNS and (match := BOUND_SIGN.search(tail)):
        first = begin - len(tail) + match.start()
        return replace(quantity, bound=BOUND_SIGNS[match[1]], bound_text=text[first:end]), first, end
    first, bound, begins = begin, "", begin
    if before in BOUND_ENDS and tail[-1:].isspace():
        bound, kept, start = _bound_before(tail, quantity.kind)
        first, begins = begin - len(tail) + kept, begin - len(tail) + start
    if bound in ("", "~") and (text[end : end + 1].isspace() or text[end : end + 1] == "+"):
        for name, pattern in BOUND_AFTER:
            if match := pattern.match(text, end):
                kept = end if name == "~" or NOUN_BETWEEN.match(match[0]) else match.end()
                written = text[begins : match.end() if name != "~" else end]
                return replace(quantity, bound=name, bound_text=written), first, kept
    return (replace(quantity, bound=bound, bound_text=text[begins:end]) if bound else quantity), first, end


def _bound_before(tail: str, kind: str) -> tuple[str, int, int]:
    """The bound that the characters before a quantity end with, and where it and where its words begin among them."""
    for name, pattern in BOUND_BEFORE:
        if match := pattern.search(tail):
            words = match[0].lower().split()
            if words[0] != "by" or kind in (*DATES, CLOCK):  # "by" and "or" stay among the words
                kept = len(tail) if words[0] == "by" or words == ["or"] else match.start()
                return name, kept, kept if words == ["or"] else match.start()
    return "", len(tail), len(tail)


def _in_smaller(text: str, one: Quantity, part: Quantity) -> tuple[Quantity, Quantity]:
    """An amount and a number right behind it, which is in the smaller unit that is not said: "five foot ten"."""
    if text[one.end : part.begin] != " " or part.kind != NUMBER or part.unit.name or not one.unit.name:
        return one, part
    if part.step != 1 or one.step != one.unit.size or not NO_NOUN.match(text, part.end):
        return one, part
    if one.unit == NAMES["pound"] and "pound" in one.text:  # "two pounds fifty"
        one = replace(one, unit=CURRENCY_SIGNS["GBP"], values=(one.number,), step=ONE)
    smaller, digits = SMALLER.get(one.unit.name, (NO_UNIT, 0))
    if one.unit in MONEY:
        smaller, digits = Unit(one.unit.name + "/100", one.unit.dimension, Fraction(1, 100)), 2
    if part.digits < digits or not 0 < part.number * smaller.size < one.unit.size:
        return one, part
    return one, replace(part, values=(part.number * smaller.size,), unit=smaller, step=smaller.size)


def _is_part(text: str, one: Quantity, end: int, part: Quantity) -> bool:
    """Whether a quantity is the rest of the one before, which ends at `end`: "6 ft 2 in", "1 hour and 30 minutes"."""
    if not one.kind == part.kind == NUMBER or not one.unit.name or part.bound or one.unit.zero:
        return False
    smaller = one.unit.dimension == part.unit.dimension and 0 < part.values[0] < one.unit.size <= one.step
    return smaller and BETWEEN_PARTS.fullmatch(text, end, part.begin) is not None


def _whole(text: str, one: Quantity, part: Quantity) -> Quantity:
    """Two quantities as one, in the unit of the first."""
    value, digits = one.values[0] + part.values[0], one.digits + part.digits
    whole = replace(one, values=(value,), number=value / one.unit.size, step=part.step, digits=digits)
    return replace(whole, end=part.end, text=text[one.begin : part.end])


def _joined(
    text: str, atoms: list[Quantity], bounds: list[tuple[int, int]], frame: Frame
) -> tuple[list[Quantity], list[str]]:
    """Quantities with ranges and sequences as one, and the words of the frame with one Q for each."""
    merged: list[Quantity] = []
    gone: set[int] = set()  # begins of what a range takes from the frame
    i = 0
    while i < len(atoms):
        one, (first, end) = atoms[i], bounds[i]
        i += 1
        if i < len(atoms) and bounds[i][0] >= end and _make_sequence(text, one, atoms[i], first, end):
            one = _sequence(text, one, atoms[i])
            gone |= {bounds[i][0], *range(end, atoms[i].begin + 1)}
            place = bisect_left(frame, (first,))
            if place and frame[place - 1][2] in ("from", "between"):
                gone.add(frame[place - 1][0])
            i += 1
        merged.append(one)
    return merged, [word for begin, _, word in frame if begin not in gone]


def _make_sequence(text: str, one: Quantity, other: Quantity, first: int, end: int) -> bool:
    """Whether two quantities are a range or another sequence; the first one with its bound is from `first` to `end`."""
    between, before = text[end : other.begin], text[max(one.begin - 9, 0) : first].lower()
    if SHARED.fullmatch(between):
        counts = one.kind == other.kind == NUMBER and not (one.unit.name or other.unit.name or other.bound)
        return counts and 0 < one.number < other.number <= 1000
    if not JOINED.fullmatch(between) and not (BETWEEN.fullmatch(between) and before.rstrip().endswith("between")):
        return False
    if between == "/" and not (one.kind == YEAR and other.number in (one.number + 1, (one.number + 1) % 100)):
        return False  # of years, "1979/80" is one season and "1837/1834" are two answers
    if one.bound.startswith(("<", ">")) or one.by_article or (other.kind == NUMBER and other.open and not other.step):
        return False
    if {one.kind, other.kind} == {NUMBER, DATE}:  # "May 3-5", "21 to 28 January"
        day, date = (one, other) if one.kind == NUMBER else (other, one)
        return 0 < day.number <= 31 and day.step == 1 and not day.unit.name and date.values[2] > 0
    if one.kind in DATES:
        return other.kind in DATES or (one.kind == YEAR and other.kind == NUMBER and len(other.text) == 2)
    return one.kind == other.kind and one.kind in (NUMBER, CLOCK, ORDINAL, WEEKDAY)


def _sequence(text: str, one: Quantity, other: Quantity) -> Quantity:
    if one.kind == YEAR and other.kind == NUMBER:
        year = one.number - one.number % 100 + other.number
        other = replace(other, kind=YEAR, values=(year, Fraction(0), Fraction(0)))
    elif {one.kind, other.kind} == {NUMBER, DATE}:
        month = (one if one.kind == DATE else other).values[:2]
        one, other = (replace(day, values=(*month, (day.values[-1]))) for day in (one, other))
    begin, end, written = one.begin, other.end, text[one.begin : other.end]
    said = text[one.begin - one.said.find(one.text) : end] if one.bound else ""
    if SHARED.fullmatch(text, one.end, other.begin):
        share = one.number / other.number
        return Quantity(SHARE, (share,), begin, end, written, one.number, NO_UNIT, one.bound, bound_text=said)
    unit = other.unit
    values = one.values if one.unit.name else tuple(value * unit.size + unit.zero for value in one.values)
    step = max(one.step, other.step)
    values, either = (*values, *other.values), one.open or other.open
    if one.kind == NUMBER and values[-1] and _said_as_ratio(text, begin, end):
        values, either = tuple(value / values[-1] for value in values), True
    return Quantity(RANGE, values, begin, end, written, other.number, unit, one.bound, step, 0, either, said)


_WORD = re.compile(r"(?:\s+|\s?-\s?)?([^\W\d_]+)")
_IN_NUMBER = {*NUMBER_WORDS, *TENS, *SCALES, *ORDINALS, *PARTS, "hundred", "and", "a", "an", "dozen"}
_BY_WORD: dict[str, Mapping[str, int | Fraction]] = {WEEKDAY: WEEKDAY_OF, CLOCK: CLOCK_WORDS, SCALE: SCALE_WORDS}
_BY_WORD |= {FACTOR: FACTORS}
_STARTS = {*NUMBER_WORDS, *TENS, *ORDINALS, *WEEKDAY_OF, *CLOCK_WORDS, *FACTORS, *SCALE_WORDS, *RATES, *TIMES}
_STARTS |= {"half", "quarter", "a", "an", "dozen", "every", "minus", "negative"}
