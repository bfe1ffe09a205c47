"""How fast the set criteria are without encoding: margins in closed form, beside the grid that they stand for.

    python -m benchmarks.speed set_criteria [--samples N] [--width D] [--output FILE.json]

Both sides get the same differences in the same process, on one thread; ratios are of processor time, which other
processes touch least. The grid is taken once: it is what takes the time.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np

from benchmarks.common.timing import machine
from semantic_metrics import load
from semantic_metrics.set_criteria.criteria import differences
from semantic_metrics.set_criteria.epsilon import CELLS, EPSILONS, epsilon_values, sample_cells
from semantic_metrics.set_criteria.geometry import MEASURES
from semantic_metrics.set_criteria.samples import Vectors, from_arrays, measure_samples

SAMPLES = 192_000  # of the paper's data
SHARES = {"overlap": 37_292, "difference": 79_824, "union": 74_582}  # the paper's samples by operator
WIDTH = 384  # of all-MiniLM-L6-v2
REPEATS = 5

Ranges = list[list[float]]
Cells = dict[str, float]


@dataclass(frozen=True)
class Comparison:
    """The closed form beside the grid.

    Attributes:
        samples: how many, each with two differences.
        measures: how many, one after the other.
        epsilons: margins of each condition.
        seconds: wall-clock of the closed form for all measures; a median.
        cpu_seconds: its processor time; a median.
        grid_cpu_seconds: of the grid, every condition compared anew in each of the epsilons x epsilons combinations.
        masks_cpu_seconds: of a faster grid, which compares each condition once for each margin and keeps the outcomes.
        ratio: grid_cpu_seconds / cpu_seconds; `masks_ratio` is that of the faster grid.
        largest_difference: between the cells of the closed form and those of either grid, in percentage points.
    """

    samples: int
    measures: int
    epsilons: int
    seconds: float
    cpu_seconds: float
    grid_cpu_seconds: float
    masks_cpu_seconds: float
    ratio: float
    masks_ratio: float
    largest_difference: float


@dataclass(frozen=True)
class Whole:
    """`compute(operator=..., embeddings=...)`: all six criteria, five measures, from float32 embeddings.

    Attributes:
        samples: how many, three vectors each, divided among the operators as the paper's.
        width: numbers in a vector.
        seconds, cpu_seconds: medians.
    """

    samples: int
    width: int
    seconds: float
    cpu_seconds: float


def grid_cells(first: np.ndarray, second: np.ndarray, ranges: Ranges, number: int = EPSILONS) -> Cells:
    """What `epsilon.sample_cells` gives, by the grid as the paper describes it."""
    counts = np.zeros(4, dtype=np.int64)
    for margin in epsilon_values(*ranges[0], number):
        for other in epsilon_values(*ranges[1], number):
            one, two = first >= margin, second >= other
            counts += [np.count_nonzero(cell) for cell in (one & two, one & ~two, ~one & two, ~one & ~two)]
    return _percentages(counts.tolist(), len(first), number)


def grid_cells_by_masks(first: np.ndarray, second: np.ndarray, ranges: Ranges, number: int = EPSILONS) -> Cells:
    """The same, each condition compared once for each margin; only "both" is counted in every combination."""
    ones = [first >= margin for margin in epsilon_values(*ranges[0], number)]
    twos = [second >= margin for margin in epsilon_values(*ranges[1], number)]
    both = sum(int(np.count_nonzero(one & two)) for one in ones for two in twos)
    one = number * sum(int(np.count_nonzero(mask)) for mask in ones)
    two = number * sum(int(np.count_nonzero(mask)) for mask in twos)
    neither = len(first) * number**2 - one - two + both
    return _percentages([both, one - both, two - both, neither], len(first), number)


def _percentages(counts: list[int], samples: int, number: int) -> Cells:
    return {name: 100 * count / (samples * number**2) for name, count in zip(CELLS, counts, strict=True)}


def compare(pairs: list[np.ndarray], repeats: int, number: int = EPSILONS) -> Comparison:
    """Time the closed form and the two grids on (2, n) differences of each measure."""
    ranges = [[[float(row.min()), float(row.max())] for row in pair] for pair in pairs]

    def run(cells: Callable[..., Cells]) -> list[Cells]:
        return [cells(*pair, bounds, number) for pair, bounds in zip(pairs, ranges, strict=True)]

    closed, seconds, cpu = _time(lambda: run(sample_cells), repeats)
    grid, _, grid_cpu = _time(lambda: run(grid_cells), 1, warm=False)
    masks, _, masks_cpu = _time(lambda: run(grid_cells_by_masks), 1, warm=False)
    pairs_of_cells = [pair for side in (grid, masks) for pair in zip(closed, side, strict=True)]
    off = [abs(ours[name] - theirs[name]) for ours, theirs in pairs_of_cells for name in CELLS]
    return Comparison(
        samples=pairs[0].shape[1],
        measures=len(pairs),
        epsilons=number,
        seconds=seconds,
        cpu_seconds=cpu,
        grid_cpu_seconds=grid_cpu,
        masks_cpu_seconds=masks_cpu,
        ratio=grid_cpu / cpu,
        masks_ratio=masks_cpu / cpu,
        largest_difference=max(off),
    )


def time_whole(vectors: Vectors, repeats: int) -> Whole:
    """Time `compute` on embeddings."""
    n, width = vectors[0].shape
    bounds = np.cumsum(list(SHARES.values())) / sum(SHARES.values()) * n
    operators = [list(SHARES)[i] for i in np.searchsorted(bounds, np.arange(n), side="right")]
    metric = load("set_criteria")
    _, seconds, cpu = _time(lambda: metric.compute(operator=operators, embeddings=vectors), repeats)
    return Whole(samples=n, width=width, seconds=seconds, cpu_seconds=cpu)


def _time(function: Callable[[], object], repeats: int, warm: bool = True) -> tuple[object, float, float]:
    """What the function returns, and medians of the seconds and processor seconds that it takes."""
    result = function() if warm else None
    wall, cpu = [], []
    for _ in range(repeats):
        begin, used = time.perf_counter(), time.process_time()
        result = function()
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - used)
    return result, statistics.median(wall), statistics.median(cpu)


@click.command("set_criteria")
@click.option("--samples", default=SAMPLES, type=click.IntRange(3), show_default=True, help="Samples.")
@click.option("--width", default=WIDTH, type=click.IntRange(2), show_default=True, help="Numbers in an embedding.")
@click.option("--epsilons", default=EPSILONS, type=click.IntRange(2), show_default=True, help="Margins per condition.")
@click.option("--repeats", default=REPEATS, type=click.IntRange(1), show_default=True, help="Times are medians of.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the figures to this JSON file too.")
def set_criteria(samples: int, width: int, epsilons: int, repeats: int, output: Path | None) -> None:
    """Set criteria: margins in closed form beside the grid, and all criteria from random embeddings."""
    described, rng = machine(), np.random.default_rng(0)
    vectors = tuple(rng.standard_normal((samples, width), dtype=np.float32) for _ in range(3))
    whole = time_whole(vectors, repeats)
    click.echo(f"All criteria from float32 embeddings, {whole.samples} samples, width {whole.width}")
    click.echo(f"  {whole.cpu_seconds:.3f} s of processor time, {whole.seconds:.3f} s in all")
    measured = measure_samples(from_arrays(vectors), ["overlap"] * samples)
    found = compare([differences(measured, "C1", measure) for measure in MEASURES], repeats, epsilons)
    click.echo(f"Margins, {found.samples} samples x {found.measures} measures, {found.epsilons} x {found.epsilons}")
    click.echo(f"  closed form          {found.cpu_seconds:>9.4f} s of processor time, {found.seconds:.4f} s in all")
    click.echo(f"  grid                 {found.grid_cpu_seconds:>9.4f} s, {found.ratio:,.0f} times the closed form")
    click.echo(f"  grid, outcomes kept  {found.masks_cpu_seconds:>9.4f} s, {found.masks_ratio:,.0f} times")
    click.echo(f"  largest difference of a cell: {found.largest_difference:.1e} percentage points")
    if output is not None:
        record = {
            "command": " ".join(["python -m benchmarks.speed", *sys.argv[1:]]),
            "machine": described,
            "repeats": repeats,
            "whole": asdict(whole),
            "comparison": asdict(found),
        }
        output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
