"""Targets of pairs: the loss beside torch's own, and a real model that learns from them."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import CrossEncoder

from tests import tiny_pairs as tiny
from training.cross_encoder.targets import TargetEvaluator, TargetLoss, class_target

CLASSES = ["entailment", "neutral", "contradiction"]
UNKNOWN = float("nan")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    folder = tiny.bert(tmp_path_factory.mktemp("model") / "bert", labels=4)
    return CrossEncoder(str(folder), device="cpu", activation_fn=torch.nn.Identity())


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(1, 9))
def test_the_loss_is_torch_s_where_all_is_known(model: CrossEncoder, seed: int, count: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(count, 4, generator=generator) * 10
    targets = torch.cat([torch.randn(count, 3, generator=generator).softmax(1), torch.rand(count, 1)], dim=1)
    expected = torch.nn.functional.cross_entropy(logits[:, :3], targets[:, :3])
    expected = expected + 2 * torch.nn.functional.mse_loss(logits[:, 3], targets[:, 3] * 5)
    torch.testing.assert_close(TargetLoss(model, 3, 5.0, 2.0).of_logits(logits, targets), expected)
    only = TargetLoss(model, 0, 5.0).of_logits(logits[:, 3:], targets[:, 3:])
    torch.testing.assert_close(only, torch.nn.functional.mse_loss(logits[:, 3], targets[:, 3] * 5))


def test_each_part_of_a_mixed_batch_is_divided_by_all_its_pairs(model: CrossEncoder) -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, 9.0], [9.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 9.0], [9.0, 9.0, 9.0, 9.0]])
    targets = torch.tensor(
        [
            [1.0, 0.0, 0.0, UNKNOWN],  # log 3
            [UNKNOWN] * 3 + [0.8],  # (2 - 4)^2, twice
            [0.0, UNKNOWN, UNKNOWN, UNKNOWN],  # log 1.5: two of three classes are open
            [UNKNOWN] * 4,
        ]
    )
    expected = (math.log(3) + 2 * 4 + math.log(1.5)) / 4
    assert float(TargetLoss(model, 3, 5.0, 2.0).of_logits(logits, targets)) == pytest.approx(expected)


def test_a_prediction_is_right_where_its_label_leaves_it_open(model: CrossEncoder, tmp_path: Path) -> None:
    pairs = [("the dog barks", "a dog sleeps")] * 6
    best = int(np.argmax(model.predict(pairs[:1])[0][:3]))
    labels = [*CLASSES, *(f"not_{name}" for name in CLASSES)]
    targets = np.array([[*class_target(label, CLASSES), UNKNOWN] for label in labels])
    figures = TargetEvaluator(pairs, targets, 3, "dev")(model, output_path=str(tmp_path))
    assert not list(tmp_path.iterdir())
    assert figures == {"dev_accuracy": pytest.approx(3 / 6)}  # its own class, and not one of the two others
    assert TargetEvaluator(pairs[:1], targets[[3 + best]], 3, "dev")(model) == {"dev_accuracy": 0.0}
    unknown = np.full((5, 4), UNKNOWN)
    mixed = np.concatenate([targets[[3 + best]], unknown])
    assert TargetEvaluator(pairs, mixed, 3, "dev")(model) == {"dev_accuracy": 0.0}, "what is unknown is not right"
    with pytest.raises(ValueError, match="dev: expected pairs with a class or a similarity, got none of 5"):
        TargetEvaluator(pairs[:5], unknown, 3, "dev")(model)
