"""The lexical part: words, numbers and names of answers, and the question that is asked."""

import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.lexical import (
    lexical_match,
    new_token_precision,
    new_token_recall,
    normalize,
    stem_recall,
    token_recall,
)
from semantic_metrics.nli_lex.question import LONG_QUESTION_WORDS, extract_question
from tests.tiny_table import SIGNS, WORDS

TABLES = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.lists(
        st.sampled_from([*WORDS, *SIGNS, "1,000", "two", "hundred", "and", "million", "U.S.", "the"]), min_size=1
    ).map(" ".join),
).filter(str.strip)


@pytest.mark.parametrize(("text", "expected"), TABLES["normalised"])
def test_normalised(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_number_words_stay_words_if_asked() -> None:
    assert normalize("two hundred and first", number_words=False) == "two hundred and first"
    assert normalize("1,000", number_words=False) == "1000"
    assert not lexical_match("two", "2", number_words=False)


@pytest.mark.parametrize(("answer", "reference", "expected"), TABLES["matches"])
def test_the_reference_is_found_as_whole_words(answer: str, reference: str, expected: bool) -> None:
    assert lexical_match(answer, reference) is expected


@given(texts)
def test_a_text_agrees_with_itself(text: str) -> None:
    assert lexical_match(text, text)
    assert token_recall(text, text) == stem_recall(text, text) == new_token_recall("", text, text) == 1


@given(texts, texts, texts)
def test_ranges_and_order(question: str, answer: str, reference: str) -> None:
    recall = token_recall(answer, reference)
    assert 0 <= recall <= stem_recall(answer, reference) <= 1
    assert recall == 1 or not lexical_match(answer, reference)
    assert 0 <= new_token_recall(question, answer, reference) <= 1
    assert 0 <= new_token_precision(question, answer, reference) <= 1


MEASURES = [
    (token_recall, "New York it is", "New York, New York", 1),
    (token_recall, "the sea", "the Red Sea", 0.5),
    (token_recall, "a computational problem", "computational problems", 0.5),
    (stem_recall, "a computational problem", "computational problems", 1),
    (stem_recall, "1984", "1985", 0),
    (partial(new_token_recall, "Which sea did Moses part?"), "the sea", "the Red Sea", 0),
    (partial(new_token_recall, "Which sea did Moses part?"), "sea", "sea", 1),  # the question has all words: all count
    (partial(new_token_precision, "Which sea did Moses part?"), "Moses did part the Red Sea", "Red Sea", 1),
    (partial(new_token_precision, "Which sea did Moses part?"), "Moses did part the Dead Sea", "Red Sea", 0),
    (partial(new_token_precision, "Which sea did Moses part?"), "Moses", "Red Sea", 0),
]


@pytest.mark.parametrize(("measure", "answer", "reference", "expected"), MEASURES)
def test_measures(measure: Callable[[str, str], float], answer: str, reference: str, expected: float) -> None:
    assert measure(answer, reference) == expected


STORY = "A man of 40 years went to a doctor. He had walked all day, as Dr. Lee told him to. " * 3
ASKS = "Which of these should he do first?"


@pytest.mark.parametrize("question", ["who wrote Emma", "Was Ann born before Bob? Say yes or no.", "", " ", "?"])
def test_a_short_question_is_read_whole(question: str) -> None:
    assert extract_question(question, ["Jane Austen"]) == question


@pytest.mark.parametrize(
    "options",
    [
        "\n(A) rest\n(B) drink water",
        " (A) rest (B) drink water (C) run",
        " Options: A: rest, B: drink water",
        "\nChoices: rest; drink water",
        "\n1. rest\n2. drink water",
        "\nrest\ndrink water",
        " 10. rest 11. drink water",
        " [A] rest [B] drink water",
        "\u2028\uff21\uff09 rest\u2028\uff22\uff09 drink water",
    ],
)
@pytest.mark.parametrize("story", ["", STORY])
def test_options_and_stories_are_left_out(options: str, story: str) -> None:
    assert extract_question(story + ASKS + options, ["Drink water"]) == ASKS


def test_any_reference_counts() -> None:
    assert extract_question(f"{ASKS}\nA. rest\nB. drink water", ["have something to drink", "rest"]) == ASKS


def test_a_long_question_without_a_question_mark() -> None:
    assert extract_question(STORY + "Name the disease.", ["flu"]) == "Name the disease."


def test_the_only_sentence_is_read_even_if_it_contains_the_answer() -> None:
    question = "Did Bob win?"
    assert extract_question(question, ["Bob"]) == question


@pytest.mark.parametrize("reference", ["on", "off"])
@pytest.mark.parametrize(
    "question", ["Is it on or off?", "Is it on, or off?", "On or off?", "Should it be on or the off?"]
)
def test_nothing_is_read_of_a_question_that_offers_the_answer_beside_another(question: str, reference: str) -> None:
    assert extract_question(question, [reference]) == ""
    assert extract_question(question, ["of"]) == question


def test_length_is_counted_in_words() -> None:
    first, last = "one " * (LONG_QUESTION_WORDS - 2) + "ends.", "Who?"
    assert extract_question(f"{first} {last}", ["x"]) == f"{first} {last}"
    assert extract_question(f"more {first} {last}", ["x"]) == last


@given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_the_extracted_part_is_in_the_question(question: str, references: list[str]) -> None:
    part = extract_question(question, references)
    read, whole = ("".join(unicodedata.normalize("NFKC", text).split()) for text in (part, question))
    assert read in whole


def test_only_the_end_of_a_long_sentence_is_read() -> None:
    words = [f"w{i}" for i in range(3 * LONG_QUESTION_WORDS)]
    assert extract_question(" ".join(words) + "?", ["x"]) == " ".join(words[-LONG_QUESTION_WORDS:]) + "?"


def test_sentences_of_tokenised_text() -> None:
    assert extract_question("The dog had bitten the man . " * 8 + "Who bit ?", ["dog"]) == "Who bit ?"
