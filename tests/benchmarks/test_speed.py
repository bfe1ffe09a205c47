"""`python -m benchmarks speed`: what is measured in which order, and what is recorded; never how fast."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import speed
from benchmarks.__main__ import COMMANDS
from benchmarks.__main__ import main as benchmarks
from benchmarks.speed import main
from benchmarks.speed_rows import PEER_OF, Line, lines
from semantic_metrics.transformer.drifts import processor


def test_every_benchmark_has_a_help() -> None:
    listed = CliRunner().invoke(benchmarks, ["--help"]).output
    for name in COMMANDS:
        assert name in listed
        result = CliRunner().invoke(benchmarks, [name, "--help"])
        assert result.exit_code == 0, (name, result.output)


def test_a_line_of_a_metric_has_its_reference_before_it() -> None:
    every = lines(("torch", "openvino"), ("float32", "int8"))
    names = [line.name for line in every]
    assert len(names) == len(set(names))
    for line in every:
        if line.metric in PEER_OF and line.backend:
            assert names.index(f"{line.metric}-torch-float32") <= names.index(line.name)
            assert names.index(line.peer) < names.index(line.name)
    wanted = speed._wanted(every, ("stsscore",))
    assert {line.metric for line in wanted} == {"stsscore", "CrossEncoder"}


@pytest.mark.slow
def test_the_table_of_matcha(tmp_path: Path) -> None:
    output = tmp_path / "speeds.json"
    arguments = ["--only", "matcha", "--pairs", "8", "--repeats", "1", "--idle", "--output", str(output)]
    result = CliRunner().invoke(main, arguments, env={"SEMANTIC_METRICS_DATA": ""})
    assert result.exit_code == 0, result.output
    figures = json.loads(output.read_text())["lines"]["matcha"]
    assert figures["neighbours"] == 0
    assert figures["megabytes"] > 0
    assert figures["start"] > 0
    assert "matcha" in result.output


def test_what_is_recorded_is_of_this_processor() -> None:
    row = {"metric": "contextual", "backend": "torch", "precision": "int8", "drift": 0.1, "neighbours": 0.0}
    drift = speed._drift(row | {"count": 10, "processor_seconds": 2.0})
    assert (drift.metric, drift.speed) == ("matcha", 5.0)
    assert drift.processor == processor()
    refused = CliRunner().invoke(main, ["--record", "--batch-size", "4"])
    assert refused.exit_code == 2
    assert "--record: expected device cpu" in " ".join(refused.output.split())
    assert Line("a", "b", "c").name == "a-b-c"
