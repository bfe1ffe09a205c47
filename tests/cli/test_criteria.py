"""`semantic-metrics criteria`: encoders side by side in a table that fits on a screen."""

import json
import pickle
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics import load
from semantic_metrics.cli.criteria import MEASURES
from semantic_metrics.set_criteria import geometry
from semantic_metrics.set_criteria.summary import CONDITIONS
from tests.cli.conftest import done, invoke, refused
from tests.conftest import ROOT

SAMPLES = ROOT / "metrics" / "samples" / "sets.csv"


def test_encoders_are_printed_side_by_side(checkpoint: Path, tmp_path: Path) -> None:
    output, names = tmp_path / "o.csv", ["matcha", f"{checkpoint}/"]
    encoders = [word for name in names for word in ("--encoder", name)]
    lines = done(invoke("criteria", SAMPLES, *encoders, "--measure", "l2", "--output", output))
    rows = pd.read_csv(SAMPLES)
    result = load("set_criteria").compute(**{name: rows[name].tolist() for name in rows}, encoders=names)
    assert lines[1].split() == ["encoder", *CONDITIONS]
    for name, line in zip(names, lines[2:4], strict=True):
        one = result["encoders"][name]
        figures = [one["C1"]["l2"]["both"], one["C2"]["share"], one["C3"]["l2"]["both"], one["C4"]["l2"]["share"]]
        figures += [one["C5"]["share"], one["C6"]["share"]]
        assert line.split()[1:] == [f"{figure:.1f}" for figure in figures]
        assert line[:26].strip(". ") in name
    assert "samples: 4 of overlap, 4 of difference, 4 of union; fewer than 100 of one say little" in lines
    assert len(lines) < 20
    assert max(map(len, lines)) <= 100
    written = pd.read_csv(output)
    assert set(written["signature"]) == {one["signature"] for one in result["encoders"].values()}
    (cell,) = written.query("encoder == 'matcha' and criterion == 'C3' and measure == 'cosine'")["holds"]
    assert cell == pytest.approx(result["encoders"]["matcha"]["C3"]["cosine"]["both"])


def test_a_result_prints_as_a_table_and_stays_a_dict() -> None:
    rows = pd.read_csv(SAMPLES)
    texts = {name: rows[name].tolist() for name in rows}
    result = load("set_criteria").compute(**texts)
    assert str(result) == repr(result)
    assert len(str(result).splitlines()) < 20
    assert f"{result['C2']['share']:.1f}" in str(result)
    assert json.loads(json.dumps(result)) == result == pickle.loads(pickle.dumps(result))
    only = load("set_criteria").compute(**{name: values[:4] for name, values in texts.items()})
    assert str(only).splitlines()[2].split()[-4:] == ["-"] * 4, "no sample of difference or union"


def test_invalid_samples_are_refused(tmp_path: Path) -> None:
    assert MEASURES == geometry.MEASURES
    refused(invoke("criteria", SAMPLES, "--encoder", "no/such"), "checkpoint 'no/such': no such folder")
    refused(invoke("criteria", SAMPLES, "--output", "o.txt"), "--output: expected a file that ends in .json or .csv")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\nx,y\n")
    refused(invoke("criteria", wrong), "wrong.csv: expected one of the columns 'a', 'b', got 'target'")
    wrong.write_text(SAMPLES.read_text().replace(",union", ",sum"))
    refused(invoke("criteria", wrong), "operator[8]: expected one of 'overlap', 'difference', 'union', got str 'sum'")
