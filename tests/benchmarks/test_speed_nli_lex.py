"""`benchmarks.nli_lex.speed` on a few answers: that it runs and what it says, never how fast anything is."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.nli_lex import speed as speed
from semantic_metrics import load
from tests.benchmarks.nli_lex.data import write_data
from tests.nli_lex.conftest import nli


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nli(tmp_path_factory.mktemp("speed") / "model")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """EVOUNA's file with one reference to most answers."""
    folder = write_data(tmp_path / "data")
    path = folder / "evouna" / "nq.parquet"
    frame = pd.read_parquet(path)
    frame.loc[2:, "reference"] = frame["reference"].str.partition("/")[0]
    frame.loc[5, "candidate"] = " "
    frame.loc[6, "candidate"] = "the dog " * 200
    frame.to_parquet(path)
    return folder


def test_only_answers_that_are_read_whole_are_timed(model: Path, data: Path) -> None:
    held = speed.read_answers(data, load("nli_lex", str(model)).scorer)
    assert len(held.answers) == len(held.labels) == 20 - 2 - 2
    assert "/" not in "".join(held.references)
    assert held.first(3).answers == [held.answers[0], held.answers[7], held.answers[15]]


def test_every_precision_is_compared_with_the_loop(model: Path, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "speed.json"
    arguments = ["--data", str(data), "--checkpoint", str(model), "--answers", "9", "--repeats", "1"]
    result = CliRunner().invoke(
        speed.nli_lex, [*arguments, "--shape", "2", "64", "--output", str(output)], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    sides = {side["name"]: side for side in json.loads(output.read_text(encoding="utf-8"))["sides"]}
    assert list(sides) == ["loop", "float32", "bfloat16", "int8", "large, float32"]
    assert sides["float32"]["largest_drift"] < 1e-5 < sides["int8"]["largest_drift"]
    for side in sides.values():
        assert f"{side['answers_per_second']:.1f}" in result.output
        for name, base in (("times_loop", "loop"), ("times_float32", "float32")):
            assert side[name] == pytest.approx(side["answers_per_second"] / sides[base]["answers_per_second"])
    assert sides["large, float32"]["accuracy"] is None


def test_a_folder_without_the_set_is_named(model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(speed.nli_lex, ["--data", str(tmp_path), "--checkpoint", str(model)])
    assert result.exit_code == 1
    assert "data: no file evouna/nq.parquet in the data folder" in result.output
