"""Sentences: places that fit the text, whatever the text is."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.cross_encoder.sentences import cut_long, sentence_spans

LINES = """About Us
The firm was sold. It employs 200 people, Dr. Smith said.

- first bullet
- second bullet

| year | sales |
| 2001 | 3,000 |
def area(x):
    return x.y
Mr. Lee paid $3.5 million. "Really?" she asked."""
WRAPPED = """The committee met on Tuesday to discuss the new budget for the city
of Springfield, which Mayor Quimby had proposed in January. It was
rejected by nine votes to two."""


def words(text: str) -> list[tuple[int, int]]:
    """A tokeniser of white space."""
    places, end = [], 0
    for word in text.split():
        begin = text.index(word, end)
        end = begin + len(word)
        places.append((begin, end))
    return places


def pieces(text: str) -> list[str]:
    return [text[begin:end] for begin, end in sentence_spans(text)]


def test_abbreviations_end_no_sentence_and_lines_of_a_list_table_or_program_stand_alone() -> None:
    assert pieces(LINES) == [
        *("About Us", "The firm was sold.", "It employs 200 people, Dr. Smith said.", "- first bullet"),
        *("- second bullet", "| year | sales |", "| 2001 | 3,000 |", "def area(x):", "return x.y"),
        *("Mr. Lee paid $3.5 million.", '"Really?" she asked.'),
    ]


def test_a_wrapped_paragraph_is_read_across_its_lines() -> None:
    assert pieces(WRAPPED)[1] == "It was\nrejected by nine votes to two."
    assert len(pieces(WRAPPED)) == 2


@pytest.mark.parametrize("text", ["", " \n\t", "...", "| --- | --- |", "\0", "***\n---"])
def test_a_text_without_letters_and_digits_has_no_sentence(text: str) -> None:
    assert pieces(text) == []


@pytest.mark.parametrize("text", ["no end", "今天天气很好", "42", "Ünïcode… 😀 ok"])
def test_a_text_without_a_sentence_end_is_one_sentence(text: str) -> None:
    assert pieces(text) == [text]


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("aB1 .!?\n\r\"'(-|é😀。\u2028\0"), max_size=200))
def test_sentences_lie_in_the_text_in_order_and_lose_no_letter(text: str) -> None:
    spans = sentence_spans(text)
    assert all(0 <= begin < end <= len(text) for begin, end in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
    assert all(text[begin:end] == text[begin:end].strip() for begin, end in spans)
    outside = set(range(len(text))) - {i for begin, end in spans for i in range(begin, end)}
    assert not any(text[i].isalnum() for i in outside)


def test_a_long_sentence_is_cut_between_words_and_none_is_lost() -> None:
    text = "Short one. " + " ".join(f"word{i}" for i in range(25))
    spans, sizes = cut_long(text, sentence_spans(text), words, 10)
    assert [text[begin:end] for begin, end in spans] == [
        "Short one.",
        *(" ".join(f"word{i}" for i in part) for part in (range(10), range(10, 20), range(20, 25))),
    ]
    assert sizes == [2, 10, 10, 5]
