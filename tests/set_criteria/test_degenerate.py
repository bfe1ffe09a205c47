"""Samples of which something is undefined: counted with the reason, and never a nan in a mean."""

import json
import math

import evaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from semantic_metrics.set_criteria.criteria import Settings, report
from semantic_metrics.set_criteria.samples import OPERATORS, from_arrays, measure_samples
from tests.set_criteria.samples import random_vectors

ROW = [1.0, 2.0, 4.0, -1.0]


def compute(metric: evaluate.Metric, operator: str, rows: list, **options: object) -> dict:
    """Results of samples of one operator, each a triple of vectors."""
    vectors = np.array(rows, dtype=np.float64).transpose(1, 0, 2)
    result = metric.compute(operator=[operator] * len(rows), embeddings=list(vectors), **options)
    json.dumps(result, allow_nan=False)
    return result


def good(count: int) -> list:
    return [list(triple) for triple in zip(*random_vectors(count, 4), strict=True)]


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_sample_that_is_undefined_changes_nothing_but_its_count(criteria: evaluate.Metric, operator: str) -> None:
    zeros = [0.0] * 4
    bad = [[zeros, ROW, ROW[::-1]], [ROW, zeros, ROW[::-1]], [ROW, ROW[::-1], zeros]]
    plain, mixed = compute(criteria, operator, good(9)), compute(criteria, operator, [*good(9), *bad])
    for criterion in {"overlap": ("C1", "C2"), "difference": ("C3", "C4", "C5"), "union": ("C6",)}[operator]:
        lost = mixed["undefined"][criterion]
        if "cosine" in mixed[criterion]:
            # C4 compares A - B, B and the target: only where one of these is zero is there no cosine
            assert lost["cosine"] == {"zero vector": 2 if criterion == "C4" else 3}
            assert [lost[measure] for measure in ("dot", "l1", "l2", "ned")] == [{}] * 4
            if criterion != "C4":
                assert mixed[criterion]["cosine"] == plain[criterion]["cosine"]
        else:
            assert lost == {"zero vector": 3}
            assert mixed[criterion] == plain[criterion]
    assert mixed["undefined"]["norm_ratio"] == {"zero vector": 2}


def test_a_equal_to_b(criteria: evaluate.Metric) -> None:
    result = compute(criteria, "difference", [[ROW, ROW, ROW[::-1]], *good(3)], per_sample=True)
    assert result["undefined"]["C4"]["cosine"] == {"A equals B": 1}
    assert result["undefined"]["C4"]["ned"] == {}
    assert result["undefined"]["C5"] == {"A equals B": 1}
    assert result["undefined"]["C3"]["cosine"] == {}
    assert result["C4"]["cosine"]["n"] == result["C5"]["n"] == 3
    assert result["per_sample"]["C4"]["cosine"][0][0] is None
    assert [result["per_sample"]["C5"][key][0] for key in ("holds", "signed", "unsigned")] == [None] * 3
    assert result["per_sample"]["C3"]["cosine"][0][0] == 0  # Sim(A, D) - Sim(B, D)


def test_parallel_opposite_and_orthogonal(criteria: evaluate.Metric) -> None:
    rows = [
        [ROW, [0.3 * x for x in ROW], ROW[::-1]],
        [ROW, [-7 * x for x in ROW], ROW[::-1]],
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]],
    ]
    for operator, criterion in (("overlap", "C2"), ("difference", "C5"), ("union", "C6")):
        result = compute(criteria, operator, rows)
        assert result["undefined"][criterion] == {
            "A and B parallel": 1,
            "A and B opposite": 1,
            "target orthogonal to the plane": 1,
        }
        assert (result[criterion]["n"], result[criterion]["share"], result[criterion]["between"]) == (0, None, None)
        assert set(result[criterion]["curve"]["share"]) == {None}
        assert result[criterion]["angle"]["signed"] == {"mean": None, "sd": None, "median": None}


def test_an_operator_without_samples(criteria: evaluate.Metric) -> None:
    result = compute(criteria, "union", good(3))
    assert result["operators"] == {"overlap": 0, "difference": 0, "union": 3}
    assert result["C1"]["dot"] == result["C3"]["l2"]
    assert result["C1"]["dot"]["n"] == result["C4"]["dot"]["n"] == result["C2"]["n"] == result["C5"]["n"] == 0
    assert result["C4"]["dot"] == {"share": None, "mean": None, "sd": None, "n": 0}
    assert result["C2"]["share"] is None
    assert sum(result["C2"]["histogram"]["signed"]["counts"]) == 0
    assert result["undefined"]["C2"] == {}
    assert set(result["ranges"]["C4"].values()) == {None}
    assert result["C6"]["n"] == 3
    again = compute(criteria, "union", good(3), ranges=result["ranges"])
    assert again["C6"] == result["C6"]


odd = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, 2.0, 1e-80, 1e70, -3.0])


@settings(max_examples=150)
@given(hnp.arrays(np.float64, st.tuples(st.just(3), st.integers(1, 6), st.integers(1, 4)), elements=odd), st.data())
def test_whatever_comes_every_sample_is_counted_once(vectors: np.ndarray, data: st.DataObject) -> None:
    count = vectors.shape[1]
    names = data.draw(st.lists(st.sampled_from(OPERATORS), min_size=count, max_size=count))
    with np.errstate(all="raise", under="ignore"):
        reported = report(measure_samples(from_arrays(tuple(vectors)), names), Settings(epsilons=5), per_sample=True)
    json.dumps(reported, allow_nan=False)
    for criterion, operator in (("C1", "overlap"), ("C3", "difference"), ("C4", "difference")):
        for measure, cells in reported[criterion].items():
            assert cells["n"] + sum(reported["undefined"][criterion][measure].values()) == names.count(operator)
            if criterion != "C4" and cells["n"]:
                assert math.isclose(sum(cells[name] for name in ("both", "first", "second", "neither")), 100)
    for criterion, operator in (("C2", "overlap"), ("C5", "difference"), ("C6", "union")):
        cells = reported[criterion]
        assert cells["n"] + sum(reported["undefined"][criterion].values()) == names.count(operator)
        for shown in cells["histogram"].values():
            assert sum(shown["counts"]) + shown["below"] + shown["above"] == cells["n"]
    assert reported["norm_ratio"]["n"] + sum(reported["undefined"]["norm_ratio"].values()) == count
