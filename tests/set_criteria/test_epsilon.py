"""Margins in closed form: what the grid gives, to the last digit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from semantic_metrics.set_criteria import epsilon
from semantic_metrics.set_criteria.epsilon import count_reached, epsilon_values, sample_cells, sample_share
from tests.set_criteria.naive import grid_cells

EXACT = 1e-12  # percent
seeds = st.integers(0, 2**32 - 1)
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
def test_cells_are_those_of_a_grid_of_any_size_and_range(
    count: int, seed: int, kind: str, number: int, data: st.DataObject
) -> None:
    first, second = _differences(count, seed, kind)
    given_bounds = st.tuples(finite, finite).map(sorted)
    bounds = data.draw(st.one_of(st.just(_bounds(first, second)), st.tuples(given_bounds, given_bounds)))
    cells = sample_cells(first, second, bounds, number)
    assert cells == pytest.approx(grid_cells(first, second, bounds, number), abs=EXACT)
    assert sum(cells.values()) == pytest.approx(100, abs=EXACT)
    share = sample_share(first, bounds[0], number)
    assert share == pytest.approx(cells["both"] + cells["first"], abs=EXACT)


@settings(max_examples=300)
@given(
    hnp.arrays(np.float64, st.integers(1, 40), elements=finite),
    st.one_of(st.none(), st.tuples(finite, finite).map(sorted)),
    st.integers(2, 200),
)
def test_every_count_is_that_of_a_search(values: np.ndarray, bounds: list[float] | None, number: int) -> None:
    low, high = bounds or (values.min(), values.max())
    margins = epsilon_values(low, high, number)
    assert (np.diff(margins) >= 0).all()
    assert (margins[0], margins[-1]) == (low, high)
    probes = np.concatenate([values, margins, np.nextafter(margins, -np.inf), np.nextafter(margins, np.inf)])
    counts = count_reached(probes, margins)
    assert np.array_equal(counts, np.searchsorted(margins, probes, side="right"))
    assert counts.dtype.kind == "i"


@pytest.mark.parametrize("width", [0, 5e-324, 1e-300, 1e-17, 2e-16, 1e-12, 1e-7])
def test_ranges_as_narrow_as_rounding(width: float) -> None:
    for low in (0.0, 0.3, -7.5):
        margins = epsilon_values(low, low + width, 132)
        probes = np.concatenate([margins, np.nextafter(margins, -np.inf), np.nextafter(margins, np.inf)])
        assert np.array_equal(count_reached(probes, margins), (probes[:, None] >= margins).sum(axis=1))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = _differences(500, 1, "normal")
    bounds = _bounds(first, second)
    whole = sample_cells(first, second, bounds), sample_share(first, bounds[0])
    monkeypatch.setattr(epsilon, "BLOCK_DIFFERENCES", 7)
    assert (sample_cells(first, second, bounds), sample_share(first, bounds[0])) == whole
