"""Pairs of the same words in another order: which say the same, and which say it of somebody else."""

import random
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics.contradictions.language import load_pipeline
from training.data.swap_order import MOVED, SURNAME, SURNAMES, order_pairs
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair
from training.data.swaps import SwapSource, Table


def pairs_of(text: str, premise: str | None = None, seeds: int = 12) -> list[Pair]:
    sentence = next(load_pipeline()(text).sents)
    return [pair for seed in range(seeds) for pair in order_pairs(sentence, premise, random.Random(seed))]


def labelled(text: str, premise: str | None = None) -> dict[frozenset[str], str]:
    return {frozenset((pair.premise, pair.hypothesis)): pair.label for pair in pairs_of(text, premise)}


@pytest.mark.parametrize(
    ("text", "other", "label"),
    [
        ("A man is riding a horse.", "A horse is being ridden by a man.", ENTAILMENT),
        ("A man is riding a horse.", "A man is being ridden by a horse.", CONTRADICTION),
        ("The police arrested two boys.", "Two boys were arrested by the police.", ENTAILMENT),
        ("She hired him.", "He hired her.", CONTRADICTION),
        ("The girl loves the boy.", "The boy loves the girl.", NEUTRAL),
        ("In 1990, the family moved to Spain.", "The family moved to Spain in 1990.", ENTAILMENT),
        ("The team won in London and Paris.", "The team won in Paris and London.", ENTAILMENT),
        ("Paris is the capital of France.", "The capital of France is Paris.", ENTAILMENT),
        ("A man is talking to a boy.", "A boy is talking to a man.", NEUTRAL),
        ("A crowd watches as a man pushes a boy.", "A crowd watches as a boy pushes a man.", CONTRADICTION),
    ],
)
def test_the_order_decides_the_label(text: str, other: str, label: str) -> None:
    assert labelled(text)[frozenset((text, other))] == label


@pytest.mark.parametrize(
    "text",
    [
        "Paris is near London.",  # the same when it is exchanged
        "Does a man ride a horse?",
        "If a man rides a horse, a dog barks.",
        "A man is washing his dog.",  # "his" would be another's
        "A photo shows a man kissing a woman.",  # the nearest verb above both decides
        "Men are watching sports.",  # sports watch nobody, and to be watched by sports is no deed
        "The mother of the boy is here.",
    ],
)
def test_what_would_say_the_same_or_nothing_is_not_exchanged(text: str) -> None:
    assert all(pair.kind == MOVED for pair in pairs_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "Two people are at a party.",  # "are" needs its phrase
        "In 1990, he said that he left Rome.",
        "In 1990, he lived in Paris and died in London.",
        "The first and the second team won gold and silver respectively.",
    ],
)
def test_what_would_say_something_else_is_not_moved(text: str) -> None:
    assert not [pair for pair in pairs_of(text) if pair.kind == MOVED]


def test_a_moved_phrase_and_an_exchange_come_together_too() -> None:
    text = "In 1990, the company moved from London to Paris."
    both = "The company moved from Paris to London in 1990."
    made = labelled(text)
    assert made[frozenset((text, both))] == CONTRADICTION
    assert made[frozenset(("In 1990, the company moved from Paris to London.", both))] == ENTAILMENT


def test_another_surname_contradicts_and_the_surname_alone_is_entailed() -> None:
    text = "The prize was given to Anna Fernandez."
    made = {pair for pair in pairs_of(text, seeds=30) if pair.kind == SURNAME}
    contradicted = {pair.hypothesis for pair in made if pair.label == CONTRADICTION}
    assert {pair.hypothesis for pair in made if pair.label == ENTAILMENT} == {"The prize was given to Fernandez."}
    assert "The prize was given to Anna Fernandes." in contradicted  # names that begin alike are as frequent
    assert {hypothesis.split()[-1].rstrip(".") for hypothesis in contradicted} <= set(SURNAMES) - {"Fernandez"}


def test_spaces_before_marks_are_taken_out(tmp_path: Path) -> None:
    pd.DataFrame({"premise": ["In 1990 , he left Rome ."], "hypothesis": ["He left Rome ."]}).to_parquet(
        tmp_path / "a.parquet"
    )
    source = SwapSource(name="a", table=Table(path="a.parquet"), tokenised=True)
    assert source.read(tmp_path, frozenset()) == [("In 1990, he left Rome.", "He left Rome.")]
