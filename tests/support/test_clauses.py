"""Clauses of a claim, and what the model reads of them."""

from pathlib import Path

import numpy as np
import pytest

from semantic_metrics.cross_encoder.heads import nli_probabilities
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.support.clauses import clauses
from semantic_metrics.support.decision import FEATURES, log_odds
from semantic_metrics.support.judge import Reader, SupportOptions
from semantic_metrics.support.scoring import load_table


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        (
            "The firm was founded in 1990 by two brothers, and it moved to Berlin after the war.",
            ["The firm was founded in 1990 by two brothers.", "It moved to Berlin after the war."],
        ),
        ("Two people died and 23 were injured.", ["Two people died.", "23 were injured."]),
        ("Sales rose in May; profits fell by a third.", ["Sales rose in May.", "Profits fell by a third."]),
        (
            "The mayor was for it, but the council voted no because the bridge is old.",
            ["The mayor was for it.", "The council voted no.", "The bridge is old."],
        ),
        ("Bob and the mayor met in Paris.", []),
        ("She left.", []),
        ("", []),
    ],
)
def test_cut(sentence: str, parts: list[str]) -> None:
    assert clauses(sentence) == parts


def test_many_conjunctions_end_soon() -> None:
    assert clauses("and the " * 12_000) == []


def test_the_weakest_clause_lowers_the_feature(model: Path) -> None:
    """Each clause has the better of two passages, and the claim the worst of its clauses."""
    reader = Reader(PairScorer(model), load_table(), SupportOptions())
    claim, source = (
        "He was in and it was it.",
        "Sales rose in May. The firm is in Berlin.",
    )
    [(_, [reading], _)] = reader.readings([claim], [[source]])
    first, second = reading.clause_pairs()
    assert [text for _, text in (first[0], second[0])] == clauses(claim)
    logits = reader.scorer.logits([*first, *second])
    entailments = nli_probabilities(logits.values, reader.scorer.labels)[:, 0]
    assert reading.weakest == pytest.approx(min(entailments[: len(first)].max(), entailments[len(first) :].max()))
    features = dict(zip(FEATURES, reading.features(), strict=True))
    assert features["entailment_of_clauses"] == min(features["entailment"], log_odds(np.array(reading.weakest)))


def test_a_claim_of_one_clause_is_read_as_it_is(model: Path) -> None:
    reader = Reader(PairScorer(model), load_table(), SupportOptions())
    [(_, [reading], _)] = reader.readings(["Sales rose."], [["Sales rose in May. The firm is in Berlin."]])
    features = dict(zip(FEATURES, reading.features(), strict=True))
    assert reading.clause_pairs() == []
    assert features["entailment_of_clauses"] == features["entailment"]
