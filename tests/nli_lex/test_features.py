"""The table of features: the model's opinions are those of plain transformers, one pair at a time."""

from pathlib import Path

import numpy as np
import pytest

from semantic_metrics.nli_lex.features import COLUMNS, LEXICAL, RICH, TWO_FEATURES, extract, load_scorer
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import LABELS, listing, named, nli

QUESTIONS = ["who bites the man", "is the cat awake", "", "who runs"]
ANSWERS = ["the dog", "no", "a man sleeps", "not a dog"]
REFERENCES = [["a dog", "the cat"], ["it is not"], ["the man is asleep", "a", "a man"], ["the man runs"]]
ROUNDING = 1e-5


def column(table: np.ndarray, name: str) -> list[float]:
    return table[:, RICH.index(name)].tolist()


@pytest.mark.parametrize(
    "labels", [LABELS, ("entailment", "neutral", "contradiction"), ("Neutral", "CONTRADICTION", "Entailment")]
)
def test_probabilities_are_those_of_one_pair_at_a_time(tmp_path: Path, labels: tuple[str, ...]) -> None:
    """The answer is the premise; labels may have any order."""
    folder = nli(tmp_path / "model", labels)
    features, opinion = extract(load_scorer(str(folder)), QUESTIONS, ANSWERS, REFERENCES), listing(folder)
    lower = [label.lower() for label in labels]
    expected = []
    for question, answer, group in zip(QUESTIONS, ANSWERS, REFERENCES, strict=True):
        for reference in group:
            premise, hypothesis = f"{question} {answer}".strip(), f"{question} {reference}".strip()
            there, back = opinion(premise, hypothesis), opinion(hypothesis, premise)
            named = dict(zip(lower, there, strict=True))
            expected.append([named["entailment"], back[lower.index("entailment")], named["contradiction"]])
    np.testing.assert_allclose(features.table[:, :3], expected, atol=ROUNDING)
    assert features.answer_index.tolist() == [0, 0, 1, 2, 2, 2, 3]
    assert (features.table.dtype, features.table.shape) == (np.float64, (7, len(COLUMNS)))
    assert (features.truncated, features.windowed, features.blank.tolist()) == (0, 0, [False] * 4)


def test_a_head_of_two_labels_gives_no_contradiction(tmp_path: Path) -> None:
    folder = nli(tmp_path / "model", ("not_entailment", "entailment"))
    table, opinion = extract(load_scorer(str(folder)), ["who"], ["the dog"], [["a cat"]]).table, listing(folder)
    assert column(table, "entailment") == pytest.approx([opinion("who the dog", "who a cat")[1]], abs=ROUNDING)
    assert column(table, "contradiction") == [0]


def test_the_template_and_number_words_count(model: Path) -> None:
    scorer, texts = load_scorer(str(model)), (["who"], ["two dogs"], [["2"]])
    plain = extract(scorer, *texts, template="{answer}", number_words=False).table
    assert column(plain, "entailment") == pytest.approx([listing(model)("two dogs", "2")[1]], abs=ROUNDING)
    assert column(plain, "lexical_match") == [0]
    assert column(extract(scorer, *texts).table, "lexical_match") == [1]


def _passes(model: Path, answers: list[str], references: list, features: tuple[str, ...]) -> int:
    scorer, rows = load_scorer(str(model)), []
    scorer.model().register_forward_pre_hook(
        lambda _, args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    extract(scorer, ["who"] * len(answers), answers, references, features=features)
    return sum(rows)


def test_nothing_is_read_twice_or_needlessly(model: Path) -> None:
    answers, references = ["the dog", "a cat"] * 20, [["a dog", "no"]] * 40
    assert _passes(model, answers, references, RICH) == 8
    assert _passes(model, answers, references, TWO_FEATURES) == 4
    assert _passes(model, answers, references, tuple(LEXICAL)) == 0
    assert _passes(model, ["", " \n"], [["a dog"]] * 2, RICH) == 0


def test_a_blank_answer_has_no_probabilities(model: Path) -> None:
    features = extract(load_scorer(str(model)), ["who", "who"], [" \n", "the dog"], [["a dog", "cat"], ["a dog"]])
    assert features.blank.tolist() == [True, False]
    assert not features.table[:2, :3].any()
    assert features.table[2, :3].all()


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1", "LABEL_2"], ["not_entailment", "other"], ["entailment"]])
def test_a_checkpoint_without_entailment_is_refused_with_its_labels(tmp_path: Path, labels: list[str]) -> None:
    folder = tiny.bert(tmp_path / "model", named(tuple(labels)), labels=len(labels))
    with pytest.raises(ValueError, match=f"checkpoint .*model: expected labels for NLI.*, got {', '.join(labels)}"):
        load_scorer(str(folder))
