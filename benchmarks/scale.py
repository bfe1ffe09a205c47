"""What it costs to score millions of pairs from file to file, measured on a sample and extrapolated.

    python -m benchmarks.speed scale [--data DATA] [--pairs 100000] [--ray]

The sample is split into files; each is read, scored by `matcha` and written, as in "Ray Data, at scale" of
docs/recipes.md. The first line does so in this process and counts the processor's time, so that a busy machine changes
little; --ray adds a line by Ray Data with one worker for each core, which counts the time that passes.

The second table is of the command `semantic-metrics score`, from JSONL to JSONL, with the number of processes that it
chooses and with none: the time that passes, and the memory of all processes together. Its pairs are those of --data,
each as often as it takes, or the same ones as in the first table.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import click
import pandas as pd
import psutil

from benchmarks.common import options
from benchmarks.common.timing import Speed, SpeedTable, medians, print_tables, read_pairs
from semantic_metrics.batches import Scorer

PAIRS = 100_000
FILES = 8  # of the sample
MANY_PAIRS = 10_000_000  # what is extrapolated to
MACHINES, CORES = 10, 2  # machines like the one that the README's speeds are of
REPEATS = 3
COLUMNS = {"predictions": "answer", "references": "gold"}
LOOK_SECONDS = 0.2  # between two looks at the memory of the command


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


def write_rows(file: Path, data: Path | None, pairs: int) -> None:
    """Write pairs of texts as JSONL, those of the data folder again and again if it has fewer."""
    with file.open("w", encoding="utf-8") as rows:
        for texts in islice(cycle(read_pairs(data, pairs)), pairs):
            rows.write(json.dumps(dict(zip(COLUMNS.values(), texts, strict=True)), ensure_ascii=False) + "\n")


def run_command(source: Path, target: Path, *more: str) -> int:
    """Score a file by the command; returns the most bytes that it and its processes took together.

    Raises:
        ValueError: the command failed.
    """
    columns = [f"--{name}={column}" for name, column in COLUMNS.items()]
    line = [sys.executable, "-m", "semantic_metrics", "score", str(source), "--metric=matcha", f"--output={target}"]
    most = 0
    with psutil.Popen([*line, *columns, *more], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            most = max(most, _memory(process))
            time.sleep(LOOK_SECONDS)
    if process.returncode:
        raise ValueError(f"semantic-metrics score: expected exit code 0, got {process.returncode}")
    return most


def _memory(process: psutil.Process) -> int:
    """Bytes that a process and its children take; what they share counts once where the system tells (Linux)."""
    try:
        shares = [one.memory_full_info() for one in [process, *process.children()]]
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0  # one of them has just ended
    return sum(getattr(share, "pss", share.uss) for share in shares)


def _command_table(data: Path | None, pairs: int, repeats: int) -> SpeedTable:
    ways: dict[str, tuple[str, ...]] = {"processes that it chooses": (), "--workers 1": ("--workers=1",)}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "pairs.jsonl", Path(folder) / "scored.jsonl"
        write_rows(source, data, pairs)
        timed = medians([partial(run_command, source, target, *more) for more in ways.values()], repeats, warm_up=False)
    lines = [
        Speed(name, pairs, seconds, more={"MB": most / 1e6}) for name, (seconds, most) in zip(ways, timed, strict=True)
    ]
    return SpeedTable("semantic-metrics score, JSONL to JSONL, time that passes", "pairs", lines)


def _tables(data: Path | None, pairs: int, repeats: int, with_ray: bool) -> Iterator[SpeedTable]:
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
    yield _command_table(data, pairs, repeats)


@click.command("scale")
@options.data("Folder of the data sets, whose pairs the command scores.")
@click.option("--pairs", default=PAIRS, type=click.IntRange(FILES), show_default=True, help="Pairs of the sample.")
@click.option("--ray", "with_ray", is_flag=True, help="Also run Ray Data, which must be installed.")
@options.repeats(REPEATS)
@options.record
def scale(data: Path | None, pairs: int, with_ray: bool, repeats: int, output: Path | None) -> None:
    """MATCHA on files: parquet, extrapolated to ten million pairs, and JSONL by the command."""
    print_tables(_tables(data, pairs, repeats, with_ray), repeats, output)
