"""Bad input is a ValueError that names the argument, what was expected and what came; signatures that are short."""

import doctest
import pickle
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from semantic_metrics.core import signature
from semantic_metrics.core.inputs import (
    check_choice,
    check_list,
    check_references,
    check_same_length,
    check_text,
    check_texts,
    check_whole,
    invalid_input,
)
from semantic_metrics.core.signature import differing, shorten
from semantic_metrics.html.explained import adds_up_to

ODD = ["", " \t\n", "plain", "naïve 日本語", "🎉", "a\x00b", "e\u0301", "\ufeff", "\U0010ffff"]
TEXT = "expected a string, got"
LIST = "expected a list of strings, got"
EMPTY = "expected at least one text, got an empty list"
MIXED = "x: expected a string each or a list of strings each, got"
LISTS = [
    ("bare", f"{LIST} a bare str 'bare'; wrap it in a list"),
    (b"bare", f"{LIST} a bare bytes b'bare'; wrap it in a list"),
    (None, f"{LIST} NoneType None"),
    (7, f"{LIST} int 7"),
    ({"a": "b"}, f"{LIST} dict {{'a': 'b'}}"),
    ([], EMPTY),
    (pd.DataFrame({"text": ["a", "b"]}), f"{LIST} DataFrame of 2 dimensions"),
    (np.array([["a"], ["b"]]), f"{LIST} ndarray of 2 dimensions"),
    (np.array("a"), f"{LIST} ndarray of 0 dimensions"),
]
REFUSED = [
    (check_text, (None,), f"x: {TEXT} NoneType None"),
    (check_text, (b"bytes",), f"x: {TEXT} bytes b'bytes'"),
    (check_text, (b"x" * 1000,), f"x: {TEXT} bytes b'{'x' * 38}..."),
    (check_text, ("ab\ud800c",), "x: expected valid Unicode, got a lone surrogate (U+D800) at character 2"),
    *((check, (value,), f"x: {m}") for check in (check_list, check_texts, check_references) for value, m in LISTS),
    (check_texts, (["a", float("nan")],), f"x[1]: {TEXT} float nan"),
    (check_references, (["a", None],), f"x[1]: {TEXT} NoneType None"),
    (check_references, ([["a"], ["b", 2]],), f"x[1][1]: {TEXT} int 2"),
    (check_references, (["a", ["b"]],), f"{MIXED} a str at 0 and list ['b'] at 1"),
    (check_references, ([["a"], "b"],), f"{MIXED} list ['a'] at 0 and a str at 1"),
    (check_references, ([["a"], []],), f"x[1]: {EMPTY}"),
    (check_references, ([["a"], 5],), "x[1]: expected a string or a list of strings, got int 5"),
    (check_references, ([{"a": 1}],), f"x[0]: {LIST} dict {{'a': 1}}"),
    (check_same_length, (2, "y", 3), "y: expected 2 items, one for each of x, got 3"),
    (check_choice, ("median", ("all", "mean")), "x: expected one of 'all', 'mean', got str 'median'"),
    (check_choice, (1, (False, True)), "x: expected one of False, True, got int 1"),
    (check_choice, (np.array(["a"]), ("a",)), "x: expected one of 'a', got ndarray array(['a'], dtype='<U1')"),
    (check_whole, (0, 1), "x: expected a whole number from 1, got int 0"),
    (check_whole, (11, 2, 10), "x: expected a whole number from 2 to 10, got int 11"),
    (check_whole, (True, 0), "x: expected a whole number from 0, got bool True"),
    (check_whole, (2.0, 0), "x: expected a whole number from 0, got float 2.0"),
]


@pytest.mark.parametrize(("check", "arguments", "message"), REFUSED)
def test_invalid_arguments_are_refused(check: Callable, arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        check("x", *arguments)
    assert str(caught.value) == message


def test_valid_arguments_pass() -> None:
    assert [check_text("x", text) for text in ODD] == ODD
    for kind in (list, tuple, np.array, pd.Series, iter):
        assert check_texts("x", kind(["a", "b"])) == ["a", "b"]
    assert check_references("x", ("a", "b")) == ["a", "b"]
    assert check_references("x", [("a", "b"), ["c"]]) == [["a", "b"], ["c"]]
    check_same_length("x", 2, "y", 2)
    check_choice("x", "".join(["me", "an"]), ("all", "mean"))
    check_whole("x", 1, 1)


@pytest.mark.parametrize(
    ("name", "argument", "index"),
    [("scale", "scale", None), ("references[3][0]", "references", 3), ("embeddings['x'][1]", "embeddings", None)],
)
def test_an_error_says_which_argument_and_item_is_invalid(name: str, argument: str, index: int | None) -> None:
    error = pickle.loads(pickle.dumps(invalid_input(name, "expected: a text")))
    assert str(error) == f"{name}: expected: a text"
    assert (error.argument, error.index, error.reason) == (argument, index, "expected: a text")


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
