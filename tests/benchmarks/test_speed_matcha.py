"""`python -m benchmarks.speed matcha` on a few texts: that it runs and what it says, never how fast anything is."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from benchmarks import speed
from benchmarks.common.timing import medians, read_pairs
from benchmarks.matcha import speed as speed_matcha
from semantic_metrics.matcha.modeling_matcha import MatchaConfig, MatchaModel
from tests.tiny_table import small_tokenizer

TINY = ["--pairs", "6", "--peer-pairs", "2", "--repeats", "1", "--shape", "400", "32", "2"]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """The folder that training leaves beside a checkpoint: the authors' format, with our kind of tokeniser."""
    folder, tokenizer = tmp_path / "network", small_tokenizer()
    folder.mkdir()
    torch.manual_seed(0)
    model = MatchaModel(MatchaConfig(tokenizer.get_vocab_size(), n_embd=16, num_senses=3))
    model.config.to_json(folder / "model_config.json")
    torch.save({"model_state_dict": model.state_dict()}, folder / "max_diff.pth")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("SEMANTIC_METRICS_DATA", raising=False)
    result = CliRunner().invoke(speed.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_matcha_is_compared_with_the_peer_on_both_weights(
    checkpoint: Path, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "speed.json"
    arguments = ["matcha", "--checkpoint", str(checkpoint), "--authors-format", str(network), *TINY]
    printed = _run([*arguments, "--output", str(output)], monkeypatch)
    record = json.loads(output.read_text(encoding="utf-8"))
    assert set(record) == {"command", "machine", "repeats", "split", "comparisons"}
    assert set(record["split"]) == {field.name for field in fields(speed_matcha.Split)}
    assert record["split"]["pairs"] == 6
    assert len(record["comparisons"]) == 2
    for comparison in record["comparisons"]:
        assert set(comparison) == {field.name for field in fields(speed_matcha.Comparison)}
        assert (comparison["pairs"], comparison["peer_pairs"]) == (6, 2)
        assert comparison["largest_difference"] <= 1e-6
        assert comparison["ratio"] == pytest.approx(3 * comparison["peer_seconds"] / comparison["seconds"])
        assert f"{comparison['ratio']:,.0f} times" in printed
    assert str(network) in record["comparisons"][1]["weights"]


def test_weights_of_our_own_are_passed_over_with_a_reason(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = _run(["matcha", "--checkpoint", str(checkpoint), *TINY], monkeypatch)
    assert "Not compared with weights of our own" in printed


def test_an_unknown_checkpoint_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEMANTIC_METRICS_DATA", raising=False)
    result = CliRunner().invoke(speed.main, ["matcha", "--checkpoint", "nothing", *TINY])
    assert result.exit_code == 1
    assert "'nothing'" in result.output


def test_texts_of_the_sample_are_all_different() -> None:
    pairs = read_pairs(None, 200)
    assert len({text for pair in pairs for text in pair}) == 400


def test_times_are_taken_in_turn_after_a_warm_up() -> None:
    calls: list[str] = []
    (first, result), (second, _) = medians([lambda: calls.append("a") or 7, lambda: calls.append("b")], repeats=2)
    assert "".join(calls) == "ababab"
    assert result == 7
    assert min(first, second) >= 0
