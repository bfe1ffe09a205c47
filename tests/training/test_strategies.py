"""The strategies of table 10: which sources are drawn from, and in what order."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import TRAINING
from training.data.sources import Positives, Source, Table, Triplets
from training.matcha.batches import InterleavedBatches, StagedBatches
from training.matcha.config import STRATEGIES, TrainConfig
from training.train import Run

TABLE = Table(path="data/smoke.csv")


def sources() -> list[Source]:
    pairs = Positives(name="first", table=TABLE, columns=[["reference", "correct"]])
    return [pairs, Triplets(name="triplets", table=TABLE), replace(pairs, name="last")]


def test_strategy_chooses_and_orders_the_sources(config: TrainConfig) -> None:
    names = {
        strategy: [source.name for source in replace(config, train=sources(), strategy=strategy).sources()]
        for strategy in STRATEGIES
    }
    assert names == {
        "interleaved": ["first", "triplets", "last"],
        "sequential": ["first", "triplets", "last"],
        "curriculum": ["first", "last", "triplets"],
        "contrastive": ["triplets"],
        "random": ["first", "last"],
    }


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_staged_batches_are_of_one_source_after_another(steps: int) -> None:
    sizes, shares = [5, 50, 3], [1, 2, 1]
    batches = list(StagedBatches(sizes, shares, batch_size=4, steps=steps, seed=1))
    assert len(batches) == steps
    turns = [set(np.searchsorted(np.cumsum(sizes), batch, side="right").tolist()) for batch in batches]
    assert all(len(turn) == 1 for turn in turns)
    order = [turn.pop() for turn in turns]
    assert order == sorted(order)
    assert np.abs(np.bincount(order, minlength=3) - steps * np.array(shares) / 4).max() <= 1
    same_rows = list(InterleavedBatches(sizes, shares, batch_size=4, steps=steps, seed=1))
    rows_of_last = [[batch for batch in batches_of_run if min(batch) >= 55] for batches_of_run in (batches, same_rows)]
    assert all(a == b for a, b in zip(*rows_of_last, strict=False))  # only the turns differ


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_run_trains_on_what_its_strategy_takes(config: TrainConfig, tmp_path: Path, strategy: str) -> None:
    config = replace(config, train=sources(), strategy=strategy, steps=3)
    Run(config, TRAINING, tmp_path).train()
    record = json.loads((tmp_path / "checkpoint" / "training.json").read_text())
    assert list(record["counts"]) == [source.name for source in config.sources()]
    card = (tmp_path / "checkpoint" / "README.md").read_text()
    assert ("one after another" in card) == (strategy in ("sequential", "curriculum"))
