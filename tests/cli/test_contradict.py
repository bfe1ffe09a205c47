"""`semantic-metrics contradict`."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import done, invoke, refused


def test_command_writes_row_rule_and_probability(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the extra `contradict` is not installed")
    source, target = tmp_path / "texts.csv", tmp_path / "out.jsonl"
    source.write_text("id,text\n1,The dog is asleep.\n2,\n3,The film was released in 1998.\n")
    lines = done(invoke("contradict", source, "--output", target))
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [row["row"] for row in rows] == [1, 3]
    assert all(row["probability"] >= 0.5 and row["contradiction"] != row["text"] for row in rows)
    assert lines[-1].startswith("texts 3, contradictions 2, rule ")
    assert lines[-1].endswith("none: empty 1")


def test_command_refuses_in_one_line(tmp_path: Path) -> None:
    source = tmp_path / "texts.csv"
    source.write_text("claim\nA dog runs.\n")
    refused(invoke("contradict", source), "texts.csv: expected one of the columns 'claim', got 'text'")
    refused(invoke("contradict", source, "--output", "o.txt"), "--output: expected a file of .csv, .tsv, ")
