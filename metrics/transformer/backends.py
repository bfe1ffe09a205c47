"""One transformer in every precision and on every backend, its batches spread over the cores.

On a CPU a worker for each core runs its own batch on one thread. Threads inside an operation wait for one another, so
that one busy core slows all of them down, and small matrices do not fill them; workers with a batch each do not wait.
What a batch holds must be settled before; then results are equal to the last bit for any number of workers.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from transformers import PreTrainedModel
from transformers.utils import logging

from semantic_metrics.core.inputs import InvalidInput, invalid_input, quote
from semantic_metrics.core.process import Lock, check_device, core_count
from semantic_metrics.core.run_options import AUTO, DEFAULT_OPTIONS, RunOptions
from semantic_metrics.transformer.drifts import fastest_precision, read_drifts
from semantic_metrics.transformer.openvino_model import Inputs, OpenVINOModel
from semantic_metrics.transformer.precision import convert

UNSAVED = "unsaved"  # digest of a model that is not a file
ONLY_CPU = {"precision": "int8", "backend": "openvino"}
Forward = Callable[[Inputs], torch.Tensor]
Item = TypeVar("Item")
Result = TypeVar("Result")
_starting = Lock()  # one thread at a time changes torch's number of threads


def default_device() -> torch.device:
    """Where a model runs unless a call says otherwise: a GPU with CUDA if there is one, else the CPU.

    Apple's GPUs lack the float64 in which vectors are averaged.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def check_run_device(run: RunOptions) -> None:
    """Refuse a device that torch does not have here, or that cannot run the precision or the backend."""
    if run.device is None:
        return
    try:
        device = torch.device(run.device)
        for name, value in ONLY_CPU.items():
            if getattr(run, name) == value and device.type != "cpu":
                problem = f"expected 'cpu', the only one for {name} {value!r}, got {quote(run.device)}"
                raise invalid_input("device", problem)
        torch.zeros(1, device=device).tolist()
    except InvalidInput:
        raise
    except Exception as error:  # torch raises errors of any kind: an AssertionError where it lacks that device
        reason = str(error).partition("\n")[0]
        problem = f"expected one that torch has here, as 'cpu', got {quote(run.device)} ({reason})"
        raise invalid_input("device", problem) from None


class Checkpoint(Protocol):
    """A checkpoint, as its transformer sees it.

    Attributes:
        folder: its folder; None for a model that is not saved.
        checkpoint_sha256: digest of its weights and settings, or UNSAVED.
        metric: the metric that reads it, whose measured drifts "auto" goes by; None for those of all.
    """

    @property
    def folder(self) -> Path | None: ...  # noqa: D102
    @property
    def checkpoint_sha256(self) -> str: ...  # noqa: D102
    @property
    def metric(self) -> str | None: ...  # noqa: D102

    def example(self) -> Inputs:
        """Inputs of two sequences, the second of them shorter, on the CPU."""
        ...


class Transformer:
    """A loaded model; what a precision or a backend needs is made when it is first asked for.

    Args:
        model: in float32, on the device where it runs by default.
        output: name of the output that `forward` gives.
        checkpoint: where the model is from.
    """

    def __init__(self, model: PreTrainedModel, output: str, checkpoint: Checkpoint) -> None:
        self.device, self.config = model.device, model.config
        self._output, self._checkpoint = output, checkpoint
        self._models = {"float32": model}
        self._openvino: dict[str, tuple[int, OpenVINOModel]] = {}  # by precision, with its number of threads
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """The state that pickle and copy take: compiled models are made again."""
        return {**self.__dict__, "_openvino": {}}

    def resolve(self, run: RunOptions) -> RunOptions:
        """The options with the precision that "auto" stands for; refused if they cannot be had here."""
        check_run_device(run)
        if run.precision != AUTO:
            return run
        drifts = read_drifts(self._checkpoint.folder, self._checkpoint.checkpoint_sha256)
        if self.device_of(run).type != "cpu":
            return replace(run, precision="float32")
        return replace(run, precision=fastest_precision(drifts, run.backend, self._checkpoint.metric))

    def device_of(self, run: RunOptions) -> torch.device:
        """Where the model runs with these options."""
        only_cpu = any(getattr(run, name) == value for name, value in ONLY_CPU.items())
        return torch.device(run.device or ("cpu" if only_cpu else self.device))

    def model(self, run: RunOptions = DEFAULT_OPTIONS) -> PreTrainedModel:
        """The torch model in the precision and on the device of the options."""
        device = self.device_of(run)
        check_device(device)
        with self._lock:
            if run.precision not in self._models:
                self._models[run.precision] = convert(self._models["float32"], run.precision)
            return self._models[run.precision].to(device)

    def forward(self, run: RunOptions) -> Forward:
        """A function from the model's inputs, on the device of the options, to its output; threads may share it."""
        if run.backend == "openvino":
            return self._compiled(run.precision, min(worker_count(run.workers), core_count()))
        model = self.model(run)

        def forward(inputs: Inputs) -> torch.Tensor:
            with torch.inference_mode():
                return getattr(model(**inputs), self._output)

        return forward

    def _compiled(self, precision: str, threads: int) -> OpenVINOModel:
        with self._lock:
            if precision not in self._openvino or self._openvino[precision][0] != threads:
                model = self._models["float32"].to("cpu")
                sha256 = self._checkpoint.checkpoint_sha256
                known = None if sha256 == UNSAVED else sha256
                example = self._checkpoint.example()
                compiled = OpenVINOModel(model, precision, self._output, example, known, threads)
                self._openvino[precision] = threads, compiled
            return self._openvino[precision][1]

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], run: RunOptions) -> Iterator[Result]:
        """Results of a function for each batch, in order: on a CPU as many at a time as there are workers."""
        if self.device_of(run).type != "cpu":
            return map(function, items)
        return run_in_order(function, items, worker_count(run.workers))


def worker_count(workers: int | None) -> int:
    """The number given, or else that of the cores this process may use (see `core_count`)."""
    return core_count() if workers is None else workers


def run_in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results of a function for each item, in their order; torch runs on one thread in each of the workers.

    All items are taken at once. An error of the function is raised here, and items that wait are dropped.
    """
    pool = ThreadPoolExecutor(workers, "semantic-metrics", _use_one_thread)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)


def _use_one_thread() -> None:
    """Make torch use one thread in this thread, and in no other.

    `torch.set_num_threads` sets the number of the calling thread, and the one that threads begin with from now on. A
    thread that ends at once sets the latter back.
    """
    with _starting:
        before = torch.get_num_threads()  # in a new thread, the number that threads begin with
        torch.set_num_threads(1)
        restore = threading.Thread(target=torch.set_num_threads, args=(before,))
        restore.start()
        restore.join()


@contextmanager
def without_bars() -> Iterator[None]:
    """Without the bars that transformers draws while it loads a model, also where standard error is a file."""
    enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            logging.enable_progress_bar()
