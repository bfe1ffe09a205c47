"""A process that scores for hours: memory does not grow with calls, other sizes of batches or dropped metrics."""

from collections.abc import Callable
from pathlib import Path

import pytest

from semantic_metrics.transformer import drifts
from tests.conftest import Run

pytestmark = pytest.mark.slow

# from call 100 on, as each backend keeps what it compiled for the shapes of some batches, and from call 1,000 on
MAX_GROWN_MB = 200, 50
MAX_KEPT_MB = {"torch": 75, "openvino": 100}  # oneDNN keeps some 55 in bfloat16, OpenVINO .75 a model
BEGIN = """
import ctypes, gc, random, re, sys
from functools import partial
import semantic_metrics

WORDS = "the dog a man bites sleeps not is 12 3.5 kg London".split()
name, checkpoint, backend, precision = sys.argv[1:5]
load = partial(semantic_metrics.load, {"contextual": "matcha"}.get(name, name), checkpoint)
draw = random.Random(0)


def texts(count, longest):
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, longest))) for _ in range(count)]


def call(metric, i):
    count = 1 + i % 9 if i // 9 % 2 else 9 - i % 9  # growing, then shrinking
    longest = 12 if i % 50 else 60  # more than the model reads
    columns = {"predictions": texts(count, longest), "references": texts(count, longest)}
    if name == "nli_lex":
        columns["questions"] = texts(count, longest)
    if name == "set_criteria":
        columns = {"a": columns["predictions"], "b": columns["references"], "target": texts(count, longest)}
        columns["operator"] = draw.choices(["overlap", "difference", "union"], k=count)
    run = {} if name == "matcha" else {"backend": backend, "precision": precision}
    result = metric.compute(**columns, **run)
    assert len(result["scores"]) == count if name != "set_criteria" else sum(result["operators"].values()) == count


def memory_mb():
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what is free is given back
    return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
"""
CALLS = """
metric, before = load(), {}
for i in range(2000):
    if i in (100, 1000):
        before[i] = memory_mb()
    call(metric, i)
print(memory_mb() - before[100], memory_mb() - before[1000])
"""
LOADS = """
for i in range(50):
    if i == 5:
        before = memory_mb()
    metric = load()
    call(metric, i)
    del metric
print(memory_mb() - before)
"""
METRICS = ("matcha", "contextual", "stsscore", "consensus", "nli_lex", "support", "set_criteria")
RUNS = [("torch", "float32"), ("torch", "int8"), ("openvino", "float32"), ("openvino", "int8")]
RUNS += [("torch", "bfloat16"), ("openvino", "bfloat16")] if drifts.has_bfloat16() else []
EACH = [("matcha", *RUNS[0]), *((name, *run) for name in METRICS[1:] for run in RUNS)]  # a table runs no model
Grown = Callable[..., list[float]]


@pytest.fixture
def grown(run_python: Run, checkpoints: dict[str, Path], tmp_path: Path) -> Grown:
    """By how many MB the memory of a process grows: `grown(code, name, backend, precision)`."""

    def grown(code: str, name: str, *run: str) -> list[float]:
        folder = checkpoints.get(name, checkpoints["contextual"])
        printed = run_python(BEGIN + code, name, folder, *run, cwd=tmp_path, OMP_NUM_THREADS="1").stdout
        return [float(one) for one in printed.split()]

    return grown


@pytest.mark.parametrize(("name", "backend", "precision"), EACH)
def test_two_thousand_calls_take_no_more_memory_than_a_hundred(
    grown: Grown, name: str, backend: str, precision: str
) -> None:
    early, late = grown(CALLS, name, backend, precision)
    assert early < MAX_GROWN_MB[0]
    assert late < MAX_GROWN_MB[1]


@pytest.mark.parametrize(("name", "backend", "precision"), EACH)
def test_a_dropped_metric_frees_memory(grown: Grown, name: str, backend: str, precision: str) -> None:
    assert grown(LOADS, name, backend, precision)[0] < MAX_KEPT_MB[backend]
