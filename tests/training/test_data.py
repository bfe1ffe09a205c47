"""Sources -> examples -> batches, the strategies of table 10, and the paper's training sets as published."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.conftest import CONFIGS, TRAINING
from training.data.config_files import read_yaml
from training.data.sources import (
    Captions,
    LabelledPairs,
    Positives,
    ScoredPairs,
    Source,
    Table,
    Triplets,
    load_source,
    read_excluded,
)
from training.matcha.batches import SourceBatches, even_turns, levels_in_turn, round_robin
from training.matcha.config import STRATEGIES, TrainConfig
from training.matcha.validate import load_validation
from training.train import Run

FILE = Table(path="rows.parquet")
LABELS = {"A1": "correct", "A2": "incorrect", "A3": "incorrect", "A4": "neutral", "B1": "incorrect", "C1": "correct"}
ROWS = [(text[0], text, label) for text, label in LABELS.items()]
NLI = pd.DataFrame(ROWS, columns=["premise", "candidate", "label"])
PAIRS = LabelledPairs(name="nli", table=FILE, reference="premise")
SCORED = pd.DataFrame({"reference": ["r", "s", "t", "u"], "candidate": ["0", "2", "4", "5"], "label": [0.0, 2, 4, 5]})
IMAGES = pd.DataFrame([(i, f"{i} {k}") for i in ("one", "two") for k in "abc"], columns=["group", "text"])
WIDE = pd.DataFrame({"a": ["x"], "b": ["y"], "t": ["z"]})


def load(folder: Path, source: Source, rows: pd.DataFrame, excluded: frozenset = frozenset()) -> tuple:
    rows.to_parquet(folder / "rows.parquet")
    return load_source(source, folder, excluded)


@pytest.mark.parametrize(
    ("source", "rows", "expected"),
    [
        (PAIRS, NLI, [("A", "A1", None), ("A", None, "A2"), ("A", None, "A3"), ("B", None, "B1"), ("C", "C1", None)]),
        (replace(PAIRS, pivot=True), NLI, [("A", "A1", "A2")]),
        (
            ScoredPairs(name="sts", table=FILE, correct_from=4.0, incorrect_to=1.5),
            SCORED,
            [("r", None, "0"), ("t", "4", None), ("u", "5", None)],
        ),
        (Positives(name="w", table=FILE, columns=[["t", "a"], ["t", "b"]]), WIDE, [("z", "x", None), ("z", "y", None)]),
        (Triplets(name="t", table=FILE, columns=[["t", "a", "b"]]), WIDE, [("z", "x", "y")]),
        (
            Captions(name="coco", table=FILE),
            IMAGES[:3],
            [("one b one c", "one a", None), ("one a one c", "one b", None), ("one a one b", "one c", None)],
        ),
    ],
    ids=["pairs", "pivot", "scored", "positives", "triplets", "captions"],
)
def test_rows_become_examples(tmp_path: Path, source: Source, rows: pd.DataFrame, expected: list[tuple]) -> None:
    examples, counts = load(tmp_path, source, rows)
    assert [(e.reference, e.correct, e.incorrect) for e in examples] == expected
    assert (counts["rows"], counts["kept"]) == (len(rows), len(expected))


def test_what_cannot_validate_is_refused_and_a_missing_caption_is_left_out(tmp_path: Path) -> None:
    captions, scored = Captions(name="coco", table=FILE), ScoredPairs(name="sts", table=FILE)
    rows = pd.concat([IMAGES[:2], IMAGES[:1].assign(text=None)])
    assert [e.correct for e in load(tmp_path, captions, rows)[0]] == ["one a", "one b"]
    with pytest.raises(ValueError, match="coco: expected triplets, positives or graded pairs, got kind 'captions'"):
        load_validation([captions], tmp_path)
    load(tmp_path, scored, SCORED.replace({"label": 2}, None))
    with pytest.raises(ValueError, match="sts: expected a rating in each row, 1 have none"):
        load_validation([scored], tmp_path)


def test_scored_pairs_are_graded_and_a_limit_keeps_a_fixed_sample(tmp_path: Path) -> None:
    source = ScoredPairs(name="sts", table=FILE)
    assert [e.target for e in load(tmp_path, source, SCORED)[0]] == [0.0, 0.4, 0.8, 1.0]
    rows = pd.concat([SCORED] * 10)
    first, counts = load(tmp_path, replace(source, limit=7), rows)
    assert first == load(tmp_path, replace(source, limit=7), rows)[0]
    assert (len(first), counts["dropped: over the limit"]) == (7, 33)


@pytest.mark.parametrize(
    ("source", "rows", "text", "kept", "dropped"),
    [
        (PAIRS, NLI, "  b ", ["A1", None, None, "C1"], 1),
        (Captions(name="coco", table=FILE), IMAGES, "two c", ["one a", "one b", "one c"], 3),  # the whole image
    ],
)
def test_evaluation_texts_are_dropped_and_counted(
    tmp_path: Path, source: Source, rows: pd.DataFrame, text: str, kept: list, dropped: int
) -> None:
    pd.DataFrame({"premise": [text]}).to_csv(tmp_path / "eval.csv", index=False)
    excluded = read_excluded([{"path": "eval.csv", "columns": ["premise"]}], tmp_path)
    examples, counts = load(tmp_path, source, rows, excluded)
    assert [e.correct for e in examples] == kept
    assert counts["dropped: in an evaluation set"] == dropped


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": "premises"}, "expected columns of .*got premises"),
        ({"table": Table(path="none.parquet")}, "no file"),
        ({"table": Table(path="rows.txt")}, "expected a file ending in"),
        ({"correct": ["yes"], "incorrect": ["no"]}, "nothing left to train on"),
    ],
)
def test_bad_source_is_named(tmp_path: Path, change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(tmp_path, replace(PAIRS, **change), NLI)
    with pytest.raises(ValueError, match="--data"):
        FILE.read(None)
    with pytest.raises(ValueError, match="expected exactly one of them"):
        Table()


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    batch_size=st.integers(1, 12),
    steps=st.integers(1, 60),
    data=st.data(),
)
def test_batches_are_of_one_source_in_turn(sizes: list[int], batch_size: int, steps: int, data: st.DataObject) -> None:
    shares = data.draw(st.lists(st.integers(1, 5), min_size=len(sizes), max_size=len(sizes)))
    sampler = SourceBatches(sizes, even_turns(shares, steps), batch_size, seed=1)
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
    first, triplets, last = sources()
    named = [replace(first, difficulty=5), triplets, replace(last, difficulty=1)]
    ordered = replace(config, train=named, strategy="curriculum").sources()
    assert [(source.name, source.level) for source in ordered] == [("last", 1), ("triplets", 2), ("first", 5)]


def test_a_round_robin_takes_a_batch_of_each_source_until_it_is_empty() -> None:
    turns = round_robin([9, 20, 3], batch_size=4, steps=20)
    one_pass = [0, 1, 2, 0, 1, 1, 1, 1]  # two full batches, five, and one that two passes through the source fill
    assert turns == [*one_pass, *one_pass, *one_pass[:4]]
    batches = list(SourceBatches([9, 20, 3], turns, 4, seed=1))
    assert all(len(batch) == 4 for batch in batches)
    of_second = [row for batch in batches[:8] if 9 <= min(batch) < 29 for row in batch]
    assert sorted(of_second) == list(range(9, 29)), "each row once in a pass"


def test_a_curriculum_has_the_sources_of_a_level_in_turn() -> None:
    """Levels take their share of the steps, and sources of a level are drawn equally often, as in the authors' code."""
    assert levels_in_turn([1, 3, 3], [10, 40, 30], 16) == [0] * 2 + [1, 2] * 7


@pytest.mark.parametrize("strategy", ["sequential", "curriculum"])
def test_run_trains_on_what_its_strategy_takes(config: TrainConfig, tmp_path: Path, strategy: str) -> None:
    config = replace(config, train=sources(), strategy=strategy, steps=3)
    Run(config, TRAINING, tmp_path).train()
    record = json.loads((tmp_path / "checkpoint" / "training.json").read_text())
    assert list(record["counts"]) == [source.name for source in config.sources()]
    card = (tmp_path / "checkpoint" / "README.md").read_text()
    assert ("one after another" in card) == (strategy == "sequential")
    assert ("one level of difficulty after another" in card) == (strategy == "curriculum")


PUBLISHED = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))["published"]
PAPER = {source.name: source for source in read_yaml(CONFIGS / "matcha" / "paper.yaml", TrainConfig).train}


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_set_of_the_paper_is_read_as_it_is_published(name: str, tmp_path: Path) -> None:
    one, source = PUBLISHED[name], PAPER[name]
    if "columns" in one:  # a repository: a card that names the files, and one parquet file
        subset, split = source.table.subset or "default", source.table.split
        (tmp_path / subset).mkdir()
        pd.DataFrame(one["columns"]).to_parquet(tmp_path / subset / f"{split}-00000-of-00001.parquet")
        files = f"  data_files:\n  - split: {split}\n    path: {subset}/{split}-*\n"
        (tmp_path / "README.md").write_text(f"---\nconfigs:\n- config_name: {subset}\n{files}---\n")
        source = replace(source, table=replace(source.table, hub=str(tmp_path)))
    elif "csv" in one:  # with a first column of row numbers, as published
        pd.DataFrame(one["csv"]).to_csv(tmp_path / source.table.path)
    else:
        (tmp_path / source.table.path).write_text("\n".join(one["lines"]), encoding="utf-8")
    examples, _ = load_source(source, tmp_path, frozenset())
    assert [[e.reference, e.correct, e.incorrect] for e in examples] == one["items"]
