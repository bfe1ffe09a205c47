"""Token contributions to an STSScore: against the metric itself, against plain transformers, and on odd texts."""

from itertools import pairwise
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from tests import tiny_pairs as tiny
from tests.stsscore.conftest import SCRIPT
from tests.stsscore.test_metric import ROUNDING, scores
from tests.stsscore.test_options import SPECIAL

SIDES = ("prediction", "reference")
METHODS = ("leave_one_out", "integrated_gradients")
PAIR = {"prediction": "the dog bites", "reference": "a man is not  awake."}
CUT = 1e-3  # what the rule of the integral leaves, at most, of a smooth path


def without(text: str, span: tuple[int, int]) -> str:
    """The text without some characters; by hand, for single spaces between words alone."""
    return (text[: span[0]] + text[span[1] :]).replace("  ", " ").strip()


def test_what_is_returned(metric: evaluate.Metric) -> None:
    for method in METHODS:
        found = metric.explain(**PAIR, method=method)
        assert list(found) == ["score", "method", *SIDES]
        assert found["method"] == method
        assert found["score"] == pytest.approx(scores(metric, *([text] for text in PAIR.values()))[0], abs=ROUNDING)
        for side in SIDES:
            held = found[side]
            assert list(held)[:4] == ["tokens", "spans", "contributions", "total"]
            assert held["tokens"] == [PAIR[side][begin:end] for begin, end in held["spans"]]
            assert "".join(held["tokens"]) == PAIR[side].replace(" ", "")
            assert all(type(share) is float for share in held["contributions"])
            assert held["total"] == pytest.approx(sum(held["contributions"]))
    assert metric.explain(**PAIR)["method"] == "leave_one_out"


def test_a_token_left_out_is_a_score_less(folder: Path) -> None:
    metric = evaluate.load(SCRIPT, str(folder))
    pair = {"prediction": "the dog bites", "reference": "the cat sleeps"}
    found = metric.explain(**pair)
    assert found["score"] == pytest.approx(scores(metric, ["the dog bites"], ["the cat sleeps"])[0], abs=ROUNDING)
    for side in SIDES:
        held = found[side]
        variants = [{**pair, side: without(pair[side], span)} for span in held["spans"]]
        rest = scores(metric, *([variant[name] for variant in variants] for name in SIDES))
        assert held["contributions"] == pytest.approx([found["score"] - one for one in rest], abs=2 * ROUNDING)
        assert max(map(abs, held["contributions"])) > 100 * ROUNDING


def test_integrated_gradients_sum_to_the_change_of_the_score(folder: Path) -> None:
    metric = evaluate.load(SCRIPT, str(folder))
    found = metric.explain(**PAIR, method="integrated_gradients")
    for side in SIDES:
        held = found[side]
        assert held["baseline"] == "padding"
        assert held["error"] == pytest.approx(held["total"] - found["score"] + held["baseline_score"], abs=1e-12)
        assert abs(held["error"]) < CUT
        assert abs(held["total"]) > 10 * CUT


def test_the_baseline_is_the_model_on_padding(metric: evaluate.Metric, bert: Path) -> None:
    found = metric.explain(**PAIR, method="integrated_gradients")
    tokenizer = metric.scorer.tokenizer
    batch = tokenizer([PAIR["reference"]], [PAIR["prediction"]], return_tensors="pt")
    model = AutoModelForSequenceClassification.from_pretrained(bert).eval()
    for part, side in enumerate(("reference", "prediction")):
        places = [i for i, of in enumerate(batch.sequence_ids(0)) if of == part]
        ids = batch["input_ids"].clone()
        ids[0, places] = tokenizer.pad_token_id
        with torch.inference_mode():
            logit = model(**{**batch, "input_ids": ids}).logits.item()
        assert found[side]["baseline_score"] == pytest.approx(logit / 5, abs=ROUNDING)


def test_integrated_gradients_are_the_limit_of_many_steps(metric: evaluate.Metric, bert: Path) -> None:
    found = metric.explain(**PAIR, method="integrated_gradients")["prediction"]
    batch = metric.scorer.tokenizer([PAIR["reference"]], [PAIR["prediction"]], return_tensors="pt")
    model = AutoModelForSequenceClassification.from_pretrained(bert).eval()
    places = [i for i, of in enumerate(batch.sequence_ids(0)) if of == 1]
    embed = model.get_input_embeddings()
    end = embed(batch["input_ids"])[0].detach()
    start = end.clone()
    start[places] = embed.weight[metric.scorer.tokenizer.pad_token_id].detach()
    steps = ((torch.arange(2000) + 0.5) / 2000)[:, None, None]
    path = (start + steps * (end - start)).requires_grad_()
    rest = {name: batch[name].expand(2000, -1) for name in ("token_type_ids", "attention_mask")}
    (model(inputs_embeds=path, **rest).logits.sum() / 5).backward()
    expected = (path.grad.mean(dim=0) * (end - start)).sum(dim=1)[places]
    assert len(found["contributions"]) == len(places)
    assert found["contributions"] == pytest.approx(expected.tolist(), abs=CUT)


@pytest.mark.parametrize("method", METHODS)
def test_the_batch_size_moves_nothing(metric: evaluate.Metric, method: str) -> None:
    one, many, again = (metric.explain(**PAIR, method=method, batch_size=size) for size in (7, 64, 64))
    assert many == again
    for side in SIDES:
        assert one[side]["contributions"] == pytest.approx(many[side]["contributions"], abs=ROUNDING)


@pytest.mark.parametrize("method", METHODS)
def test_tokens_that_are_cut_off_add_nothing(metric: evaluate.Metric, method: str) -> None:
    found = metric.explain("dog cat man runs " * 30, "the dog", method=method)
    shares = found["prediction"]["contributions"]
    read = tiny.POSITIONS - 3 - 2
    assert len(shares) == 120
    assert all(shares[:read])
    assert not any(shares[read:])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("blank", ["", " \n", "\u200b"])
def test_blank_texts_have_no_tokens(folder: Path, method: str, blank: str) -> None:
    found = evaluate.load(SCRIPT, str(folder)).explain(blank.strip(), "the dog", method=method)
    assert found["prediction"]["tokens"] == ([] if not blank.strip() else found["prediction"]["tokens"])
    assert any(found["reference"]["contributions"])
    assert np.isfinite(found["reference"]["contributions"]).all()
    nothing = evaluate.load(SCRIPT, str(folder)).explain(" ", "", method=method)
    assert nothing["prediction"]["total"] == nothing["reference"]["total"] == 0


@pytest.mark.parametrize("special", [*SPECIAL, "\uff3bSEP\uff3d", "🎉", "日本", "e\u0301", "\x00", "שלום"])
def test_odd_strings_are_plain_text(folder: Path, special: str) -> None:
    metric = evaluate.load(SCRIPT, str(folder))
    pair = {"prediction": f"dog {special} cat", "reference": f"the{special} man"}
    for method in METHODS:
        found = metric.explain(**pair, method=method)
        assert found["score"] == pytest.approx(scores(metric, *([text] for text in pair.values()))[0], abs=ROUNDING)
        for side in SIDES:
            spans = found[side]["spans"]
            assert all(a[1] <= b[0] for a, b in pairwise(spans))
            assert abs(found[side].get("error", 0)) < CUT


def test_a_long_text_is_explained(metric: evaluate.Metric) -> None:
    found = metric.explain("the dog bites " * 3000, "x" * 100_000, method="integrated_gradients")
    assert len(found["prediction"]["contributions"]) == 9000
    assert abs(found["prediction"]["error"]) < CUT


@pytest.mark.parametrize(
    ("arguments", "saying"),
    [
        ({"prediction": None}, "prediction: expected a string, got NoneType"),
        ({"reference": ["a"]}, "reference: expected a string, got list"),
        ({"reference": "\ud800"}, "reference: expected valid Unicode"),
        ({"method": "exact"}, "method: expected one of 'leave_one_out', 'integrated_gradients', got str 'exact'"),
        ({"scale": 0}, "scale: expected a number above 0"),
        ({"batch_size": 0}, "batch_size: expected a whole number from 1"),
        ({"max_length": 2}, "max_length: expected a whole number from 4"),
        ({"device": "nowhere"}, "device: expected one that torch has here"),
    ],
)
def test_bad_arguments_are_refused(metric: evaluate.Metric, arguments: dict, saying: str) -> None:
    with pytest.raises(ValueError, match=saying):
        metric.explain(**{**PAIR, **arguments})
