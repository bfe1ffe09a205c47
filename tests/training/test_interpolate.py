"""The mean of two contextual checkpoints."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.training.conftest import CONFIGS, TRAINING
from training import interpolate
from training.interpolate import interpolate as mean
from training.matcha.config import TrainConfig
from training.train import Run


def test_mean_of_a_start_and_what_was_trained_on_from_it(
    contextual: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, steps in (("first", 1), ("second", 6)):
        Run(replace(contextual, steps=steps), TRAINING, tmp_path / name).train()
    folders = [str(tmp_path / name / "checkpoint") for name in ("first", "second")]
    options = ["--share", "0.25", "--config", str(CONFIGS / "smoke.yaml"), "--data", str(TRAINING)]
    monkeypatch.setattr(sys, "argv", ["interpolate.py", *folders, *options, "--output", str(tmp_path / "out")])
    interpolate.main()
    first, second, mixed = (load_file(Path(f) / "model.safetensors") for f in (*folders, tmp_path / "out/checkpoint"))
    for name, tensor in mixed.items():
        assert tensor.dtype == torch.float16
        torch.testing.assert_close(
            tensor.float(), 0.75 * first[name].float() + 0.25 * second[name].float(), atol=1e-3, rtol=1e-3
        )
    record = json.loads((tmp_path / "out" / "checkpoint" / "training.json").read_text())
    assert "training.interpolate" in record["command"]
    assert set(record["validation"]) == {"bundled"}
    assert "training.interpolate" in (tmp_path / "out" / "checkpoint" / "README.md").read_text()


def test_what_cannot_be_averaged_is_said() -> None:
    one, other = {"a": torch.zeros(2)}, {"a": torch.zeros(3)}
    with pytest.raises(ValueError, match=r"share: expected a number in \[0, 1\], got 2"):
        mean(one, one, 2)
    with pytest.raises(ValueError, match=r"these are not: \['a'\]"):
        mean(one, other, 0.5)
    with pytest.raises(ValueError, match=r"these are not: \['b'\]"):
        mean(one, one | {"b": torch.zeros(1)}, 0.5)
