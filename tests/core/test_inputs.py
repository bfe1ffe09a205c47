"""Bad input is a ValueError that names the argument, what was expected and what came."""

import pickle
import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

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


def refuses(check: Callable, *arguments: object, saying: str) -> None:
    with pytest.raises(ValueError, match=re.escape(saying)):
        check(*arguments)


ODD = ["", " \t\n", "plain", "naïve 日本語", "🎉", "a\x00b", "e\u0301", "\ufeff", "\U0010ffff"]
MIXED = "references: expected a string each or a list of strings each, got "


@pytest.mark.parametrize("text", ODD)
def test_any_valid_text_passes_unchanged(text: str) -> None:
    assert check_text("text", text) == text


@pytest.mark.parametrize(
    ("value", "saying"),
    [
        (None, "text: expected a string, got NoneType None"),
        (3, "text: expected a string, got int 3"),
        (b"bytes", "text: expected a string, got bytes b'bytes'"),
        (["list"], "text: expected a string, got list ['list']"),
        (float("nan"), "text: expected a string, got float nan"),
        ("ab\ud800c", "text: expected valid Unicode, got a lone surrogate (U+D800) at character 2"),
        ("\udfff", "text: expected valid Unicode, got a lone surrogate (U+DFFF) at character 0"),
    ],
)
def test_an_invalid_text_is_refused(value: object, saying: str) -> None:
    refuses(check_text, "text", value, saying=saying)


@pytest.mark.parametrize(
    ("value", "saying"),
    [
        ("bare", "texts: expected a list of strings, got a bare str 'bare'; wrap it in a list"),
        (b"bare", "texts: expected a list of strings, got a bare bytes b'bare'; wrap it in a list"),
        (None, "texts: expected a list of strings, got NoneType None"),
        (7, "texts: expected a list of strings, got int 7"),
        ({"a": "b"}, "texts: expected a list of strings, got dict {'a': 'b'}"),
        ({"a"}, "texts: expected a list of strings, got set {'a'}"),
        ([], "texts: expected at least one text, got an empty list"),
        ((), "texts: expected at least one text, got an empty list"),
        (pd.DataFrame({"text": ["a", "b"]}), "texts: expected a list of strings, got DataFrame of 2 dimensions"),
        (np.array([["a"], ["b"]]), "texts: expected a list of strings, got ndarray of 2 dimensions"),
        (np.array("a"), "texts: expected a list of strings, got ndarray of 0 dimensions"),
    ],
)
def test_an_invalid_list_is_refused(value: object, saying: str) -> None:
    refuses(check_list, "texts", value, saying=saying)
    refuses(check_texts, "texts", value, saying=saying)
    refuses(check_references, "texts", value, saying=saying)


def test_the_offending_item_is_named() -> None:
    refuses(check_texts, "predictions", ["a", None], saying="predictions[1]: expected a string, got NoneType None")
    refuses(check_texts, "predictions", ["a", "b", "\ud9ff"], saying="predictions[2]: expected valid Unicode")
    refuses(check_references, "references", ["a", None], saying="references[1]: expected a string, got NoneType")
    refuses(check_references, "references", [["a"], ["b", 2]], saying="references[1][1]: expected a string, got int 2")
    refuses(check_references, "references", [["\udc00"]], saying="references[0][0]: expected valid Unicode")


def test_a_long_value_is_quoted_in_part() -> None:
    with pytest.raises(ValueError, match=r"got bytes b'x+\.\.\.$") as caught:
        check_text("text", b"x" * 1000)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, iter])
def test_any_sequence_of_texts_is_a_list(kind: Callable) -> None:
    assert check_texts("texts", kind(["a", "b"])) == ["a", "b"]


def test_references_are_strings_or_lists() -> None:
    assert check_references("references", ("a", "b")) == ["a", "b"]
    assert check_references("references", [("a", "b"), ["c"]]) == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("references", "saying"),
    [
        (["a", ["b"]], MIXED + "a str at 0 and list ['b'] at 1"),
        ([["a"], "b"], MIXED + "list ['a'] at 0 and a str at 1"),
        ([["a"], []], "references[1]: expected at least one text, got an empty list"),
        ([[]], "references[0]: expected at least one text, got an empty list"),
        ([None], "references[0]: expected a string or a list of strings, got NoneType None"),
        ([["a"], 5], "references[1]: expected a string or a list of strings, got int 5"),
        ([{"a": 1}], "references[0]: expected a list of strings, got dict {'a': 1}"),
    ],
)
def test_mixed_or_empty_references_are_refused(references: list, saying: str) -> None:
    refuses(check_references, "references", references, saying=saying)


def test_lengths_that_differ_are_named() -> None:
    check_same_length("predictions", 2, "references", 2)
    saying = "references: expected 2 items, one for each of predictions, got 3"
    refuses(check_same_length, "predictions", 2, "references", 3, saying=saying)


def test_an_option_is_one_of_its_choices() -> None:
    check_choice("output", "".join(["me", "an"]), ("all", "mean"))
    refuses(check_choice, "output", "median", ("all", "mean"), saying="output: expected one of 'all', 'mean', got str")
    refuses(check_choice, "rescale", 1, (False, True), saying="rescale: expected one of False, True, got int 1")
    refuses(check_choice, "rescale", None, (False, True), saying="rescale: expected one of False, True, got NoneType")
    refuses(check_choice, "output", np.array(["all"]), ("all", "mean"), saying="output: expected one of")


def test_a_whole_number_lies_in_a_range() -> None:
    check_whole("batch_size", 1, 1)
    refuses(check_whole, "batch_size", 0, 1, saying="batch_size: expected a whole number from 1, got int 0")
    refuses(check_whole, "folds", 11, 2, 10, saying="folds: expected a whole number from 2 to 10, got int 11")
    refuses(check_whole, "folds", True, 0, saying="folds: expected a whole number from 0, got bool True")
    refuses(check_whole, "folds", 2.0, 0, saying="folds: expected a whole number from 0, got float 2.0")


@pytest.mark.parametrize(
    ("name", "argument", "index"),
    [("scale", "scale", None), ("references[3][0]", "references", 3), ("embeddings['x'][1]", "embeddings", None)],
)
def test_an_error_says_which_argument_and_item_is_invalid(name: str, argument: str, index: int | None) -> None:
    error = pickle.loads(pickle.dumps(invalid_input(name, "expected: a text")))
    assert str(error) == f"{name}: expected: a text"
    assert (error.argument, error.index, error.reason) == (argument, index, "expected: a text")
