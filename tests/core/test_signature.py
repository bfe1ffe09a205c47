"""Signatures on a screen, and what is said of a sum of contributions."""

import doctest

import pytest

from semantic_metrics.core import signature
from semantic_metrics.core.signature import differing, shorten
from semantic_metrics.html.sums import adds_up_to

WHOLE = "m|checkpoint:0123456789abcdef|precision:float32|max_length:256|version:0.3.0"


def test_short_signatures_are_equal_only_if_the_whole_ones_are() -> None:
    assert doctest.testmod(signature).failed == 0
    changed = [WHOLE.replace(*pair) for pair in (("f|", "e|"), ("32|", "16|"), ("256", "512"), ("0.3", "0.4"))]
    assert len({shorten(one) for one in (WHOLE, *changed)}) == 5
    assert shorten(WHOLE).startswith("m|checkpoint:01234567|version:0.3.0|settings:")


def test_what_differs_is_named() -> None:
    other = WHOLE.replace("float32", "int8").replace("256", "512")
    assert (differing(WHOLE, other), differing(other, WHOLE)) == (
        "precision:float32|max_length:256",
        "precision:int8|max_length:512",
    )
    assert differing(WHOLE, "n" + WHOLE[1:]) == WHOLE, "of another metric all is shown"
    assert differing("m|a:1", "m|a:1|b:2") == "m|a:1"


@pytest.mark.parametrize(
    ("method", "side", "expected"),
    [
        ("exact", {"total": 0.7}, 0.7),
        ("leave_one_out", {"total": 0.7}, None),
        ("integrated_gradients", {"total": 0.5, "baseline_score": 0.2}, 0.5),
        ("integrated_gradients", {"total": 0.6, "baseline_score": 0.2}, None),
    ],
)
def test_a_sum_is_claimed_only_where_it_holds(method: str, side: dict, expected: float | None) -> None:
    claimed = adds_up_to({"score": 0.7, "method": method, "prediction": side}, "prediction")
    assert claimed == (None if expected is None else pytest.approx(expected))
