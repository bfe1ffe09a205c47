"""Wrong values of a config are one line each, before any data is read."""

from pathlib import Path

import pytest
import yaml

from tests.training.conftest import CONFIGS, TRAINING
from training.cross_encoder.config import CrossEncoderConfig
from training.data import config_checks
from training.data.config_files import read_yaml
from training.matcha.config import TrainConfig
from training.train import Run

SMOKE = CONFIGS / "smoke.yaml"
STSB = CONFIGS / "cross_encoder" / "stsb.yaml"


def read(kind: type, base: Path, changes: dict, folder: Path) -> object:
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({"extends": str(base), **changes}), encoding="utf-8")
    return read_yaml(path, kind)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lr": "fast"}, "lr: expected a valid number, .*got 'fast'"),
        ({"lr": float("nan")}, "lr: expected a finite number, got nan"),
        ({"lr": 0}, "lr: expected a number above 0, got 0"),
        ({"batch_size": 0}, "batch_size: expected 1 or more, got 0"),
        ({"accumulate": 2.5}, "accumulate: expected a valid integer, .*got 2.5"),
        ({"stepz": 3}, "stepz: unknown key"),
        ({"extends": "config.yaml"}, "extends: expected another file, got one that extends itself"),
        ({"seed": -1}, "seed: expected 0 or more, got -1"),
        ({"average": 1}, "average: expected a number from 0 to below 1, got 1"),
        ({"precision": "fp8"}, "precision: expected 'bf16' or 'no', got 'fp8'"),
        ({"select_by": "rouge"}, "select_by: expected one of n_delta, .*got 'rouge'"),
        ({"name": "../up"}, "name: expected a name without a path, got '../up'"),
        ({"loss": {"kind": "cosine"}}, "loss: expected kind triplet or in_batch or regression, got 'cosine'"),
        ({"loss": {"kind": "triplet", "marign": 1}}, r"loss: expected keys among \['margin'\] for kind triplet"),
        ({"loss": {"kind": "triplet", "margin": "1"}}, "loss.margin: expected a valid number, got '1'"),
        ({"loss": "triplet"}, "loss: expected a valid dictionary, got 'triplet'"),
        ({"schedule": {"kind": "exponential"}}, r"schedule: expected the keys \['decay'\] for kind exponential"),
        ({"schedule": {"kind": "one_cycle", "warmup": 2}}, "schedule.warmup: expected a share of the steps"),
        ({"network": {"senses": 16}}, r"network: expected keys among \['num_senses', .*got \['senses'\]"),
        ({"network": {"num_senses": 0}}, "num_senses: expected a whole number from 1, got 0"),
        ({"network": {"activation_function": "step"}}, "network.activation_function: expected one of gelu, "),
        (
            {"network": {"kind": "transformer", "max_length": 0}},
            "network: expected dropout from 0 to below 1 and max_l",
        ),
        ({"regulariser": {"kind": "set_criteria"}}, "regulariser, sets: expected both or neither, got one"),
        ({"regulariser": {"kind": "set_criteria", "weight": -1}}, "regulariser.weight: expected 0 or more, got -1"),
        ({"exclude": [{"path": "a.csv"}]}, r"exclude\[0\].columns: missing"),
        (
            {"exclude": [{"path": "a.csv", "columns": "text"}]},
            r"\[0\].columns: expected a valid list, got 'text'",
        ),
        (
            {"train": [{"name": "a", "kind": "triplets", "path": "a.csv", "limit": 0}]},
            r"train\[0\]: limit: expected 1",
        ),
        (
            {"train": [{"name": "a", "kind": "triplets", "path": 3}]},
            r"\[0\].table.path: expected a valid string, got",
        ),
        ({"train": [{"name": "a", "kind": "triplets", "path": "a.csv", "columns": [["a"]]}]}, "one list of three col"),
        ({"train": [{"name": "a", "kind": "pears", "path": "a.csv"}]}, "expected a kind among pairs, .*got 'pears'"),
        ({"train": 2 * [{"name": "a", "kind": "triplets", "path": "a.csv"}]}, r"train, sets: .*got \['a'\] twice"),
    ],
)
def test_wrong_value_of_a_training_config_is_one_line(changes: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read(TrainConfig, SMOKE, changes, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dropout": 1.0}, "dropout: expected a number from 0 to below 1, got 1.0"),
        ({"classes": "entailment"}, "classes: expected a valid list, got 'entailment'"),
        ({"train": [{"name": "a", "path": "a.csv"}]}, "scale of a: expected the highest score of its labels, got None"),
        ({"train": [{"name": "a", "path": "a.csv", "scale": 0}]}, r"train\[0\]: scale: expected a number above 0"),
    ],
)
def test_wrong_value_of_a_cross_encoder_s_config_is_one_line(changes: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read(CrossEncoderConfig, STSB, changes, tmp_path)


def test_figure_that_no_validation_set_has_is_refused_before_training(tmp_path: Path) -> None:
    config = read(TrainConfig, SMOKE, {"select_by": "ccc"}, tmp_path)
    with pytest.raises(ValueError, match=r"select_by: expected one of \['auc', .*got 'ccc'"):
        Run(config, TRAINING, tmp_path / "out")


def test_a_processor_without_bfloat16_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for has, precision, device in ((True, "bf16", "cpu"), (False, "no", "cpu"), (False, "bf16", "cuda")):
        monkeypatch.setattr(config_checks, "has_bfloat16", lambda has=has: has)
        config_checks.warn_of_slow_precision(precision, device)
        assert capsys.readouterr().err == ""
    config_checks.warn_of_slow_precision("bf16", "cpu")
    assert capsys.readouterr().err.startswith("precision: this processor has no instructions for bf16")
