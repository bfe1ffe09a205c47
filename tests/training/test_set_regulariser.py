"""The set criteria as a regulariser, against the metric that counts them, and in a run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from semantic_metrics.set_criteria.criteria import OPERATOR, Settings, report
from semantic_metrics.set_criteria.samples import OPERATORS, from_arrays, measure_samples
from tests.training.conftest import TRAINING
from training.data.set_samples import SetSource
from training.data.sources import Table
from training.matcha.config import TrainConfig
from training.matcha.set_regulariser import SetCriteria
from training.train import Run


@pytest.fixture
def unions(tmp_path: Path) -> SetSource:
    """The bundled texts as unions of two, written to a file."""
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
