"""Verdicts from parts that are made up: each rule decides where those before it do not."""

import re
from dataclasses import replace

import numpy as np
import pytest

from semantic_metrics.consensus.parts import Parts
from semantic_metrics.consensus.verdict import VERDICTS, Thresholds, verdict
from semantic_metrics.quantities.rules import DIFFERENT, NO_ANSWER, NOTHING, SAME, UNREAD, Ruling


def parts(supported: float, covered: float, contradiction: float, similarity: float) -> Parts:
    one = (np.array([value]) for value in (0.0, similarity, supported, covered, contradiction))
    return Parts(*one, truncated=np.array([False]))


@pytest.mark.parametrize(
    ("values", "word", "reason"),
    [
        ((0.9, 0.9, 0.6, 0.9), "contradicts", r"contradict each other \(probability 0\.60\)"),
        (
            (0.9, 0.8, 0.1, 0.9),
            "same",
            r"Each text entails the other \(.* 0\.90, .* 0\.80",
        ),
        ((0.9, 0.1, 0.1, 0.9), "says less", "leaves something out"),
        ((0.1, 0.9, 0.1, 0.9), "says more", "adds something"),
        ((0.1, 0.1, 0.9, 0.1), "unrelated", r"little in common \(similarity 0\.10\)"),
        ((0.1, 0.1, 0.1, 0.6), "says more", "adds something and leaves something out"),
    ],
)
def test_verdicts(values: tuple[float, ...], word: str, reason: str) -> None:
    found, why = verdict(parts(*values), 0)
    assert found == word
    assert word in VERDICTS
    assert re.search(reason, why)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (SAME, "same"),
        (DIFFERENT, "contradicts"),
        (NO_ANSWER, "no answer"),
        (NOTHING, "unrelated"),
        (UNREAD, "unread"),
        ("", "same"),
    ],
)
def test_rules_decide_before_models(kind: str, word: str) -> None:
    ruling = Ruling(kind, "Because." if kind else "")
    ruled = replace(parts(0.9, 0.9, 0.1, 0.9), rulings=np.array([ruling], dtype=object))
    found, why = verdict(ruled, 0)
    assert found == word
    assert word in VERDICTS
    assert (why == "Because.") == bool(kind)


def test_thresholds_can_be_moved() -> None:
    strict = Thresholds(contradiction=0.05, entailment=0.95, similarity=0.8)
    assert verdict(parts(0.9, 0.9, 0.06, 0.9), 0, strict)[0] == "contradicts"
    assert verdict(parts(0.9, 0.9, 0.01, 0.7), 0, strict)[0] == "unrelated"
