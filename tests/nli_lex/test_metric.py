"""Results of the metric and of its options, what is refused, and answers as chat models wrap them."""

from dataclasses import replace
from pathlib import Path

import evaluate
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import semantic_metrics
from semantic_metrics.nli_lex.features import RICH, extract
from semantic_metrics.nli_lex.lexical import lexical_match
from semantic_metrics.nli_lex.question import extract_question
from semantic_metrics.nli_lex.weights import FILE, write_weights
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import PAPER_WEIGHTS, RICH_WEIGHTS, SCRIPT, listing, nli
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import SIGNS, WORDS

TEXTS = {
    "predictions": ["the dog bites", "a man, not a dog", "it is awake", "no dog barks"],
    "references": ["a dog", "the man", "the cat is awake", "two dogs"],
    "questions": ["who bites the man", "who sleeps", "is the cat awake", "how many dogs bark"],
}
SEVERAL = [["a cat", "the dog"], ["the man"], ["yes", "it is not", "awake"], ["two dogs", "no dog"]]


def test_results(metric: evaluate.Metric) -> None:
    result = metric.compute(**TEXTS)
    names = ["nli_lex", "scores", "correct", "entailment", "lexical_match"]
    counts = ["blank", "windowed", "shortened", "split", "truncated", "unread", "thoughts"]
    assert list(result) == [*names, "signature", *counts]
    assert result["nli_lex"] == np.mean(result["correct"])
    assert [type(result[name][0]) for name in names[1:]] == [float, bool, float, int]
    assert all(len(result[name]) == 4 for name in names[1:])
    assert result["correct"] == [score > 0.5 for score in result["scores"]]
    assert len(set(result["correct"])) == 2, "else the line above says little"
    assert len(set(result["scores"])) == 4
    assert (result["blank"], result["windowed"], result["truncated"]) == (0, 0, 0)


GIVES_AWAY = {
    "predictions": ["no, THE\u00a0DOG bites"],
    "references": ["the dog"],
    "questions": ["is it the dog? who bites?"],
}


@pytest.mark.parametrize("features", ["paper", "two_features"])
def test_two_features_are_the_paper_s_formula(metric: evaluate.Metric, model: Path, features: str) -> None:
    """To the letter: the question whole, the reference as a substring; or as the rich form reads them."""
    texts = {name: [*TEXTS[name], *GIVES_AWAY[name]] for name in TEXTS}
    result, opinion = metric.compute(**texts, features=features), listing(model)
    for i, (answer, reference, question) in enumerate(zip(*texts.values(), strict=True)):
        literal = features == "paper"
        asked = question if literal else extract_question(question, [reference])
        entailment = opinion(f"{asked} {answer}", f"{asked} {reference}")[1]
        match = reference.lower() in answer.lower() if literal else lexical_match(answer, reference)
        assert result["entailment"][i] == pytest.approx(entailment, abs=ROUNDING)
        assert result["lexical_match"][i] == match
        assert result["scores"][i] == pytest.approx(1 / (1 + np.exp(2 - 3 * entailment - 2.5 * match)), abs=ROUNDING)
    assert result["shortened"] == (features == "two_features")
    assert result["lexical_match"][-1] == (features == "two_features")


def test_nli_alone_is_the_entailment_and_needs_no_weights(tmp_path: Path) -> None:
    model = nli(tmp_path / "model")
    (model / FILE).unlink()
    metric, opinion = evaluate.load(SCRIPT, f"{model}/"), listing(model)
    texts = {name: [*TEXTS[name], *GIVES_AWAY[name]] for name in TEXTS}
    result = metric.compute(**texts, features="nli", output="reasons")
    for answer, reference, question, score in zip(*texts.values(), result["scores"], strict=True):
        expected = opinion(f"{question} {answer}", f"{question} {reference}")[1]
        assert score == pytest.approx(expected, abs=ROUNDING)
    assert result["scores"] == result["entailment"]
    assert result["correct"] == [score > 0.5 for score in result["scores"]]
    assert result["reasons"][0] == {"intercept": 0.0, "entailment": result["scores"][0]}
    assert "|features:nli|weights:none|" in result["signature"]
    row = {name.removesuffix("s"): column[0] for name, column in texts.items()}
    for method in ("leave_one_out", "integrated_gradients"):
        explanation = metric.explain(**row, features="nli", method=method)
        assert explanation["score"] == pytest.approx(result["scores"][0], abs=ROUNDING)
    remedies = "no such file; fit weights .* argument `weights`, .* features='nli', which needs none"
    with pytest.raises(ValueError, match=remedies):
        metric.compute(**texts)


def test_the_rich_form_weighs_every_feature(metric: evaluate.Metric) -> None:
    texts = TEXTS["questions"], TEXTS["predictions"], [[text] for text in TEXTS["references"]]
    table = extract(metric.scorer, *texts).table
    odds = RICH_WEIGHTS.intercept + table[:, : len(RICH)] @ RICH_WEIGHTS.coefficients
    assert metric.compute(**TEXTS)["scores"] == pytest.approx((1 / (1 + np.exp(-odds))).tolist(), abs=1e-9)


def test_the_best_of_several_references_counts(metric: evaluate.Metric) -> None:
    several = metric.compute(**{**TEXTS, "references": SEVERAL})
    assert list(several)[-1] == "best_reference"
    for i, group in enumerate(SEVERAL):
        count = len(group)
        texts = {name: TEXTS[name][i : i + 1] * count for name in ("predictions", "questions")}
        each = metric.compute(**texts, references=group)
        best = int(np.argmax(each["scores"]))
        assert several["best_reference"][i] == best
        for name in ("scores", "entailment", "lexical_match", "correct"):
            assert several[name][i] == pytest.approx(each[name][best], abs=1e-6)


def test_blank_answers_are_incorrect(metric: evaluate.Metric) -> None:
    result = metric.compute(
        predictions=["", " \n\t\u200b", "a dog"],
        references=[["a dog", "x"]] * 3,
        questions=["who bites"] * 3,
        output="reasons",
    )
    assert (result["scores"][:2], result["correct"][:2], result["blank"]) == ([0, 0], [False, False], 2)
    assert (result["entailment"][:2], result["lexical_match"][:2]) == ([0, 0], [0, 0])
    assert result["reasons"][:2] == [{}, {}]
    assert result["best_reference"][:2] == [0, 0]
    assert result["scores"][2] > 0


def test_reasons_add_up_to_the_log_odds(metric: evaluate.Metric) -> None:
    result = metric.compute(**TEXTS, output="reasons")
    assert {key: result[key] for key in result if key not in ("reasons", "rules")} == metric.compute(**TEXTS)
    assert result["rules"] == [""] * 4, "where rules decide, the reasons are not the score's"
    for score, reasons in zip(result["scores"], result["reasons"], strict=True):
        assert list(reasons) == ["intercept", *RICH]
        assert sum(reasons.values()) == pytest.approx(np.log(score / (1 - score)))


def test_weights_of_another_file(metric: evaluate.Metric, tmp_path: Path) -> None:
    write_weights(tmp_path, replace(PAPER_WEIGHTS, intercept=40.0))
    for path in (tmp_path, str(tmp_path / FILE)):
        assert metric.compute(**TEXTS, features="paper", weights=path)["nli_lex"] == 1
    with pytest.raises(ValueError, match=r"weights .*: expected weights named 'rich', got paper"):
        metric.compute(**TEXTS, weights=tmp_path)


def test_template_and_number_words_are_the_weights_own_unless_given(metric: evaluate.Metric, tmp_path: Path) -> None:
    write_weights(tmp_path, replace(RICH_WEIGHTS, template="{answer}?", number_words=False))
    texts = {"predictions": ["two dogs"], "references": ["2 dogs"], "questions": ["how many"]}
    own = metric.compute(**texts, weights=tmp_path)
    given = metric.compute(**texts, template="{answer}?", number_words=False)
    assert own == given
    assert own["lexical_match"] == [0]
    assert metric.compute(**texts)["lexical_match"] == [1]
    assert metric.compute(**texts)["entailment"] != own["entailment"]


def test_the_signature_lists_every_setting_that_can_change_a_score(metric: evaluate.Metric) -> None:
    scorer = metric.scorer
    digests = f"checkpoint:{scorer.checkpoint_sha256[:16]}|tokenizer:{scorer.tokenizer_sha256[:16]}"
    assert metric.compute(**TEXTS)["signature"] == (
        f'nli_lex|{digests}|features:rich|weights:{RICH_WEIGHTS.sha256[:16]}|template:"{{question}} {{answer}}"'
        f"|number_words:true|precision:float32|max_length:{tiny.POSITIONS}|version:0.19.0"
    )
    options = {"features": "paper", "template": "{answer}", "number_words": False}
    changed = replace(PAPER_WEIGHTS, template="{answer}", number_words=False)
    assert metric.compute(**TEXTS, **options, precision="int8", max_length=20)["signature"] == (
        f'nli_lex|{digests}|features:paper|weights:{changed.sha256[:16]}|template:"{{answer}}"'
        "|number_words:false|precision:int8|max_length:20|version:0.19.0"
    )


def test_long_answers_and_questions_are_counted(metric: evaluate.Metric) -> None:
    result = metric.compute(
        predictions=["the dog bites a man " * 20, "the dog", "a dog"],
        references=[["a dog", "a cat"], ["the dog"], ["the man sleeps " * 20]],
        questions=["who", "is the dog awake or " * 9, "who"],
    )
    assert (result["windowed"], result["split"], result["truncated"]) == (2, 1, 1)


ONE = {"predictions": ["a"], "references": ["a"], "questions": ["a"]}
INVALID = [  # the checks that all metrics share are tested in tests/core
    ({"predictions": ["a"], "references": ["a"]}, "questions: expected a list of strings, got NoneType"),
    ({**ONE, "references": [""]}, r"references\[0\]: expected a text, got ''"),
    ({**ONE, "references": [["a", " \n"]]}, r"references\[0\]\[1\]: expected a text, got ' \\n'"),
    ({**ONE, "references": ["\u200b\ufeff\x00"]}, r"references\[0\]: expected a text, got '.u200b"),
    ({**ONE, "template": "{answer}\ud800"}, r"template: expected valid Unicode, got a lone surrogate"),
    ({**ONE, "features": "all"}, "features: expected one of 'rich', 'two_features', 'paper', 'nli', got str 'all'"),
    ({**ONE, "weights": 3}, "weights: expected a file's name or None, got 3"),
    ({**ONE, "features": "nli", "weights": "a"}, "weights: expected None with features='nli', which has no weights"),
    ({**ONE, "weights": "nowhere"}, "weights nowhere: no such file"),
    ({**ONE, "number_words": "no"}, "number_words: expected one of None, False, True"),
    ({**ONE, "max_length": tiny.POSITIONS + 1}, f"max_length: .* from 4 to {tiny.POSITIONS}"),
]
NO_ROOM = {**ONE, "predictions": ["b " * 40], "max_length": 5}


def test_invalid_arguments_are_refused_before_the_model_runs(metric: evaluate.Metric) -> None:
    metric.add_batch(**TEXTS)
    runs = []
    hook = metric.scorer.model().register_forward_pre_hook(lambda *_: runs.append(1))
    for arguments, saying in INVALID:
        with pytest.raises(ValueError, match=saying):
            metric.compute(**arguments)
    with pytest.raises(ValueError, match=r"questions\[0\]: expected a string, got NoneType"):
        metric.add(prediction="a", reference="a")
    assert len(metric) == len(TEXTS["predictions"]), "what was added before must stay"
    metric.compute(**TEXTS)
    runs.clear()
    with pytest.raises(ValueError, match=r"references\[0\]: expected a text that leaves the answer 8"):
        metric.compute(**NO_ROOM)
    hook.remove()
    assert not runs


unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
sentences = st.lists(st.sampled_from([*WORDS, *SIGNS, "two", "1,000", "☃", "שלום"]), max_size=45).map(" ".join)
texts = st.one_of(unicode, sentences)
short = st.lists(st.sampled_from([*WORDS, *SIGNS, "2"]), min_size=1, max_size=6).map(" ".join)
rows = st.lists(st.tuples(texts, st.lists(short, min_size=1, max_size=3), texts), min_size=1, max_size=6)
EXAMPLES = 10  # each runs a model many times
NAMES = ("predictions", "references", "questions")


@pytest.fixture(scope="module")
def one_metric(model: Path) -> evaluate.Metric:
    """One metric for all examples: what is left over from one would show in the next."""
    return evaluate.load(SCRIPT, str(model), keep_in_memory=True)


def judged(metric: evaluate.Metric, chosen: list[tuple], **options: object) -> list[float]:
    columns = dict(zip(NAMES, map(list, zip(*chosen, strict=True)), strict=True))
    return metric.compute(**columns, **options)["scores"]


@settings(max_examples=EXAMPLES)
@given(rows, st.randoms(use_true_random=False))
def test_one_more_reference_in_any_order_never_lowers_a_score(
    one_metric: evaluate.Metric, batch: list, random: object
) -> None:
    result = judged(one_metric, batch)
    shuffled = [(answer, random.sample(group, len(group)), question) for answer, group, question in batch]
    assert judged(one_metric, shuffled) == result
    fewer = judged(one_metric, [(answer, group[:1], question) for answer, group, question in batch])
    assert all(few <= all_of_them + 1e-6 for few, all_of_them in zip(fewer, result, strict=True))


CHATS = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("given", "right"), [("right", True), ("wrong", False)])
def test_what_stands_around_an_answer_decides_nothing(given: str, right: bool) -> None:
    rows = [(question, reference, yes if right else no) for question, reference, yes, no in CHATS["questions"]]
    columns = {
        "questions": [question for question, _, _ in rows for _ in CHATS["wrappings"]],
        "references": [reference for _, reference, _ in rows for _ in CHATS["wrappings"]],
        "predictions": [wrapping.format(answer) for _, _, answer in rows for wrapping in CHATS["wrappings"]],
    }
    result = semantic_metrics.load("nli_lex").compute(**columns)
    others = [
        f"{said!r}: {score:.2f}"
        for said, score, correct in zip(columns["predictions"], result["scores"], result["correct"], strict=True)
        if bool(correct) is not right
    ]
    assert not others
