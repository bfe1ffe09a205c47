"""The losses against eq. 7 written out, those of pairs against torch's, and the set criteria as a regulariser."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import CrossEncoder

from semantic_metrics.set_criteria.criteria import OPERATOR, Settings, report
from semantic_metrics.set_criteria.samples import OPERATORS, from_arrays, measure_samples
from tests import tiny_pairs as tiny
from tests.training.conftest import TRAINING
from training.cross_encoder.targets import TargetEvaluator, TargetLoss, class_target
from training.data.sources import Table
from training.matcha.batches import Batch
from training.matcha.config import TrainConfig
from training.matcha.losses import in_batch_loss, regression_loss, triplet_loss
from training.matcha.set_regulariser import SetCriteria, SetSource
from training.train import Run


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


def test_regression_loss_is_the_squared_error_of_the_cosine() -> None:
    vectors, batch = make([[True, False]] * 3)
    errors = [((cosine(r, c) + 1) / 2 - float(t)) ** 2 for (r, c, _), t in zip(vectors, batch.target, strict=True)]
    value = regression_loss()(vectors, batch, generator())
    assert value.item() == pytest.approx(sum(errors) / 3, abs=1e-6)


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


@pytest.fixture
def unions(tmp_path: Path) -> SetSource:
    texts = pd.read_csv(TRAINING / "data" / "smoke.csv").reference
    rows = pd.DataFrame({"a": texts, "b": texts.shift(-1, fill_value=texts[0])})
    rows = rows.assign(target=rows.a + " " + rows.b, operator="union")
    rows.to_csv(tmp_path / "unions.csv", index=False)
    return SetSource(name="unions", table=Table(path=str(tmp_path / "unions.csv")), compose=True, licence="MIT")


@pytest.fixture
def regularised(config: TrainConfig, unions: SetSource) -> TrainConfig:
    options = {"kind": "set_criteria", "weight": 5.0, "batch_size": 32}
    network = {"num_senses": 2, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
    return replace(config, network=network, regulariser=options, sets=[unions])


def test_hinge_is_zero_exactly_where_the_metric_says_that_the_criterion_holds() -> None:
    rng = np.random.default_rng(0)
    a, b, noise = rng.standard_normal((3, 300, 6))
    b = b + rng.uniform(-1, 1, (300, 1)) * a
    target = rng.uniform(-1, 1, (300, 1)) * a + rng.uniform(-1, 1, (300, 1)) * b + 0.3 * noise
    operators = [OPERATORS[i % 3] for i in range(300)]
    samples = measure_samples(from_arrays((a, b, target)), operators)
    listed = report(samples, Settings(theta=0.5, norm_ratio=1.1), per_sample=True)["per_sample"]
    vectors = torch.tensor(np.stack([a, b, target], axis=1))
    criteria = SetCriteria(margin=0.0, theta=0.5, norm_ratio=1.1)
    for criterion, operator in OPERATOR.items():
        hinges = criteria.hinges(criterion, vectors[samples[operator].rows])
        holds = listed[criterion].get("holds")
        if holds is None:
            holds = (np.array(listed[criterion]["cosine"]) >= 0).all(axis=0).tolist()
        assert len(hinges) == 100
        assert 10 < sum(holds) < 90, criterion
        assert (hinges == 0).tolist() == holds, criterion
        assert (hinges >= 0).all()


def test_regulariser_improves_the_criteria_that_it_trains(regularised: TrainConfig, tmp_path: Path) -> None:
    regularised = replace(regularised, steps=60, validate_every=60, save_every=60, lr=3e-3)
    penalties = {}
    for weight in (0.0, 5.0):
        options = regularised.regulariser | {"weight": weight}
        run = Run(replace(regularised, regulariser=options), TRAINING, tmp_path / str(weight))
        ids, offsets, operators = run.samples.draw(0, 300, 0, 1)
        run.train()
        with torch.no_grad():
            vectors = run.model.eval()(ids, offsets).unflatten(0, (3, -1)).transpose(0, 1)
        penalties[weight] = run.regulariser.loss(vectors, operators).item()
    assert penalties[5.0] < 0.7 * penalties[0.0]
    card = (tmp_path / "5.0" / "checkpoint" / "README.md").read_text()
    assert "* Regulariser: kind set criteria, weight 5.0, batch size 32, on the sets below." in card
    assert "| unions | regulariser | " in card
    assert "| MIT |" in card
    record = json.loads((tmp_path / "5.0" / "checkpoint" / "training.json").read_text())
    assert record["counts"]["unions"]["examples"] == 4 * record["counts"]["unions"]["rows"]
