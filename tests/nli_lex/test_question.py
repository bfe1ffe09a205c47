"""What is read of a question, and whether an answer asserts or rejects its mentions of the reference."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.mentions import rejected
from semantic_metrics.nli_lex.question import LONG_QUESTION_WORDS, extract_question

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


def test_many_spaces_take_no_time() -> None:
    assert extract_question("w " * 21 + " " * 200_000 + "end?", ["Paris"]).endswith("w end?")


def test_only_the_end_of_a_long_sentence_is_read() -> None:
    words = [f"w{i}" for i in range(3 * LONG_QUESTION_WORDS)]
    assert extract_question(" ".join(words) + "?", ["x"]) == " ".join(words[-LONG_QUESTION_WORDS:]) + "?"


def test_sentences_of_tokenised_text() -> None:
    assert extract_question("The dog had bitten the man . " * 8 + "Who bit ?", ["dog"]) == "Who bit ?"


QUESTION, REFERENCE = "Who painted the Mona Lisa?", "Leonardo da Vinci"
REJECTED = [
    "Not Leonardo da Vinci, but Michelangelo.",
    "Leonardo da Vinci did not paint it.",
    "It wasn't da Vinci, it was Raphael.",
    "Leonardo da Vinci is a common wrong answer; the right one is Raphael.",
    "Raphael rather than Leonardo da Vinci.",
    "Leonardo da Vinci. Sorry, I meant Raphael.",
    "People often say Leonardo da Vinci, but it was Raphael.",
    "Raphael, although many people believe it was Leonardo da Vinci.",
]
ASSERTED = [
    "It was Leonardo da Vinci, not Michelangelo.",
    "Michelangelo did not paint it. Leonardo da Vinci did.",
    "Raphael is a common wrong answer; the right one is Leonardo da Vinci.",
    "Raphael. Sorry, I meant Leonardo da Vinci.",
    "People often say Raphael, but it was Leonardo da Vinci.",
    "I do not doubt it was Leonardo da Vinci.",
    "Leonardo da Vinci is not wrong.",
    "Nobody but Leonardo da Vinci.",
    "Some say Leonardo da Vinci, but it was Raphael. No, it was Leonardo da Vinci.",  # the last one counts
]


@pytest.mark.parametrize("answer", REJECTED)
def test_an_answer_that_rejects_every_mention_is_found(answer: str) -> None:
    assert rejected(QUESTION, answer, REFERENCE) == 1


@pytest.mark.parametrize("answer", [*ASSERTED, "Raphael, not Michelangelo.", ""])
def test_an_answer_that_asserts_the_reference_or_does_not_name_it_is_not(answer: str) -> None:
    assert rejected(QUESTION, answer, REFERENCE) == 0


def test_numbers_dates_and_negations_of_the_question() -> None:
    assert rejected("When?", "It wasn't May 4, 1970, it was May 4, 1980.", "May 4, 1970") == 1
    assert rejected("When?", "It wasn't May 4, 1970, it was May 4, 1980.", "May 4, 1980") == 0
    assert rejected("how many", "not two but 3", "2") == 1
    assert rejected("When did it end?", "It did not end until 1945.", "1945") == 0
    song = "Who sang Can't Help Falling in Love?"
    assert rejected(song, '"Can\'t Help Falling in Love" was sung by Elvis Presley.', "Elvis Presley") == 0


@given(st.text(max_size=60), st.text(max_size=60), st.text(min_size=1, max_size=20))
def test_any_text_has_a_value(question: str, answer: str, reference: str) -> None:
    assert rejected(question, answer, reference) in (0, 1)
