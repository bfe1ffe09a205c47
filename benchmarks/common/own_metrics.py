"""The package's own metrics as a benchmark runs them: with the options of its command."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from semantic_metrics import load
from semantic_metrics.core.contract import TextMetric
from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.core.run_options import BACKENDS, PRECISIONS, RunOptions
from semantic_metrics.transformer.backends import ONLY_CPU, check_run_device
from semantic_metrics.transformer.openvino_model import check_installed

Run = Mapping[str, object]  # what `options.run` gives a command: arguments of `compute` and of `RunOptions`
NO_OPTIONS: Run = {}


def load_own(name: str, checkpoint: str | None, run: Run = NO_OPTIONS) -> tuple[TextMetric, dict[str, object]]:
    """Load a metric of the package.

    Args:
        name: name of the metric.
        checkpoint: its name, a folder or a Hub id; None for the shipped one.
        run: how its model runs.

    Returns:
        The metric, and the arguments for its `compute`: those of `run`, none for a table, which runs no model.

    Raises:
        ValueError: there is no such metric or checkpoint, or one of the arguments is invalid.
    """
    if RunOptions(**run).backend == "openvino":  # what is invalid or missing is refused before anything is loaded
        check_installed()
    metric = load(name, checkpoint, keep_in_memory=True)
    return metric, dict(run) if getattr(metric, "runs_model", True) else {}


def check_run(run: Run) -> None:
    """Refuse options before there is a model to run, where that takes long to make.

    A model may still be refused what this processor cannot compute: bfloat16 on OpenVINO.

    Raises:
        InvalidInput: an option is invalid, the device is not here or cannot run the others, or OpenVINO is missing.
    """
    options = RunOptions(**run)
    if options.backend == "openvino":
        check_installed()
    check_run_device(options)


def runs_in_float32(run: Run) -> bool:
    """Whether models run in float32, on either backend: their scores differ by less than a card prints.

    Raises:
        ValueError: one of the options is invalid.
    """
    return RunOptions(**run).precision == "float32"


def runs_to_time(backends: Sequence[str], precisions: Sequence[str], run: Run) -> dict[str, Run]:
    """The ways to run a model that a speed benchmark compares, each with the rest of its options.

    Args:
        backends: torch, if there are none.
        precisions: every one that the device can run, if there are none.
        run: device, and whatever else is the same for all.

    Returns:
        Arguments of `compute` by the name of a line: the precision, behind a backend that is not torch.
    """
    every = [name for name in PRECISIONS if run["device"] == "cpu" or name != ONLY_CPU["precision"]]
    ways = {}
    for backend, precision in product(backends or BACKENDS[:1], precisions or every):
        name = precision if backend == BACKENDS[0] else f"{backend}, {precision}"
        ways[name] = {**run, "backend": backend, "precision": precision}
    return ways


def prepare_runs(runs: Mapping[str, Run], score: Callable[[Run], object], asked: bool) -> dict[str, Run]:
    """Make every way to run a model ready, so that this machine refuses none after others have run for minutes.

    Args:
        runs: those of `runs_to_time`.
        score: scores a text or two.
        asked: whether the user chose the precisions; if not, one that this machine lacks is left out.

    Returns:
        Those that run here.

    Raises:
        InvalidInput: one does not run here.
    """
    ready = {}
    for name, run in runs.items():
        try:
            score(run)
        except InvalidInput as error:
            if asked or error.argument != "precision":
                raise
        else:
            ready[name] = run
    return ready


def run_lines(run: Run) -> list[str]:
    """A line for a report that says how models ran; none where no option was given."""
    return ["models ran with " + ", ".join(f"{name} {value}" for name, value in run.items())] if run else []
