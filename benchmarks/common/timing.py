"""What the speed benchmarks share: texts, medians of times taken in turn, and what the times depend on."""

import csv
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import evaluate
import pandas as pd
import tokenizers
import torch

SETS = ("mnli_dev_matched", "snli_dev")  # of nli_triplets
SAMPLE_PAIRS = 5000  # made of the bundled sample where there is no data folder
CACHE = "SEMANTIC_METRICS_CACHE"

Pairs = list[tuple[str, str]]


def medians(functions: list[Callable[[], object]], repeats: int) -> list[tuple[float, object]]:
    """Time functions in turn: all of them once, then all of them again, so that a busy moment hits them alike.

    Returns:
        For each, the seconds it takes, the median of `repeats` calls, and what it returned when it was called once
        before them to warm up.
    """
    results = [function() for function in functions]
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, taken in zip(functions, times, strict=True):
            begin = time.perf_counter()
            function()
            taken.append(time.perf_counter() - begin)
    return [(statistics.median(taken), result) for taken, result in zip(times, results, strict=True)]


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
    """Pairs of which no text occurs twice, so that nothing is gained by scoring it once: real ones, or the sample's.

    Args:
        data: the data folder; each premise of the NLI triplets is paired with its entailed text. Without one, the
            bundled sample is repeated under running numbers.
        limit: how many at most.
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


@contextmanager
def own_cache() -> Iterator[Path]:
    """A temporary folder that is also the cache of folded checkpoints: a random one has no place in the user's."""
    before = os.environ.get(CACHE)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CACHE] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[CACHE]
            if before is not None:
                os.environ[CACHE] = before
