"""The command that fits the decision of support: from files of data to a checkpoint that judges."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semantic_metrics.support.decision import FEATURES, SUPPORTED
from semantic_metrics.support.scoring import SupportScoring
from tests.consensus.conftest import both_heads
from training.fit_support import SETS, UNSUPPORTED, ClaimSet, main


def rows_of(one: ClaimSet) -> pd.DataFrame:
    """Six supported claims, six others, and for SHROOM a definition and a text on which raters disagree."""
    column, (yes, *_, no) = one.label, one.verdicts
    rows = []
    for i in range(6):
        source = f"The dog bites the man {i} times. A cat sleeps."
        for claim, label in ((f"The dog bites the man {i} times", yes), (f"No cat bites {i} dogs", no)):
            evidence = source.split(". ") if one.name == "wice" else source
            rows.append({one.claim: claim, one.source: evidence, column: label, "task": "PG"})
    if one.name == "shroom":
        rows += [rows[0] | {"task": "DM"}, rows[0] | {one.claim: "The man", column: 0.5}]
    return pd.DataFrame(rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Small files of every set."""
    for one in SETS:
        path = tmp_path / "data" / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        rows_of(one).to_parquet(path)
    return tmp_path / "data"


def test_a_fitted_checkpoint_judges(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    model = both_heads(tmp_path / "model")
    monkeypatch.setattr(sys, "argv", ["fit_support", "--data", str(data), "--config", f"{model}/", "--rows", "12"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(SETS)]] == [one.name for one in SETS]
    figures = [re.findall(r"\d+\.\d", line) for line in lines[: len(SETS)]]
    assert all(len(row) == 3 and all(0 <= float(figure) <= 100 for figure in row) for row in figures)
    support = SupportScoring.from_checkpoint(f"{model}/")
    assert support.scorer.checkpoint_sha256.startswith(support.decision.checkpoint)
    coefficients = dict(zip(FEATURES, support.decision.support.coefficients, strict=True))
    assert all(value <= 0 for name, value in coefficients.items() if "contradiction" in name)
    assert all(value >= 0 for name, value in coefficients.items() if "entailment" in name)
    result = support.compute(predictions=["A cat sleeps."], references=["The dog barks."])
    assert 0 <= result["scores"][0] <= 1


def test_definitions_and_texts_on_which_raters_disagree_are_left_out(data: Path) -> None:
    (shroom,) = (one for one in SETS if one.name == "shroom")
    table = shroom.read(data, 100)
    assert sorted(table["verdict"].unique()) == sorted((SUPPORTED, UNSUPPORTED))
    assert len(table) == 12
    assert len(shroom.read(data, 5)) == 5
    assert not np.isin("The man", table["claim"])
