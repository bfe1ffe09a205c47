"""The kept recipes: each is valid, its header's commands exist, and those of shipped weights are what trained them."""

import importlib
import json
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.documents.blocks import check_command, commands
from tests.training.conftest import CONFIGS
from training.cross_encoder.config import CrossEncoderConfig
from training.data.config_files import read_yaml
from training.matcha.config import TrainConfig

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
        while "=" in words[0]:  # a variable of the environment
            words = words[1:]
        if words[0] == "torchrun":
            words = ["python", *words[words.index("training/train_cross_encoder.py") :]]
        if words[0] not in ("git", "sed"):
            check_command(words)
        for word in words:
            if word.startswith(("training/", "benchmarks/")) and not word.endswith("_off.yaml"):  # which `sed` writes
                assert (ROOT / word).is_file(), shlex.join(words)
    for file in (word.strip(",}") for word in path.read_text(encoding="utf-8").split() if word.startswith("./runs/")):
        assert any(Path(file).is_relative_to(folder) for folder in made), f"no command of the header makes {file}"


@pytest.mark.parametrize("name", ["cross_encoder/pairs", "matcha/contextual"])
def test_a_recipe_of_shipped_weights_is_the_one_that_they_record(name: str) -> None:
    path = CONFIGS / f"{name}.yaml"
    record = json.loads((ROOT / "model_cards" / path.stem / "training.json").read_text(encoding="utf-8"))["config"]
    config = json.loads(json.dumps(asdict(read_yaml(path, kind(path)))))
    del record["notes"]  # they tell the history, which a recipe tells shorter
    if kind(path) is CrossEncoderConfig:
        del record["batch_size"]  # batches are of so many tokens now
        assert record.pop("layers") is None  # an option that is no more
    assert within(config, record) == record


def within(value: object, record: object) -> object:
    """The part of a config that an older record of it has: fields that came later are left out."""
    if isinstance(record, dict):
        return {name: within(value[name], record[name]) for name in record}
    if isinstance(record, list):
        return [within(*pair) for pair in zip(value, record, strict=True)]
    return value


@pytest.mark.parametrize("name", ["judged_answers", "denials"])
def test_questions_that_test_the_judge_are_not_trained_on(name: str) -> None:
    path = CONFIGS / "data" / f"{name}.yaml"
    excluded = {entry["path"] for entry in read_yaml(path, kind(path)).exclude}
    assert excluded == {"diver_qa/sample.parquet", "openqa_eval/nq301.parquet"}


def test_main_has_few_recipes() -> None:
    assert len(PATHS) <= 24
