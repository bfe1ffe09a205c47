"""Numbers, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.lexical import normalize
from semantic_metrics.nli_lex.numerals import SCALES, TENS, UNITS, Rewritten, spell_in_digits, write_as_in

NUMBERS = [
    ("-5", "-5"),
    ("\u22125 degrees (-7.50)", "-5 degrees -7.5"),
    ("minus five", "-5"),
    ("10 minus 5", "10 minus 5"),
    ("1990-1995, covid-19, 3 - 2", "1990 1995 covid 19 3 2"),
    ("-5 million", "-5000000"),
    (".5", "0.5"),
    ("-.50", "-0.5"),
    ("wait ...5", "wait 5"),
    ("3.50, 3.0. 100", "3.5 3 100"),
    ("1.10.2", "1.10 2"),
    ("web2.0", "web2 0"),
    ("٣", "3"),
    ("\u0967,\u0966\u0966\u0966.\u096b\u0966", "1000.5"),
    ("10²", "10 2"),
    ("10⁻²", "10 -2"),
    ("1½", "1 1 2"),
    ("½", "1 2"),
    ("3 hundred", "300"),
    ("3 hundred and five thousand", "305000"),
    ("twelve hundred", "1200"),
    ("nineteen hundred and four", "1904"),
    ("a million", "1000000"),
    ("a hundred and one", "101"),
    ("half a million", "half million"),
    ("two hundred and five", "205"),
    ("the twenty-first century", "21st century"),
    ("3 million people", "3000000 people"),
    ("1.5 million", "1500000"),
    ("nineteen eighty-four", "1984"),
    ("in nineteen twelve, not nineteen oh five", "in 1912 not 1905"),
    ("twenty twenty and twenty ten", "2020 and 2010"),
    ("nineteen five", "19 5"),
    ("ten thirty", "10 30"),
    ("nineteen twenty thousand", "19 20000"),
    ("nineteen oh no", "19 oh no"),
    ("nineteen", "19"),
    ("thirteen, fourteen and fifteen", "13 14 and 15"),
    ("There were sixteen. Twenty more came.", "there were 16 20 more came"),
    ("twenty twenty-first", "20 21st"),
    ("nineteen ninety ninth", "19 99th"),
    ("twenty thirteen-year-olds", "20 13 year olds"),
    ("Seventeen  forty", "17 40"),
    ("twenty twenty-dollar bills", "20 20 dollar bills"),
    ("two or three", "2 or 3"),
    ("two hundred and three hundred", "200 and 300"),
    ("nine hundred and a thousand", "900 and 1000"),
    ("two hundred and twenty thousand", "220000"),
    ("5 and 6", "5 and 6"),
    ("one million two hundred thousand and seven", "1200007"),
    ("3 million 5", "3000000 5"),
    ("twenty hundred", "20 hundred"),
    ("1,000", "1000"),
    ("1,234,567.50 dollars", "1234567.5 dollars"),
    ("1,2,3", "1 2 3"),
    ("10,00", "10 00"),
    ("3.5", "3.5"),
    ("$5bn, 1.2 mln and \u00a33.5m", "5000000000 1200000 and 3500000"),
    ("5m, 3 k and 2 b", "5m 3 k and 2 b"),  # no amounts of a currency
    ("5bnx, bn 5", "5bnx bn 5"),
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
    names = {value: word for word, value in {**UNITS, **TENS, **SCALES}.items()}
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


WRITTEN_AS = [
    ("42", "It is forty-two.", "forty-two"),
    ("forty-two people", "Some 42", "42 people"),
    ("5,000", "about 5000 people", "5000"),
    ("3 million", "3,000,000 of them", "3,000,000"),
    ("the 21st century", "in the twenty-first", "the twenty-first century"),
    ("42", "42, which is forty-two", "42"),  # already as the other text has it
    ("1945", "in 1944", "1945"),  # another number
    ("Twenty20", "20 20", "Twenty20"),  # a name
    ("two or three", "2 or 3", "2 or 3"),
    ("Henry the Eighth", "Henry the 8th", "Henry the 8th"),
    ("one", "There was 1.", "1"),
    ("Mambo No. 5", "Mambo No. Five", "Mambo No. Five"),
    ("no number", "none", "no number"),
    ("It cost $5 billion.", "some $5bn", "It cost $5bn."),
    ("$5,000,000 in all", "US$5m", "$5m in all"),
    ("5 billion people", "5 bn", "5 bn people"),
    ("$5.00", "$5", "$5"),
    ("$5 million", "\u20ac5m", "$5 million"),  # another currency
    ("$5 million", "$5bn", "$5 million"),
    ("8,398,748 people", "8.4 million", "8.4 million people"),
    ("8.4 million people", "8,398,748", "8,398,748 people"),
    ("$23,456,789", "about $23.5m", "$23.5m"),
    ("8,398,748", "8 million", "8,398,748"),  # one digit is too few
    ("$22 million", "$22.4 million", "$22 million"),  # neither says that it is not rounded
    ("8,398,748", "8.3 million", "8,398,748"),
    ("94103", "94100", "94103"),  # nothing says that it is rounded
    ("1,950", "2 thousand", "1,950"),
    ("at 3 pm", "15:00", "at 15:00"),
    ("at 15:30", "at 3:30 p.m.", "at 3:30 p.m."),
    ("Noon", "at 12 pm", "12 pm"),
    ("12 am", "midnight", "midnight"),
    ("at 3 pm", "at 3 am, 14:00 or 3:00", "at 3 pm"),
    ("15:00", "3 pm, 3:00pm", "3 pm"),
    ("High afternoon", "12 pm", "High afternoon"),
    # what is not surely the same number, or a number at all
    ("Python 3.10", "Python 3.1", "Python 3.10"),
    ("no one", "there was 1", "no one"),
    ("1", "No one knows.", "1"),
    ("a twenty second delay", "on the 22nd", "a twenty second delay"),
    ("per second", "the 2nd law", "per second"),
    ("one third", "the 3rd, 1", "one third"),
    ("12:30", "twelve thirty", "12:30"),
    ("9/11", "nine and eleven", "9/11"),
    ("1990-95", "ninety-five", "1990-95"),
    ("$5", "five dollars", "$5"),
    ("two,500", "2", "two,500"),
    ("50%", "fifty of them", "50%"),
    ("fifty", "50%", "fifty"),
    ("by 5% to 10 %", "Five percent, then ten per cent", "by Five percent to ten per cent"),
    ("rose five percent", "rose 5%", "rose 5%"),
    ("5 percent", "5 per cent", "5 percent"),
    ("one percent", "1%", "1%"),
    ("ten percentage points", "10%", "ten percentage points"),
    ("\u017fixteen forty-five, s\u0131xteen forty", "1645", "\u017fixteen forty-five, s\u0131xteen forty"),
]


@pytest.mark.parametrize(("text", "other", "expected"), WRITTEN_AS)
def test_numbers_are_written_as_another_text_writes_them(text: str, other: str, expected: str) -> None:
    assert write_as_in(text, other).text == expected


@given(st.text("0123456789,.- onetwhrdfuyi", max_size=40), st.text("0123456789,.- onetwhrdfuyi", max_size=40))
def test_a_rewritten_text_is_the_same_in_one_form(text: str, other: str) -> None:
    rewritten = write_as_in(text, other)
    assert len(rewritten.origins) == len(rewritten.text)
    assert all(0 <= place < len(text) for place in rewritten.origins)
    assert list(rewritten.origins) == sorted(rewritten.origins)
    assert normalize(rewritten.text) == normalize(text)
    assert write_as_in(text, text) == Rewritten(text, tuple(range(len(text))))


def test_a_new_form_stands_for_all_of_the_old_one() -> None:
    rewritten = write_as_in("two hundred and five", "205 of them")
    assert (rewritten.text, rewritten.origins) == ("205", (0, 6, 13))
    assert write_as_in("at 42", "forty-two").origins == (0, 1, 2, *[3] * 5, *[4] * 4)


@pytest.mark.parametrize("text", ["1," * 30_000 + "a", "1." * 30_000 + "a", "twenty-" * 10_000, "9" * 60_000 + "a"])
def test_long_runs_of_numbers_stay_as_they_are_and_end_soon(text: str) -> None:
    assert write_as_in(text, "two and 7").text == text


def test_a_number_that_is_repeated_thousands_of_times_is_compared_once() -> None:
    text = "7 " * 30_000  # a quarter of an hour if each is compared with each
    assert write_as_in(text, "seven " + text).text == text
