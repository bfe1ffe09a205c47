"""Sources -> examples -> batches."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.training.conftest import TRAINING
from training.cross_encoder import config as cross_encoder_config
from training.data.contradictions import ContradictionConfig
from training.data.judged_answers import JudgedConfig
from training.data.label_pairs import CandidateConfig
from training.data.sources import (
    Captions,
    Example,
    LabelledPairs,
    Positives,
    ScoredPairs,
    Table,
    load_source,
    read_excluded,
)
from training.matcha.batches import Corpus, InterleavedBatches
from training.matcha.config import read_config, read_yaml


def write(folder: Path, rows: list[dict], name: str = "rows.parquet") -> Table:
    pd.DataFrame(rows).to_parquet(folder / name)
    return Table(path=name)


NLI = [
    {"premise": "A", "hypothesis": "A1", "label": "entailment"},
    {"premise": "A", "hypothesis": "A2", "label": "contradiction"},
    {"premise": "A", "hypothesis": "A3", "label": "contradiction"},
    {"premise": "A", "hypothesis": "A4", "label": "neutral"},
    {"premise": "B", "hypothesis": "B1", "label": "contradiction"},
    {"premise": "C", "hypothesis": "C1", "label": "entailment"},
]
PAIRS = {
    "name": "nli",
    "reference": "premise",
    "candidate": "hypothesis",
    "correct": ["entailment"],
    "incorrect": ["contradiction"],
}


def test_pairs_are_labelled_and_neutral_is_left_out(tmp_path: Path) -> None:
    examples, counts = load_source(LabelledPairs(table=write(tmp_path, NLI), **PAIRS), tmp_path, frozenset())
    assert [(e.reference, e.correct, e.incorrect) for e in examples] == [
        ("A", "A1", None),
        ("A", None, "A2"),
        ("A", None, "A3"),
        ("B", None, "B1"),
        ("C", "C1", None),
    ]
    assert counts["rows"] == 6
    assert counts["kept"] == 5


def test_pivot_takes_the_first_of_each_label_by_premise(tmp_path: Path) -> None:
    source = LabelledPairs(table=write(tmp_path, NLI), pivot=True, **PAIRS)
    examples, _ = load_source(source, tmp_path, frozenset())
    assert [(e.reference, e.correct, e.incorrect) for e in examples] == [("A", "A1", "A2")]


def test_evaluation_texts_are_dropped_and_counted(tmp_path: Path) -> None:
    pd.DataFrame({"premise": ["  b "]}).to_csv(tmp_path / "eval.csv", index=False)
    excluded = read_excluded([{"path": "eval.csv", "columns": ["premise"]}], tmp_path)
    examples, counts = load_source(LabelledPairs(table=write(tmp_path, NLI), **PAIRS), tmp_path, excluded)
    assert "B" not in {e.reference for e in examples}
    assert counts["dropped: in an evaluation set"] == 1


def test_captions_of_an_evaluation_image_are_all_dropped(tmp_path: Path) -> None:
    rows = [{"image": i, "caption": f"image {i} caption {k}"} for i in (1, 2) for k in range(3)]
    source = Captions(name="coco", table=write(tmp_path, rows), group="image", text="caption")
    examples, counts = load_source(source, tmp_path, frozenset({"image 2 caption 2"}))
    assert [e.correct for e in examples] == [f"image 1 caption {k}" for k in range(3)]
    assert examples[0].reference == "image 1 caption 1 image 1 caption 2"
    assert counts["dropped: in an evaluation set"] == 3


def test_scored_pairs_by_threshold_and_graded(tmp_path: Path) -> None:
    rows = [{"reference": f"r{s}", "candidate": f"c{s}", "label": s} for s in (0.0, 2.0, 4.0, 5.0)]
    table = write(tmp_path, rows)
    source = ScoredPairs(name="sts", table=table, correct_from=4.0, incorrect_to=1.5)
    examples, _ = load_source(source, tmp_path, frozenset())
    assert [(e.correct, e.incorrect) for e in examples] == [(None, "c0.0"), ("c4.0", None), ("c5.0", None)]
    graded, _ = load_source(ScoredPairs(name="sts", table=table), tmp_path, frozenset())
    assert [e.target for e in graded] == [0.0, 0.4, 0.8, 1.0]


def test_positives_take_every_pair_of_columns(tmp_path: Path) -> None:
    table = write(tmp_path, [{"a": "x", "b": "y", "t": "z"}])
    examples, _ = load_source(Positives(name="w", table=table, columns=[["t", "a"], ["t", "b"]]), tmp_path, frozenset())
    assert [(e.reference, e.correct) for e in examples] == [("z", "x"), ("z", "y")]


def test_limit_keeps_a_fixed_sample(tmp_path: Path) -> None:
    table = write(tmp_path, [{"a": f"a{i}", "b": f"b{i}"} for i in range(50)])
    source = Positives(name="w", table=table, columns=[["a", "b"]], limit=7)
    first, counts = load_source(source, tmp_path, frozenset())
    assert first == load_source(source, tmp_path, frozenset())[0]
    assert len(first) == 7
    assert counts["dropped: over the limit"] == 43


def test_hub_dataset_is_read_as_a_file_is(tmp_path: Path) -> None:
    write(tmp_path, NLI, "train.parquet")
    source = LabelledPairs(table=Table(hub=str(tmp_path)), **PAIRS)  # `datasets` takes a folder where it takes an id
    assert load_source(source, None, frozenset())[1]["kept"] == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": "premises"}, "expected columns .*premises"),
        ({"table": Table(path="none.parquet")}, "no file"),
        ({"table": Table(path="rows.txt")}, "expected a file ending in"),
        ({"table": Table()}, "expected exactly one of them"),
        ({"correct": ["yes"], "incorrect": ["no"]}, "nothing left to train on"),
    ],
)
def test_bad_source_is_named(tmp_path: Path, change: dict, message: str) -> None:
    arguments = {"table": write(tmp_path, NLI), **PAIRS, **change}
    with pytest.raises(ValueError, match=message):
        load_source(LabelledPairs(**arguments), tmp_path, frozenset())


def test_relative_path_without_a_data_folder_is_an_error() -> None:
    with pytest.raises(ValueError, match="--data"):
        Table(path="rows.parquet").read(None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("stepz: 3", "unknown keys"),
        ("epochs: 3", "expected exactly one"),
        ("train: []", "at least one entry"),
        ("train: [{name: nli, kind: pears}]", "kind of nli: expected one of pairs, .*got 'pears'"),
        ("train: [{name: nli, kind: triplets, pivot: true}]", r"unknown keys \['pivot'\]; Triplets has"),
        ("train: [{kind: triplets}]", r"missing keys \['name'\] of Triplets"),
    ],
)
def test_config_slips_are_errors(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text((TRAINING / "configs" / "smoke.yaml").read_text() + line + "\n")
    with pytest.raises(ValueError, match=message):
        read_config(path)


@pytest.mark.parametrize("path", sorted((TRAINING / "configs").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_configs_are_valid(path: Path) -> None:
    if path.stem == "stsb_pairs":
        assert read_yaml(path, CandidateConfig).train
    elif path.stem == "judged_answers":
        assert read_yaml(path, JudgedConfig).train
    elif path.stem == "contradictions":
        assert read_yaml(path, ContradictionConfig).train
    else:
        reader = cross_encoder_config.read_config if path.stem.startswith(("nli", "stsb")) else read_config
        assert reader(path).name


def test_batch_holds_the_texts_of_its_rows(words: Tokenizer) -> None:
    examples = [Example("the cat", "a cat"), Example("the cat", incorrect="the dog"), Example("the soup", "soup", "a")]
    corpus = Corpus([examples], words)
    batch = corpus.collate([2, 0, 1])
    ends = [*batch.offsets.tolist()[1:], len(batch.ids)]
    texts = [words.decode(batch.ids[a:b].tolist()) for a, b in zip(batch.offsets, ends, strict=True)]
    assert texts == ["the soup", "the cat", "the cat", "soup", "a cat", "", "a", "", "the dog"]
    assert batch.present.tolist() == [[True, True], [True, False], [False, True]]
    same = batch.same
    assert same[1] == same[2] != same[0]
    assert torch.isnan(batch.target).all()


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    batch_size=st.integers(1, 12),
    steps=st.integers(1, 60),
    data=st.data(),
)
def test_batches_are_of_one_source_and_in_turn(
    sizes: list[int], batch_size: int, steps: int, data: st.DataObject
) -> None:
    shares = data.draw(st.lists(st.integers(1, 5), min_size=len(sizes), max_size=len(sizes)))
    sampler = InterleavedBatches(sizes, shares, batch_size, steps, seed=1)
    batches = list(sampler)
    assert len(batches) == len(sampler) == steps
    ends = np.cumsum(sizes)
    sources = [np.searchsorted(ends, batch, side="right") for batch in batches]
    assert all(len(set(source.tolist())) == 1 for source in sources)
    turns = np.bincount([int(source[0]) for source in sources], minlength=len(sizes))
    assert np.abs(turns - steps * np.array(shares) / sum(shares)).max() <= len(sizes)
    assert batches == list(sampler)  # the same again: what a resumed run relies on
    for k, size in enumerate(sizes):  # a source is gone through before any of it comes again
        rows = [row for batch, source in zip(batches, sources, strict=True) if source[0] == k for row in batch]
        assert all(len(set(rows[i : i + size])) == len(rows[i : i + size]) for i in range(0, len(rows), size))
