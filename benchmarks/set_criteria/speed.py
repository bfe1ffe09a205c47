"""How fast the set criteria are without encoding: margins in closed form, beside the grid that they replace.

    python -m benchmarks.speed set_criteria [--samples N] [--width D] [--output FILE.json]

Both sides get the same differences in the same process, on one thread. Seconds are of processor time, which other
processes change least. The grid runs once: it takes minutes.
"""

import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import click
import numpy as np

from benchmarks.common import options
from benchmarks.common.timing import Speed, SpeedTable, medians, print_tables
from semantic_metrics import load
from semantic_metrics.set_criteria.criteria import differences
from semantic_metrics.set_criteria.epsilon import CELLS, EPSILONS, epsilon_values, sample_cells
from semantic_metrics.set_criteria.geometry import MEASURES
from semantic_metrics.set_criteria.samples import Vectors, from_arrays, measure_samples

SAMPLES = 192_000  # in the paper's data
SHARES = {"overlap": 37_292, "difference": 79_824, "union": 74_582}  # the paper's samples by operator
WIDTH = 384  # width of all-MiniLM-L6-v2
REPEATS = 5

Ranges = list[list[float]]
Cells = dict[str, float]


def grid_cells(first: np.ndarray, second: np.ndarray, ranges: Ranges, number: int = EPSILONS) -> Cells:
    """What `epsilon.sample_cells` gives, by the grid as the paper describes it."""
    counts = np.zeros(4, dtype=np.int64)
    for margin, other in product(*(epsilon_values(*bounds, number) for bounds in ranges)):
        one, two = first >= margin, second >= other
        counts += [np.count_nonzero(cell) for cell in (one & two, one & ~two, ~one & two, ~one & ~two)]
    return _percentages(counts.tolist(), len(first), number)


def grid_cells_by_masks(first: np.ndarray, second: np.ndarray, ranges: Ranges, number: int = EPSILONS) -> Cells:
    """The same, each condition compared once for each margin; only "both" is counted in every combination."""
    ones = [first >= margin for margin in epsilon_values(*ranges[0], number)]
    twos = [second >= margin for margin in epsilon_values(*ranges[1], number)]
    both = sum(int(np.count_nonzero(one & two)) for one, two in product(ones, twos))
    one = number * sum(int(np.count_nonzero(mask)) for mask in ones)
    two = number * sum(int(np.count_nonzero(mask)) for mask in twos)
    neither = len(first) * number**2 - one - two + both
    return _percentages([both, one - both, two - both, neither], len(first), number)


def _percentages(counts: list[int], samples: int, number: int) -> Cells:
    return {name: 100 * count / (samples * number**2) for name, count in zip(CELLS, counts, strict=True)}


def compare(pairs: list[np.ndarray], repeats: int, number: int = EPSILONS) -> SpeedTable:
    """Time the closed form and the two grids on (2, n) differences of each measure.

    Differences between their cells are in percentage points.
    """
    ranges = [[[float(row.min()), float(row.max())] for row in pair] for pair in pairs]

    def run(cells: Callable[..., Cells]) -> Callable[[], list[Cells]]:
        return lambda: [cells(*pair, bounds, number) for pair, bounds in zip(pairs, ranges, strict=True)]

    (grid, masks), (closed,) = (
        medians(map(run, (grid_cells, grid_cells_by_masks)), 1, time.process_time, warm_up=False),
        medians([run(sample_cells)], repeats, time.process_time),
    )
    samples, lines = pairs[0].shape[1], []
    for name, (seconds, cells) in {"grid": grid, "grid, outcomes kept": masks, "closed form": closed}.items():
        both = zip(cells, grid[1], strict=True)
        largest = max(abs(ours[cell] - theirs[cell]) for ours, theirs in both for cell in CELLS)
        lines.append(Speed(name, samples, seconds, largest))
    title = f"Margins of {len(pairs)} measures, {number} x {number}; seconds of processor time"
    return SpeedTable(title, "samples", lines, bases=2)


def time_whole(vectors: Vectors, repeats: int) -> SpeedTable:
    """Time `compute` on (n, width) float32 embeddings: all six criteria, five measures, operators as the paper's."""
    n, width = vectors[0].shape
    bounds = np.cumsum(list(SHARES.values())) / sum(SHARES.values()) * n
    operators = [list(SHARES)[i] for i in np.searchsorted(bounds, np.arange(n), side="right")]
    metric = load("set_criteria")
    compute = lambda: metric.compute(operator=operators, embeddings=vectors)  # noqa: E731
    ((seconds, _),) = medians([compute], repeats, time.process_time)
    title = f"All criteria from float32 embeddings of width {width}; seconds of processor time"
    return SpeedTable(title, "samples", [Speed("compute()", n, seconds)], bases=0)


def _tables(samples: int, width: int, epsilons: int, repeats: int) -> Iterator[SpeedTable]:
    rng = np.random.default_rng(0)
    vectors = tuple(rng.standard_normal((samples, width), dtype=np.float32) for _ in range(3))
    yield time_whole(vectors, repeats)
    measured = measure_samples(from_arrays(vectors), ["overlap"] * samples)
    yield compare([differences(measured, "C1", measure) for measure in MEASURES], repeats, epsilons)


@click.command("set_criteria")
@click.option("--samples", default=SAMPLES, type=click.IntRange(3), show_default=True, help="Number of samples.")
@click.option("--width", default=WIDTH, type=click.IntRange(2), show_default=True, help="Width of the embeddings.")
@click.option("--epsilons", default=EPSILONS, type=click.IntRange(2), show_default=True, help="Margins per condition.")
@options.repeats(REPEATS)
@options.record
def set_criteria(samples: int, width: int, epsilons: int, repeats: int, output: Path | None) -> None:
    """Set criteria: margins in closed form beside the grid, and all criteria from random embeddings."""
    print_tables(_tables(samples, width, epsilons, repeats), repeats, output)
