"""`python -m benchmarks.speed set_criteria` on a few samples: that it runs and what it says, never the speed."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import speed
from benchmarks.set_criteria import speed as speed_set_criteria
from semantic_metrics.set_criteria.epsilon import sample_cells
from tests.set_criteria import naive as peer

EXACT = 1e-12


def test_both_grids_are_the_paper_s() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 40))
    bounds = [[first.min(), first.max()], [second.min(), second.max()]]
    expected = pytest.approx(peer.grid_cells(first, second, bounds, 9), abs=EXACT)
    for cells in (speed_set_criteria.grid_cells, speed_set_criteria.grid_cells_by_masks, sample_cells):
        assert cells(first, second, bounds, 9) == expected


def test_the_command(tmp_path: Path) -> None:
    output = tmp_path / "speed.json"
    arguments = ["--samples", "60", "--width", "5", "--epsilons", "6", "--repeats", "2", "--output", str(output)]
    result = CliRunner().invoke(speed.main, ["set_criteria", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    record = json.loads(output.read_text(encoding="utf-8"))
    assert set(record) == {"command", "machine", "repeats", "whole", "comparison"}
    assert set(record["whole"]) == {field.name for field in fields(speed_set_criteria.Whole)}
    comparison = record["comparison"]
    assert set(comparison) == {field.name for field in fields(speed_set_criteria.Comparison)}
    assert (comparison["samples"], comparison["measures"], comparison["epsilons"]) == (60, 5, 6)
    assert comparison["largest_difference"] <= EXACT
    assert f"{comparison['ratio']:,.0f} times the closed form" in result.output
