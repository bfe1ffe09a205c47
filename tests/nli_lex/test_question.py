"""What is read of a question: all of a short one, and of others the sentence that asks, without the right answer."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.question import LONG_QUESTION_WORDS, extract_question

STORY = "A man of 40 years went to a doctor. He had walked all day, as Dr. Lee told him to. " * 3
ASKS = "Which of these should he do first?"


@pytest.mark.parametrize("question", ["who wrote Emma", "Was Ann born before Bob? Say yes or no.", "", " ", "?"])
def test_a_short_question_is_read_whole(question: str) -> None:
    assert extract_question(question, ["Jane Austen"]) == question


@pytest.mark.parametrize(
    "options",
    [
        "\nA. rest\nB. drink water\nC. run",
        "\n(A) rest\n(B) drink water",
        " (A) rest (B) drink water (C) run",
        " A) rest B) drink water",
        " Options: A: rest, B: drink water",
        "\nChoices: rest; drink water",
        "\n1. rest\n2. drink water",
        "\nrest\ndrink water",
        "\n* rest\n* drink water",
        " 10. rest 11. drink water",
        " [A] rest [B] drink water",
        "\ni) rest\nii) drink water",
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


def test_many_spaces_take_no_time() -> None:
    assert extract_question("w " * 21 + " " * 200_000 + "end?", ["Paris"]).endswith("w end?")


def test_only_the_end_of_a_long_sentence_is_read() -> None:
    words = [f"w{i}" for i in range(3 * LONG_QUESTION_WORDS)]
    assert extract_question(" ".join(words) + "?", ["x"]) == " ".join(words[-LONG_QUESTION_WORDS:]) + "?"


def test_sentences_of_tokenised_text() -> None:
    assert extract_question("The dog had bitten the man . " * 8 + "Who bit ?", ["dog"]) == "Who bit ?"
