"""Numbers in one form: "1,000" is "1000", "two hundred and five" is "205", "3 million" and "3mln" are "3000000".

Words that are compared are all read in digits (`plain_numerals`, `spell_in_digits`); a text that a model reads has its
numbers written as another text writes them (`write_as_in`).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

UNITS = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9},
    **{"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19},
}
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SHORT_SCALES = {"mln": "million", "bn": "billion", "bln": "billion", "tn": "trillion", "trn": "trillion"}
SCALES_OF_MONEY = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion"}  # behind an amount of a currency
CURRENCIES = "$\u00a3\u20ac\u00a5\u20b9"
ORDINALS = {
    **{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9},
    **{"tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15},
    **{"sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20},
    **{"thirtieth": 30},  # used in dates, as are those that end in "first" to "ninth"
}
ENDINGS = {1: "st", 2: "nd", 3: "rd"}
CENTURIES = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")
_DIGIT, _TEEN, _TEN = ("|".join(words) for words in ([*UNITS][1:10], [*UNITS][10:], TENS))
_NO_YEAR = "|".join([*[*UNITS][1:], *TENS, *[*ORDINALS][:9], "hundred", *SCALES])  # words behind what is no year
# "nineteen twelve", "nineteen forty-five", "nineteen oh five"; "twelve thirty" is rather a time
YEAR_IN_WORDS = re.compile(
    rf"(?<!\w)(?:{'|'.join(CENTURIES)})[\s-](?:(?:{_TEN})(?:[\s-](?:{_DIGIT}))?|{_TEEN}|oh?[\s-](?:{_DIGIT}))"
    rf"(?!\w|-\w|\s(?:{_NO_YEAR})\b)",  # "thirteen-year-olds", "twenty-dollar bills"
    re.I,
)

CACHED_TEXTS = 4096  # a window of a source is read beside several sentences
LEAST_ROUNDED = 10_000  # a smaller whole number is not rounded: 1950 is not 1945
ROUNDED_DIGITS = range(2, 16)  # to which a number may be rounded
MAX_DIGITS = 15  # with "trillion" behind them, these are fewer than Decimal's 28 digits
DIGITS = re.compile(r"-?\d+(?:\.\d+)?")
PLAIN_AMOUNT = re.compile(rf"[{CURRENCIES}]?{DIGITS.pattern}")
FOREIGN = re.compile(r"[^\D0-9]")
RAISED = re.compile(r"(?<=\d)(?=[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u215f\u2189])")
GROUPED = re.compile(r"(?<![\d,.])\d[\d,]*")  # groups are checked in Python, as a pattern of groups is quadratic
POINT = re.compile(r"(?<![\w.)])\.(?=\d)")
DECIMAL = re.compile(r"(?<![\w.])\d[\d.]*")
_PLAIN, _SHORT = r"\d+(?:[.,]\d+)*", "|".join(SHORT_SCALES)
SHORT_SCALE = re.compile(rf"(?<=\d)\s?({_SHORT})\b", re.I)
SCALE_OF_MONEY = re.compile(rf"([{CURRENCIES}]\s?{_PLAIN})\s?([kmbt])\b", re.I)
SCALED = re.compile(rf"[{CURRENCIES}].*[kmbt]|.*[\d\s-](?:{_SHORT}|{'|'.join(SCALES)})")
CLOCK = re.compile(r"(\d\d?)(?:[:.](\d\d))?\s?(?:([ap])\.?m\.?)?", re.I)
CLOCK_WORDS = {"noon": "12:00", "midday": "12:00", "midnight": "0:00"}
# a time of the day, an amount of a currency or a number with a short scale, a year in words, a number in digits, or a
# word; not begun within a number, which would take quadratic time. "3:00" may be in the afternoon and is no time here.
IN_TEXT = re.compile(
    r"(?P<time>(?<![\w.:,/-])(?:(?:0?[1-9]|1[0-2])(?:[:.][0-5]\d)?\s?[ap](?:m\b|\.m\b\.?)"
    rf"|(?:00?|1[3-9]|2[0-3]):[0-5]\d(?![\w:])|(?:{'|'.join(CLOCK_WORDS)})\b))"
    rf"|(?P<amount>[{CURRENCIES}]\s?{_PLAIN}(?:\s?(?:{_SHORT}|[kmbt])\b|\s(?:{'|'.join(SCALES)})\b)?(?!\w)"
    rf"|(?<![\w.])(?<!\d,)-?{_PLAIN}\s?(?:{_SHORT})\b)|{YEAR_IN_WORDS.pattern}"
    rf"|(?<![\w.])(?<!\d,)-?{_PLAIN}(?:st|nd|rd|th)?\b|(?<!\w)[^\W\d_]+(?!\w)",
    re.I,
)
LETTER_OR_DIGIT = re.compile(r"[^\W_]")
WITHIN_NUMBER = re.compile(r"\s+|\s?-\s?")  # between the words of one number
SECONDS = re.compile(r"\s(?:second|third)$")  # "twenty second" may be a time, "two third" a share
JOINED_BEFORE, JOINED_AFTER = re.compile(r"[\w][:/.,'\u2019-]$|[$\u00a3\u20ac#]$"), re.compile(r"[:/.,'\u2019-]\w")
PERCENT = re.compile(r"\s?%|\sper\s?cent\b", re.I)
ORDINAL_IN_DIGITS = re.compile(r"\d+(?:st|nd|rd|th)")


def part_raised(text: str) -> str:
    """Put a space between a digit and a superscript or fraction behind it: "10\u00b2" is not "102"."""
    return RAISED.sub(" ", text)


def plain_numerals(text: str) -> str:
    """Write digits of any script in ASCII, "1,000" as "1000", ".5" as "0.5", "3.50" as "3.5"; "1.10.2" stays.

    Short scales become words: "5bn" is "5 billion", "$5m" is "$5 million"; "5m" stays.
    """
    text = FOREIGN.sub(lambda match: str(unicodedata.decimal(match[0])), text)
    text = SCALE_OF_MONEY.sub(lambda match: f"{match[1]} {SCALES_OF_MONEY[match[2].lower()]}", text)
    text = SHORT_SCALE.sub(lambda match: f" {SHORT_SCALES[match[1].lower()]}", text)
    return DECIMAL.sub(_shorten, POINT.sub("0.", GROUPED.sub(_ungroup, text)))


def _ungroup(match: re.Match[str]) -> str:
    number = match[0].rstrip(",")
    first, *groups = number.split(",")
    grouped = len(first) <= 3 and all(len(group) == 3 for group in groups)
    return number.replace(",", "") + match[0][len(number) :] if grouped else match[0]


def _shorten(match: re.Match[str]) -> str:
    number = match[0].rstrip(".")
    return number.rstrip("0").rstrip(".") + match[0][len(number) :] if number.count(".") == 1 else match[0]


def years_in_digits(text: str) -> str:
    """Write years that are words in digits: "nineteen twelve" as "1912"; words with another sign between them stay."""
    return YEAR_IN_WORDS.sub(_year, text)


def _year(match: re.Match[str]) -> str:
    century, *rest = re.split(r"[\s-]", match[0].lower())
    if not {century, *rest} <= {*UNITS, *TENS, "o", "oh"}:  # re.I also finds the dotless i of Turkish
        return match[0]
    return str(100 * (UNITS | TENS)[century] + sum((UNITS | TENS).get(word, 0) for word in rest))


def is_number(word: str) -> bool:
    """Whether a word is a number in digits."""
    return DIGITS.fullmatch(word) is not None


def spell_in_digits(words: list[str]) -> list[str]:
    """Replace each run of lower-case number words (or digits before "million" and the like) by one number.

    Words that do not make one number together ("ten thirty") remain several: "10", "30". Ordinals up to
    "twentieth", "thirtieth", and those that end in one up to "ninth" ("twenty first"), become "20th", "30th", "21st".
    """
    return [number or words[begin] for begin, _, number in _runs(words)]


def _runs(words: list[str]) -> Iterator[tuple[int, int, str]]:
    """Begin and end of each run of words that make one number, with that number, or "" for a word that is no number."""
    position = 0
    while position < len(words):
        begin = position
        value, end = _cardinal(words, begin)
        last = ORDINALS.get(words[end], 0) if end < len(words) else 0
        position = begin + 1 if value is None else end
        number = ""
        if value is None:
            number = _ordinal(last) if last else ""
        elif end == begin + 1 and is_number(words[begin]):
            number = words[begin]
        elif value % 100 in TENS.values() and 0 < last < 10:
            number, position = _ordinal(int(value) + last), end + 1
        else:
            number = f"{value.normalize():f}"
        yield begin, position, number


@dataclass(frozen=True)
class Rewritten:
    """A text in other words.

    Attributes:
        text: the new text.
        origins: for each character of `text` the character that it stands for in the text as it was.
    """

    text: str
    origins: tuple[int, ...]


def write_as_in(text: str, other: str) -> Rewritten:
    """Write the numbers of a text as another text writes the same numbers: "42" as "forty-two", "5000" as "5,000".

    Digits replace words and words replace digits; commas between digits are added or dropped; "5%" and "five percent"
    are one number, so are "$5bn" and "$5 billion", "3 pm" and "15:00", and "8,398,748" and "8.4 million": what rounds
    in two digits or more to a number with a word for its scale. A number that the other text has in the same form, or
    does not have, stays as it is; so does what is a part of something else ("9/11", "3.10"), and a lone "one", "second"
    or "third", which are often no numbers.
    """
    numbers = _numbers(text)
    forms: dict[str, dict[str, None]] = {}  # each form once: a text may repeat a number thousands of times
    for begin, end, number in _numbers(other) if numbers else ():
        forms.setdefault(number, {})[other[begin:end]] = None
    rounded, changes = Rounded(forms), []
    for begin, end, number in numbers:
        old = text[begin:end].lower()
        written = [form for form in forms.get(number, []) if ":" in number or _may_replace(old, form.lower())]
        if written and old not in map(str.lower, forms[number]):
            changes.append((begin, end, written[0]))
        elif number not in forms and (form := rounded.form(number, old)):
            changes.append((begin, end, form))
    parts, origins, last = [], [], 0
    for begin, end, form in [*changes, (len(text), len(text), "")]:
        parts += [text[last:begin], form]
        origins += [*range(last, begin), *(begin + i * (end - begin) // len(form) for i in range(len(form)))]
        last = end
    return Rewritten("".join(parts), tuple(origins))


class Rounded:
    """The numbers of a text, to be found by what they round to and by what rounds to them.

    A word for its scale marks a rounded number, and only that: "8.4 million" is 8,398,748, "94100" is no other "94103"
    and "22 million" no other "22.4 million".
    """

    def __init__(self, forms: dict[str, dict[str, None]]) -> None:
        self.scaled: dict[tuple[str, Decimal], str] = {}
        self.exact: dict[tuple[str, Decimal], str] = {}
        for number in filter(PLAIN_AMOUNT.fullmatch, forms):
            currency, value = _currency_and_value(number)
            for form in forms[number]:
                scaled = SCALED.fullmatch(form.lower())
                for called in [value] if scaled else roundings(value):
                    (self.scaled if scaled else self.exact).setdefault((currency, called), form)

    def form(self, number: str, written: str) -> str | None:
        """How the text writes what a number is when it is rounded, or a number that rounds to it; None if neither."""
        if not PLAIN_AMOUNT.fullmatch(number):
            return None
        currency, value = _currency_and_value(number)
        if SCALED.fullmatch(written):
            return self.exact.get((currency, value))
        found = (self.scaled.get((currency, rounded)) for rounded in sorted(roundings(value)))
        return next(filter(None, found), None)


def _currency_and_value(amount: str) -> tuple[str, Decimal]:
    currency = amount[: amount[0] in CURRENCIES]
    return currency, Decimal(amount[len(currency) :])


@lru_cache(CACHED_TEXTS)
def roundings(value: Decimal) -> frozenset[Decimal]:
    """What a number is called when it is rounded to two digits or more; a whole number below 10,000 is not rounded."""
    if value.copy_abs() < LEAST_ROUNDED and value == value.to_integral_value():
        return frozenset()
    return frozenset(Context(digits, ROUND_HALF_UP).plus(value) for digits in ROUNDED_DIGITS)


def _may_replace(old: str, new: str) -> bool:
    """Whether two forms of a number differ in commas, in words for digits, or in a scale; "3.10" may be no "3.1"."""
    if _has_letters(old) != _has_letters(new) or old.replace(",", "") == new.replace(",", ""):
        return True
    return all(form[0] in CURRENCIES or SCALED.fullmatch(form) for form in (old, new))


def _has_letters(number: str) -> bool:
    """Whether a number is written in words, in part at least: "3 million" is, "3rd" is not."""
    return not ORDINAL_IN_DIGITS.fullmatch(number) and any(sign.isalpha() for sign in number)


@lru_cache(CACHED_TEXTS)
def _numbers(text: str) -> tuple[tuple[int, int, str], ...]:
    """Begin and end of each number in a text that `write_as_in` may change or take, with that number in digits."""
    found: list[tuple[int, int, str]] = []
    run: list[tuple[int, int]] = []  # words with nothing but a space or a hyphen between them
    for match in IN_TEXT.finditer(text):
        begin, end = match.span()
        apart = match["time"] or match["amount"]
        if run and (apart or not WITHIN_NUMBER.fullmatch(text[run[-1][1] : begin])):
            found += _numbers_in_run(text, run)
            run = []
        if not apart:
            run.append((begin, end))
        elif not JOINED_AFTER.match(text, end):
            found.append((begin, end, _time(apart) if match["time"] else _amount(apart)))
    return (*found, *_numbers_in_run(text, run))


def _time(text: str) -> str:
    """A time of the day as on a clock of 24 hours: "3 p.m." as "15:00"."""
    if text.lower() in CLOCK_WORDS:
        return CLOCK_WORDS[text.lower()]
    hour, minute, half = CLOCK.fullmatch(text).groups()
    hour = int(hour) if half is None else int(hour) % 12 + 12 * (half.lower() == "p")
    return f"{hour}:{minute or '00'}"


def _amount(text: str) -> str:
    """A number with a currency or a short scale, in digits: "$5bn" as "$5000000000"."""
    words = plain_numerals(text).lower().lstrip(CURRENCIES).split()
    return text[: text[0] in CURRENCIES] + " ".join(spell_in_digits(words))


def _numbers_in_run(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    words = [plain_numerals(years_in_digits(text[begin:end])).lower() for begin, end in spans]
    for begin, end, number in _runs(words):
        span = spans[begin][0], spans[end - 1][1]
        if number and (percent := PERCENT.match(text, span[1])):
            span, number = (span[0], percent.end()), f"{number}%"
        if (number or ORDINAL_IN_DIGITS.fullmatch(words[begin])) and _stands_alone(text, *span):
            yield *span, number or words[begin]


def _stands_alone(text: str, begin: int, end: int) -> bool:
    """Whether a number is one beyond doubt: no part of a date, a price or a compound, and no "one" or "second"."""
    written = text[begin:end].lower()
    whole = not (LETTER_OR_DIGIT.search(text, 0, begin) or LETTER_OR_DIGIT.search(text, end))
    doubtful = written in ("one", "second", "third") or SECONDS.search(written)
    joined = JOINED_BEFORE.search(text[max(begin - 2, 0) : begin]) or JOINED_AFTER.match(text, end)
    return (whole or not doubtful) and not joined


def _ordinal(value: int) -> str:
    return f"{value}{'th' if value % 100 in (11, 12, 13) else ENDINGS.get(value % 10, 'th')}"


def _cardinal(words: list[str], begin: int) -> tuple[Decimal | None, int]:
    """The longest number that begins at a word, and the index behind it; None if none begins there."""
    total, position, limit = Decimal(0), begin, None
    while True:
        skip = position > begin and words[position : position + 1] == ["and"]
        group, end = _below_thousand(words, position + skip)
        if group is None or (position > begin and is_number(words[position + skip])):
            break
        scale = SCALES.get(words[end], 1) if end < len(words) else 1
        if limit is not None and (scale >= limit or group >= limit):
            break
        total, position = total + group * scale, end + (scale > 1)
        if scale == 1:
            break
        limit = scale
    return (total, position) if position > begin else (None, begin)


def _below_thousand(words: list[str], begin: int) -> tuple[Decimal | None, int]:
    """Like `_cardinal`, for a number in digits, or in words without "thousand" and the like."""
    if begin >= len(words):
        return None, begin
    digits = is_number(words[begin]) and len(words[begin]) <= MAX_DIGITS
    value, end = (Decimal(words[begin]), begin + 1) if digits else _below_hundred(words, begin)
    if value and 0 < value < 100 and value % 10 and words[end : end + 1] == ["hundred"]:
        skip = words[end + 1 : end + 2] == ["and"]
        rest, after = _below_hundred(words, end + 1 + skip)
        # "two hundred and three hundred", "nine hundred and a thousand" are two numbers
        another = skip and (words[end + 2 : end + 3] == ["a"] or words[after : after + 1] == ["hundred"])
        return (value * 100, end + 1) if rest is None or another else (value * 100 + rest, after)
    return value, end


def _below_hundred(words: list[str], begin: int) -> tuple[Decimal | None, int]:
    """Like `_cardinal`, for words without "hundred"; "a" is 1 before "hundred" or a scale, not in "half a million"."""
    word, following = [*words[begin : begin + 2], "", ""][:2]
    if word == "a" and (following == "hundred" or following in SCALES) and words[max(begin - 1, 0)] != "half":
        return Decimal(1), begin + 1
    if word in UNITS:
        return Decimal(UNITS[word]), begin + 1
    if word not in TENS:
        return None, begin
    unit = UNITS.get(following, 0)
    return (Decimal(TENS[word] + unit), begin + 2) if 0 < unit < 10 else (Decimal(TENS[word]), begin + 1)
