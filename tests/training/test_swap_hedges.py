"""Hedged, reported and confirmed sentences: what entails what."""

import random
from itertools import chain

import pytest

from semantic_metrics.contradictions.language import load_pipeline
from training.data.swap_hedges import MODALS, hedge_pairs, modal_forms
from training.data.swap_pairs import ENTAILMENT, NEUTRAL, Pair, embedded
from training.data.swap_words import WORDS

TEXT = "The company reduced its debt in 1990."
ASSERTED = {TEXT, *(embedded(form, TEXT, proper=False) for form in WORDS["assertions"])}
REPORTED = {embedded(form, TEXT, proper=False) for form in WORDS["reports"]}


def pairs_of(text: str, seeds: int = 60) -> set[Pair]:
    sentence = next(load_pipeline()(text).sents)
    return set(chain.from_iterable(hedge_pairs(sentence, random.Random(seed)) for seed in range(seeds)))


@pytest.mark.parametrize(
    ("text", "modal"),
    [
        ("He left early.", "He may have left early."),
        ("She sings well.", "She may sing well."),
        ("He is asleep.", "He may be asleep."),
        ("It was destroyed by fire.", "It may have been destroyed by fire."),
        ("They have gone home.", "They may have gone home."),
        ("They had gone home.", "They may have gone home."),
    ],
)
def test_a_modal_verb_takes_the_place_of_the_finite_one(text: str, modal: str) -> None:
    sentence = next(load_pipeline()(text).sents)
    forms = modal_forms(sentence, random.Random(0))
    assert {form.replace("might", "may") for form in forms.values()} == {modal}
    assert set(forms) <= set(MODALS)


@pytest.mark.parametrize(
    "text",
    [
        *("He did not leave.", "He can swim.", "He came and left.", "He does like tea.", "He used to smoke."),
        *("He is tall and is bald.", "Although he was ill, he came."),
    ],
)
def test_a_negated_or_modal_verb_and_one_of_two_take_none(text: str) -> None:
    assert modal_forms(next(load_pipeline()(text).sents), random.Random(0)) == {}


def test_what_may_be_does_not_entail_that_it_is() -> None:
    made = pairs_of(TEXT)
    assert len(made) > 50
    for pair in made:
        certain = [text in ASSERTED for text in (pair.premise, pair.hypothesis)]
        expected = NEUTRAL if certain[1] and not certain[0] else ENTAILMENT
        expected = NEUTRAL if {pair.premise, pair.hypothesis} & REPORTED else expected
        assert pair.label == expected, pair


@pytest.mark.parametrize("text", ["Did he leave?", "If he left, we may go.", "Whether he left matters."])
def test_what_states_nothing_is_not_hedged(text: str) -> None:
    assert not pairs_of(text, seeds=5)
