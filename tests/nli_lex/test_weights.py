"""The judge's weights: the file, its errors, and what they make of features."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from semantic_metrics.nli_lex.features import COLUMNS, PAPER, RICH, TWO_FEATURES, Features
from semantic_metrics.nli_lex.weights import (
    FILE,
    Weights,
    contributions,
    judge,
    probability,
    read_weights,
    write_weights,
)
from tests.nli_lex.conftest import PAPER_WEIGHTS, RICH_WEIGHTS


def features(table: np.ndarray, owner: list[int], blank: tuple[int, ...] = ()) -> Features:
    flags = np.isin(np.arange(max(owner) + 1), blank)
    return Features(table, np.array(owner), flags, 0, 0, np.zeros_like(flags))


def test_probabilities_are_those_of_a_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(200, len(COLUMNS))), rng.integers(0, 2, size=200)
    for names in (PAPER, RICH, (RICH[-1], RICH[0])):
        chosen = table[:, [COLUMNS.index(name) for name in names]]
        model = LogisticRegression().fit(chosen, labels)
        weights = Weights(names, float(model.intercept_[0]), tuple(model.coef_[0].tolist()))
        np.testing.assert_allclose(probability(weights, table), model.predict_proba(chosen)[:, 1], atol=1e-12)
        odds = contributions(weights, table).sum(axis=1) + weights.intercept
        np.testing.assert_allclose(odds, model.decision_function(chosen), atol=1e-12)


def test_the_reference_that_speaks_most_for_an_answer_counts() -> None:
    table = np.zeros((6, len(COLUMNS)))
    table[:, 0] = 0.1, 0.9, 0.9, 0.5, 0.3, 0.7
    judged = judge(Weights(("entailment",), 0.0, (2.0,)), features(table, [0, 0, 0, 1, 2, 2], blank=(1,)))
    assert judged.rows.tolist() == [1, 3, 5], "the first of equals"
    assert judged.p == pytest.approx([1 / (1 + np.exp(-1.8)), 0, 1 / (1 + np.exp(-1.4))])
    turned = judge(Weights(("entailment",), 0.0, (-2.0,)), features(table, [0, 0, 0, 1, 2, 2]))
    assert turned.rows.tolist() == [0, 3, 4]


def test_weights_without_the_newer_features_are_still_read(tmp_path: Path) -> None:
    older = Weights(tuple(name for name in RICH if name != "rejected"), -1.0, (1.0,) * (len(RICH) - 1))
    write_weights(tmp_path, older)
    assert read_weights(tmp_path) == older
    assert older.form == "rich"
    table = np.zeros((2, len(COLUMNS)))
    table[1, COLUMNS.index("rejected")] = 1
    assert probability(older, table)[0] == probability(older, table)[1]


def test_a_file_holds_both_forms(tmp_path: Path) -> None:
    write_weights(tmp_path, RICH_WEIGHTS)
    write_weights(tmp_path / FILE, PAPER_WEIGHTS)
    assert read_weights(tmp_path) == read_weights(tmp_path / FILE, "rich") == RICH_WEIGHTS
    assert read_weights(tmp_path, "paper") == PAPER_WEIGHTS
    newer = replace(RICH_WEIGHTS, intercept=7.0, template="{answer}", number_words=False, fitted_on="größer")
    write_weights(tmp_path, newer)
    assert (read_weights(tmp_path), read_weights(tmp_path, "paper")) == (newer, PAPER_WEIGHTS)


def test_the_digest_follows_what_can_change_a_probability() -> None:
    others = [
        replace(PAPER_WEIGHTS, intercept=0.0),
        replace(PAPER_WEIGHTS, coefficients=(3.0, 2.6)),
        replace(PAPER_WEIGHTS, features=PAPER[::-1]),
        replace(PAPER_WEIGHTS, template="{answer}"),
        replace(PAPER_WEIGHTS, number_words=False),
    ]
    assert len({weights.sha256 for weights in [PAPER_WEIGHTS, *others]}) == 6
    assert replace(PAPER_WEIGHTS, fitted_on="other words", checkpoint="a").sha256 == PAPER_WEIGHTS.sha256


TEXTS = {"template": "{answer}", "fitted_on": "", "checkpoint": ""}
GOOD = {"intercept": 1, "coefficients": {"entailment": 2}, "number_words": True, **TEXTS}
DAMAGED = [
    ("", "expected JSON"),
    (json.dumps({"other": GOOD}), "expected an object with rich or two_features or paper"),
    (json.dumps({"rich": 3}), "rich: expected an object with checkpoint, coefficients, fitted_on, "),
    (json.dumps({"rich": {**GOOD, "coefficients": [1]}}), "rich: expected an object with"),
    (json.dumps({"rich": {**GOOD, "coefficients": {"unknown": 1}}}), "expected distinct features of entailment, "),
    (json.dumps({"rich": {**GOOD, "coefficients": {"entailment": "2"}}}), "a finite number for entailment, got '2'"),
    (json.dumps({"rich": {**GOOD, "intercept": float("nan")}}), "a finite number for intercept, got nan"),
    (json.dumps({"rich": {**GOOD, "intercept": 10**400}}), "a finite number for intercept, got 1000"),
    (json.dumps({"rich": {**GOOD, "checkpoint": 3}}), "expected checkpoint as a string, got 3"),
    ("[" * 100_000, "expected JSON"),
    (json.dumps({"rich": {**GOOD, "template": "{question}"}}), r"expected a string with \{answer\} once"),
    (json.dumps({"paper": GOOD}), "paper: expected other features, got entailment"),
    (json.dumps({"paper": {**GOOD, "coefficients": {"entailment": 1, "lexical_match": 1}}}), "named 'rich', got two_"),
]


@pytest.mark.parametrize(("text", "saying"), DAMAGED)
def test_a_damaged_file_is_refused_with_its_name(tmp_path: Path, text: str, saying: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"weights .*{saying}"):
        read_weights(tmp_path)


def test_weights_of_another_checkpoint_are_refused(tmp_path: Path) -> None:
    write_weights(tmp_path, replace(RICH_WEIGHTS, checkpoint="0123456789abcdef"))
    assert read_weights(tmp_path, checkpoint="0123456789abcdef" + "0" * 48) == read_weights(tmp_path)
    with pytest.raises(ValueError, match="fitted for checkpoint fedcba9876543210, got those of 0123456789abcdef"):
        read_weights(tmp_path, checkpoint="fedcba9876543210" + "0" * 48)
    write_weights(tmp_path, replace(PAPER_WEIGHTS, checkpoint="fedcba9876543210"))
    with pytest.raises(ValueError, match="named 'rich', got paper"):  # those of the other checkpoint did not stay
        read_weights(tmp_path)


def test_weights_of_two_features_of_an_older_file_have_a_new_name(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"paper": {**GOOD, "coefficients": dict.fromkeys(TWO_FEATURES, 1)}}))
    assert read_weights(tmp_path, "two_features").features == TWO_FEATURES
    with pytest.raises(ValueError, match="expected weights named 'paper', got two_features"):
        read_weights(tmp_path, "paper")
