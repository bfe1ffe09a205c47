"""From measured samples to the six criteria: by hand, sample by sample, and what must hold for any."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from semantic_metrics.set_criteria.samples import from_arrays, measure_samples
from tests.set_criteria import naive as peer
from tests.set_criteria.samples import Vectors, operators, random_vectors

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
                [differences(samples, criterion, measure) for samples in (first, second)], axis=1
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
        ([1], "ranges: expected a dict with keys of C1, C3, C4"),
        ({"C2": {}}, "ranges: expected a dict with keys of C1, C3, C4, got .'C2'."),
        ({"C1": {"cos": [[0, 1], [0, 1]]}}, r"ranges\['C1'\]: expected a dict with keys of cosine"),
        ({"C1": {"cosine": [[0, 1]]}}, r"ranges\['C1'\]\['cosine'\]: expected \[\[low, high\], \[low, high\]\]"),
        ({"C4": {"ned": [[1, 0]]}}, r"ranges\['C4'\]\['ned'\]: expected \[\[low, high\]\]"),
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
