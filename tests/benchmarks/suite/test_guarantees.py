"""`python -m benchmarks guarantees`: violations are found, and the shipped table has none."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.suite import guarantees
from benchmarks.suite.guarantees import Subject, violations

ROWS = pd.DataFrame({"predictions": ["a", "bb", "ccc"], "references": ["aaaa", "bb", "c"]})


def test_each_violation_is_found() -> None:
    calls = []

    def score(rows: pd.DataFrame) -> np.ndarray:
        calls.append(len(rows))
        lengths = [rows[name].str.len().to_numpy(dtype=float) for name in ("predictions", "references")]
        place = 0.01 * np.arange(len(rows))  # its place in the call counts
        size = 0.5 * (len(rows) > 1)  # and so does whether it is alone
        return lengths[0] / (lengths[0] + lengths[1]) + place + size + 0.1 * (len(calls) > 7)

    largest = violations(Subject("broken", score, ROWS))
    assert largest["self"] == pytest.approx(0.04), ".5 + .5 + up to .04 for five texts, above the highest score 1"
    assert largest["orders"] == pytest.approx(0.6), "a to aaaa is .2, the reverse .8"
    assert largest["rows reversed"] == pytest.approx(0.02)
    assert largest["alone"] == pytest.approx(0.52)
    assert largest["again"] == pytest.approx(0.1)


def test_the_command(tmp_path: Path) -> None:
    arguments = ["--metric", "shipped=matcha", "--pairs", "8", "--output", str(tmp_path / "out")]
    result = CliRunner().invoke(guarantees.main, arguments)
    assert result.exit_code == 0, result.output
    figures = pd.read_csv(tmp_path / "out" / "guarantees.csv", index_col="metric")
    assert figures.loc["shipped", [*guarantees.PROPERTIES, "golden"]].max() < 1e-12
    assert figures.loc["ROUGE-1", "orders"] < 1e-12
    assert np.isnan(figures.loc["ROUGE-1", "golden"])
    assert (tmp_path / "out" / "report.txt").read_text() == result.stdout
    refused = CliRunner().invoke(guarantees.main, ["--metric", "rouge"])
    assert refused.exit_code == 2
    assert "rouge" in refused.output
