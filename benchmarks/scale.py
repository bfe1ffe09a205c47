"""What it costs to score millions of pairs from parquet to parquet, measured on a sample and extrapolated.

    python -m benchmarks.speed scale [--pairs 100000] [--ray]

The sample is split into files; each is read, scored by `matcha` and written, as in "Ray Data, at scale" of
docs/recipes.md. The first line does so in this process and counts the processor's time, so that a busy machine changes
little; --ray adds a line by Ray Data with one worker for each core, which counts the time that passes.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pandas as pd

from benchmarks.common import options
from benchmarks.common.timing import Speed, SpeedTable, medians, print_tables, read_pairs
from semantic_metrics.batches import Scorer

PAIRS = 100_000
FILES = 8  # of the sample
MANY_PAIRS = 10_000_000  # what is extrapolated to
MACHINES, CORES = 10, 2  # machines like the one that the README's speeds are of
REPEATS = 3
COLUMNS = {"predictions": "answer", "references": "gold"}


class ScoreFiles:
    """A worker: reads a file, scores it, writes it.

    Args:
        source, target: folders.
    """

    def __init__(self, source: Path, target: Path) -> None:
        self.source, self.target = source, target
        self.scorer = Scorer("matcha", **COLUMNS)

    def __call__(self, batch: dict) -> dict:
        """Score the files with the names in `batch`."""
        for name in batch["name"]:
            partial = self.target / f"{name}.partial"
            self.scorer(pd.read_parquet(self.source / name)).to_parquet(partial, index=False)
            partial.rename(self.target / name)
        return batch


def write_sample(folder: Path, pairs: int) -> list[str]:
    """Write pairs of texts, each text once, into FILES files; return the names of the files."""
    frame = pd.DataFrame(read_pairs(None, pairs), columns=list(COLUMNS.values()))
    names = [f"{i:03}.parquet" for i in range(FILES)]
    for i, name in enumerate(names):
        frame[i::FILES].to_parquet(folder / name, index=False)
    return names


def by_ray(names: list[str], source: Path, target: Path) -> Callable[[], None]:
    """Ray Data with a worker for each core."""
    import ray

    ray.init(include_dashboard=False, log_to_driver=False)

    def run() -> None:
        data = ray.data.from_items([{"name": name} for name in names])
        workers = ray.data.ActorPoolStrategy(size=max(1, (os.cpu_count() or 2) - 1))  # one core starts the tasks
        data.map_batches(ScoreFiles, fn_constructor_args=[source, target], batch_size=1, compute=workers).materialize()

    return run


def _tables(pairs: int, repeats: int, with_ray: bool) -> Iterator[SpeedTable]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "pairs", Path(folder) / "scored"
        source.mkdir()
        target.mkdir()
        names = write_sample(source, pairs)
        worker = ScoreFiles(source, target)
        ((seconds, _),) = medians([lambda: worker({"name": names})], repeats, time.process_time)
        lines = [Speed("one process, processor time", pairs, seconds)]
        if with_ray:
            ((ray_seconds, _),) = medians([by_ray(names, source, target)], repeats)
            lines.append(Speed("Ray Data, time that passes", pairs, ray_seconds))
    minutes = MANY_PAIRS / lines[0].per_second / 60
    notes = (
        f"extrapolated to {MANY_PAIRS:,} pairs: {minutes:.1f} minutes of one core, {minutes / CORES:.1f} on {CORES} "
        f"cores, {minutes / CORES / MACHINES:.1f} on {MACHINES} such machines, and the seconds in which workers start",
    )
    yield SpeedTable("matcha, parquet to parquet", "pairs", lines, 1, notes)


@click.command("scale")
@click.option("--pairs", default=PAIRS, type=click.IntRange(FILES), show_default=True, help="Pairs of the sample.")
@click.option("--ray", "with_ray", is_flag=True, help="Also run Ray Data, which must be installed.")
@options.repeats(REPEATS)
@options.record
def scale(pairs: int, with_ray: bool, repeats: int, output: Path | None) -> None:
    """MATCHA on files of parquet, extrapolated to ten million pairs."""
    print_tables(_tables(pairs, repeats, with_ray), repeats, output)
