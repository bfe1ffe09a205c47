"""The losses against eq. 7 written out."""

import math

import pytest
import torch

from training.matcha.batches import Batch
from training.matcha.losses import in_batch_loss, regression_loss, triplet_loss


def make(present: list[list[bool]], seed: int = 0) -> tuple[torch.Tensor, Batch]:
    mask = torch.tensor(present)
    vectors = torch.randn(len(present), 3, 5, generator=torch.Generator().manual_seed(seed))
    vectors[:, 1:][~mask] = 0
    none = torch.empty(0, dtype=torch.long)  # the losses read no tokens
    return vectors, Batch(none, none, mask, torch.arange(len(present)), torch.linspace(0, 1, len(present)))


def cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(a, b, dim=0))


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def test_triplet_loss_is_equation_7() -> None:
    vectors, batch = make([[True, True]] * 4)
    expected = [max(0.0, 0.3 + cosine(r, i) - cosine(r, c)) for r, c, i in vectors]
    assert triplet_loss(margin=0.3)(vectors, batch, generator()).item() == pytest.approx(sum(expected) / 4, abs=1e-6)


def test_in_batch_loss_pairs_every_correct_with_every_incorrect() -> None:
    vectors, batch = make([[True, False], [False, True], [True, True]])
    correct = [cosine(vectors[i, 0], vectors[i, 1]) for i in (0, 2)]
    incorrect = [cosine(vectors[i, 0], vectors[i, 2]) for i in (1, 2)]
    expected = [max(0.0, 0.5 + n - p) for p in correct for n in incorrect]
    loss = in_batch_loss(margin=0.5, random=0.0)(vectors, batch, generator())
    assert loss.item() == pytest.approx(sum(expected) / 4, abs=1e-6)


def test_a_graded_loss_orders_examples_by_their_targets() -> None:
    vectors, batch = make([[True, False], [False, True], [True, False]])
    batch = batch._replace(target=torch.tensor([0.75, math.nan, 0.25]))
    (high, low), wrong = (cosine(vectors[i, 0], vectors[i, 1]) for i in (0, 2)), cosine(vectors[1, 0], vectors[1, 2])
    steps = [(0.5, high, low), (0.75, high, wrong), (0.25, low, wrong)]  # difference of targets, and their cosines
    expected = sum(w * max(0.0, 0.8 * w + worse - better) for w, better, worse in steps) / 1.5
    loss = in_batch_loss(margin=0.8, random=0.0, graded=True)(vectors, batch, generator())
    assert loss.item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("rescaled", [True, False])
def test_regression_loss_is_the_squared_error_of_the_cosine(rescaled: bool) -> None:
    vectors, batch = make([[True, False]] * 3)
    scores = [(cosine(r, c) + 1) / 2 if rescaled else cosine(r, c) for r, c, _ in vectors]
    errors = [(score - float(target)) ** 2 for score, target in zip(scores, batch.target, strict=True)]
    value = regression_loss(rescaled)(vectors, batch, generator())
    assert value.item() == pytest.approx(sum(errors) / 3, abs=1e-6)
