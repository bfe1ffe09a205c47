"""The strategies of table 10: which sources are drawn from, and in what order."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import TRAINING
from training.data.sources import Captions, LabelledPairs, Positives, ScoredPairs, Source, Table, Triplets
from training.matcha.batches import InterleavedBatches, LevelBatches, RoundRobinBatches, StagedBatches
from training.matcha.config import STRATEGIES, TrainConfig
from training.train import Run, make_loader

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


def test_a_curriculum_goes_by_the_difficulty_that_sources_name(config: TrainConfig) -> None:
    first, triplets, last = sources()
    named = [replace(first, difficulty=5), triplets, replace(last, difficulty=1)]
    ordered = replace(config, train=named, strategy="curriculum").sources()
    assert [(source.name, source.level) for source in ordered] == [("last", 1), ("triplets", 2), ("first", 5)]


def test_what_contradicts_is_said_or_follows_from_the_kind() -> None:
    for kind, expected in ((LabelledPairs, True), (Triplets, True), (Captions, False)):
        assert kind(name="s", table=TABLE).has_contradictions == expected
    assert not sources()[0].has_contradictions
    graded = ScoredPairs(name="s", table=TABLE, correct_from=4.0)
    assert not graded.has_contradictions
    assert replace(graded, incorrect_to=1.5).has_contradictions
    assert not Triplets(name="s", table=TABLE, contrastive=False).has_contradictions


def test_unknown_or_impossible_strategy_is_an_error(config: TrainConfig) -> None:
    with pytest.raises(ValueError, match=r"strategy: expected one of interleaved.*got 'shuffled'"):
        replace(config, strategy="shuffled")
    with pytest.raises(ValueError, match="strategy random: expected sources"):
        replace(config, strategy="random")
    with pytest.raises(ValueError, match="turns: expected one of even, round_robin, got 'random'"):
        replace(config, turns="random")
    with pytest.raises(ValueError, match="difficulty: expected 1 or more, got 0"):
        Triplets(name="s", table=TABLE, difficulty=0)


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


def turns(batches: InterleavedBatches) -> list[int]:
    """The source of each batch."""
    ends = np.cumsum(batches.sizes)
    return [int(np.searchsorted(ends, min(batch), side="right")) for batch in batches]


def test_a_round_robin_takes_a_batch_of_each_source_until_it_is_empty() -> None:
    batches = RoundRobinBatches([9, 20, 3], [1, 9, 9], batch_size=4, steps=20, seed=1)
    one_pass = [0, 1, 2, 0, 1, 1, 1, 1]  # two full batches, five, and one that two passes through the source fill
    assert turns(batches) == [*one_pass, *one_pass, *one_pass[:4]]
    assert all(len(batch) == 4 for batch in batches)
    of_second = [row for batch in list(batches)[:8] if 9 <= min(batch) < 29 for row in batch]
    assert sorted(of_second) == list(range(9, 29)), "each row once in a pass"


def test_a_curriculum_has_the_sources_of_a_level_in_turn() -> None:
    """Levels take their share of the steps, and sources of a level are drawn equally often, as in the authors' code."""
    batches = LevelBatches([1, 3, 3], [10, 40, 30], [10, 40, 30], 4, 16, 1)
    assert turns(batches) == [0] * 2 + [1, 2] * 7


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"strategy": "curriculum"}, LevelBatches),
        ({"strategy": "sequential"}, StagedBatches),
        ({"turns": "round_robin"}, RoundRobinBatches),
        ({}, InterleavedBatches),
    ],
)
def test_a_config_chooses_the_batches(config: TrainConfig, options: dict, kind: type, tmp_path: Path) -> None:
    run = Run(replace(config, train=sources(), steps=3, **options), TRAINING, tmp_path)
    sampler = make_loader(run.corpus, run.config, run.steps).batch_sampler
    assert type(sampler) is kind


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_run_trains_on_what_its_strategy_takes(config: TrainConfig, tmp_path: Path, strategy: str) -> None:
    config = replace(config, train=sources(), strategy=strategy, steps=3)
    Run(config, TRAINING, tmp_path).train()
    record = json.loads((tmp_path / "checkpoint" / "training.json").read_text())
    assert list(record["counts"]) == [source.name for source in config.sources()]
    card = (tmp_path / "checkpoint" / "README.md").read_text()
    assert ("one after another" in card) == (strategy == "sequential")
    assert ("one level of difficulty after another" in card) == (strategy == "curriculum")
