"""What the speed benchmarks share: texts, medians of times taken in turn, one table of speeds and its record."""

import csv
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import click
import evaluate
import numpy as np
import pandas as pd
import tokenizers
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from benchmarks.common.own_metrics import NO_OPTIONS, Run, run_lines
from semantic_metrics.core.progress import progress, progress_bar

SETS = ("mnli_dev_matched", "snli_dev")  # files of nli_triplets
SAMPLE_PAIRS = 5000  # made of the bundled sample where there is no data folder
BUSY_LOAD = 0.5  # load average beyond which other processes slow the benchmark down
HEAD_WIDTH = 64  # width of an attention head in BERT, RoBERTa and DeBERTa-v3 of every size
INNER_FACTOR = 4  # width of their inner layers, in widths of the model

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Speed:
    """One line of a speed table: one way to do the work.

    Attributes:
        name: what does the work.
        count: number of texts, pairs or answers.
        seconds: time for all of them; a median.
        difference: largest absolute difference of a result from that of the line that is the reference, by default the
            first; None where they are not compared.
        more: further figures by heading; None where there is none.
    """

    name: str
    count: int
    seconds: float
    difference: float | None = None
    more: dict[str, float | int | None] = field(default_factory=dict)

    @property
    def per_second(self) -> float:
        """Texts, pairs or answers a second."""
        return self.count / self.seconds

    def times(self, other: "Speed") -> float:
        """How many times the speed of another line this one has."""
        return self.per_second / other.per_second


@dataclass(frozen=True)
class SpeedTable:
    """Several ways to do the same work.

    Attributes:
        title: first line.
        unit: what is counted, in the plural.
        lines: at least one; differences are those from the first.
        bases: how many of the first lines the others are divided by: one column of ratios for each.
        notes: lines below the table.
    """

    title: str
    unit: str
    lines: list[Speed]
    bases: int = 1
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """The table as text."""
        bases = self.lines[: self.bases]
        more = list(dict.fromkeys(heading for line in self.lines for heading in line.more))
        heads = ["", self.unit, "seconds", f"{self.unit}/s", *(f"x {base.name}" for base in bases)]
        rows = [[*heads, "difference", *more]]
        for line in self.lines:
            row = [line.name, f"{line.count:,}", f"{line.seconds:,.4f}", f"{line.per_second:,.1f}"]
            row += [f"{line.times(base):,.2f}" for base in bases]
            row.append("-" if line.difference is None else f"{line.difference:.1e}")
            rows.append(row + [_figure(line.more.get(heading)) for heading in more])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
        ]
        return "\n".join([self.title, *lines, *(f"  {note}" for note in self.notes)])

    def record(self) -> dict[str, object]:
        """The table for a JSON file."""
        lines = []
        for line in self.lines:
            ratios = {f"times {base.name}": line.times(base) for base in self.lines[: self.bases]}
            figures = {"name": line.name, "count": line.count, "seconds": line.seconds, "per_second": line.per_second}
            lines.append({**figures, **ratios, "difference": line.difference, **line.more})
        return {"title": self.title, "unit": self.unit, "lines": lines, "notes": list(self.notes)}


def _figure(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def largest_difference(results: object, expected: object) -> float:
    """Largest absolute difference of two vectors of results."""
    return float(np.abs(np.asarray(results) - np.asarray(expected)).max())


def print_tables(tables: Iterable[SpeedTable], repeats: int, output: Path | None, run: Run = NO_OPTIONS) -> None:
    """Print each table as soon as it is measured, and write all of them to a JSON file.

    Args:
        tables: may be a generator that measures.
        repeats: number of timed calls, for the record.
        output: file to write; None for none.
        run: how models ran, as far as it is the same for all lines.

    Raises:
        click.ClickException: something to measure is absent or invalid.
    """
    described, records = machine(), []
    if described["load_average"][0] > BUSY_LOAD:
        click.echo(f"The machine is busy (load average {described['load_average'][0]:.1f}): the times are too high.")
    try:
        for table in tables:
            click.echo(f"{table.text()}\n")
            records.append(table.record())
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    for line in run_lines(run):
        click.echo(line)
    if output is not None:
        command = " ".join(["python -m benchmarks.speed", *sys.argv[1:]])
        record = {"command": command, "machine": described, "repeats": repeats, "run": dict(run), "tables": records}
        output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def medians(
    functions: Iterable[Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
    warm_up: bool = True,
) -> list[tuple[float, object]]:
    """Time functions in turn: all of them once, then all of them again, so that a busy moment slows all of them down.

    Args:
        functions: what to time.
        repeats: number of timed calls of each.
        clock: `time.process_time` counts the processor time of this process instead of the time that passes.
        warm_up: whether to call each of them once before anything is timed.

    Returns:
        For each, the median of its seconds, and what it returned.
    """
    functions = list(functions)
    times: list[list[float]] = [[] for _ in functions]
    with progress_bar((repeats + warm_up) * len(functions), "call") as bar, progress(False):  # one bar, none in a call
        results = []
        for function in functions:
            results.append(function() if warm_up else None)
            bar.update(int(warm_up))
        for _ in range(repeats):
            for i, function in enumerate(functions):
                begin = clock()
                results[i] = function()
                times[i].append(clock() - begin)
                bar.update()
    return list(zip(map(statistics.median, times), results, strict=True))


def machine() -> dict[str, object]:
    """What the times depend on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
        "load_average": list(os.getloadavg()),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "tokenizers": tokenizers.__version__,
        "evaluate": evaluate.__version__,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def read_pairs(data: Path | None, limit: int | None) -> Pairs:
    """Pairs in which no text occurs twice, so that nothing is gained by scoring it once.

    Args:
        data: the data folder; each premise of the NLI triplets is paired with its entailed text. Without one, the
            bundled sample is repeated under running numbers.
        limit: largest number of pairs; None for all.
    """
    if data is None:
        sample = resources.files("semantic_metrics") / "samples" / "pairs.csv"
        rows = list(csv.DictReader(sample.read_text(encoding="utf-8").splitlines()))
        made = (rows[i % len(rows)] for i in range(SAMPLE_PAIRS if limit is None else limit))
        return [(f"{row['prediction']} {i}", f"{row['reference']} {i}") for i, row in enumerate(made)]
    pairs: Pairs = []
    seen: set[str] = set()
    for name in SETS:
        frame = pd.read_parquet(data / "nli_triplets" / f"{name}.parquet")
        for pair in zip(frame["correct_answer"], frame["premise"], strict=True):
            if pair[0] != pair[1] and seen.isdisjoint(pair):
                seen.update(pair)
                pairs.append(pair)
    return pairs[:limit]


def evenly_spaced(rows: int, limit: int | None) -> np.ndarray:
    """Indices of `limit` rows at most, evenly spaced over all of them."""
    return np.linspace(0, rows - 1, min(limit or rows, rows)).astype(int)


def random_cross_encoder(folder: Path, kind: str, tokenizer_of: Path, layers: int, width: int, **fields: object) -> str:
    """Write a cross-encoder with random weights and the tokeniser of another checkpoint.

    Args:
        folder: where to write it.
        kind: transformers' name of the architecture (`roberta`).
        tokenizer_of: folder of the checkpoint whose tokeniser is taken.
        layers: number of layers.
        width: width of the hidden states, a multiple of HEAD_WIDTH.
        fields: further fields of its config.

    Returns:
        The folder.
    """
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_of)
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // HEAD_WIDTH,
        intermediate_size=INNER_FACTOR * width,
        pad_token_id=tokenizer.pad_token_id,
        **fields,
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
