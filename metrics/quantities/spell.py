"""Numbers in digits: "1,000" is "1000", "two hundred and five" is "205", "3 million" and "3mln" are "3000000"."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

_NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
NUMBER_WORDS = {word: value for value, word in enumerate(_NUMBERS.split())}
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SHORT_SCALES = {"mln": "million", "bn": "billion", "bln": "billion", "tn": "trillion", "trn": "trillion"}
SCALES_OF_MONEY = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion"}  # behind an amount of a currency
CURRENCIES = "$\u00a3\u20ac\u00a5\u20b9"
# used in dates, as are those that end in "first" to "ninth"
ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), 1)} | {"thirtieth": 30}
ENDINGS = {1: "st", 2: "nd", 3: "rd"}
CENTURIES = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")
_DIGIT, _TEEN, _TEN = ("|".join(words) for words in ([*NUMBER_WORDS][1:10], [*NUMBER_WORDS][10:], TENS))
_NO_YEAR = "|".join([*[*NUMBER_WORDS][1:], *TENS, *[*ORDINALS][:9], "hundred", *SCALES])  # words behind what is no year
# "nineteen twelve", "nineteen forty-five", "nineteen oh five"; "twelve thirty" is rather a time
YEAR_IN_WORDS = re.compile(
    rf"(?<!\w)(?:{'|'.join(CENTURIES)})[\s-](?:(?:{_TEN})(?:[\s-](?:{_DIGIT}))?|{_TEEN}|oh?[\s-](?:{_DIGIT}))"
    rf"(?!\w|-\w|\s(?:{_NO_YEAR})\b)",  # "thirteen-year-olds", "twenty-dollar bills"
    re.I,
)
MAX_DIGITS = 15  # with "trillion" behind them, these are fewer than Decimal's 28 digits
DIGITS = re.compile(r"-?\d+(?:\.\d+)?")
FOREIGN = re.compile(r"[^\D0-9]")
RAISED = re.compile(r"(?<=\d)(?=[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u215f\u2189])")
GROUPED = re.compile(r"(?<![\d,.])\d[\d,]*")  # groups are checked in Python, as a pattern of groups is quadratic
POINT = re.compile(r"(?<![\w.)])\.(?=\d)")
DECIMAL = re.compile(r"(?<![\w.])\d[\d.]*")
_PLAIN, _SHORT = r"\d+(?:[.,]\d+)*", "|".join(SHORT_SCALES)
SHORT_SCALE = re.compile(rf"(?<=\d)\s?({_SHORT})\b", re.I)
SCALE_OF_MONEY = re.compile(rf"([{CURRENCIES}]\s?{_PLAIN})\s?([kmbt])\b", re.I)


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
    if not {century, *rest} <= {*NUMBER_WORDS, *TENS, "o", "oh"}:  # re.I also finds the dotless i of Turkish
        return match[0]
    return str(100 * (NUMBER_WORDS | TENS)[century] + sum((NUMBER_WORDS | TENS).get(word, 0) for word in rest))


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
        value, end = cardinal(words, begin)
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


def _ordinal(value: int) -> str:
    return f"{value}{'th' if value % 100 in (11, 12, 13) else ENDINGS.get(value % 10, 'th')}"


def cardinal(words: list[str], begin: int) -> tuple[Decimal | None, int]:
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
    """Like `cardinal`, for a number in digits, or in words without "thousand" and the like."""
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
    """Like `cardinal`, for words without "hundred"; "a" is 1 before "hundred" or a scale, not in "half a million"."""
    word, following = [*words[begin : begin + 2], "", ""][:2]
    if word == "a" and (following == "hundred" or following in SCALES) and words[max(begin - 1, 0)] != "half":
        return Decimal(1), begin + 1
    if word in NUMBER_WORDS:
        return Decimal(NUMBER_WORDS[word]), begin + 1
    if word not in TENS:
        return None, begin
    unit = NUMBER_WORDS.get(following, 0)
    return (Decimal(TENS[word] + unit), begin + 2) if 0 < unit < 10 else (Decimal(TENS[word]), begin + 1)
