"""Input that once passed for something else."""

import json
from dataclasses import asdict
from pathlib import Path

import evaluate
import numpy as np
import pandas as pd
import pytest

from tests.conftest import METRIC
from tests.tiny_table import small_table


@pytest.mark.parametrize(
    "texts", [pd.DataFrame({"text": ["the dog", "a cat"]}), np.array([["the dog"], ["a cat"]]), np.array("the dog")]
)
def test_what_has_not_one_dimension_is_no_list(metric: evaluate.Metric, texts: object) -> None:
    with pytest.raises(ValueError, match=r"predictions: expected a list of strings, got .* of [02] dimensions"):
        metric.compute(predictions=texts, references=["the dog", "a cat"])
    with pytest.raises(ValueError, match=r"references: expected a list of strings, got .* of [02] dimensions"):
        metric.compute(predictions=["the dog", "a cat"], references=texts)


def test_padding_and_truncation_of_a_tokenizer_file_are_switched_off(tmp_path: Path) -> None:
    plain, other = small_table(), small_table()
    other.tokenizer.enable_padding(pad_id=2)
    other.tokenizer.enable_truncation(1)
    other.save(tmp_path)
    loaded = evaluate.load(METRIC, str(tmp_path)).encoder
    texts = ["the cat", "the dog bites the man", ""]
    assert (loaded.encode(texts).vectors == plain.encode(texts).vectors).all()


@pytest.mark.parametrize(
    "change",
    [
        {"pad_to": 0, "max_length": 0, "pad_token_id": 1},
        {"pad_to": True, "max_length": True, "pad_token_id": 1},
        {"pad_to": 10**30, "max_length": 10**30, "pad_token_id": 1},
        {"pad_token_id": 1.5, "pad_to": 64, "max_length": 64},
        {"max_length": -1},
        {"vocab_size": "5"},
        {"add_special_tokens": "no"},
        {"unk_token": "nope"},
    ],
)
def test_a_config_with_values_that_are_none_is_refused(tmp_path: Path, change: dict) -> None:
    table = small_table()
    table.save(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(asdict(table.config) | change))
    with pytest.raises(ValueError, match=f"checkpoint.*{next(iter(change))}: expected"):
        evaluate.load(METRIC, str(tmp_path))


@pytest.mark.parametrize("name", [5, b"x", ["a"], True, "z" * 5000, "~nosuchuser/x", "/" + "y/" * 3000])
def test_a_name_that_is_none_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match="checkpoint"):
        evaluate.load(METRIC, name)


def test_a_folder_with_a_long_name_loads(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["p" * 60] * 5)
    small_table().save(folder)
    result = evaluate.load(METRIC, str(folder)).compute(predictions=["the dog"], references=["the dog"])
    assert result["matcha"] == 1.0
