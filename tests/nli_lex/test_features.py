"""The table of features, those of plain transformers, in windows of long answers; and weights, which judge by it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from semantic_metrics.nli_lex.features import (
    COLUMNS,
    CONTEXTUAL,
    PAPER,
    RICH,
    TEMPLATE,
    TWO_FEATURES,
    Features,
    extract,
    load_scorer,
)
from semantic_metrics.nli_lex.weights import (
    FILE,
    Weights,
    contributions,
    judge,
    probability,
    read_weights,
    write_weights,
)
from semantic_metrics.nli_lex.windows import Windows, check_template, fill
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import LABELS, PAPER_WEIGHTS, RICH_WEIGHTS, listing, nli
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import WORDS

QUESTIONS = ["who bites the man", "is the cat awake", "", "who runs"]
ANSWERS = ["the dog", "no", "a man sleeps", "not a dog"]
REFERENCES = [["a dog", "the cat"], ["it is not"], ["the man is asleep", "a", "a man"], ["the man runs"]]


def column(table: np.ndarray, name: str) -> list[float]:
    return table[:, COLUMNS.index(name)].tolist()


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
    assert _passes(model, answers, references, tuple(CONTEXTUAL)) == 0
    assert _passes(model, ["", " \n"], [["a dog"]] * 2, RICH) == 0


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1", "LABEL_2"], ["not_entailment", "other"], ["entailment"]])
def test_a_checkpoint_without_entailment_is_refused_with_its_labels(tmp_path: Path, labels: list[str]) -> None:
    folder = tiny.bert(tmp_path / "model", tiny.named(tuple(labels)), labels=len(labels))
    with pytest.raises(ValueError, match=f"checkpoint .*model: expected labels for NLI.*, got {', '.join(labels)}"):
        load_scorer(str(folder))


ROOM = tiny.POSITIONS - 3  # three separators
EXAMPLES = 30


@pytest.fixture(scope="module")
def windows(model: Path) -> Windows:
    return Windows(load_scorer(str(model)), TEMPLATE, None)


def words(longest: int, least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(WORDS), min_size=least, max_size=longest)


@settings(max_examples=EXAMPLES)
@given(words(25), words(150, 1), words(12, 1))
def test_windows_hold_answer_and_reference(windows: Windows, question: list, answer: list, reference: list) -> None:
    numbered = [f"{i // 26 % 10} {chr(97 + i % 26)} {word}" for i, word in enumerate(answer)]  # no two are alike
    (reading,) = windows.read(" ".join(question), " ".join(numbered), " ".join(reference))
    assert reading.hypothesis.text.split()[-len(reference) :] == reference
    kept = reading.hypothesis.text.split()[: -len(reference)]
    assert kept == question[: len(kept)]
    assert reading.cut == (kept != question)
    assert all(len(premise.text.split()) + len(reading.hypothesis.text.split()) <= ROOM for premise in reading.premises)
    parts = [premise.text.split()[len(kept) :] for premise in reading.premises]
    whole, covered = " ".join(numbered).split(), 0
    for part in parts:
        begin = next(i for i in range(covered + 1) if whole[i : i + len(part)] == part)
        assert begin <= covered < begin + len(part), "a window begins where the last one ends, or before"
        covered = begin + len(part)
    assert covered == len(whole)
    fits = len(question) * 2 + len(whole) + len(reference) <= ROOM
    assert (len(parts) == 1 and not reading.cut) or not fits


def test_a_reference_that_the_tokeniser_reads_nothing_of_has_one_reading(windows: Windows) -> None:
    (reading,) = windows.read("", "a cat " * 90, "\x00")
    assert (reading.hypothesis.text, len(reading.premises) > 2) == ("\x00", True)


def test_a_word_without_spaces_is_cut_inside(windows: Windows) -> None:
    (reading,) = windows.read("", "x" * 90, "a cat")
    assert len(reading.premises) > 2
    assert all(set(premise.text) == {"x"} and 0 < len(premise.text) <= ROOM - 2 for premise in reading.premises)


def test_the_window_that_entails_most_counts(model: Path) -> None:
    scorer, opinion = load_scorer(str(model)), listing(model)
    answer, question, reference = " ".join(WORDS * 8), "is the dog awake", "the dog sleeps"
    (reading,) = Windows(scorer, TEMPLATE, None).read(question, answer, reference)
    each = [opinion(premise.text, reading.hypothesis.text) for premise in reading.premises]
    best = max(range(len(each)), key=lambda i: each[i][1])
    back = opinion(reading.hypothesis.text, reading.premises[best].text)
    features = extract(scorer, [question], [answer], [[reference]])
    assert features.table[0, :3] == pytest.approx([each[best][1], back[1], each[best][0]], abs=1e-5)
    assert (features.windowed, features.truncated) == (1, 0)
    assert features.table[0, RICH.index("new_token_recall")] == 1, "words are counted in the whole answer"


def test_a_reference_that_leaves_no_room_is_read_in_parts(model: Path) -> None:
    """Each with its best window; the probabilities are the means over the parts."""
    scorer, opinion, long = load_scorer(str(model)), listing(model), " ".join(WORDS * 3)
    readings = Windows(scorer, TEMPLATE, None).read("the", "a dog " * 9, long)
    assert len(readings) == 4
    assert " ".join(reading.hypothesis.text.removeprefix("the ") for reading in readings) == long
    expected = []
    for reading in readings:
        there = max((opinion(part.text, reading.hypothesis.text) for part in reading.premises), key=lambda p: p[1])
        expected.append([there[1], there[0]])
    features = extract(scorer, ["the"] * 2, ["a dog " * 9] * 2, [["a cat"], [long]])
    assert features.table[1, [0, 2]] == pytest.approx(np.mean(expected, axis=0), abs=1e-5)
    assert (features.split, features.table[1, RICH.index("new_token_recall")]) == (1, 1 / 12), "words of all parts"
    whole = extract(scorer, [""], ["a"], [[" ".join(WORDS * 2)]])
    assert (whole.truncated, whole.split) == (0, 0)


@pytest.mark.parametrize("template", ["{answer}", "Q: {question}\nA: {answer}", "{{{question}}} {answer}"])
def test_templates(template: str) -> None:
    expected = template.replace("{{{", "{{0}").replace("}}}", "}").replace("{{0}", "{")
    shown = fill(check_template(template), " {answer} why? ", " {question} \n").text
    assert "{question}" in shown
    assert shown.count("why?") == expected.count("question")


INVALID = ["", "{question}", "{answer} {answer}", "{question} {question} {answer}", "{} {answer}", "{answer!r}"]
INVALID += ["{answer", "{answer:>9}", "{answer.__class__}", "{answer} {other}"]


@pytest.mark.parametrize("template", [*INVALID, None, 3, b"{answer}"])
def test_an_invalid_template_is_refused(template: object) -> None:
    with pytest.raises(ValueError, match=r"template: expected a string with \{answer\} once"):
        check_template(template)


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
    older = Weights(tuple(name for name in RICH if name != "number_conflict"), -1.0, (1.0,) * (len(RICH) - 1))
    write_weights(tmp_path, older)
    assert read_weights(tmp_path) == older
    assert older.form == "rich"
    table = np.zeros((2, len(COLUMNS)))
    table[1, COLUMNS.index("number_conflict")] = 1
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
