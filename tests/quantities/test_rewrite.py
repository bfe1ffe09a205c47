"""A text written as another text writes the same quantities and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.quantities.rewrite import Rewritten, rewrite

WRITTEN_AS = [
    ("42", "It is forty-two.", "forty-two"),
    ("forty-two people", "Some 42", "42 people"),
    ("5,000", "about 5000 people", "5000"),
    ("3 million", "3,000,000 of them", "3,000,000"),
    ("the 21st century", "in the twenty-first", "the twenty-first century"),
    ("42", "42, which is forty-two", "42"),  # already as the other text has it
    ("1945", "in 1944", "1945"),  # another number
    ("Twenty20", "20 20", "Twenty20"),  # a name
    ("Henry the Eighth", "Henry the 8th", "Henry the 8th"),
    ("Mambo No. 5", "Mambo No. Five", "Mambo No. Five"),
    ("no number", "none", "no number"),
    ("It cost $5 billion.", "some $5bn", "It cost $5bn."),
    ("5 billion people", "5 bn", "5 bn people"),
    ("$5 million", "\u20ac5m", "$5 million"),  # another currency
    ("$5 million", "$5bn", "$5 million"),
    ("8,398,748 people", "8.4 million", "8.4 million people"),
    ("8.4 million people", "8,398,748", "8,398,748 people"),
    ("$23,456,789", "about $23.5m", "$23.5m"),
    ("8,398,748", "8 million", "8,398,748"),  # one digit is too few
    ("$22 million", "$22.4 million", "$22 million"),  # neither says that it is not rounded
    ("94103", "94100", "94103"),  # nothing says that it is rounded
    ("at 3 pm", "15:00", "at 15:00"),
    ("at 15:30", "at 3:30 p.m.", "at 3:30 p.m."),
    ("Noon", "at 12 pm", "12 pm"),
    ("at 3 pm", "at 3 am, 14:00 or 3:00", "at 3 pm"),
    ("High afternoon", "12 pm", "High afternoon"),
    # what is not surely the same number, or a number at all
    ("Python 3.10", "Python 3.1", "Python 3.10"),
    ("1", "No one knows.", "1"),
    ("a twenty second delay", "on the 22nd", "a twenty second delay"),
    ("one third", "the 3rd, 1", "one third"),
    ("12:30", "twelve thirty", "12:30"),
    ("9/11", "nine and eleven", "9/11"),
    ("1990-95", "ninety-five", "1990-95"),
    ("$5", "five dollars", "five dollars"),
    ("two,500", "2", "two,500"),
    ("50%", "fifty of them", "50%"),
    ("by 5% to 10 %", "Five percent, then ten per cent", "by Five percent to ten per cent"),
    ("rose five percent", "rose 5%", "rose 5%"),
    ("ten percentage points", "10%", "ten percentage points"),
    ("\u017fixteen forty-five, s\u0131xteen forty", "1645", "1645, s\u0131xteen forty"),
]


@pytest.mark.parametrize(("text", "other", "expected"), WRITTEN_AS)
def test_numbers_are_written_as_another_text_writes_them(text: str, other: str, expected: str) -> None:
    assert rewrite(text, other).text == expected


@given(st.text("0123456789,.- onetwhrdfuyi", max_size=40), st.text("0123456789,.- onetwhrdfuyi", max_size=40))
def test_a_rewritten_text_is_the_same_in_one_form(text: str, other: str) -> None:
    rewritten = rewrite(text, other)
    assert len(rewritten.origins) == len(rewritten.text)
    assert all(0 <= place < len(text) for place in rewritten.origins)
    assert list(rewritten.origins) == sorted(rewritten.origins)
    assert rewrite(text, text) == Rewritten(text, tuple(range(len(text))))


def test_a_new_form_stands_for_all_of_the_old_one() -> None:
    rewritten = rewrite("two hundred and five", "205 of them")
    assert (rewritten.text, rewritten.origins) == ("205", (0, 6, 13))
    assert rewrite("at 42", "forty-two").origins == (0, 1, 2, *[3] * 5, *[4] * 4)


@pytest.mark.parametrize("text", ["1," * 30_000 + "a", "1." * 30_000 + "a", "twenty-" * 10_000, "9" * 60_000 + "a"])
def test_long_runs_of_numbers_stay_as_they_are_and_end_soon(text: str) -> None:
    assert rewrite(text, "two and 7").text == text


def test_a_number_that_is_repeated_thousands_of_times_is_compared_once() -> None:
    text = "7 " * 30_000  # a quarter of an hour if each is compared with each
    assert rewrite(text, "seven " + text).text == text
