"""How fast each metric is, beside what it replaces: one table.

    python -m benchmarks speed [--data DATA] [--only stsscore] [--record]
    python -m benchmarks speed --device cuda --backend torch --batch-size 256

Each line is measured in a process of its own, on the same pairs: pairs a second on all cores, the ratio to its peer,
pairs a second beside one process that keeps a core busy and of one core's time, the largest difference of a score from
torch in float32 and of a score alone from that among others, memory at its peak, and the seconds from the first import
to the first score. Run it on an otherwise idle machine. A first run converts models for OpenVINO, which takes a minute;
another one has them in its cache. Peers run with the same --device and --batch-size; on a GPU, what only a CPU can run
is not measured.
"""

import csv
import platform
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from importlib import resources
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import click
import numpy as np

from benchmarks.common import options
from benchmarks.common.own_metrics import Run, run_lines
from benchmarks.common.tables import read_table
from benchmarks.speed_rows import LOADERS, ON_CPU, PEER_OF, Line, Pairs, lines, measure
from semantic_metrics.cli.options import model_options
from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.core.run_options import BACKENDS, PRECISIONS
from semantic_metrics.matcha.checkpoint import CONTEXTUAL, load_checkpoint
from semantic_metrics.stsscore.scoring import load_scorer
from semantic_metrics.transformer.drifts import Drift, processor, write_drifts

PAIRS, REPEATS = 400, 3
NAME_WIDTH, WIDTH = 28, 13  # characters of the columns
SETS = ("mnli_dev_matched", "snli_dev")  # files of nli_triplets
COLUMNS = {  # heading -> figure and its format
    "pairs/s": ("per_second", ",.1f"),
    "x peer": ("times_peer", ".2f"),
    "busy/s": ("busy_per_second", ",.1f"),
    "of idle": ("of_idle", ".2f"),
    "/s of a core": ("per_second_of_a_core", ",.1f"),
    "drift": ("drift", ".1e"),
    "neighbours": ("neighbours", ".1e"),
    "MB": ("megabytes", ",.0f"),
    "start, s": ("start", ".1f"),
}
PACKAGES = {"matcha-metric": "matcha_metric"}  # that a peer needs
METRIC_OF = {CONTEXTUAL: "matcha"}  # where a line is not called like its metric
SAME_WEIGHTS = {"stsscore": "pairs", "nli_lex": "pairs", "consensus": "pairs", "contextual": "contextual"}


@click.command()
@options.data()
@click.option("--pairs", default=PAIRS, type=click.IntRange(2), show_default=True, help="Number of pairs.")
@click.option("--repeats", default=REPEATS, show_default=True, type=click.IntRange(1), help="Timed calls of a median.")
@click.option("--only", multiple=True, type=click.Choice(list(PEER_OF)), help="Metric to time, repeatable.")
@click.option("--backend", multiple=True, type=click.Choice(BACKENDS), help="Repeatable; default: all installed.")
@click.option("--precision", multiple=True, type=click.Choice(PRECISIONS), help="Repeatable; default: all.")
@click.option("--device", default="cpu", show_default=True, help="Device that models run on: cpu, cuda or mps.")
@model_options("batch_size", "workers")
@click.option("--busy/--idle", default=True, help="Whether to time each line beside a busy process as well.")
@click.option("--record", is_flag=True, help="Write drifts and speeds into precision.json of the checkpoints.")
def main(
    data: Path | None,
    pairs: int,
    repeats: int,
    only: tuple[str, ...],
    backend: tuple[str, ...],
    precision: tuple[str, ...],
    device: str,
    run: Run,
    busy: bool,
    record: bool,
) -> None:
    """Time every metric in every backend and precision, beside what it replaces."""
    run = {"device": device, **run}
    if record and run != ON_CPU:
        given = ", ".join(f"{name} {value}" for name, value in run.items())
        raise click.UsageError(f"--record: expected device cpu, and no batch size or workers, got {given}")
    if record and not ("torch" in (backend or BACKENDS) and "float32" in (precision or PRECISIONS)):
        raise click.UsageError("--record: expected torch in float32 among them, from which drift is measured")
    with options.invalid_input():
        texts = read_pairs(data, pairs)
    backends = tuple(name for name in BACKENDS if name in (backend or BACKENDS))
    backends = tuple(name for name in backends if name == "torch" or find_spec("openvino"))
    precisions = tuple(name for name in PRECISIONS if name in (precision or PRECISIONS))
    described = "MultiNLI and SNLI" if data else "the bundled sample"
    click.echo(f"{len(texts)} pairs of {described}, {_processor_name()}, {processor()}; medians of {repeats}")
    click.echo("\n".join([*run_lines(run), " " * NAME_WIDTH + "".join(f"{heading:>{WIDTH}}" for heading in COLUMNS)]))
    wanted = _wanted(lines(backends, precisions), only)
    measured = _measure_all(wanted, texts, repeats, busy, run)
    if "openvino" not in backends and not backend:
        click.echo('Without OpenVINO (pip install ".[fast]" in a checkout).')
    if record:
        _record(measured, f"{len(texts)} pairs of {described}")


class Refused(Exception):
    """A line that this machine cannot run; says why."""


def _wanted(every: list[Line], only: tuple[str, ...]) -> list[Line]:
    """The lines of these metrics and of their peers, or all; none of a peer whose package is not installed."""
    metrics = {*only, *(PEER_OF[name] for name in only)} if only else {*PEER_OF, *LOADERS}
    return [line for line in every if line.metric in metrics and find_spec(PACKAGES.get(line.metric, "numpy"))]


def _measure_all(wanted: list[Line], texts: Pairs, repeats: int, busy: bool, run: Run) -> dict[str, dict]:
    """Measure one line after the other, and print each as soon as it is measured; returns figures by name."""
    measured: dict[str, dict] = {}
    scores: dict[str, np.ndarray] = {}
    with progress_bar(len(wanted), "line") as bar:
        for line in wanted:
            bar.set_description(line.name)
            try:
                figures, scores[line.name] = _in_a_process(line, texts, repeats, busy, run)
                reference = scores.get(Line(line.metric, "torch", "float32").name)
                if line.backend and reference is not None:
                    figures["drift"] = float(np.abs(scores[line.name] - reference).max())
                figures["per_second"] = figures["count"] / figures["seconds"]
                figures["per_second_of_a_core"] = figures["count"] / figures["processor_seconds"]
                if line.peer in measured:
                    figures["times_peer"] = figures["per_second"] / measured[line.peer]["per_second"]
                if busy:
                    figures["busy_per_second"] = figures["count"] / figures["busy_seconds"]
                    figures["of_idle"] = figures["busy_per_second"] / figures["per_second"]
                measured[line.name] = {**asdict(line), **figures}
                row = _row(line.name, figures)
            except Refused as error:
                row = f"{line.name:<{NAME_WIDTH}}  not measured: {error}"
            with bar.external_write_mode():  # the bar goes while the row is printed
                click.echo(row)
            bar.update()
    return measured


def _in_a_process(line: Line, pairs: Pairs, repeats: int, busy: bool, run: Run) -> tuple[dict, np.ndarray]:
    """What `measure` gives in a process of its own, to which memory and start belong; Refused if it cannot run here."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(measure, line, pairs, repeats, busy, run).result()
        except InvalidInput as error:
            if error.argument not in ("precision", "device"):  # which this processor lacks, or which cannot run it
                raise
            raise Refused(str(error)) from None
        except BrokenProcessPool:
            raise click.ClickException(f"{line.name}: it was killed") from None


def _row(name: str, figures: Mapping[str, float]) -> str:
    cells = (f"{figures[key]:{form}}" if key in figures else "-" for key, form in COLUMNS.values())
    return f"{name:<{NAME_WIDTH}}" + "".join(f"{cell:>{WIDTH}}" for cell in cells)


def _record(measured: dict[str, dict], data: str) -> None:
    """Write what each shipped checkpoint's metrics moved at most into its `precision.json`."""
    for checkpoint in sorted(set(SAME_WEIGHTS.values())):
        own = [row for row in measured.values() if SAME_WEIGHTS.get(row["metric"]) == checkpoint]
        if not own:
            continue
        model = load_checkpoint(CONTEXTUAL) if checkpoint == CONTEXTUAL else load_scorer(None)
        write_drifts(model.folder, model.checkpoint_sha256, [_drift(row) for row in own], data)
        click.echo(f"Wrote {model.folder / 'precision.json'}")


def _drift(row: dict) -> Drift:
    """What a checkpoint's `precision.json` keeps of the figures of a line."""
    metric = METRIC_OF.get(row["metric"], row["metric"])
    run = row["backend"], row["precision"], processor()
    return Drift(metric, *run, row["drift"], row["neighbours"], row["per_second_of_a_core"])


def _processor_name() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def read_pairs(data: Path | None, limit: int) -> Pairs:
    """At most `limit` pairs in which no text occurs twice, so that nothing is gained by scoring it once.

    Each premise of the NLI triplets with its entailed text; without a data folder the bundled sample, again and again
    under running numbers.
    """
    if data is None:
        sample = resources.files("semantic_metrics") / "samples" / "pairs.csv"
        rows = list(csv.DictReader(sample.read_text(encoding="utf-8").splitlines()))
        made = (rows[i % len(rows)] for i in range(limit))
        return [(f"{row['prediction']} {i}", f"{row['reference']} {i}") for i, row in enumerate(made)]
    pairs: Pairs = []
    seen: set[str] = set()
    for name in SETS:
        frame = read_table(data / "nli_triplets" / f"{name}.parquet", "correct_answer", "premise")
        for pair in zip(frame["correct_answer"], frame["premise"], strict=True):
            if pair[0] != pair[1] and seen.isdisjoint(pair):
                seen.update(pair)
                pairs.append(pair)
    return pairs[:limit]
