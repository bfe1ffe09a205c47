"""Sentences: places that fit any text, and one sentence of several that contradicts the other text."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics import load
from semantic_metrics.core.run_options import DEFAULT_OPTIONS
from semantic_metrics.cross_encoder.by_sentence import Worst, worst_sentences
from semantic_metrics.cross_encoder.sentences import cut_long, sentence_spans
from semantic_metrics.nli_lex.features import load_scorer

LINES = """About Us
The firm was sold. It employs 200 people, Dr. Smith said.

- first bullet
- second bullet

| year | sales |
| 2001 | 3,000 |
def area(x):
    return x.y
Mr. Lee paid Ms. Roe approx. $3.5 million. "Really?" she asked."""
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
        *("Mr. Lee paid Ms. Roe approx. $3.5 million.", '"Really?" she asked.'),
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


TEXTS = [  # a text, the same said otherwise, and that with one sentence that the text contradicts
    (
        "Sales grew in every region last year. The company hired two hundred people. It plans a plant in Spain.",
        "Last year sales rose everywhere. {} A Spanish factory is planned.",
        "Two hundred new employees joined.",
        "Two hundred employees were dismissed.",
    ),
    (
        "Install the package first. Then restart the server. Finally, check the log for errors.",
        "Begin by installing the package. Restart the server after that. {}",
        "At the end, look for errors in the log.",
        "There is no need to look at the log.",
    ),
]


@pytest.mark.parametrize(("reference", "form", "right", "wrong"), TEXTS)
def test_one_sentence_decides(reference: str, form: str, right: str, wrong: str) -> None:
    texts = {"predictions": [form.format(right), form.format(wrong)], "references": [reference] * 2}
    result = load("consensus").compute(**texts)
    assert result["scores"][0] > 0.5 > result["scores"][1]
    assert result["verdicts"] == ["same", "contradicts"]
    assert repr(wrong) in result["reasons"][1]
    answers = load("nli_lex").compute(**texts, questions=["What happened?"] * 2, output="reasons")
    assert answers["correct"] == [True, False]
    assert repr(wrong) in answers["rules"][1]
    assert not answers["rules"][0]


def test_what_is_read_already_is_not_read_again() -> None:
    scorer, run = load_scorer(), DEFAULT_OPTIONS
    pairs = [("He left.", "He left. She stayed."), ("", "He left. She stayed."), ("He left.", "He stayed.")]
    assert worst_sentences(pairs, scorer, run) == [Worst()] * 3
    assert worst_sentences([], scorer, run) == []


def test_it_counts_for_each_pair_alone() -> None:
    scorer, run = load_scorer(), DEFAULT_OPTIONS
    pairs = [(reference, form.format(text)) for reference, form, *texts in TEXTS for text in texts]
    together = worst_sentences(pairs, scorer, run)
    assert [bool(one.reason) for one in together] == [False, True, False, True]
    alone = [worst_sentences([pair], scorer, run)[0] for pair in pairs]
    assert [one.reason for one in alone] == [one.reason for one in together]
    assert [one.contradiction for one in alone] == pytest.approx([one.contradiction for one in together], abs=1e-5)
