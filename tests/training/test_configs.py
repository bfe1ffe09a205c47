"""The kept recipes are valid, wrong values are one line each, and cards say what records and tables hold."""

import importlib
import json
import re
import shlex
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest
import yaml

from benchmarks.papers.matcha.authors import ROW as AUTHORS_ROW
from tests.conftest import ROOT
from tests.documents.blocks import check_command, commands
from tests.training.conftest import CONFIGS, TRAINING
from training.cards import read_results, render
from training.cross_encoder.pairs import CrossEncoderConfig
from training.data import config_checks
from training.data.config_files import read_yaml
from training.matcha.config import TrainConfig
from training.train import Run

PATHS = [CONFIGS / "smoke.yaml", *sorted(CONFIGS.glob("*/*.yaml"))]
KINDS = {"configs": TrainConfig, "matcha": TrainConfig, "cross_encoder": CrossEncoderConfig}


def header(path: Path) -> list[list[str]]:
    """The commands in the comments that a config begins with, and in those of the config that it extends."""
    text = path.read_text(encoding="utf-8")
    lines = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   ")]
    extended = yaml.safe_load(text).get("extends")
    return [*(header(path.parent / extended) if extended else []), *commands("\n".join(lines))]


def kind(path: Path) -> type:
    """The class of a config: of its folder, or of the module that its header runs with it."""
    if path.parent.name != "data":
        return KINDS[path.parent.name]
    name = next(words[2] for words in header(path) if str(path.relative_to(ROOT)) in words)
    module = importlib.import_module(name)
    return next(
        value for value in vars(module).values() if getattr(value, "__module__", "") == name and is_config(value)
    )


def is_config(value: object) -> bool:
    return isinstance(value, type) and value.__name__.endswith("Config")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_recipe_is_valid_and_its_commands_make_what_it_reads(path: Path) -> None:
    assert read_yaml(path, kind(path)).train
    found = header(path)
    made = {words[i + 1] for words in found for i, word in enumerate(words) if word in ("--output", "add")}
    for words in found:
        check_words(words)
    for file in (word.strip(",}") for word in path.read_text(encoding="utf-8").split() if word.startswith("./runs/")):
        assert any(Path(file).is_relative_to(folder) for folder in made), f"no command of the header makes {file}"


def check_words(words: list[str]) -> None:
    """Check that a command exists with its options, and that the checkout has the files that it names."""
    while "=" in words[0]:  # a variable of the environment
        words = words[1:]
    if words[0] == "torchrun":
        words = ["python", *words[words.index("training/train_cross_encoder.py") :]]
    if words[0] not in ("git", "sed"):
        check_command(words)
    for word in words:
        if word.startswith(("training/", "benchmarks/")) and not word.endswith("_off.yaml"):  # which `sed` writes
            assert (ROOT / word).is_file(), shlex.join(words)


@pytest.mark.parametrize("name", ["matcha", "contextual", "pairs", "large"])
def test_the_commands_of_a_card_exist_and_so_do_their_files(name: str) -> None:
    runs = [record(name), *record(name).get("started_from", [])]
    found = [words for run in runs for words in commands(run["command"])]
    assert len(found) >= len(runs)
    for words in found:
        check_words(words)


@pytest.mark.parametrize("name", ["cross_encoder/pairs", "matcha/contextual"])
def test_a_recipe_of_shipped_weights_is_the_one_that_they_record(name: str) -> None:
    path = CONFIGS / f"{name}.yaml"
    run = json.loads((ROOT / "model_cards" / path.stem / "training.json").read_text(encoding="utf-8"))
    record, words = run["config"], run["command"].split()
    given = words[words.index("--set") + 1 : words.index("--data")] if "--set" in words else []
    config = json.loads(json.dumps(asdict(read_yaml(path, kind(path), given))))
    del record["notes"]  # they tell the history, which a recipe tells shorter
    assert within(config, record) == record


def within(value: object, record: object) -> object:
    """The part of a config that an older record of it has: fields that came later are left out."""
    if isinstance(record, dict):
        return {name: within(value[name], record[name]) for name in record}
    if isinstance(record, list):
        return [within(*pair) for pair in zip(value, record, strict=True)]
    return value


def test_main_has_few_recipes() -> None:
    assert len(PATHS) <= 24


TABLES = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))
SMOKE = CONFIGS / "smoke.yaml"
STSB = CONFIGS / "cross_encoder" / "stsb.yaml"


def read(kind: type, base: Path, changes: dict, folder: Path) -> object:
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({"extends": str(base), **changes}), encoding="utf-8")
    return read_yaml(path, kind)


@pytest.mark.parametrize(("changes", "message"), TABLES["wrong_configs"])
def test_wrong_value_of_a_training_config_is_one_line(changes: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read(TrainConfig, SMOKE, changes, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": [2, 1]}, r"layers: expected numbers from 0 in ascending order, got \[2, 1\]"),
        ({"train": [{"name": "a", "path": "a.csv"}]}, "scale of a: expected the highest score of its labels, got None"),
        ({"train": [{"name": "a", "path": "a.csv", "scale": 0}]}, r"train\[0\].scale: expected greater than 0"),
    ],
)
def test_wrong_value_of_a_cross_encoder_s_config_is_one_line(changes: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read(CrossEncoderConfig, STSB, changes, tmp_path)


def test_figure_that_no_validation_set_has_is_refused_before_training(tmp_path: Path) -> None:
    config = read(TrainConfig, SMOKE, {"select_by": "ccc"}, tmp_path)
    with pytest.raises(ValueError, match=r"select_by: expected one of \['auc', .*got 'ccc'"):
        Run(config, TRAINING, tmp_path / "out")


def test_the_lack_of_bfloat16_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for has, precision, device in ((True, "bf16", "cpu"), (False, "no", "cpu"), (False, "bf16", "cuda")):
        monkeypatch.setattr(config_checks, "has_bfloat16", lambda has=has: has)
        config_checks.warn_of_slow_precision(precision, device)
        assert capsys.readouterr().err == ""
    config_checks.warn_of_slow_precision("bf16", "cpu")
    assert capsys.readouterr().err.startswith("precision: this processor has no instructions for bf16")


COLUMNS = ["set", "metric", "figure", "value", "published"]


def record(name: str) -> dict:
    return json.loads((ROOT / "model_cards" / name / "training.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["matcha", "contextual", "pairs", "large"])
def test_shipped_card_is_what_its_record_renders(name: str) -> None:
    shipped = (ROOT / "model_cards" / name / "README.md").read_text(encoding="utf-8")
    assert render(record(name)) == shipped
    assert len(shipped.splitlines()) <= 250


def test_test_results_stand_in_the_tables_and_in_the_front_matter(tmp_path: Path) -> None:
    table3 = [
        ("SNLI", "MATCHA", "n_delta", 29.5, 34.95),
        ("SNLI", "MATCHA", "auc", 86.0, None),
        ("SNLI", "EmbSim", "auc", 89.29, None),
        ("SNLI", "R1-F1", "n_delta", 12.77, 12.76),
        ("SNLI", "MATCHA", "correct", 70.0, 71.14),
    ]
    table4 = [("SNLI", "MATCHA", "macro_f1", 67.5, 72.59), ("SNLI", "MATCHA", "macro_f1", None, 1.0)]
    for name, rows in (("table3.csv", table3), ("table4.csv", table4)):
        pd.DataFrame(rows, columns=COLUMNS).to_csv(tmp_path / name, index=False)
    card = render(record("matcha"), read_results([tmp_path]))
    assert "| SNLI | 29.50 (34.95) | 67.50 (72.59) | 86.00 |  | 89.29 |" in card
    assert "R1-F1" not in card
    assert "the others were drawn anew" in card
    front = yaml.safe_load(card.split("---")[1])
    assert front["license"] == "cc-by-sa-4.0"
    (entry,) = front["model-index"][0]["results"]
    assert entry["dataset"]["name"] == "SNLI"
    assert {m["type"]: m["value"] for m in entry["metrics"]} == {"n_delta": 29.5, "auc": 86.0, "macro_f1": 67.5}
    with pytest.raises(ValueError, match="--row: expected a row of the tables"):
        read_results([tmp_path], "another")
    table3.append(("SNLI", AUTHORS_ROW, "n_delta", 34.9, 34.95))
    pd.DataFrame(table3, columns=COLUMNS).to_csv(tmp_path / "table3.csv")
    card = render(record("matcha"), read_results([tmp_path]))
    assert "| SNLI | 29.50 | 67.50 | 86.00 |  | 89.29 |" in card, "the paper's figure is of the authors' scores"
    assert "The rows are the paper's own" in card


def test_a_card_has_ten_figures_in_front_and_no_part_of_a_set_whose_whole_it_has() -> None:
    card = render(record("pairs"))
    assert len(yaml.safe_load(card.split("---")[1])["model-index"][0]["results"]) <= 10
    assert re.search(r"\| probe, all \(256 pairs\) \| accuracy 0\.\d+ \|", card)
    published = r"NLI\+lex, the paper's \| accuracy 0\.\d+ \(0\.845\), F1 0\.\d+ \(0\.8865\)"
    assert re.search(rf"\| DIVER-QA \(630 answers\), {published}", card)
    assert "probe, number" not in card
    assert "denials, list" not in card
    assert "Token recall" not in card, "another judge"
    assert "| judged_by_large 120,000, answers " in card, "sources of one licence and credit share a row"
