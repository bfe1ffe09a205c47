"""Numbers: however they are written, rewritten as another text writes them, and compared."""

from decimal import getcontext, localcontext
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.lexical import normalize
from semantic_metrics.quantities.compare import EQUAL, Difference, compare, find_conflict, relate
from semantic_metrics.quantities.read import read
from semantic_metrics.quantities.rewrite import Rewritten, rewrite
from semantic_metrics.quantities.rules import rule
from semantic_metrics.quantities.spell import NUMBER_WORDS, SCALES, TENS, spell_in_digits
from tests.quantities.test_rules import TABLES

OTHER_NUMBERS = TABLES["other_numbers"] + [["\ud800 4", "3"]]
CONFLICTS = [
    *((*row, True) for row in OTHER_NUMBERS),
    *((*row, False) for row in TABLES["same_numbers"]),
    ("1950", "1945", True),  # years are not rounded
    ("990", "1000", True),  # of different size, but the only numbers
    ("no one knows", "7", False),  # "one" is often no number
    ("in 1861", "April 12, 1861", False),  # less is no conflict
    ("World War 2 ended in 1945", "8 May 1945", False),  # 2 is no day
    ("He may come in 1861, he may not", "April 12, 1861", False),  # a month beside no number may be a verb
    ("about 12 million people", "11,034,000", False),  # less than a fifth apart
    ("7", "7.4", True),  # one digit says too little
    ("1" * 40, "5", False),  # too long to be read
]


@pytest.mark.parametrize(("answer", "reference", "expected"), CONFLICTS)
def test_another_number_is_a_conflict(answer: str, reference: str, expected: bool) -> None:
    assert (find_conflict("When did it begin?", answer, reference) is not None) is expected
    with localcontext() as context:
        context.prec = 2  # a caller's own precision changes nothing
        assert (find_conflict("When did it begin?", answer, reference) is not None) is expected
    assert getcontext().prec > 2


def test_numbers_of_the_question_are_no_conflict() -> None:
    assert not find_conflict("Who won in 2010?", "In 2010, Spain", "Spain, 4 times")
    assert find_conflict("Who won in 2010?", "In 2010, 5 times", "4 times")
    assert find_conflict("Which port besides port 22 is open?", "port 80", "443"), "of all that are asked, each counts"
    assert not find_conflict("Which is it, chapter 7 or chapter 9?", "7", "8")


COMPATIBLE = TABLES["compatible"]
COMPATIBLE += [
    ("03/04/2020", "04/03/2020"),  # the order of day and month is open
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), TABLES["contradicting"])
def test_texts_that_differ_in_numbers_or_dates_alone_contradict(one: str, other: str) -> None:
    differences = compare(one, other).differences
    assert differences
    assert compare(other, one).differences == tuple(Difference(part.other, part.written) for part in differences)
    assert all(part.written in one and part.other in other for part in differences)


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_both_of_other_texts_may_be_true(one: str, other: str) -> None:
    assert compare(one, other).differences == compare(other, one).differences == ()


texts = st.lists(
    st.sampled_from(
        ["1945", "1944", "May", "June", "5", "6th", "two", "one", "of", "3.14", "3.1", "11,000", "and", "about", ","]
    )
).map(" ".join)


@given(texts, texts, texts)
def test_either_text_may_be_the_answer(question: str, answer: str, reference: str) -> None:
    conflict, back = find_conflict(question, answer, reference), find_conflict(question, reference, answer)
    assert (conflict is None) == (back is None)
    assert not find_conflict(question, reference, reference)
    assert bool(compare(answer, reference).differences) == bool(compare(reference, answer).differences)
    assert compare(answer, reference).same == compare(reference, answer).same


NOT_SAME = TABLES["not_same"]
NOT_SAME += [
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), TABLES["same"])
def test_numbers_in_another_writing_change_no_text(one: str, other: str) -> None:
    assert compare(one, other).same
    assert compare(other, one).same


@pytest.mark.parametrize(("one", "other"), NOT_SAME)
def test_other_signs_words_and_numbers_do(one: str, other: str) -> None:
    assert not compare(one, other).same
    assert not compare(other, one).same


WRITTEN_AS = TABLES["written_as"]
WRITTEN_AS += [
    ("42", "42, which is forty-two", "42"),  # already as the other text has it
    ("1945", "in 1944", "1945"),  # another number
    ("Twenty20", "20 20", "Twenty20"),  # a name
    ("$5 million", "\u20ac5m", "$5 million"),  # another currency
    ("8,398,748", "8 million", "8,398,748"),  # one digit is too few
    ("$22 million", "$22.4 million", "$22 million"),  # neither says that it is not rounded
    ("94103", "94100", "94103"),  # nothing says that it is rounded
    # what is not surely the same number, or a number at all
    ("Python 3.10", "Python 3.1", "Python 3.10"),
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


NUMBERS = TABLES["numbers"]
NUMBERS += [
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


OF_ALL_KINDS = (
    "5", "5 kg", "3 out of 4", "half", "50%", "5 to 7", "3-1", "5:30 pm", "on May 3, 2020", "in May 2010", "1999",
    "the 1990s", "from 3 to 5 May", "June 2021 to May 2022", "1.2.3", "0042", "third", "twice", "2x", "on Monday",
    "at least 5", "about 7", "over $10", "1:2", "$20 an hour", "every 12 hours", "(1, 2)", "0xFF",
    "two pounds fifty", "10 am to 2 pm", "1e309",
)  # fmt: skip


def test_every_kind_is_compared_with_every_other() -> None:
    """What two quantities are to each other does not depend on their order, and a quantity is itself."""
    quantities = [one for text in OF_ALL_KINDS for one in read(text).quantities]
    assert len({one.kind for one in quantities}) >= 10
    for one, other in product(quantities, repeat=2):
        assert relate(one, other) == relate(other, one), (one.text, other.text)
    for one in quantities:
        assert relate(one, one) == EQUAL, one.text


def test_a_whole_number_before_a_latex_fraction_is_no_numerator() -> None:
    assert rule(r"2\frac{1}{2}", "2.5", "").ruling.kind == "same"
    assert rule(r"2\frac{1}{2}", "21/2", "").ruling.kind == "different"


def test_signs_in_words_one_after_another_are_no_number() -> None:
    assert rule("negative " * 1000, "5", "").ruling.kind == ""
    assert rule("minus " * 1000, "5", "").ruling.kind == ""
