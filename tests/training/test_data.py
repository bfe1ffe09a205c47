"""Sources -> examples -> batches, the strategies of table 10, and the paper's training sets as published."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.matcha.command import main as benchmark
from tests.benchmarks.papers.matcha_data import triplets, write_data
from tests.training.conftest import CONFIGS, TRAINING
from training.data.config_files import read_yaml
from training.data.paper.__main__ import main
from training.data.paper.build import ExcludedTexts, build_set, clean
from training.data.paper.loaders import Item
from training.data.paper.rows import Place
from training.data.paper.sets import SETS
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
from training.matcha.batches import InterleavedBatches, LevelBatches, RoundRobinBatches
from training.matcha.config import STRATEGIES, TrainConfig
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
        ({"reference": "premises"}, "expected columns .*premises"),
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
    with pytest.raises(ValueError, match="difficulty: expected 1 or more, got 0"):
        replace(first, difficulty=0)


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


@pytest.mark.parametrize("strategy", ["sequential", "curriculum"])
def test_run_trains_on_what_its_strategy_takes(config: TrainConfig, tmp_path: Path, strategy: str) -> None:
    config = replace(config, train=sources(), strategy=strategy, steps=3)
    Run(config, TRAINING, tmp_path).train()
    record = json.loads((tmp_path / "checkpoint" / "training.json").read_text())
    assert list(record["counts"]) == [source.name for source in config.sources()]
    card = (tmp_path / "checkpoint" / "README.md").read_text()
    assert ("one after another" in card) == (strategy == "sequential")
    assert ("one level of difficulty after another" in card) == (strategy == "curriculum")


NOTHING = ExcludedTexts([])
PUBLISHED = yaml.safe_load(Path(__file__).with_name("published.yaml").read_text(encoding="utf-8"))
ITEMS = {name: [tuple(item) for item in one["items"]] for name, one in PUBLISHED.items()}


def write_published(name: str, folder: Path) -> Path:
    """Write a set as it is published; returns what --from takes: the folder if it is a repository, else the file."""
    one = PUBLISHED[name]
    folder.mkdir()
    if "columns" in one:  # a card that names the files, and one parquet file
        subset, split = one.get("subset", "default"), one.get("split", "train")
        (folder / subset).mkdir()
        pd.DataFrame(one["columns"]).to_parquet(folder / subset / f"{split}-00000-of-00001.parquet")
        files = f"  data_files:\n  - split: {split}\n    path: {subset}/{split}-*\n"
        (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: {subset}\n{files}---\n")
        return folder
    if "csv" in one:
        content = pd.DataFrame(one["csv"]).to_csv()  # with a first column of row numbers, as published
    else:
        content = "\n".join(one["lines"] if "lines" in one else map(json.dumps, one["json_lines"]))
    path = folder / one["file"]
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return folder if one.get("is_repository") else path


def place_of(name: str, folder: Path) -> Place:
    return (SETS[name].place or Place()).moved(str(write_published(name, folder / name)))


@pytest.mark.parametrize("name", SETS)
def test_each_set_is_read_as_it_is_published(name: str, tmp_path: Path) -> None:
    assert list(SETS[name].load(place_of(name, tmp_path).rows())) == [Item(*item) for item in ITEMS[name]]


def test_sets_are_the_fifteen_of_the_paper() -> None:
    assert len(SETS) == 15
    assert [name for name, one in SETS.items() if one.contrastive] == ["snli", "multinli", "vitaminc", "qqp"]
    assert {name for name, one in SETS.items() if one.cap} == {"coco", "flickr30k", "qqp", "paranmt", "wikianswers"}
    config = read_yaml(CONFIGS / "matcha" / "paper.yaml", TrainConfig)
    assert [source.name for source in config.train] == list(SETS)
    assert all(source.table.path == f"{source.name}.parquet" for source in config.train)
    assert {source.name: source.limit for source in config.train} == {name: one.cap for name, one in SETS.items()}
    assert config.max_tokens == 512  # appendix A.3
    assert [source.has_contradictions for source in config.train] == [one.contrastive for one in SETS.values()]


def test_items_without_use_are_dropped_and_counted() -> None:
    items = [
        Item("A cook.", "Someone cooks."),
        Item("a cook", "someone  COOKS!"),  # the same again
        Item("A cook.", " ... "),
        Item("A cook.", None),
        Item("The bus.", "the bus"),
        Item("Seen in a test.", "Fine."),
        Item("A", "B", "seen in a TEST"),
        Item("X\nY", "Z"),
    ]
    counts: Counter = Counter()
    assert list(clean(items, frozenset({"seen in a test"}), counts)) == [items[0], ("X Y", "Z", None)]
    assert counts == {"no text": 2, "same text twice": 1, "in an evaluation set": 2, "twice": 1}


def test_built_file_is_what_a_config_reads(tmp_path: Path) -> None:
    place = place_of("snli", tmp_path)
    with pytest.raises(ValueError, match="nothing is left"):
        build_set("snli", SETS["snli"], place, tmp_path, ExcludedTexts([ITEMS["snli"][0][0]]), seed=42)
    assert not list(tmp_path.glob("snli.*"))
    counts = build_set("snli", SETS["snli"], place, tmp_path, NOTHING, seed=42)
    assert counts == {"rows": 5, "triplets": 1, "kept": 1, "over the cap": 0}
    source = read_yaml(CONFIGS / "matcha" / "paper.yaml", TrainConfig).train[0]
    (example,), _ = load_source(source, tmp_path, frozenset())
    assert (example.reference, example.correct, example.incorrect) == ITEMS["snli"][0]
    assert not list(tmp_path.glob("*.part"))


def test_command_builds_all_and_prints_what_became_of_it(tmp_path: Path) -> None:
    data, output, texts = write_data(tmp_path / "data"), tmp_path / "out", str(tmp_path / "texts.parquet")
    result = CliRunner().invoke(benchmark, ["--data", str(data), "--export-texts", texts])
    assert result.exit_code == 0, result.output
    moved = [f"--from={name}={write_published(name, tmp_path / name)}" for name in SETS if name != "paranmt"]
    arguments = ["--output", str(output), "--exclude", texts, *moved]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1  # ParaNMT is to be fetched by hand
    assert "expected --from paranmt=FILE, the file being para-nmt-50m.txt" in result.output
    table = pd.read_csv(output / "sets.csv").set_index("set")
    assert list(table.index) == list(SETS)
    assert table["state"].drop("paranmt").eq("built").all()
    assert table.loc["altlex", ["rows", "triplets", "kept"]].tolist() == [2, 2, 2]
    built = pd.read_parquet(output / "altlex.parquet")
    assert set(built["incorrect"]) == set(built["correct"])
    assert (built["incorrect"] != built["correct"]).all()
    excluded = read_excluded([{"path": "evaluation_texts.parquet", "columns": ["text"]}], output)
    assert {text.lower() for text in triplets("coco").references} <= excluded
    again = CliRunner().invoke(main, [*arguments, "--only", "snli", "--only", "coco"])
    assert again.exit_code == 0, again.output
    assert pd.read_csv(output / "sets.csv")["state"].tolist() == ["cached", "cached"]
