"""From measured samples to the six criteria: by hand, sample by sample, and where something is undefined."""

import json
import math

import evaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from semantic_metrics.set_criteria.criteria import (
    DIFFERENCES,
    OPERATOR,
    Settings,
    check_ranges,
    differences,
    own_ranges,
    report,
    shared_ranges,
)
from semantic_metrics.set_criteria.geometry import DISTANCES, MEASURES
from semantic_metrics.set_criteria.samples import OPERATORS, from_arrays, measure_samples
from tests.set_criteria import naive as peer
from tests.set_criteria.conftest import Vectors, operators, random_vectors

CELLS = ("both", "first", "second", "neither")
FEW = Settings(epsilons=11)
seeds = st.integers(0, 2**32 - 1)
counts = st.integers(3, 30)


def results(vectors: Vectors, names: list[str] | None = None, options: Settings = FEW, **more: object) -> dict:
    names = names or operators(len(vectors[0]))
    return report(measure_samples(from_arrays(vectors), names), options, **more)


def at_angles(*degrees: float) -> np.ndarray:
    """Vectors in the plane of the first two of four axes."""
    turns = np.radians(degrees)
    return np.stack([np.cos(turns), np.sin(turns), 0 * turns, 0 * turns], axis=1)


@settings(max_examples=25)
@given(seeds, counts)
def test_c1_c3_and_c4_are_those_of_the_paper_s_words(seed: int, count: int) -> None:
    vectors = random_vectors(count, 6, seed, shift=0.4)
    names = operators(count)
    actual = results(vectors, names)
    for criterion in DIFFERENCES:
        chosen = [i for i, name in enumerate(names) if name == OPERATOR[criterion]]
        for measure in MEASURES:
            rows = np.array([peer.differences(*(v[i] for v in vectors), criterion, measure) for i in chosen]).T
            result = actual[criterion][measure]
            turned = -rows if measure in DISTANCES else rows
            bounds = [[row.min(), row.max()] for row in turned]
            pairs = (turned[0], turned[-1]), [bounds[0], bounds[-1]]
            cells = peer.grid_cells(*pairs[0], pairs[1], FEW.epsilons)
            means, sds = rows.mean(axis=1), rows.std(axis=1)
            assert result["n"] == len(chosen)
            if criterion == "C4":
                assert result["share"] == pytest.approx(cells["both"] + cells["first"], abs=1e-9)
                assert [result["mean"], result["sd"]] == pytest.approx([means[0], sds[0]], abs=1e-9)
            else:
                assert {name: result[name] for name in CELLS} == pytest.approx(cells, abs=1e-9)
                assert result["mean"] == pytest.approx(means, abs=1e-9)
                assert result["sd"] == pytest.approx(sds, abs=1e-9)


@given(seeds, counts, st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_no_bit(seed: int, count: int, random: object) -> None:
    vectors, names = random_vectors(count, 5, seed), operators(count)
    order = random.sample(range(count), count)
    turned = results(tuple(side[order] for side in vectors), [names[i] for i in order])
    assert turned == results(vectors, names)


def test_c2_by_hand() -> None:
    a, b = at_angles(0, 0, 0, 0, 0, 0), at_angles(60, 60, 60, 60, 60, 60)
    target = at_angles(30, 0, 60, -10, 70, -150)
    actual = results((a, b, target), ["overlap"] * 6, per_sample=True)
    assert actual["per_sample"]["C2"]["holds"] == [True, True, True, False, False, False]
    assert actual["per_sample"]["C2"]["signed"] == pytest.approx([0.5, 1, 0, 70 / 60, -10 / 60, -150 / 60])
    assert actual["per_sample"]["C2"]["unsigned"] == pytest.approx([0.5, 1, 0, 70 / 60, 10 / 60, 150 / 60])
    assert actual["C2"]["share"] == actual["C2"]["between"] == 50
    assert results((a, b, target), ["overlap"] * 6, Settings(tolerance=0.36))["C2"]["share"] == pytest.approx(500 / 6)


def test_c5_by_hand() -> None:
    a, b = at_angles(0, 0, 0, 0), at_angles(40, 40, 40, 40)
    actual = results((a, b, at_angles(10, -19, 25, -120)), ["difference"] * 4, per_sample=True)
    assert actual["per_sample"]["C5"]["holds"] == [True, True, False, False]
    assert (actual["C5"]["share"], actual["C5"]["between"], actual["C5"]["n"]) == (50, 50, 4)
    curve = dict(zip(actual["C5"]["curve"]["theta"], actual["C5"]["curve"]["share"], strict=True))
    assert (curve[0], curve[0.3], curve[0.5], curve[0.7], curve[2.0]) == (0, 25, 50, 75, 75)
    assert results((a, b, at_angles(10, -19, 25, -120)), ["difference"] * 4, Settings(theta=0.2))["C5"]["share"] == 0


def test_c6_by_hand() -> None:
    """The longer of A and B attracts; lengths up to a tenth apart are comparable, both ends included."""
    lengths = np.array([2, 2, 1, 1, 1, 1, 1.1, 1.11])[:, None]
    others = np.array([1, 1, 2, 2, 1, 1, 1, 1])[:, None]
    a, b = at_angles(*[0] * 8) * lengths, at_angles(*[50] * 8) * others
    target = at_angles(-20, 30, 30, 20, 45, 51, 40, 40)
    actual = results((a, b, target), ["union"] * 8, per_sample=True)
    assert actual["per_sample"]["C6"]["holds"] == [True, False, True, False, True, False, True, False]
    assert actual["C6"]["cases"] == {
        "near A": {"n": 3, "share": pytest.approx(100 / 3)},
        "middle": {"n": 3, "share": pytest.approx(200 / 3)},
        "near B": {"n": 2, "share": 50},
    }
    assert actual["per_sample"]["norm_ratio"] == pytest.approx((lengths / others)[:, 0])
    equal = results((a, b, target), ["union"] * 8, Settings(norm_ratio=3))["C6"]
    assert equal["cases"]["middle"]["n"] == 8
    assert equal["share"] == equal["between"]


def test_ranges_given_own_and_shared() -> None:
    one, other = (random_vectors(12, 6, seed) for seed in (0, 1))
    first, second = (measure_samples(from_arrays(vectors), operators(12)) for vectors in (one, other))
    shared = shared_ranges([own_ranges(first), own_ranges(second)])
    for criterion, by_measure in shared.items():
        for measure, bounds in by_measure.items():
            sign = -1 if measure in DISTANCES else 1
            both = sign * np.concatenate(
                [differences(one_of, criterion, measure) for one_of in (first, second)], axis=1
            )
            assert np.array_equal(bounds, np.stack([both.min(axis=1), both.max(axis=1)], axis=1))
    assert report(first, FEW, shared)["ranges"] == shared
    assert report(first, FEW)["ranges"] == own_ranges(first)
    partly = report(first, FEW, {"C1": {"cosine": [[0.0, 0.0], [0.0, 0.0]]}})
    holds = (differences(first, "C1", "cosine") >= 0).all(axis=0)
    assert partly["C1"]["cosine"]["both"] == pytest.approx(100 * holds.mean())
    assert partly["C1"]["dot"] == report(first, FEW)["C1"]["dot"]


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"C2": {}}, "ranges: expected a dict with keys of C1, C3, C4, got .'C2'."),
        ({"C1": {"cos": [[0, 1], [0, 1]]}}, r"ranges\['C1'\]: expected a dict with keys of cosine"),
        ({"C1": {"cosine": [[0, 1]]}}, r"ranges\['C1'\]\['cosine'\]: expected \[\[low, high\], \[low, high\]\]"),
        ({"C4": {"ned": [[0, float("nan")]]}}, r"ranges\['C4'\]\['ned'\]"),
        *(({"C4": {"ned": bad}}, r"\['ned'\]: ex") for bad in ("all", [["0", "1"]], [[0, 10**400]], [[-1e308, 1e308]])),
    ],
)
def test_invalid_ranges_are_refused(ranges: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_ranges(ranges)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilons", value) for value in (1, 2.0, True)),
        *(("tolerance", value) for value in (-1e-9, float("nan"))),
        *(("theta", value) for value in ("half", float("inf"))),
        *(("norm_ratio", value) for value in (0.9, None)),
    ],
)
def test_invalid_settings_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected"):
        Settings(**{name: value})


ROW = [1.0, 2.0, 4.0, -1.0]


def compute(metric: evaluate.Metric, operator: str, rows: list, **options: object) -> dict:
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
