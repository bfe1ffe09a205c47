"""Labels that rule a class out: the loss beside torch's own, and a real model that learns from them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import CrossEncoder

from tests import tiny_pairs as tiny
from training.cross_encoder.partial_labels import PartialLabelEvaluator, PartialLabelLoss, label_names

CLASSES = ["entailment", "neutral", "contradiction"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    folder = tiny.bert(tmp_path_factory.mktemp("model") / "bert", labels=3)
    return CrossEncoder(str(folder), device="cpu", activation_fn=torch.nn.Identity())


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(1, 9))
def test_the_loss_is_minus_the_log_of_what_is_left_open(model: CrossEncoder, seed: int, count: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(count, 3, generator=generator) * 10
    labels = torch.randint(0, 3, (count,), generator=generator)
    loss = PartialLabelLoss(model).ce_loss
    torch.testing.assert_close(loss(logits, labels), torch.nn.functional.cross_entropy(logits, labels))
    ruled_out = logits.double().softmax(dim=1)[torch.arange(count), labels]
    expected = -torch.log1p(-ruled_out).mean().float()
    torch.testing.assert_close(loss(logits, labels + 3), expected, rtol=1e-3, atol=1e-3)


def test_a_step_against_a_class_makes_it_less_probable(model: CrossEncoder) -> None:
    pair = [["the dog barks"], ["a dog sleeps"]]
    loss = PartialLabelLoss(model)
    before = model.predict(list(zip(*pair, strict=True)), apply_softmax=True)[0]
    names = label_names(CLASSES)
    assert names == [*CLASSES, "not_entailment", "not_neutral", "not_contradiction"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss(pair, torch.tensor([names.index("not_neutral")])).backward()
    optimizer.step()
    after = model.predict(list(zip(*pair, strict=True)), apply_softmax=True)[0]
    assert after[1] < before[1]


def test_a_prediction_is_right_where_its_label_leaves_it_open(model: CrossEncoder, tmp_path: Path) -> None:
    pairs = [("the dog barks", "a dog sleeps")] * 6
    best = int(np.argmax(model.predict(pairs[:1])[0]))
    figures = PartialLabelEvaluator(pairs, list(range(6)), name="dev")(model, output_path=str(tmp_path))
    assert not list(tmp_path.iterdir())
    assert figures == {"dev_accuracy": pytest.approx(3 / 6)}  # its own class, and not one of the two others
    assert PartialLabelEvaluator(pairs[:1], [3 + best], name="dev")(model) == {"dev_accuracy": 0.0}
