"""--device, --precision, --backend, --batch-size and --workers, in every command that runs a model."""

import json
from pathlib import Path

import pytest

from semantic_metrics import score
from semantic_metrics.core.signature import shorten
from tests import tiny_pairs as tiny
from tests.cli.conftest import done, invoke, refused, write_jsonl
from training.matcha.contextual import ContextualModel

OPTIONS = ("--device", "--precision", "--backend", "--batch-size", "--workers")
ROWS = [{"said": f"the dog {i} bites", "gold": "a dog bites"} for i in range(3)]
COLUMNS = {"predictions": "said", "references": "gold"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "in.jsonl", ROWS)


COMMANDS = ("check", "compare", "contradict", "criteria", "explain", "fit", "report", "score", "validate")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_runs_a_model_has_the_options(command: str) -> None:
    shown = "\n".join(done(invoke(command, "--help")))
    missing = [option for option in OPTIONS if option not in shown]
    assert missing == (["--workers"] if command == "criteria" else [])


def test_they_reach_the_metric(file: Path, sts_model: Path, tmp_path: Path) -> None:
    output, signatures = tmp_path / "out.jsonl", tmp_path / "signatures.txt"
    run = {"precision": "bfloat16", "device": "cpu", "batch-size": 1, "backend": "torch", "workers": 2}
    files = {"output": output, "signatures": signatures}
    lines = done(
        invoke("score", file, "--metric", "stsscore", "--config", sts_model, options={**COLUMNS, **run, **files})
    )
    said, gold = zip(*((row["said"], row["gold"]) for row in ROWS), strict=True)
    own = {"checkpoint": str(sts_model), "precision": "bfloat16", "device": "cpu", "batch_size": 1}
    expected = score("stsscore", list(said), list(gold), **own)
    assert "precision:bfloat16" in expected["signature"]
    assert lines[-1] == shorten(expected["signature"])
    assert signatures.read_text().splitlines() == [expected["signature"]]
    written = [json.loads(line)["stsscore"] for line in output.read_text().splitlines()]
    assert written == expected["scores"]


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_they_reach_a_contextual_checkpoint_of_matcha(file: Path, tmp_path: Path, backend: str) -> None:
    if backend == "openvino":
        pytest.importorskip("openvino", reason="the extra `fast` is not installed")
    folder, whole = tmp_path / "contextual", tmp_path / "signatures.txt"
    ContextualModel(str(tiny.bert(tmp_path / "start")), max_length=20).save(folder)
    run = {"precision": "int8", "workers": 2, "batch-size": 1, "backend": backend, "signatures": whole}
    result = invoke("score", file, "--metric", "matcha", "--config", folder, options={**COLUMNS, **run})
    said, gold = zip(*((row["said"], row["gold"]) for row in ROWS), strict=True)
    own = {"checkpoint": str(folder), "precision": "int8", "batch_size": 1, "backend": backend}
    expected = score("matcha", list(said), list(gold), **own)
    assert any(f"mean {expected['matcha']:.4f}," in line for line in done(result))
    assert "has no effect" not in result.stderr
    assert whole.read_text().strip() == expected["signature"]
    assert "|dtype:int8|" in expected["signature"]
    assert ("|backend:openvino|" in expected["signature"]) == (backend == "openvino")


def test_a_table_says_that_they_have_no_effect(file: Path, checkpoint: Path) -> None:
    result = invoke("score", file, "--metric", "matcha", "--config", checkpoint, "--device", "cuda:7", options=COLUMNS)
    assert done(result)
    assert result.stderr == "matcha: a table runs no model, --device has no effect\n"
    table = ("score", file, "--metric", "matcha", "--config", checkpoint)
    result = invoke(*table, "--device", "cpu", "--batch-size", "3", options=COLUMNS)
    assert result.stderr == "matcha: a table runs no model, --device, --batch-size have no effect\n"
    refused(invoke(*table, "--precision", "fp16", options=COLUMNS), "precision: expected one of")
