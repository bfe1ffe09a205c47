"""Mentions of the reference: asserted or rejected, by the cues around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics.nli_lex.mentions import rejected

QUESTION, REFERENCE = "Who painted the Mona Lisa?", "Leonardo da Vinci"
REJECTED = [
    "Not Leonardo da Vinci, but Michelangelo.",
    "Leonardo da Vinci did not paint it.",
    "LEONARDO DA VINCI didn't.",
    "It wasn't da Vinci, it was Raphael.",
    "Leonardo da Vinci is a common wrong answer; the right one is Raphael.",
    "Raphael rather than Leonardo da Vinci.",
    "Leonardo da Vinci? No. Raphael.",
    "Leonardo da Vinci. Sorry, I meant Raphael.",
    "People often say Leonardo da Vinci, but it was Raphael.",
    "Raphael, although many people believe it was Leonardo da Vinci.",
    "I doubt it was Leonardo da Vinci.",
]
ASSERTED = [
    "It was Leonardo da Vinci, not Michelangelo.",
    "Not Michelangelo, but Leonardo da Vinci.",
    "Michelangelo did not paint it. Leonardo da Vinci did.",
    "It wasn't Raphael, it was da Vinci.",
    "Raphael is a common wrong answer; the right one is Leonardo da Vinci.",
    "Raphael. Sorry, I meant Leonardo da Vinci.",
    "People often say Raphael, but it was Leonardo da Vinci.",
    "I do not doubt it was Leonardo da Vinci.",
    "Leonardo da Vinci, no doubt.",
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
