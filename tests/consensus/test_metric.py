"""Results of the metric: parts of the models alone, their mean as the score, verdicts, weights that are fitted."""

import json
import re
from dataclasses import replace
from pathlib import Path

import evaluate
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_metrics import load
from semantic_metrics.consensus.parts import Parts
from semantic_metrics.consensus.verdict import CONTRADICTS, EMPTY, VERDICTS, verdict
from semantic_metrics.consensus.verdict import SAME as IS_SAME
from semantic_metrics.consensus.weights import DEFAULT, SURE_LIMIT, Weights, limit
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.quantities.rules import CONFLICT, DIFFERENT, NO_ANSWER, NOTHING, OPEN, SAME, UNREAD, Ruling
from semantic_metrics.transformer.drifts import Drift, processor, write_drifts
from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.nli_lex.conftest import listing
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import PREDICTIONS, REFERENCES, SEVERAL

SCRIPT = str(ROOT / "metrics" / "consensus")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.both_heads(tmp_path_factory.mktemp("consensus") / "model")


@pytest.fixture
def metric(model: Path) -> evaluate.Metric:
    return evaluate.load(SCRIPT, str(model))


def test_results(metric: evaluate.Metric) -> None:
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    keys = ["consensus", "scores", "parts", "verdicts", "reasons", "signature", "undefined", "truncated"]
    assert list(result) == [*keys, "unread", "thoughts"]
    assert result["consensus"] == np.mean(result["scores"])
    assert all(0 <= score <= 1 for score in result["scores"])
    assert set(result["verdicts"]) <= set(VERDICTS) - {EMPTY}
    assert all(len(result[name]) == len(PREDICTIONS) for name in ("scores", "verdicts", "reasons"))
    assert (result["undefined"], result["truncated"]) == (0, 0)
    mean = metric.compute(predictions=PREDICTIONS, references=REFERENCES, output="mean")
    assert mean == {"consensus": result["consensus"]}


def test_the_parts_are_those_of_the_models_alone(metric: evaluate.Metric, model: Path) -> None:
    parts = metric.compute(predictions=PREDICTIONS, references=REFERENCES)["parts"]
    cosines = load("matcha").compute(predictions=PREDICTIONS, references=REFERENCES)["scores"]
    assert parts["matcha"] == cosines
    options = {"symmetric": True, "clip": True}
    ratings = load("stsscore", f"{model}/").compute(predictions=PREDICTIONS, references=REFERENCES, **options)
    assert parts["similarity"] == pytest.approx(ratings["scores"], abs=ROUNDING)
    nli = [label for label in tiny.LABELS if label != "similarity"]
    alone = tiny.both_heads(model.parent / "alone", tiny.LABELS)
    for name, directions in (("entailment", 1), ("contradiction", 2)):
        expected = []
        for pair in zip(REFERENCES, PREDICTIONS, strict=True):
            both = [
                dict(zip(tiny.LABELS, np.log(listing(alone)(*texts)), strict=True))
                for texts in (pair, pair[::-1])[:directions]
            ]
            chances = [np.exp(one[name]) / sum(np.exp(one[label]) for label in nli) for one in both]
            expected.append(np.mean(chances))
        assert parts[name] == pytest.approx(expected, abs=ROUNDING)


def test_precision_and_backend_reach_a_contextual_matcha(model: Path, contextual: Path) -> None:
    texts = {"predictions": PREDICTIONS, "references": REFERENCES}
    metric, matcha = load("consensus", f"{model}+{contextual}"), load("matcha", f"{contextual}/")
    default, result = metric.compute(**texts), metric.compute(**texts, precision="int8")
    assert default["parts"]["matcha"] == pytest.approx(matcha.compute(**texts)["scores"], abs=ROUNDING)
    expected = matcha.compute(**texts, precision="int8")["scores"]
    assert result["parts"]["matcha"] == pytest.approx(expected, abs=ROUNDING)
    assert result["parts"]["matcha"] != pytest.approx(default["parts"]["matcha"], abs=ROUNDING)
    assert "|matcha_precision:int8|" in result["signature"]
    assert "|matcha_backend:openvino|" in metric.signature(backend="openvino")
    assert "matcha_" not in default["signature"]
    assert metric.models.matcha_run(RunOptions(device="cpu")).device == "cpu"


def test_auto_goes_by_the_drifts_of_each_checkpoint(model: Path, contextual: Path) -> None:
    matcha = load_checkpoint(f"{contextual}/")
    drift = Drift("matcha", "torch", "bfloat16", processor(), drift=0.001, neighbours=0.0, speed=20.0)
    write_drifts(contextual, matcha.checkpoint_sha256, [drift], "texts")
    signature = load("consensus", f"{model}+{contextual}").signature(precision="auto")
    assert "|precision:float32|" in signature
    assert "|matcha_precision:bfloat16|" in signature


def test_a_text_says_the_same_as_itself(metric: evaluate.Metric) -> None:
    texts = ["The museum bought a pearl.", "No cat\nsleeps here.", "Ja.", "\U0001f99c"]  # MATCHA knows no parrot
    result = metric.compute(predictions=texts, references=[" ".join(text.split()) + " " for text in texts])
    assert result["verdicts"] == ["same"] * 4
    for part in ("matcha", "similarity", "entailment"):
        assert result["parts"][part] == pytest.approx([1.0] * 4, abs=1e-12)
    assert result["parts"]["contradiction"] == [0.0] * 4
    assert min(result["scores"]) == pytest.approx(1, abs=1e-6)


def test_what_is_not_read_is_never_the_same(metric: evaluate.Metric) -> None:
    texts = {"predictions": ["\u4e00", "\u4e00", "the dog"], "references": ["\u4e8c", "\u4e00", "a dog"]}
    with pytest.warns(UserWarning, match="1 pair differs in characters"):
        result = metric.compute(**texts)
    assert result["verdicts"][:2] == ["unread", "same"]
    assert result["scores"][0] < 0.5
    assert result["scores"][1] == 1
    assert result["unread"] == 1


def test_manners_of_chat_models(metric: evaluate.Metric) -> None:
    answers = ["<think>a cat</think>the dog bites", "I don't know.", "Not stated.", "<think>the dog"]
    result = metric.compute(predictions=answers, references=["The dog bites.", "a dog", "N/A", "a dog"])
    assert result["verdicts"] == ["same", "no answer", "same", EMPTY]
    assert result["thoughts"] == 2


def test_the_same_number_in_another_writing_is_the_same(metric: evaluate.Metric) -> None:
    texts = ["Two cats sleep here.", "In 1945 a cat came.", "It is 5% more."]
    others = ["2 cats sleep here.", "In nineteen forty-five a cat came.", "It is five percent more."]
    result = metric.compute(predictions=texts + others, references=others + texts)
    assert result["verdicts"] == ["same"] * 6
    assert min(result["scores"]) == pytest.approx(1, abs=1e-6)


def test_texts_that_differ_in_numbers_alone_contradict(metric: evaluate.Metric) -> None:
    texts = ["38 cats sleep here.", "Three cats sleep, at least 38."]
    result = metric.compute(
        predictions=texts, references=["Thirty-seven cats sleep here", "Three cats sleep, at least 37"]
    )
    assert (result["parts"]["contradiction"][0], result["parts"]["entailment"][0]) == (1.0, 0.0)
    assert result["scores"][0] <= SURE_LIMIT + 1e-9
    assert 0 < result["parts"]["contradiction"][1] < 1, "one may be true beside the other, so the model judges"


def test_the_score_is_the_weighted_mean_of_the_judgements_within_its_bounds(metric: evaluate.Metric) -> None:
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    parts = {name: np.array(values) for name, values in result["parts"].items()}
    judgements = {
        "matcha": (parts["matcha"] + 1) / 2,
        "similarity": parts["similarity"],
        "nli": (parts["entailment"] - parts["contradiction"] + 1) / 2,
    }
    back = metric.compute(predictions=REFERENCES, references=PREDICTIONS)["parts"]["entailment"]
    bounds = np.minimum(parts["entailment"], back), limit(parts["contradiction"])
    mean = np.average(list(judgements.values()), axis=0, weights=[0.25, 1, 1])
    assert result["scores"] == pytest.approx(np.clip(mean, *bounds))
    for name, values in judgements.items():
        weights = {other: float(other == name) for other in judgements}
        weighted = metric.compute(predictions=PREDICTIONS, references=REFERENCES, weights=weights)
        assert weighted["scores"] == pytest.approx(np.clip(values, *bounds))
        assert weighted["signature"] != result["signature"]


def test_the_best_reference_gives_parts_and_verdict(metric: evaluate.Metric) -> None:
    result = metric.compute(predictions=PREDICTIONS, references=SEVERAL)
    mean = metric.compute(predictions=PREDICTIONS, references=SEVERAL, multi_reference="mean")
    for i, (prediction, group) in enumerate(zip(PREDICTIONS, SEVERAL, strict=True)):
        alone = metric.compute(predictions=[prediction] * len(group), references=group)
        best = int(np.argmax(alone["scores"]))
        assert result["best_reference"][i] == best
        assert result["scores"][i] == pytest.approx(alone["scores"][best], abs=ROUNDING)
        assert mean["scores"][i] == pytest.approx(np.mean(alone["scores"]), abs=ROUNDING)
        assert result["verdicts"][i] == mean["verdicts"][i] == alone["verdicts"][best]
        assert result["parts"]["matcha"][i] == alone["parts"]["matcha"][best]


@pytest.mark.parametrize("blank", ["", " \n\t", "\u3000", "\u200b", "\ufeff\0", "...", "?!"])
def test_a_blank_text_scores_0_and_is_counted(metric: evaluate.Metric, blank: str) -> None:
    result = metric.compute(predictions=[blank, "a dog", "a dog"], references=[["a dog"], [blank], [blank, "a dog"]])
    assert result["scores"][:2] == [0, 0]
    assert result["verdicts"][:2] == [EMPTY, EMPTY]
    assert (result["undefined"], result["best_reference"][2]) == (2, 1)
    assert result["scores"][2] > 0
    wrapped = metric.compute(predictions=["<answer>...</answer>"], references=["the dog"])
    assert (wrapped["verdicts"], wrapped["scores"]) == ([EMPTY], [0.0])


def test_thoughts_of_contradictions_are_left_out_too(metric: evaluate.Metric) -> None:
    texts = {"predictions": ["the dog bites"], "references": ["a dog bites"]}
    result = metric.compute(**texts, contradictions=["<think>the cat?</think>no dog bites"])
    alone = metric.compute(**texts, contradictions=["no dog bites"])
    assert (result["margins"], result["thoughts"]) == (alone["margins"], 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contradictions": ["a"]}, "contradictions: expected 4 items"),
        ({"weights": {"matcha": 1.0}}, "weights: expected a number for each of matcha, similarity, nli"),
        ({"weights": {"matcha": 0, "similarity": 0, "nli": 0}}, "weights: expected a weight above 0"),
        ({"weights": {"matcha": 1, "similarity": -1, "nli": 0}}, "weights: expected a number from 0 for similarity"),
        ({"weights": "no such file.json"}, r"weights: expected a JSON file, got 'no such file\.json'"),
    ],
)
def test_a_bad_option_is_named(metric: evaluate.Metric, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric.compute(predictions=PREDICTIONS, references=REFERENCES, **options)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("entailment", "neutral", "contradiction"), "expected one label, a rating, or one named 'similarity'"),
        (("yes", "no", "similarity"), "expected labels for NLI"),
        (("entailment", "similarity"), "expected labels for NLI"),
    ],
)
def test_a_checkpoint_without_both_heads_is_refused(labels: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate.load(SCRIPT, str(tiny.both_heads(tmp_path / "other", labels)))


PREDICTION, REFERENCE = "the dog barks", "a dog sleeps"


def test_a_token_contributes_what_the_score_loses_without_it(metric: evaluate.Metric) -> None:
    explanation = metric.explain(PREDICTION, REFERENCE)
    score = metric.compute(predictions=[PREDICTION], references=[REFERENCE])["scores"][0]
    assert explanation["score"] == pytest.approx(score, abs=1e-6)
    without = metric.compute(predictions=["the barks"], references=[REFERENCE])["scores"][0]
    assert explanation["prediction"]["tokens"] == ["the", "dog", "barks"]
    assert explanation["prediction"]["contributions"][1] == pytest.approx(score - without, abs=1e-5)


def test_only_a_number_that_differs_takes_the_contradiction_of_numbers_with_it(metric: evaluate.Metric) -> None:
    prediction, reference = "4 dog barks", "5 dog barks"
    explanation = metric.explain(prediction, reference)
    differ = Ruling(DIFFERENT, "another number")
    rulings = [differ, OPEN, differ]
    parts = metric.models.parts([prediction, "dog barks", "4 dog"], [reference] * 3, rulings=rulings)
    whole, without_number, without_verb = DEFAULT.score(parts)
    assert explanation["score"] == pytest.approx(whole)
    contributions = explanation["prediction"]["contributions"]
    assert contributions[0] == pytest.approx(whole - without_number, abs=1e-5)
    assert contributions[-1] == pytest.approx(whole - without_verb, abs=1e-5)
    assert explanation["rule"] == metric.compute(predictions=[prediction], references=[reference])["reasons"][0]
    assert not metric.explain(PREDICTION, REFERENCE)["rule"]


def test_it_runs_as_compute_does(model: Path, contextual: Path) -> None:
    metric = load("consensus", f"{model}+{contextual}")
    run = {"precision": "int8", "workers": 2}
    explanation = metric.explain(PREDICTION, REFERENCE, **run)
    score = metric.compute(predictions=[PREDICTION], references=[REFERENCE], **run)["scores"][0]
    assert explanation["score"] == pytest.approx(score, abs=1e-3)
    assert explanation != metric.explain(PREDICTION, REFERENCE)


def test_it_is_explained_as_compute_reads_it(metric: evaluate.Metric) -> None:
    for prediction in ("<think>the man sleeps</think>the dog barks", "**`a dog sleeps`**", "\u732b \u72ac", "\u2705"):
        (score,) = metric.compute(predictions=[prediction], references=[REFERENCE])["scores"]
        assert metric.explain(prediction, REFERENCE)["score"] == pytest.approx(score, abs=1e-6), prediction


def parts(supported: float, covered: float, contradiction: float, similarity: float) -> Parts:
    one = (np.array([value]) for value in (0.0, similarity, supported, covered, contradiction))
    return Parts(*one, truncated=np.array([False]))


@pytest.mark.parametrize(
    ("values", "word", "reason"),
    [
        ((0.9, 0.9, 0.6, 0.9), "contradicts", r"contradict each other \(probability 0\.60\)"),
        ((0.9, 0.8, 0.1, 0.9), "same", r"Each text entails the other \(0\.90 .* 0\.80 back"),
        ((0.9, 0.1, 0.1, 0.9), "says less", "leaves something out"),
        ((0.1, 0.9, 0.1, 0.9), "says more", "adds something"),
        ((0.1, 0.1, 0.9, 0.1), "unrelated", r"little in common \(similarity 0\.10\)"),
        ((0.1, 0.1, 0.1, 0.6), "differs", "Neither text entails the other"),
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


SHARE = st.floats(0, 1)


@given(st.floats(-1, 1), SHARE, st.lists(SHARE, min_size=4, max_size=4), st.sampled_from([DEFAULT, Weights(1, 0, 0)]))
def test_verdict_and_score_say_the_same(matcha: float, similarity: float, shares: list[float], w: Weights) -> None:
    supported, covered = shares[:2]
    contradiction = ((1 - supported) * shares[2] + (1 - covered) * shares[3]) / 2
    values = (matcha, similarity, supported, covered, contradiction)
    one = Parts(*(np.array([value]) for value in values), truncated=np.array([False]))
    word, score = verdict(one, 0)[0], float(w.score(one)[0])
    assert word != CONTRADICTS or score < 0.5
    assert word != IS_SAME or score >= 0.5


def test_another_quantity_among_other_words_makes_a_contradiction_likely(metric: evaluate.Metric) -> None:
    texts = ["The cat came at 13:00.", "The cat came home at 3 pm."]
    result = metric.compute(predictions=texts, references=["The cat was seen at 3 pm."] * 2)
    assert result["parts"]["contradiction"][0] >= 0.5
    assert result["parts"]["entailment"][0] <= 0.5
    ruled = replace(parts(0.2, 0.2, 0.6, 0.9), rulings=np.array([Ruling(CONFLICT, "'13:00' is not '3 pm'")], object))
    assert verdict(ruled, 0)[1].endswith("(probability 0.60): '13:00' is not '3 pm'.")


def drawn(count: int, seed: int = 0) -> Parts:
    values = np.random.default_rng(seed).random((5, count))
    return Parts(values[0] * 2 - 1, *values[1:], truncated=np.zeros(count, dtype=bool))


def test_a_fit_needs_ratings() -> None:
    with pytest.raises(ValueError, match="ratings: expected 10 or more, got 9"):
        Weights.fit(drawn(9), np.ones(9))
    with pytest.raises(ValueError, match="ratings: expected some that rise with a part"):
        Weights.fit(drawn(20), np.zeros(20))


def test_a_file_is_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"weights": {"matcha": 1, "similarity": 2, "nli": 0.5}, "rated": 40}))
    assert Weights.read(str(path)) == Weights(1, 2, 0.5)
    path.write_text(json.dumps({"matcha": 1, "similarity": 2, "nli": 0.5}))
    assert Weights.read(path, "a" * 64) == Weights(1, 2, 0.5)
    path.write_text("{")
    with pytest.raises(ValueError, match="weights: expected a JSON file"):
        Weights.read(path)
    path.write_text("[1, 2]")
    with pytest.raises(ValueError, match="weights: expected a number for each of"):
        Weights.read(path)
