"""What the words of an answer and a reference say."""

from hypothesis import given
from hypothesis import strategies as st
import pytest
from semantic_metrics.nli_lex.lexical import entity_agreement
from semantic_metrics.nli_lex.lexical import lexical_match
from semantic_metrics.nli_lex.lexical import negation_mismatch
from semantic_metrics.nli_lex.lexical import new_token_precision
from semantic_metrics.nli_lex.lexical import new_token_recall
from semantic_metrics.nli_lex.lexical import normalize
from semantic_metrics.nli_lex.lexical import number_agreement
from semantic_metrics.nli_lex.lexical import stem_recall
from semantic_metrics.nli_lex.lexical import token_recall
from semantic_metrics.nli_lex.numerals import SCALES
from semantic_metrics.nli_lex.numerals import TENS
from semantic_metrics.nli_lex.numerals import UNITS
from semantic_metrics.nli_lex.numerals import spell_in_digits

from tests.small import SIGNS
from tests.small import WORDS

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.lists(
        st.sampled_from([*WORDS, *SIGNS, "1,000", "two", "hundred", "and", "million", "U.S.", "the"]), min_size=1
    ).map(" ".join),
).filter(str.strip)

NORMALISED = [
    ("  The Eiffel\tTower!\n", "eiffel tower"),
    ("an X-ray", "x ray"),
    ("Wilhelm Röntgen", "wilhelm rontgen"),
    ("Wilhelm Ro\u0308ntgen", "wilhelm rontgen"),
    ("STRASSE", "strasse"),
    ("Straße", "strasse"),
    ("the dog's bone", "dog bone"),
    ("the dog\u2019s bone", "dog bone"),
    ("O'Neil", "oneil"),
    ("don't", "dont"),
    ("the U.S. army", "us army"),
    ("J. K. Rowling", "jk rowling"),
    ("J.K. Rowling", "jk rowling"),
    ("1,000", "1000"),
    ("1,234,567.50 dollars", "1234567.50 dollars"),
    ("1,2,3", "1 2 3"),
    ("10,00", "10 00"),
    ("3.5", "3.5"),
    ("in 1984.", "in 1984"),
    ("5%", "5 percent"),
    ("R&B", "r and b"),
    ("4th of July", "4 of july"),
    ("July 4th, 1776", "july 4 1776"),
    ("the 4th man", "4th man"),
    ("ﬁve", "5"),
    ("two hundred and five", "205"),
    ("the twenty-first century", "21st century"),
    ("3 million people", "3000000 people"),
    ("1.5 million", "1500000"),
    ("nineteen eighty-four", "19 84"),
    ("two or three", "2 or 3"),
    ("5 and 6", "5 and 6"),
    ("one million two hundred thousand and seven", "1200007"),
    ("3 million 5", "3000000 5"),
    ("twenty hundred", "20 hundred"),
    ("first", "1st"),
    ("the The", "the the"),
    ("a", "a"),
    ("?!", "?!"),
    ("日本", "日本"),
    ("¨", "¨"),
    ("👩‍🚀", "👩‍🚀"),
    ("3.5kg", "3.5 kg"),
    ("می‌روم", "میروم"),
]


@pytest.mark.parametrize(("text", "expected"), NORMALISED)
def test_normalised(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_vowel_signs_of_other_scripts_are_letters() -> None:
    assert normalize("कि") != normalize("क")
    assert normalize("か") != normalize("が")


def test_number_words_stay_words_if_asked() -> None:
    assert normalize("two hundred and first", number_words=False) == "two hundred and first"
    assert normalize("1,000", number_words=False) == "1000"


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


MATCHES = [
    ("It was Leonardo da Vinci.", "leonardo DA Vinci", True),
    ("party", "art", False),
    ("the party of art", "art", True),
    ("It has 1,000 legs", "1000", True),
    ("It has 1000 legs", "1,000", True),
    ("about 21000", "1000", False),
    ("13.5", "3.5", False),
    ("It has two legs", "2", True),
    ("It has 2 legs", "two", True),
    ("twenty two", "two", False),
    ("Beatles", "The Beatles", True),
    ("they like the The", "The The", True),
    ("like", "The The", False),
    ("a U.S. city", "US", True),
    ("", "art", False),
    ("art", "art of war", False),
    ("...", "?", False),
    ("?", "?", True),
]


@pytest.mark.parametrize(("answer", "reference", "expected"), MATCHES)
def test_the_reference_is_found_as_whole_words(answer: str, reference: str, expected: bool) -> None:
    assert lexical_match(answer, reference) is expected


def test_two_is_2_as_an_option() -> None:
    assert lexical_match("two", "2")
    assert not lexical_match("two", "2", number_words=False)


@given(texts)
def test_a_text_agrees_with_itself(text: str) -> None:
    assert lexical_match(text, text)
    assert token_recall(text, text) == stem_recall(text, text) == new_token_recall("", text, text) == 1
    assert number_agreement(text, text) in (0, 1)
    assert not negation_mismatch(text, text)


@given(texts, texts, texts)
def test_ranges_and_order(question: str, answer: str, reference: str) -> None:
    recall = token_recall(answer, reference)
    assert 0 <= recall <= stem_recall(answer, reference) <= 1
    assert recall == 1 or not lexical_match(answer, reference)
    assert 0 <= new_token_recall(question, answer, reference) <= 1
    assert 0 <= new_token_precision(question, answer, reference) <= 1
    for agreement in (number_agreement, entity_agreement):
        assert -1 <= agreement(answer, reference) <= 1
    assert negation_mismatch(answer, reference) == negation_mismatch(reference, answer)


def test_recall_counts_each_word_once() -> None:
    assert token_recall("New York it is", "New York, New York") == 1
    assert token_recall("York", "New York") == 0.5
    assert token_recall("", "New York") == 0


def test_stems() -> None:
    assert stem_recall("a computational problem", "computational problems") == 1
    assert token_recall("a computational problem", "computational problems") == 0.5
    assert stem_recall("Austria", "Australia") == 0
    assert stem_recall("1984", "1985") == 0
    assert stem_recall("car", "cat") == 0


def test_what_the_question_says_is_not_new() -> None:
    question = "Which sea did Moses part?"
    assert new_token_recall(question, "the sea", "the Red Sea") == 0
    assert token_recall("the sea", "the Red Sea") == 0.5
    assert new_token_recall(question, "sea", "sea") == 1, "all of it counts where the question holds all"
    assert new_token_precision(question, "Moses did part the Red Sea", "Red Sea") == 1
    assert new_token_precision(question, "Moses did part the Dead Sea", "Red Sea") == 0
    assert new_token_precision(question, "Moses", "Red Sea") == 0


def test_numbers_agree() -> None:
    assert number_agreement("in 1969, two men", "2 men in 1969") == 1
    assert number_agreement("in 1969, two men", "3 men in 1969") == 0
    assert number_agreement("in 1968", "1969") == -1
    assert number_agreement("in 1968", "a man") == 0


NAMES = [
    ("Wilhelm Röntgen", "Wilhelm Conrad Röntgen", 1),
    ("Röntgen", "Wilhelm Conrad Röntgen", 1),
    ("Wilhelm Wundt", "Wilhelm Conrad Röntgen", -1),
    ("the US", "United States", 1),
    ("the United States of America", "USA", 1),
    ("Paris", "Paris, or Rome", 0),
    ("nothing", "a man", 0),
]


@pytest.mark.parametrize(("answer", "reference", "expected"), NAMES)
def test_names_agree(answer: str, reference: str, expected: float) -> None:
    assert entity_agreement(answer, reference) == expected


@pytest.mark.parametrize(
    "answer", ["No.", "He did not", "He didn't", "He didn\u2019t", "He cannot", "Never", "without it"]
)
def test_a_negation_on_one_side_is_a_mismatch(answer: str) -> None:
    assert negation_mismatch(answer, "yes")
    assert not negation_mismatch(answer, "no")
    assert not negation_mismatch("He did, in November", "yes")
