"""Numbers, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.lexical import normalize
from semantic_metrics.quantities.spell import NUMBER_WORDS, SCALES, TENS, spell_in_digits

NUMBERS = [
    ("\u22125 degrees (-7.50)", "-5 degrees -7.5"),
    ("minus five", "-5"),
    ("10 minus 5", "10 minus 5"),
    ("1990-1995, covid-19, 3 - 2", "1990 1995 covid 19 3 2"),
    ("-5 million", "-5000000"),
    (".5", "0.5"),
    ("wait ...5", "wait 5"),
    ("3.50, 3.0. 100", "3.5 3 100"),
    ("1.10.2", "1.10 2"),
    ("٣", "3"),
    ("\u0967,\u0966\u0966\u0966.\u096b\u0966", "1000.5"),
    ("10²", "10 2"),
    ("10⁻²", "10 -2"),
    ("½", "1 2"),
    ("3 hundred", "300"),
    ("3 hundred and five thousand", "305000"),
    ("nineteen hundred and four", "1904"),
    ("a million", "1000000"),
    ("a hundred and one", "101"),
    ("half a million", "half million"),
    ("the twenty-first century", "21st century"),
    ("in nineteen twelve, not nineteen oh five", "in 1912 not 1905"),
    ("twenty twenty and twenty ten", "2020 and 2010"),
    ("ten thirty", "10 30"),
    ("nineteen twenty thousand", "19 20000"),
    ("nineteen oh no", "19 oh no"),
    ("thirteen, fourteen and fifteen", "13 14 and 15"),
    ("There were sixteen. Twenty more came.", "there were 16 20 more came"),
    ("nineteen ninety ninth", "19 99th"),
    ("twenty thirteen-year-olds", "20 13 year olds"),
    ("twenty twenty-dollar bills", "20 20 dollar bills"),
    ("two hundred and three hundred", "200 and 300"),
    ("nine hundred and a thousand", "900 and 1000"),
    ("two hundred and twenty thousand", "220000"),
    ("one million two hundred thousand and seven", "1200007"),
    ("3 million 5", "3000000 5"),
    ("twenty hundred", "20 hundred"),
    ("1,234,567.50 dollars", "1234567.5 dollars"),
    ("1,2,3", "1 2 3"),
    ("10,00", "10 00"),
    ("$5bn, 1.2 mln and \u00a33.5m", "5000000000 1200000 and 3500000"),
    ("5m, 3 k and 2 b", "5m 3 k and 2 b"),  # no amounts of a currency
]


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers_are_written_one_way(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_long_numbers_stay_exact() -> None:
    number = "1234567890" * 10
    assert normalize(number) == number
    assert normalize(f"{number} million") == f"{number} million"


def _in_words(number: int) -> list[str]:
    """As an English speaker says it; written apart from the code that reads it."""
    names = {value: word for word, value in {**NUMBER_WORDS, **TENS, **SCALES}.items()}
    if number < 21 or (number < 100 and number % 10 == 0):
        return [names[number]]
    if number < 100:
        return [names[number - number % 10], names[number % 10]]
    if number < 1000:
        rest = number % 100
        return [names[number // 100], "hundred", *(["and", *_in_words(rest)] if rest else [])]
    scale = max(value for value in SCALES.values() if value <= number)
    rest = number % scale
    joint = ["and"] if 0 < rest < 100 else []
    return [*_in_words(number // scale), names[scale], *joint, *(_in_words(rest) if rest else [])]


@given(st.integers(0, 10**15 - 1))
def test_numbers_in_words_are_read(number: int) -> None:
    assert spell_in_digits(_in_words(number)) == [str(number)]
    assert spell_in_digits(["about", *_in_words(number), "dogs"]) == ["about", str(number), "dogs"]
