"""The contextual MATCHA beside sentence-transformers."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.speed import main
from tests import tiny_pairs as tiny
from training.matcha.contextual import ContextualModel


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    start, folder = (tmp_path_factory.mktemp(name) for name in ("start", "contextual"))
    ContextualModel(str(tiny.bert(start)), max_length=20).save(folder)
    return folder


def test_both_sides_score_alike(folder: Path, tmp_path: Path) -> None:
    options = ["--checkpoint", f"{folder}/", "--pairs", "20", "--repeats", "1", "--output", str(tmp_path / "out.json")]
    result = CliRunner().invoke(main, ["contextual", *options], env={"SEMANTIC_METRICS_DATA": None})
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out.json").read_text())["comparison"]
    assert found["largest_difference"] < 1e-5
    assert found["ratio"] == pytest.approx(found["texts_per_second"] / found["peer_texts_per_second"])
    assert "20 pairs" in result.output


def test_an_unknown_checkpoint_is_named() -> None:
    result = CliRunner().invoke(main, ["contextual", "--checkpoint", "./nowhere"])
    assert result.exit_code == 1
    assert "checkpoint './nowhere'" in result.output
