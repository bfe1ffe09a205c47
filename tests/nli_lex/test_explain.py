"""Token contributions to a judgement: against the metric itself, against plain transformers, and on odd texts."""

from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from semantic_metrics.nli_lex.attribution import MAX_PIECES, MAX_TOKENS
from semantic_metrics.nli_lex.weights import read_weights, write_weights
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import LABELS, RICH_WEIGHTS, SCRIPT, nli
from tests.stsscore.test_explain import METHODS, without
from tests.stsscore.test_metric import ROUNDING

SIDES = ("prediction", "reference", "question")
ROW = {"prediction": "the dog bites a man", "reference": "the dog", "question": "is the man awake?"}
CUT = 1e-3


def scores(metric: evaluate.Metric, rows: list[dict[str, str]], **options: object) -> list[float]:
    columns = {f"{side}s": [row[side] for row in rows] for side in SIDES}
    return metric.compute(**columns, **options)["scores"]


@pytest.mark.parametrize("features", ["rich", "paper"])
def test_a_contribution_is_the_judgement_minus_that_without_the_token(metric: evaluate.Metric, features: str) -> None:
    result = metric.explain(**ROW, features=features)
    assert list(result) == ["score", "method", *SIDES]
    assert result["score"] == pytest.approx(scores(metric, [ROW], features=features)[0], abs=ROUNDING)
    for side in SIDES:
        part = result[side]
        assert part["tokens"] == [ROW[side][begin:end] for begin, end in part["spans"]]
        rest = scores(metric, [{**ROW, side: without(ROW[side], span)} for span in part["spans"]], features=features)
        assert part["contributions"] == pytest.approx([result["score"] - one for one in rest], abs=2 * ROUNDING)
        assert part["total"] == pytest.approx(sum(part["contributions"]))


def test_leaving_tokens_out_runs_as_compute_does(metric: evaluate.Metric) -> None:
    run = {"precision": "int8", "workers": 2}
    result = metric.explain(**ROW, **run)
    assert result != metric.explain(**ROW)
    assert result["score"] == pytest.approx(scores(metric, [ROW], **run)[0], abs=1e-3)
    for name, value in (("precision", "int8"), ("backend", "openvino")):
        with pytest.raises(ValueError, match=f"^{name}: expected .* for the gradients of method .*, got '{value}'"):
            metric.explain(**ROW, method="integrated_gradients", **{name: value})


@pytest.mark.parametrize("features", ["rich", "paper"])
def test_integrated_gradients_sum_to_the_change_of_the_score(metric: evaluate.Metric, features: str) -> None:
    result = metric.explain(**ROW, method="integrated_gradients", features=features)
    assert result["score"] == pytest.approx(scores(metric, [ROW], features=features)[0], abs=ROUNDING)
    for side in SIDES:
        part = result[side]
        assert part["error"] == pytest.approx(part["total"] - result["score"] + part["baseline_score"], abs=1e-12)
        assert abs(part["error"]) < CUT
        assert any(part["contributions"])


@pytest.mark.parametrize(
    "template", ["{question} {answer}", "{answer} is what {question} asks.", "  It: {answer} ({question})  "]
)
def test_the_baseline_is_the_model_on_padding(tmp_path: Path, template: str) -> None:
    """The paper's two features: the probability of entailment is all that the model adds."""
    folder = nli(tmp_path / "model")
    weights = read_weights(folder, "paper")
    write_weights(folder, type(weights)(**{**vars(weights), "template": template}))
    metric = evaluate.load(SCRIPT, str(folder))
    result = metric.explain(**ROW, method="integrated_gradients", features="paper")
    matched = metric.compute(**{f"{side}s": [ROW[side]] for side in SIDES}, features="paper")["lexical_match"][0]
    tokenizer = metric.scorer.tokenizer
    texts = [
        template.format(question=ROW["question"], answer=ROW[side]).strip() for side in ("prediction", "reference")
    ]
    batch = tokenizer([texts[0]], [texts[1]], return_tensors="pt", return_offsets_mapping=True)
    offsets = batch.pop("offset_mapping")[0].tolist()
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    for side in SIDES:
        ids = batch["input_ids"].clone()
        for i, (part, (begin, end)) in enumerate(zip(batch.sequence_ids(0), offsets, strict=True)):
            if part is not None and (side == "question" or part == ("prediction", "reference").index(side)):
                at = texts[part].index(ROW[side])
                if at <= begin and end <= at + len(ROW[side]):
                    ids[0, i] = tokenizer.pad_token_id
        with torch.inference_mode():
            p = model(**{**batch, "input_ids": ids}).logits[0].double().softmax(-1)[LABELS.index("entailment")].item()
        odds = weights.intercept + np.dot(weights.coefficients, [p, matched])
        assert result[side]["baseline_score"] == pytest.approx(1 / (1 + np.exp(-odds)), abs=ROUNDING)
        assert abs(result[side]["error"]) < CUT


def test_the_deciding_window_of_a_long_answer_is_explained(metric: evaluate.Metric) -> None:
    answer = " ".join(f"the {word} runs {i}" for i, word in enumerate(["dog", "man", "cat"] * 8))
    row = {**ROW, "prediction": answer}
    judged = metric.compute(**{f"{side}s": [row[side]] for side in SIDES})
    assert judged["windowed"] == 1
    result = metric.explain(**row, method="integrated_gradients")
    assert result["score"] == pytest.approx(judged["scores"][0], abs=ROUNDING)
    moved = np.flatnonzero(result["prediction"]["contributions"])
    assert 0 < len(moved) < tiny.POSITIONS
    assert moved.tolist() == list(range(moved[0], moved[-1] + 1)), "one window"
    assert abs(result["prediction"]["error"]) < CUT


@pytest.mark.parametrize("method", METHODS)
def test_all_parts_of_a_long_reference_are_explained(metric: evaluate.Metric, method: str) -> None:
    row = {**ROW, "reference": " ".join(f"the {word} sleeps" for word in ["dog", "man", "cat"] * 6)}
    result = metric.explain(**row, method=method)
    assert result["score"] == pytest.approx(scores(metric, [row])[0], abs=ROUNDING)
    assert all(result["reference"]["contributions"])
    assert abs(result["reference"].get("error", 0)) < CUT


@pytest.mark.parametrize("method", METHODS)
def test_blank_texts(metric: evaluate.Metric, method: str) -> None:
    result = metric.explain("", ROW["reference"], ROW["question"], method=method)
    assert result["score"] == 0
    assert not any(share for side in SIDES for share in result[side]["contributions"])
    result = metric.explain(ROW["prediction"], ROW["reference"], " ", method=method)
    assert result["question"]["tokens"] == []
    assert any(result["prediction"]["contributions"])


@pytest.mark.parametrize("answer", ["the dog bites a man and barks " * 36, "日本語" * 80])
def test_of_long_texts_runs_of_words_are_left_out(metric: evaluate.Metric, answer: str) -> None:
    """At most MAX_PIECES judgements."""
    row = {**ROW, "prediction": answer}
    result = metric.explain(**row)
    pieces = [piece for side in SIDES for piece in result[side]["tokens"]]
    assert MAX_PIECES / 2 < len(pieces) <= MAX_PIECES + len(SIDES)
    assert "".join(result["prediction"]["tokens"]).replace(" ", "") == answer.replace(" ", "")
    part = result["prediction"]
    rest = scores(metric, [{**row, "prediction": without(answer, span)} for span in part["spans"][1:3]])
    assert part["contributions"][1:3] == pytest.approx([result["score"] - one for one in rest], abs=2 * ROUNDING)


@pytest.mark.parametrize("method", METHODS)
def test_odd_strings_are_plain_text(metric: evaluate.Metric, method: str) -> None:
    for special in ("[SEP] 🎉", "{answer}</s>", "\x00"):
        same = {side: f"{special} dog {special}" for side in SIDES}
        for row in (same, {**same, "prediction": f"{special} the man bites {special}"}):
            for features in ("rich", "paper"):
                result = metric.explain(**row, method=method, features=features)
                expected = scores(metric, [row], features=features)[0]
                assert result["score"] == pytest.approx(expected, abs=ROUNDING)
                assert (expected == 1) == (row == same and features == "rich"), "a rule decides, else the model"
                assert all(abs(result[side].get("error", 0)) < CUT for side in SIDES)


def test_weights_that_need_no_model(model: Path, tmp_path: Path) -> None:
    """Words alone: no gradient, and what they add is seen by leaving them out."""
    names = tuple(name for name in RICH_WEIGHTS.features if name == "token_recall")
    path = tmp_path / "words.json"
    write_weights(path, type(RICH_WEIGHTS)(names, -1.0, (3.0,)))
    metric = evaluate.load(SCRIPT, str(model))
    result = metric.explain(**ROW, method="integrated_gradients", weights=path)
    assert not any(share for side in SIDES for share in result[side]["contributions"])
    shares = metric.explain(**ROW, weights=path)["prediction"]["contributions"]
    assert shares[1] > 0.1, "dog"
    assert shares[2:] == [0.0] * len(shares[2:])


def test_invalid_arguments_are_refused(metric: evaluate.Metric) -> None:
    too_long = f"method: expected texts of {MAX_TOKENS} tokens at most for 'leave_one_out', got"
    for arguments, saying in [
        ({"prediction": None}, "prediction: expected a string, got NoneType"),
        ({"reference": " "}, r"references\[0\]: expected a text, got ' '"),
        ({"question": "\ud800"}, "question: expected valid Unicode"),
        ({"method": "exact"}, "method: expected one of 'leave_one_out'"),
        ({"features": "poor"}, "features: expected one of 'rich', 'two_features'"),
        ({"weights": "no/such/file"}, "weights no/such/file: no such file"),
        ({"batch_size": 0}, "batch_size: expected a whole number from 1"),
        ({"prediction": "dog " * MAX_TOKENS}, too_long),
    ]:
        with pytest.raises(ValueError, match=saying):
            metric.explain(**{**ROW, **arguments})


def test_a_number_that_is_read_in_words_is_explained_as_it_is_written(metric: evaluate.Metric) -> None:
    row = {"prediction": "there were forty-two of them", "reference": "some 42 dogs", "question": "how many?"}
    result = metric.explain(**row, method="integrated_gradients")
    part = result["reference"]
    number = [i for i, (begin, end) in enumerate(part["spans"]) if begin < len("some 42") and end > len("some ")]
    assert any(part["contributions"][i] for i in number)
    spelt = scores(metric, [row, {**row, "reference": "some forty-two dogs"}])
    assert result["score"] == pytest.approx(spelt[0], abs=ROUNDING)
    assert spelt[0] == pytest.approx(spelt[1], abs=ROUNDING)


@pytest.mark.parametrize("method", METHODS)
def test_markup_in_markup_is_read_as_compute_reads_it(metric: evaluate.Metric, method: str) -> None:
    prediction = "<think>a cat</think>Sure! `**the dog**` bites a man \u2705"
    row = {**ROW, "prediction": prediction, "reference": "**the dog**"}
    assert metric.explain(**row, method=method)["score"] == pytest.approx(scores(metric, [row])[0], abs=ROUNDING)
