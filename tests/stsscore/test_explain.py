"""Token contributions to an STSScore: against the metric itself, against plain transformers, and on odd texts."""

import re
from itertools import pairwise
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from semantic_metrics import load
from tests import tiny_pairs as tiny
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import scores

SIDES = ("prediction", "reference")
METHODS = ("leave_one_out", "integrated_gradients")
PAIR = {"prediction": "the dog bites", "reference": "a man is not  awake."}
CUT = 1e-3  # what the rule of the integral leaves, at most, of a smooth path


def without(text: str, span: tuple[int, int]) -> str:
    """The text without some characters; by hand, for single spaces between words alone."""
    return (text[: span[0]] + text[span[1] :]).replace("  ", " ").strip()


def test_the_explanation_has_all_keys(metric: evaluate.Metric) -> None:
    for method in METHODS:
        result = metric.explain(**PAIR, method=method)
        assert list(result) == ["score", "method", *SIDES, "rule"]
        assert result["method"] == method
        assert result["score"] == pytest.approx(scores(metric, *([text] for text in PAIR.values()))[0], abs=ROUNDING)
        for side in SIDES:
            part = result[side]
            assert list(part)[:4] == ["tokens", "spans", "contributions", "total"]
            assert part["tokens"] == [PAIR[side][begin:end] for begin, end in part["spans"]]
            assert "".join(part["tokens"]) == PAIR[side].replace(" ", "")
            if method == "leave_one_out":
                assert part["tokens"] == re.findall(r"\w+|\.", PAIR[side]), "words, not their pieces"
            assert part["text"] == PAIR[side]
            assert all(type(share) is float for share in part["contributions"])
            assert part["total"] == pytest.approx(sum(part["contributions"]))
    assert metric.explain(**PAIR)["method"] == "leave_one_out"


@pytest.mark.parametrize("method", METHODS)
def test_of_a_model_with_more_outputs_the_similarity_is_explained(method: str, tmp_path: Path) -> None:
    metric = load("stsscore", f"{tiny.both_heads(tmp_path / 'model')}/")
    result = metric.explain(**PAIR, method=method, scale=2)
    scored = metric.compute(**{f"{name}s": [text] for name, text in PAIR.items()}, scale=2)
    assert result["score"] == pytest.approx(scored["stsscore"], abs=ROUNDING)
    for side in SIDES:
        assert max(map(abs, result[side]["contributions"])) > 100 * ROUNDING


def test_a_contribution_is_the_score_minus_that_without_the_token(one_metric: evaluate.Metric) -> None:
    metric = one_metric
    pair = {"prediction": "the dog bites", "reference": "the cat sleeps"}
    result = metric.explain(**pair)
    assert result["score"] == pytest.approx(scores(metric, ["the dog bites"], ["the cat sleeps"])[0], abs=ROUNDING)
    for side in SIDES:
        part = result[side]
        variants = [{**pair, side: without(pair[side], span)} for span in part["spans"]]
        rest = scores(metric, *([variant[name] for variant in variants] for name in SIDES))
        assert part["contributions"] == pytest.approx([result["score"] - one for one in rest], abs=2 * ROUNDING)
        assert max(map(abs, part["contributions"])) > 100 * ROUNDING


def test_integrated_gradients_sum_to_the_change_of_the_score(one_metric: evaluate.Metric) -> None:
    result = one_metric.explain(**PAIR, method="integrated_gradients")
    for side in SIDES:
        part = result[side]
        assert part["baseline"] == "padding"
        assert part["error"] == pytest.approx(part["total"] - result["score"] + part["baseline_score"], abs=1e-12)
        assert abs(part["error"]) < CUT
        assert max(map(abs, part["contributions"])) > CUT


def test_integrated_gradients_are_the_limit_of_many_steps_from_padding(metric: evaluate.Metric, bert: Path) -> None:
    result, tokenizer = metric.explain(**PAIR, method="integrated_gradients"), metric.scorer.tokenizer
    batch = tokenizer([PAIR["reference"]], [PAIR["prediction"]], return_tensors="pt")
    model = AutoModelForSequenceClassification.from_pretrained(bert).eval()
    rest = {name: batch[name].expand(2001, -1) for name in ("token_type_ids", "attention_mask")}
    end = model.get_input_embeddings()(batch["input_ids"])[0].detach()
    steps = torch.cat([torch.zeros(1), (torch.arange(2000) + 0.5) / 2000])[:, None, None]
    for part, side in enumerate(("reference", "prediction")):
        places = [i for i, of in enumerate(batch.sequence_ids(0)) if of == part]
        start = end.clone()
        start[places] = model.get_input_embeddings().weight[tokenizer.pad_token_id].detach()
        path = (start + steps * (end - start)).requires_grad_()
        logits = model(inputs_embeds=path, **rest).logits / 5
        assert result[side]["baseline_score"] == pytest.approx(logits[0].item(), abs=ROUNDING)
        logits.sum().backward()
        expected = (path.grad[1:].mean(dim=0) * (end - start)).sum(dim=1)[places]
        assert result[side]["contributions"] == pytest.approx(expected.tolist(), abs=CUT)


@pytest.mark.parametrize("method", METHODS)
def test_blank_texts_have_no_tokens(one_metric: evaluate.Metric, method: str) -> None:
    for blank in ("", " \n"):
        result = one_metric.explain(blank, "the dog", method=method)
        assert result["prediction"]["tokens"] == []
        assert any(result["reference"]["contributions"])
        assert np.isfinite(result["reference"]["contributions"]).all()
    nothing = one_metric.explain(" ", "", method=method)
    assert nothing["prediction"]["total"] == nothing["reference"]["total"] == 0


def test_odd_strings_are_plain_text(one_metric: evaluate.Metric) -> None:
    odd = [
        ("dog [SEP] cat 🎉", "the[MASK] man e\u0301"),
        ("</s> \uff3bSEP\uff3d dog", "שלום\x00"),
        ("日本 [[SEP]SEP]", "<s> [UNK]"),
        ("the dog 🎉 bites", "the dog 🎉 bites"),  # the rules say the same
        ("<think>a cat</think> **2 dogs** bite", "two dogs and a man"),
    ]
    for prediction, reference in odd:
        for method in METHODS:
            result = one_metric.explain(prediction, reference, method=method)
            assert result["score"] == pytest.approx(scores(one_metric, [prediction], [reference])[0], abs=ROUNDING)
            for side in SIDES:
                assert all(a[1] <= b[0] for a, b in pairwise(result[side]["spans"]))
                assert abs(result[side].get("error", 0)) < CUT


@pytest.mark.parametrize("run", [{"precision": "int8", "workers": 2}, {"backend": "openvino"}])
def test_leaving_tokens_out_runs_as_compute_does(metric: evaluate.Metric, run: dict) -> None:
    if "backend" in run:
        pytest.importorskip("openvino", reason="the extra `fast` is not installed")
    default, result = metric.explain(**PAIR), metric.explain(**PAIR, **run)
    assert result != default
    assert result["score"] == pytest.approx(scores(metric, *([text] for text in PAIR.values()), **run)[0], abs=1e-4)
    assert metric.explain(**PAIR, precision="float32", backend="torch", workers=1) == default


@pytest.mark.parametrize("changed", [{"precision": "int8"}, {"precision": "auto"}, {"backend": "openvino"}])
def test_gradients_in_fewer_bits_are_refused_before_the_model_runs(
    metric: evaluate.Metric, changed: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metric.scorer, "logits", None)
    monkeypatch.setattr(metric.scorer, "model", None)
    ((name, value),) = changed.items()
    with pytest.raises(ValueError, match=f"^{name}: expected .* for the gradients of method .*, got '{value}'"):
        metric.explain(**PAIR, method="integrated_gradients", **changed)


def test_invalid_arguments_are_refused(metric: evaluate.Metric) -> None:
    for arguments, saying in [
        ({"prediction": None}, "prediction: expected a string, got NoneType"),
        ({"reference": "\ud800"}, "reference: expected valid Unicode"),
        ({"method": "exact"}, "method: expected one of 'leave_one_out', 'integrated_gradients', got str 'exact'"),
        ({"scale": 0}, "scale: expected a number above 0"),
        ({"batch_size": 0}, "batch_size: expected a whole number from 1"),
    ]:
        with pytest.raises(ValueError, match=saying):
            metric.explain(**{**PAIR, **arguments})
