"""The assertion of promptfoo, called as promptfoo calls it: with an output and a context, for a dict."""

from collections.abc import Callable

import pytest

from semantic_metrics import load
from tests.hooks.conftest import ROWS


@pytest.mark.parametrize("row", ROWS)
def test_get_assert(run_example: Callable[[str], dict], row: dict[str, str]) -> None:
    get_assert = run_example("promptfoo")["get_assert"]
    texts = {"predictions": [row["answer"]], "references": [row["gold"]], "questions": [row["question"]]}
    (expected,) = load("nli_lex").compute(**texts)["scores"]
    context = {"prompt": row["question"], "vars": {"question": row["question"], "gold": row["gold"]}}
    verdict = get_assert(row["answer"], context)
    assert verdict["pass"] == (expected >= 0.5)
    assert verdict["score"] == pytest.approx(expected, abs=1e-6)
    assert verdict["reason"].startswith(f"nli_lex {expected:.4f}, correct ")
    assert get_assert(row["answer"], {**context, "config": {"lowest": 0.0}})["pass"]
    assert not get_assert(row["answer"], {**context, "config": {"lowest": 1.1}})["pass"]


def test_a_harness_of_ones_own(run_example: Callable[[str], dict]) -> None:
    results = run_example("Your own harness")["results"]
    columns = {"predictions": ["The cat.", "Two."], "references": [["The cat sleeps."], ["2", "three"]]}
    expected = load("nli_lex").compute(**columns, questions=["who sleeps?", "how many?"])
    assert [score for score, _ in results] == pytest.approx(expected["scores"], abs=1e-6)
    assert [correct for _, correct in results] == expected["correct"]
