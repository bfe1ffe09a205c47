"""Triplets whose incorrect text exchanges roles."""

from pathlib import Path
from string import Formatter

import pandas as pd
import pytest

from training.data.config_files import read_yaml
from training.data.roles import FRAMES, Frames, build

PROBE = Path(__file__).parents[2] / "benchmarks" / "suite" / "word_order.csv"


@pytest.fixture(scope="module")
def frames() -> Frames:
    return read_yaml(FRAMES, Frames)


def test_frames_name_both_roles_in_every_wording(frames: Frames) -> None:
    assert len({relation.name for relation in frames.relations}) == len(frames.relations) > 100
    for relation in frames.relations:
        assert len(set(relation.wordings)) == len(relation.wordings) >= 2
        assert set(relation.fillers) <= set(frames.fillers)
        for wording in relation.wordings:
            names = [name for _, name, _, _ in Formatter().parse(wording) if name is not None]
            assert sorted(set(names)) == ["x", "y", *["z"] * bool(relation.z)], wording
            assert names.count("x") == names.count("y") == 1, wording
    for name, words in frames.fillers.items():
        assert len(set(words)) == len(words) > 10, name


def test_build_draws_the_same_by_seed_and_parts_share_no_relation(frames: Frames) -> None:
    train, held_out = build(frames, 800, seed=3)
    again, _ = build(frames, 800, seed=3)
    other, _ = build(frames, 800, seed=4)
    pd.testing.assert_frame_equal(train, again)
    assert not train.equals(other)
    assert not set(train["relation"]) & set(held_out["relation"])
    assert not train.duplicated().any()
    assert (train[["reference", "correct", "incorrect"]].nunique(axis=1) == 3).all()


def test_no_text_of_the_probe_is_drawn(frames: Frames) -> None:
    probe = pd.read_csv(PROBE)[["reference", "paraphrase", "swap"]].to_numpy().ravel()
    train, held_out = build(frames, 5000, seed=0)
    drawn = pd.concat([train, held_out])[["reference", "correct", "incorrect"]].to_numpy().ravel()
    assert not set(probe) & set(drawn)
