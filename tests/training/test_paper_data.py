"""The paper's training sets: read as published, sampled, cleaned of evaluation texts, written as triplets."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from benchmarks.papers.matcha.command import main as benchmark
from tests.benchmarks.papers.matcha_data import triplets, write_data
from tests.training.conftest import CONFIGS
from training.data.config_files import read_yaml
from training.data.paper.__main__ import main
from training.data.paper.build import ExcludedTexts, build_set, clean
from training.data.paper.loaders import Item
from training.data.paper.rows import Place
from training.data.paper.sets import SETS
from training.data.sources import load_source, read_excluded
from training.matcha.config import TrainConfig

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
