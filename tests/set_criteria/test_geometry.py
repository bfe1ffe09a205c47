"""Measures and angles of three vectors, and margins in closed form."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from semantic_metrics.set_criteria import samples as samples_module
from semantic_metrics.set_criteria.epsilon import sample_cells, sample_share
from semantic_metrics.set_criteria.geometry import MEASURES, REASONS, Angles, Rows, compare, locate
from semantic_metrics.set_criteria.samples import from_arrays, measure_samples
from tests.set_criteria import naive as peer
from tests.set_criteria.conftest import Vectors, operators, random_vectors
from tests.set_criteria.naive import grid_cells

NEAR = 1e-9
seeds = st.integers(0, 2**32 - 1)
widths = st.integers(3, 40)
counts = st.integers(1, 12)


def angles(a: object, b: object, target: object) -> Angles:
    sides = [Rows(np.array(side, dtype=np.float64)) for side in (a, b, target)]
    return locate(*sides, np.empty_like(sides[0].values))


@settings(max_examples=60)
@given(seeds, counts, widths)
def test_angles_are_those_of_a_least_squares_projection(seed: int, count: int, width: int) -> None:
    vectors = random_vectors(count, width, seed)
    actual = angles(*vectors)
    for i, (a, b, target) in enumerate(zip(*vectors, strict=True)):
        between, to_a, to_b = peer.plane_angles(a, b, target)
        assert actual.between[i] == pytest.approx(between, abs=1e-6)  # what the arc cosine leaves of the digits
        assert abs(actual.target[i]) == pytest.approx(to_a, abs=1e-6)
        turned = (actual.between[i] - actual.target[i] + math.pi) % (2 * math.pi) - math.pi
        assert abs(turned) == pytest.approx(to_b, abs=1e-6)


def _measured(vectors: Vectors) -> dict[str, np.ndarray]:
    """All that is measured of samples of each operator, as arrays by name."""
    groups = measure_samples(from_arrays(vectors), operators(len(vectors[0])))
    actual = {}
    for operator, group in groups.items():
        for pair, values in group.pairs.items():
            actual |= {f"{operator} {pair} {name}": row for name, row in zip(MEASURES, values, strict=True)}
        actual[f"{operator} between"], actual[f"{operator} target"] = group.angles.between, group.angles.target
        actual[f"{operator} ratio"] = group.lengths[0] / group.lengths[1]
    return actual


@settings(max_examples=60)
@given(seeds, counts, st.integers(3, 20))
def test_a_rotation_changes_nothing_but_l1_and_ned(seed: int, count: int, width: int) -> None:
    vectors = random_vectors(count, width, seed)
    rotation = ortho_group.rvs(width, random_state=seed)
    before, after = _measured(vectors), _measured(tuple(side @ rotation for side in vectors))
    for name, values in before.items():
        if not name.endswith(("l1", "ned")):
            assert after[name] == pytest.approx(values, rel=NEAR, abs=NEAR), name


@settings(max_examples=30)
@given(seeds, st.integers(1, 40), st.integers(3, 40), st.integers(1, 60))
def test_chunks_and_other_samples_change_no_bit(seed: int, count: int, width: int, chunk: int) -> None:
    vectors = random_vectors(count, width, seed)
    whole = _measured(vectors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples_module, "CHUNK_NUMBERS", chunk * width)
        parts = _measured(vectors)
    for name, values in whole.items():
        assert np.array_equal(values, parts[name], equal_nan=True), name


def test_only_a_chunk_of_vectors_is_taken_at_a_time() -> None:
    vectors = random_vectors(2000, 200)
    sizes = []

    def take(rows: np.ndarray) -> Vectors:
        sizes.append(len(rows) * 200)
        return from_arrays(vectors)(rows)

    measure_samples(take, operators(2000))
    assert sum(sizes) == 2000 * 200
    assert max(sizes) <= samples_module.CHUNK_NUMBERS


def test_float32_copies_that_differ_by_rounding_are_parallel() -> None:
    a = random_vectors(300, 384)[0].astype(np.float32)
    b = (a * np.float32(0.7)).astype(np.float32)
    actual = angles(a, b, random_vectors(300, 384, seed=1)[0])
    assert {REASONS[code] for code in actual.reason.tolist()} == {"A and B parallel"}


def measures(x: object, y: object) -> dict[str, list[float]]:
    left, right = (Rows(np.array(side, dtype=np.float64)) for side in (x, y))
    actual = compare(left, right, np.empty_like(left.values))
    return {name: row.tolist() for name, row in zip(MEASURES, actual, strict=True)}


def test_a_constant_vector_has_no_variance_whatever_rounding_leaves() -> None:
    rng = np.random.default_rng(0)
    for width in (3, 7, 384, 4096):
        constant = np.repeat(rng.normal(size=(20, 1)) * 1e3, width, axis=1)
        other = np.repeat(rng.normal(size=(20, 1)), width, axis=1)
        assert np.isnan(measures(constant, other)["ned"]).all()
        assert measures(constant, rng.normal(size=(20, width)))["ned"] == pytest.approx([0.5] * 20)


EXACT = 1e-12  # percent
finite = st.floats(-1e6, 1e6, allow_subnormal=False)


def _bounds(*rows: np.ndarray) -> list[list[float]]:
    return [[float(row.min()), float(row.max())] for row in rows]


def _differences(count: int, seed: int, kind: str) -> np.ndarray:
    """(2, count): of all sizes, or with many equal ones, or lying on the margins themselves."""
    rng = np.random.default_rng(seed)
    if kind == "normal":
        return rng.normal(size=(2, count)) * 10.0 ** rng.integers(-6, 6)
    if kind == "ties":
        return rng.integers(-3, 4, (2, count)) / 10
    return rng.choice(np.linspace(-0.3, 0.7, 132), (2, count))


@settings(max_examples=60)
@given(
    st.integers(1, 200),
    seeds,
    st.sampled_from(["normal", "ties", "margins"]),
    st.sampled_from([2, 3, 11, 25, 132]),  # the last is the paper's
    st.data(),
)
def test_cells_are_those_of_any_grid(count: int, seed: int, kind: str, number: int, data: st.DataObject) -> None:
    first, second = _differences(count, seed, kind)
    given_bounds = st.tuples(finite, finite).map(sorted)
    bounds = data.draw(st.one_of(st.just(_bounds(first, second)), st.tuples(given_bounds, given_bounds)))
    cells = sample_cells(first, second, bounds, number)
    assert cells == pytest.approx(grid_cells(first, second, bounds, number), abs=EXACT)
    assert sum(cells.values()) == pytest.approx(100, abs=EXACT)
    share = sample_share(first, bounds[0], number)
    assert share == pytest.approx(cells["both"] + cells["first"], abs=EXACT)
