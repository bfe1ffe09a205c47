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
from tests.quantities.test_rules import rows

OTHER_NUMBERS = rows("""
1944 ~ 1945 | 205 bones ~ 206 | the eighth ~ 7th | May 12, 1861 ~ April 12, 1861 | April 13, 1861 ~ April 12, 1861
no more than two men ~ three men | 12 million people ~ 11,034,000 | 1979\u201381 ~ 1979\u201380 | \ud800 4 ~ 3
5m people ~ 6 million | 5 pounds ~ \u00a36 | a 5K run ~ 6 km | 12/24 ~ December 25 | at 9 ~ 10 am
1 hour and 20 minutes ~ 90 minutes | -23 F ~ -5 \u00b0C | 2h15min ~ 2 hours | 20p ~ \u00a30.30 | 1080p ~ 720p
3,5 kg ~ 5 kg | \u20ac1.234,56 ~ \u20ac1.23 | 90 degrees ~ 100 \u00b0C | 900 euros ~ \u00a3900 a month
900 euros for 2 rooms ~ \u00a3900 a month, with 2 rooms
""")
SAME_NUMBERS = rows("""
nineteen forty-five ~ 1945 | I do not know ~ 1945 | 205 or 206 ~ 206 | the seventh ~ 7
It was first done in 1969 ~ July 20, 1969 | Apr 12, 1861 ~ April 12, 1861 | 12/4/1861 ~ April 12, 1861
It began in 1861, with 85,000 men ~ April 12, 1861 | no more than six men ~ three men | not under 40 km ~ 41 km
she is under 32 ~ 29 years old | about 11 million people ~ 11,034,000 | 300,000 km/s ~ 299,792 km/s
3.1 ~ 3.14159265358979 | the 1979-1980 season ~ 1979\u201380 | 1 May 1945 - 30 June 1945 ~ 30 June 1945 | \u00b2 ~ 2
March 4, 2020 ~ 2020-03-04 | 1.4.2021 ~ April 1, 2021 | 5m ~ 5 minutes | 5 pounds ~ \u00a35 | a 5K run ~ 5 km
12/25 ~ December 25 | 06/2020 ~ June 2020 | at 9 ~ 9:00 | 1 hour 30 minutes ~ 90 minutes | 6 ft 2 in ~ 188 cm
23 F ~ -5 \u00b0C | 1h30 ~ 90 minutes | 20p ~ \u00a30.20 | 1080p ~ 1080 pixels | 3,5 kg ~ 3.5 kg
\u20ac1.234,56 ~ \u20ac1,234.56 | 14h30 ~ 14:30 | 100 degrees ~ 100 \u00b0C
""")
CONFLICTS = [
    *((*row, True) for row in OTHER_NUMBERS),
    *((*row, False) for row in SAME_NUMBERS),
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


CONTRADICTING = rows("""
:) ~ :( | Two men sit. ~ 3 men sit | The ban ended in nineteen ninety. ~ The ban ended in 1991.
It fell from 6 to 4. ~ It fell from 4 to 6. | He woke up at 7:30 am ~ He woke up at 7:30 pm
He left in May. ~ He left in June. | He left on Monday, May 5. ~ He left on Tuesday, May 6.
It took 3 hours. ~ It took three days. | It has 5 rooms and no bath ~ It has 6 rooms and no bath
It is 1.5 km away ~ It is 15 km away | The deal closed on 2020-03-04. ~ The deal closed on 2020-04-03.
He came at nine o'clock. ~ He came at ten o\u2019clock. | It took 5m. ~ It took 6 minutes.
It has about 1.2 million inhabitants. ~ It has 2,102,650 inhabitants. | It costs around $100. ~ It costs $50.
about 40 of 50 ~ about 40 of 20 | six or more plays ~ three or more plays
""")
COMPATIBLE = rows("""
Two men sit. ~ 2 men sit | Two men sit. ~ Three men stand. | It is at 07:30. ~ It is at 7:30 | 05/06/2020 ~ 5/6/2020
The population is 11,034,000 ~ The population is 11 million | Pi is 3.14. ~ Pi is 3.14159.
He did not leave in May. ~ He did not leave in June. | At least 38 died. ~ At least 37 died.
in 1897 or 1898 ~ in 1898 or 1898 | He is older than 18. ~ He is older than 21.
the 14th, 16th and 117th line ~ the 117th, 16th and 14th line | 5 times 6 is 30 ~ 6 times 5 is 30
April Smith won ~ June Smith won | He is Polish ~ He is Spanish | It took 24 hours. ~ It took 1 day.
It took hours. ~ It took days. | the 1979-80 season ~ the 1979-1980 season | He died in '95. ~ He died in 1995.
on 13/04/2021 ~ on 04/13/2021 | It has 1.500 inhabitants. ~ It has 1,500 inhabitants.
The meeting is at 7:30. ~ The meeting is at 19:30. | The meeting is at nine o'clock. ~ The meeting is at 9 pm.
It took 5m. ~ It took 5 minutes. | He left in the 1990s. ~ He left in the '90s. | He died [1]. ~ He died [2].
1. Mix it ~ 2. Mix it | approx. 5 km ~ approx. 6 km | a room of 4 by 5 m ~ a room of 5 by 4 m
on 1.4.2021 ~ on 01.04.2021 | It has about 2 million inhabitants. ~ It has 2,102,650 inhabitants.
about 0 degrees ~ 0 degrees
""")
COMPATIBLE += [
    ("03/04/2020", "04/03/2020"),  # the order of day and month is open
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), CONTRADICTING)
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


SAME = rows("""
One person died. ~ 1 person died. | He has one son. ~ He  has 1 son.
The rate is 2.50 percent. ~ The rate is 2.5 percent. | The train leaves at 09:05. ~ The train leaves at 9:05.
It was minus five degrees. ~ It was -5 degrees. | It has \uff15 rooms. ~ It has 5 rooms.
It was signed on 1.4.2021. ~ It was signed on 01.04.2021.
""")
NOT_SAME = rows("""
It costs $5. ~ It costs \u20ac5. | It costs $5. ~ It costs 5. | He won 2, I think. ~ He won two I think?
It has 1.500 seats. ~ It has 1.5 seats. | It was 5 degrees. ~ It was -5 degrees. | 12 34 ~ 1234
""")
NOT_SAME += [
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_numbers_in_another_writing_change_no_text(one: str, other: str) -> None:
    assert compare(one, other).same
    assert compare(other, one).same


@pytest.mark.parametrize(("one", "other"), NOT_SAME)
def test_other_signs_words_and_numbers_do(one: str, other: str) -> None:
    assert not compare(one, other).same
    assert not compare(other, one).same


WRITTEN_AS = rows("""
forty-two people ~ Some 42 ~ 42 people | 5,000 ~ about 5000 people ~ 5000
the 21st century ~ in the twenty-first ~ the twenty-first century | Henry the Eighth ~ Henry the 8th ~ Henry the 8th
Mambo No. 5 ~ Mambo No. Five ~ Mambo No. Five | no number ~ none ~ no number
It cost $5 billion. ~ some $5bn ~ It cost $5bn. | 5 billion people ~ 5 bn ~ 5 bn people
8,398,748 people ~ 8.4 million ~ 8.4 million people | 8.4 million people ~ 8,398,748 ~ 8,398,748 people
$23,456,789 ~ about $23.5m ~ $23.5m | at 3 pm ~ 15:00 ~ at 15:00 | at 15:30 ~ at 3:30 p.m. ~ at 3:30 p.m.
Noon ~ at 12 pm ~ 12 pm | at 3 pm ~ at 3 am, 14:00 or 3:00 ~ at 3 pm | High afternoon ~ 12 pm ~ High afternoon
1 ~ No one knows. ~ 1 | a twenty second delay ~ on the 22nd ~ a twenty second delay
one third ~ the 3rd, 1 ~ one third | 1990-95 ~ ninety-five ~ 1990-95 | $5 ~ five dollars ~ five dollars
two,500 ~ 2 ~ two,500 | 50% ~ fifty of them ~ 50%
by 5% to 10 % ~ Five percent, then ten per cent ~ by Five percent to ten per cent
ten percentage points ~ 10% ~ ten percentage points
\u017fixteen forty-five, s\u0131xteen forty ~ 1645 ~ 1645, s\u0131xteen forty
""")
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


NUMBERS = rows("""
\u22125 degrees (-7.50) ~ -5 degrees -7.5 | minus five ~ -5 | 10 minus 5 ~ 10 minus 5
1990-1995, covid-19, 3 - 2 ~ 1990 1995 covid 19 3 2 | -5 million ~ -5000000 | .5 ~ 0.5 | wait ...5 ~ wait 5
3.50, 3.0. 100 ~ 3.5 3 100 | 1.10.2 ~ 1.10 2 | \u0663 ~ 3 | \u0967,\u0966\u0966\u0966.\u096b\u0966 ~ 1000.5
10\u00b2 ~ 10 2 | 10\u207b\u00b2 ~ 10 -2 | \u00bd ~ 1 2 | 3 hundred and five thousand ~ 305000
nineteen hundred and four ~ 1904 | a hundred and one ~ 101 | half a million ~ half million
the twenty-first century ~ 21st century | in nineteen twelve, not nineteen oh five ~ in 1912 not 1905
twenty twenty and twenty ten ~ 2020 and 2010 | nineteen twenty thousand ~ 19 20000
thirteen, fourteen and fifteen ~ 13 14 and 15 | There were sixteen. Twenty more came. ~ there were 16 20 more came
nineteen ninety ninth ~ 19 99th | twenty twenty-dollar bills ~ 20 20 dollar bills
two hundred and three hundred ~ 200 and 300 | one million two hundred thousand and seven ~ 1200007
twenty hundred ~ 20 hundred | 1,234,567.50 dollars ~ 1234567.5 dollars | 1,2,3 ~ 1 2 3
$5bn, 1.2 mln and \u00a33.5m ~ 5000000000 1200000 and 3500000
""")
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
