"""Triplets whose incorrect text exchanges roles."""

import sys
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pandas as pd
import pytest

from training.data import roles
from training.data.config_files import read_yaml
from training.data.roles import FRAMES, Frames, Relation, build

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


def test_exchanged_roles_keep_the_words_and_a_symmetric_relation_stays_true() -> None:
    lists = {"people": ["Ada", "Bob", "Cleo"]}
    directed = Relation(["{x} hires {y}", "{y} is hired by {x}"])
    for adjuncts in (True, False):
        made = pd.concat(build(Frames(lists, ["today"], [replace(directed, adjuncts=adjuncts)]), 60, seed=0))
        assert made["reference"].str.lower().str.contains("today").any() == adjuncts
    assert len(made)
    for row in made.itertuples():
        words = [text.lower().rstrip(".").split() for text in (row.reference, row.correct, row.incorrect)]
        assert words[2] in ([each[-1], *each[1:-1], each[0]] for each in words[:2])
    symmetric = Relation(["{x} meets {y}", "{y} meets {x}"], symmetric=True)
    made = pd.concat(build(Frames(lists, [""], [symmetric]), 60, seed=0))
    for row in made.itertuples():
        reference, correct, incorrect = (set(text.rstrip(".").split()) for text in row[1:4])
        assert correct == reference != incorrect


def test_no_text_of_the_probe_is_drawn(frames: Frames) -> None:
    probe = pd.read_csv(PROBE)[["reference", "paraphrase", "swap"]].to_numpy().ravel()
    train, held_out = build(frames, 5000, seed=0)
    drawn = pd.concat([train, held_out])[["reference", "correct", "incorrect"]].to_numpy().ravel()
    assert not set(probe) & set(drawn)


def test_command_writes_both_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(sys, "argv", ["roles.py", "--output", str(tmp_path / "out"), "--count", "80"])
    roles.main()
    printed = capsys.readouterr().out
    for part in ("train", "held_out"):
        assert list(pd.read_parquet(tmp_path / "out" / f"{part}.parquet").columns) == roles.COLUMNS
        assert f"{part}: " in printed


def test_config_extends_its_parent_s_parent_and_adds_to_its_lists(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "fillers: {people: [a, b, c]}\nadjuncts: [now]\nrelations: [{wordings: ['{x} {y}', '{x}, {y}']}]\n"
    )
    (tmp_path / "b.yaml").write_text("extends: a.yaml\nadjuncts: [then]\n")
    (tmp_path / "c.yaml").write_text(
        "extends: b.yaml\nmore: {relations: [{wordings: ['{y} {x}', '{y}, {x}']}], adjuncts: [later]}\n"
    )
    frames = read_yaml(tmp_path / "c.yaml", Frames)
    assert frames.adjuncts == ["then", "later"]
    assert [relation.name for relation in frames.relations] == ["{x} {y}", "{y} {x}"]
    for text, message in (
        ("extends: b.yaml\nmore: [1]\n", r"c\.yaml: more: expected lists by name, for keys that are lists, got \[1\]"),
        ("extends: b.yaml\nmore: {fillers: [1]}\n", "for keys that are lists"),
        ("extends: c.yaml\n", "got one that extends itself"),
    ):
        (tmp_path / "c.yaml").write_text(text)
        with pytest.raises(ValueError, match=message):
            read_yaml(tmp_path / "c.yaml", Frames)
