"""The metric as `evaluate` loads it: texts, embeddings, encoders, refusals; and `semantic-metrics criteria`."""

import json
import pickle
from pathlib import Path

import evaluate
import numpy as np
import pandas as pd
import pytest
import torch

from semantic_metrics import load
from semantic_metrics.cli.criteria import MEASURES
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.set_criteria import geometry
from semantic_metrics.set_criteria.criteria import shared_ranges
from semantic_metrics.set_criteria.summary import CONDITIONS
from tests.cli.conftest import done, invoke, refused
from tests.conftest import ROOT
from tests.set_criteria.conftest import SCRIPT, TEXTS, Vectors, operators, random_vectors

KEYS = {"C1", "C2", "C3", "C4", "C5", "C6", "norm_ratio", "undefined", "ranges", "operators", "signature"}


def encoded(samples: dict) -> Vectors:
    """The samples' vectors in the shipped table, as the MATCHA metric takes them."""
    table = load_checkpoint()
    a, b, target = (table.encode(samples[side]).vectors.astype(np.float32) for side in ("a", "b", "target"))
    return a, b, target


def without(result: dict, *keys: str) -> dict:
    return {key: value for key, value in result.items() if key not in keys}


def test_texts_give_what_their_embeddings_give(criteria: evaluate.Metric) -> None:
    from_texts = criteria.compute(**TEXTS)
    assert from_texts.keys() == KEYS | {"truncated"}
    vectors = encoded(TEXTS)
    from_vectors = criteria.compute(operator=TEXTS["operator"], embeddings=vectors)
    assert from_vectors.keys() == KEYS
    assert without(from_vectors, "signature") == without(from_texts, "signature", "truncated")
    assert from_vectors == criteria.compute(**TEXTS, embeddings=vectors)
    assert from_texts["truncated"] == 0


def test_the_form_of_a_result(criteria: evaluate.Metric) -> None:
    result = criteria.compute(**TEXTS, per_sample=True)
    for criterion in ("C1", "C3"):
        assert result[criterion].keys() == set(MEASURES)
        for cells in result[criterion].values():
            assert cells.keys() == {"both", "first", "second", "neither", "mean", "sd", "base", "n"}
    assert all(cells.keys() == {"share", "mean", "sd", "n"} for cells in result["C4"].values())
    for criterion in ("C2", "C5", "C6"):
        extra = {"cases"} if criterion == "C6" else set()
        assert result[criterion].keys() == {"share", "between", "n", "curve", "histogram", "angle"} | extra
    assert result["operators"] == {"overlap": 2, "difference": 1, "union": 1}
    assert result["per_sample"]["C1"]["row"] == [0, 3]
    assert result["per_sample"]["C6"]["row"] == [2]
    assert np.shape(result["per_sample"]["C1"]["ned"]) == (2, 2)
    assert np.shape(result["per_sample"]["C4"]["ned"]) == (1, 1)
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_added_rows_count_and_a_mistake_costs_none(criteria: evaluate.Metric) -> None:
    expected = criteria.compute(**TEXTS)
    rows = [dict(zip(TEXTS, row, strict=True)) for row in zip(*TEXTS.values(), strict=True)]
    criteria.add(**rows[0])
    with pytest.raises(ValueError, match=r"operator\[0\]"):
        criteria.add(**{**rows[1], "operator": "intersection"})
    criteria.add_batch(**{key: values[1:3] for key, values in TEXTS.items()})
    assert criteria.compute(**{key: values[3:] for key, values in TEXTS.items()}) == expected
    criteria.add_batch(**TEXTS)
    assert criteria.compute() == expected


def test_embeddings_need_no_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a Space without a network, where the shipped table is not found."""
    metric = evaluate.load(SCRIPT)
    monkeypatch.setattr("importlib.resources.files", lambda name: tmp_path)
    assert metric.compute(operator=["union"], embeddings=random_vectors(1))["C6"]["n"] == 1
    with pytest.raises(ValueError, match="semantic-metrics/matcha"):
        metric.compute(**TEXTS)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
def test_embeddings_of_any_number_type(criteria: evaluate.Metric, dtype: str) -> None:
    vectors = [np.round(side * 4) for side in random_vectors(9)]
    names = operators(9)
    expected = criteria.compute(operator=names, embeddings=vectors)
    assert criteria.compute(operator=names, embeddings=[side.astype(dtype) for side in vectors]) == expected
    assert criteria.compute(operator=names, embeddings=np.stack(vectors)) == expected
    tensors = [torch.tensor(side, requires_grad=True, dtype=torch.bfloat16) for side in vectors]
    assert criteria.compute(operator=names, embeddings=tensors) == expected


def test_several_encoders_share_their_ranges(criteria: evaluate.Metric, checkpoint: Path) -> None:
    small = f"{checkpoint}/"
    floor = random_vectors(4, 6)
    compared = criteria.compute(**TEXTS, encoders=["default", small], embeddings={"random": floor})
    assert compared.keys() == {"encoders", "ranges"}
    assert list(compared["encoders"]) == ["random", "default", small]
    alone = {
        "default": criteria.compute(**TEXTS),
        small: evaluate.load(SCRIPT, small).compute(**TEXTS),
        "random": criteria.compute(operator=TEXTS["operator"], embeddings=floor),
    }
    assert compared["ranges"] == shared_ranges([result["ranges"] for result in alone.values()])
    for name, result in compared["encoders"].items():
        assert result["ranges"] == compared["ranges"]
        differ = ("C1", "C3", "C4", "ranges", "signature")
        assert without(result, *differ) == without(alone[name], *differ)
        assert result["C1"]["cosine"]["mean"] == alone[name]["C1"]["cosine"]["mean"]
    again = criteria.compute(**TEXTS, ranges=compared["ranges"])
    assert without(again, "signature") == without(compared["encoders"]["default"], "signature")


def test_a_signature_tells_what_can_change_a_result(criteria: evaluate.Metric, checkpoint: Path) -> None:
    given = {"operator": operators(9), "embeddings": random_vectors(9)}
    plain = criteria.compute(**given)
    ranges = plain["ranges"], {"C4": {"ned": [[0.0, 1.0]]}}
    changes = [{"epsilons": 7}, {"tolerance": 0.1}, {"theta": 0.3}, {"norm_ratio": 2.0}]
    changes += [{"ranges": given_ranges} for given_ranges in ranges]
    signatures = [
        plain["signature"],
        *(criteria.compute(**given, **change)["signature"] for change in changes),
        criteria.compute(**TEXTS)["signature"],
        evaluate.load(SCRIPT, f"{checkpoint}/").compute(**TEXTS)["signature"],
    ]
    assert len(set(signatures)) == len(signatures)
    assert signatures[0].startswith("set_criteria|encoder:given|epsilons:132|tolerance:1e-06|theta:0.5|norm_ratio:1.1|")
    named = criteria.compute(operator=given["operator"], embeddings={"x": given["embeddings"]})
    assert "ranges:shared-" in named["encoders"]["x"]["signature"]


UNKNOWN = ["overlap", "intersection", "union", "overlap"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"operator": UNKNOWN}, r"operator\[1\].*'overlap', 'difference', 'union'"),
        ({"b": TEXTS["b"][:2]}, "b: expected 4 items, one for each of a, got 2"),
        ({"epsilons": 0}, "epsilons: expected a whole number"),
        ({"theta": 10**400}, "theta: expected a number of at least 0"),
        ({"cache_dir": f"{__file__}/below"}, "cache_dir: expected a folder that can be made"),
        ({"cache_dir": ""}, "cache_dir: expected None, 'default' or a folder, got ''"),
        ({"cache_dir": "a\0b"}, "cache_dir: expected a folder that can be made"),
        ({"ranges": {"C9": {}}}, "ranges: expected"),
        ({"encoders": []}, "encoders: expected at least one"),
        ({"encoders": ["default", "default"]}, "encoders: expected names that differ"),
        ({"encoders": ["default", "./nowhere"]}, "checkpoint './nowhere'"),
        ({"encoders": ["default"], "embeddings": random_vectors(4)}, "embeddings: expected a dict"),
        ({"encoders": ["x"], "embeddings": {"x": random_vectors(4)}}, "encoders: expected names that differ"),
    ],
)
def test_invalid_arguments_are_refused(criteria: evaluate.Metric, change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        criteria.compute(**{**TEXTS, **change})


WIDE = random_vectors(4, 9)[0]
A, B, T = random_vectors(4)
SPOILT = np.where(np.arange(8) == 3, np.nan, B)


@pytest.mark.parametrize(
    ("embeddings", "message"),
    [
        ((A, B), r"embeddings: expected three arrays \(A, B, T\), got 2 items"),
        ({}, "embeddings: expected .* by name"),
        ({1: (A, B, T)}, r"embeddings: expected .* by name, got the names \[1\]"),
        ((A, B, WIDE), r"embeddings\[2\]: expected shape \(4, 8\) as embeddings\[0\] has, got \(4, 9\)"),
        ((A[0], B[0], T[0]), r"embeddings\[0\]: expected an \(n, d\) array of numbers.*\(8,\)"),
        ((A > 0, B, T), r"embeddings\[0\]: .*bool"),
        (([[1.0], [1.0, 2.0]], B, T), r"embeddings\[0\]: expected an \(n, d\) array of numbers"),
        ((A, SPOILT, T), "embeddings: expected finite numbers .* vector of B, sample 0"),
        ((A * 1e90, B, T), "embeddings: expected finite numbers of moderate size, .* vector of A, sample 0"),
        ((A[:2], B[:2], T[:2]), "embeddings: expected 4 items, one for each of operator, got 2"),
        ({"x": (A, SPOILT, T)}, r"embeddings\['x'\]: expected finite numbers"),
    ],
)
def test_invalid_embeddings_are_refused(criteria: evaluate.Metric, embeddings: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        criteria.compute(operator=operators(4), embeddings=embeddings)
    with pytest.raises(ValueError, match=message):
        criteria.compute(**TEXTS, embeddings=embeddings)


@pytest.mark.parametrize("name", ["nothing", "./nowhere/", 5])
def test_an_unknown_encoder_is_named_at_load(name: object) -> None:
    with pytest.raises(ValueError, match="checkpoint"):
        evaluate.load(SCRIPT, name)


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
