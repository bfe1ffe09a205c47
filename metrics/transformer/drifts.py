"""How far each precision moves the scores of a checkpoint, as measured, and the fastest that moves them little.

A checkpoint's `precision.json` lists what `python -m benchmarks speed --record` measured: for each metric, backend,
precision and kind of processor the largest change of any score, and the speed. It counts only for the weights that it
names.
"""

import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from semantic_metrics.core.checkpoint_files import refuse_damage
from semantic_metrics.core.run_options import PRECISIONS

FILE = "precision.json"
MAX_DRIFT = 0.005  # "auto" takes only what moved every score by less, from float32 and by the texts beside it
CPU_INFO, MAKERS = Path("/proc/cpuinfo"), {"AuthenticAMD": "amd", "GenuineIntel": "intel"}
# what decides how a processor computes in fewer bits, by torch's test for it; one that torch lacks counts as False
PROCESSOR_FEATURES = {
    "avx512": "_is_avx512_supported",
    "vnni": "_is_vnni_supported",
    "bfloat16": "_is_avx512_bf16_supported",
    "amx": "_is_amx_tile_supported",
}


@dataclass(frozen=True)
class Drift:
    """Cost and gain of a precision on one kind of processor."""

    metric: str  # whose scores they are; a checkpoint that several metrics read moves those of each by another amount
    backend: str  # one of BACKENDS
    precision: str  # one of PRECISIONS
    processor: str  # its kind, as `processor` names it
    drift: float  # largest absolute difference of any score from torch in float32
    neighbours: float  # largest absolute difference of a score between a text alone and among others
    speed: float  # texts or pairs in a second of one core


def processor() -> str:
    """Kind of this processor: its maker and what it can compute in fewer bits, as "amd+avx512+vnni+bfloat16".

    The same instructions are fast on one maker's processors and slow on another's.
    """
    known = [name for name, test in PROCESSOR_FEATURES.items() if getattr(torch.cpu, test, bool)()]
    return "+".join([_maker(), *known])


def _maker() -> str:
    """Who made this processor; its architecture where the system does not say (other systems than Linux)."""
    lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines() if CPU_INFO.is_file() else []
    made_by = next((line.partition(": ")[2].strip() for line in lines if line.startswith("vendor_id")), "")
    return MAKERS.get(made_by, platform.machine().lower())


def has_bfloat16() -> bool:
    """Whether this processor has instructions for bfloat16; without them float32 is many times faster."""
    return "bfloat16" in processor().split("+")


def read_drifts(folder: Path | None, sha256: str) -> list[Drift]:
    """Drifts that were measured with these weights; none if the folder has no such file, or one of other weights."""
    if folder is None or not (folder / FILE).is_file():
        return []
    with refuse_damage(f"checkpoint {folder}: expected measured drifts in {FILE}"):
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if stored["checkpoint"] != sha256:
            return []
        # what was written before drifts named a metric does not say whose scores moved
        drifts = [Drift(**entry) for entry in stored["drifts"] if "metric" in entry]
        for drift in drifts:
            numbers = (drift.drift, drift.neighbours, drift.speed)
            if drift.precision not in PRECISIONS or not all(type(n) in (int, float) and n >= 0 for n in numbers):
                raise ValueError(f"got {drift}")
        return drifts


def write_drifts(folder: Path, sha256: str, measured: list[Drift], data: str) -> None:
    """Write what was measured, with `data` in words, in the place of what the file has of the same metric and run."""
    new = {_key(drift) for drift in measured}
    old = [drift for drift in read_drifts(folder, sha256) if _key(drift) not in new]
    stored = {"checkpoint": sha256, "data": data, "drifts": [asdict(drift) for drift in [*old, *measured]]}
    (folder / FILE).write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


def _key(drift: Drift) -> tuple[str, str, str, str]:
    return drift.metric, drift.backend, drift.precision, drift.processor


def fastest_precision(drifts: list[Drift], backend: str, metric: str | None = None) -> str:
    """The fastest precision of a backend that moved no score by MAX_DRIFT on a processor like this one.

    Scores of `metric` count, or where it is None those of every metric that was measured.
    """
    here = processor()
    own = [d for d in drifts if (d.backend, d.processor) == (backend, here) and metric in (None, d.metric)]
    speeds = {}
    for precision in PRECISIONS:
        measured = {drift.metric: drift for drift in own if drift.precision == precision}
        small = all(max(drift.drift, drift.neighbours) < MAX_DRIFT for drift in measured.values())
        if small and measured.keys() == {drift.metric for drift in own}:
            speeds[precision] = min((drift.speed for drift in measured.values()), default=0.0)
    return max(speeds, key=speeds.__getitem__, default="float32")
