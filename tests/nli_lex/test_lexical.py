"""What the words of an answer and a reference say."""

from collections.abc import Callable
from functools import partial
from itertools import islice, product
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.lexical import (
    entity_agreement,
    lexical_match,
    negation_mismatch,
    new_token_precision,
    new_token_recall,
    normalize,
    number_agreement,
    stem_recall,
    token_recall,
)
from tests.tiny_table import SIGNS, WORDS

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.lists(
        st.sampled_from([*WORDS, *SIGNS, "1,000", "two", "hundred", "and", "million", "U.S.", "the"]), min_size=1
    ).map(" ".join),
).filter(str.strip)

NORMALISED = [
    ("  The Eiffel\tTower!\n", "eiffel tower"),
    ("an X-ray", "x ray"),
    ("Wilhelm Ro\u0308ntgen", "wilhelm rontgen"),
    ("Straße", "strasse"),
    ("the dog's bone", "dog bone"),
    ("O'Neil", "oneil"),
    ("the U.S. army", "us army"),
    ("5%", "5 percent"),
    ("R&B", "r and b"),
    ("July 4th, 1776", "july 4 1776"),
    ("the 4th man", "4th man"),
    ("ﬁve", "5"),
    ("日本", "日本"),
    ("कि が", "कि が"),  # vowel signs of other scripts are letters
    ("¨", "¨"),
    ("👩‍🚀", "👩‍🚀"),
    ("می‌روم", "میروم"),
    ("in the 1990's", "in 1990s"),
    ("m² of CO₂", "m2 of co2"),
    ("No. 1", "number 1"),
    ("C++, C# and C", "c++ c# and c"),
    ("a+b #1 -", "b 1"),
    ("U.S, U.S.A, U.S.A. or U.S. a", "us usa usa or us"),
    ("a Ph.D. or PhD", "phd or phd"),
    ("thirty-first of May, thirtieth of May", "31 of may 30 of may"),
]


@pytest.mark.parametrize(("text", "expected"), NORMALISED)
def test_normalised(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_number_words_stay_words_if_asked() -> None:
    assert normalize("two hundred and first", number_words=False) == "two hundred and first"
    assert normalize("1,000", number_words=False) == "1000"
    assert not lexical_match("two", "2", number_words=False)


MATCHES = [
    ("the party of art", "art", True),
    ("It has 1,000 legs", "1000", True),
    ("13.5", "3.5", False),
    ("It has two legs", "2", True),
    ("twenty two", "two", False),
    ("they like the The", "The The", True),
    ("", "art", False),
    ("?", "?", True),
    ("21 July", "twenty-first July", True),
    ("it was -5", "5", False),
    ("it is C++", "C", False),
    ("Option B is a good one", "A", False),
    ("It is vitamin A", "A", True),
    ("a", "(A)", True),
    ("It is a cat", "a", True),
]


@pytest.mark.parametrize(("answer", "reference", "expected"), MATCHES)
def test_the_reference_is_found_as_whole_words(answer: str, reference: str, expected: bool) -> None:
    assert lexical_match(answer, reference) is expected


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


def _words(ending: str) -> str:
    return " ".join("".join(letters) + ending for letters in islice(product("bcdfghjk", repeat=4), 4000))


LONG = [
    (lexical_match, "1" + ",000" * 25000 + ",0", "Leonardo", False),
    (lexical_match, "1.5" + "0" * 50000 + ".", "1.5", True),
    (lexical_match, "9" * 50000 + ",", "9", False),
    (lexical_match, "1." * 50000, "Leonardo", False),
    (lexical_match, "a." * 50000 + "bc", "Leonardo", False),
    (stem_recall, _words("ing"), _words("ed"), 0.0),
]


@pytest.mark.parametrize(("measure", "answer", "reference", "expected"), LONG, ids=range(len(LONG)))
def test_time_is_linear(measure: Callable[[str, str], float], answer: str, reference: str, expected: float) -> None:
    begin = process_time()
    assert measure(answer, reference) == expected
    assert process_time() - begin < 5, "a tenth of a second; quadratic, it takes more than half a minute"


@pytest.mark.parametrize(
    "answer", ["No.", "He did not", "He didn't", "He didn\u2019t", "He cannot", "He can not", "Never", "without it"]
)
def test_a_negation_on_one_side_is_a_mismatch(answer: str) -> None:
    assert negation_mismatch(answer, "yes")
    assert not negation_mismatch(answer, "no")
    assert not negation_mismatch("He did, in November", "yes")


MEASURES = [
    (token_recall, "New York it is", "New York, New York", 1),
    (token_recall, "the sea", "the Red Sea", 0.5),
    (token_recall, "a computational problem", "computational problems", 0.5),
    (stem_recall, "a computational problem", "computational problems", 1),
    (stem_recall, "1984", "1985", 0),
    (number_agreement, "in 1969, two men", "2 men in 1969", 1),
    (number_agreement, "in 1968", "1969", -1),
    (entity_agreement, "Wilhelm Röntgen", "Wilhelm Conrad Röntgen", 1),
    (entity_agreement, "Wilhelm Wundt", "Wilhelm Conrad Röntgen", -1),
    (entity_agreement, "the United States of America", "USA", 1),
    (entity_agreement, "Paris", "Paris, or Rome", 0),
    (entity_agreement, "Владимир Ленин", "Владимир Путин", -1),
    (entity_agreement, "Paris", "E\u0301cole polytechnique", -1),
    (partial(new_token_recall, "Which sea did Moses part?"), "the sea", "the Red Sea", 0),
    (partial(new_token_recall, "Which sea did Moses part?"), "sea", "sea", 1),  # the question has all words: all count
    (partial(new_token_precision, "Which sea did Moses part?"), "Moses did part the Red Sea", "Red Sea", 1),
    (partial(new_token_precision, "Which sea did Moses part?"), "Moses did part the Dead Sea", "Red Sea", 0),
    (partial(new_token_precision, "Which sea did Moses part?"), "Moses", "Red Sea", 0),
]


@pytest.mark.parametrize(("measure", "answer", "reference", "expected"), MEASURES)
def test_measures(measure: Callable[[str, str], float], answer: str, reference: str, expected: float) -> None:
    assert measure(answer, reference) == expected


def test_the_short_form_of_number_is_no_negation() -> None:
    assert not negation_mismatch("No. 1", "number one")
    assert negation_mismatch("No. He did", "number one")
