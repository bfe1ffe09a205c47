"""The package's own metrics as a benchmark runs them: with the options of its command."""

from collections.abc import Mapping

from semantic_metrics import load
from semantic_metrics.core.contract import MetricDescription, TextMetric, describe
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.stsscore.scoring import DEFAULT_CHECKPOINT
from semantic_metrics.transformer.backends import check_run_device
from semantic_metrics.transformer.openvino_model import check_installed

Run = Mapping[str, object]  # what `options.run` gives a command: arguments of `compute` and of `RunOptions`
NO_OPTIONS: Run = {}
SHIPPED = (None, "default", DEFAULT_CHECKPOINT)  # names of the cross-encoder that the package ships


def load_own(source: str, run: Run = NO_OPTIONS) -> tuple[TextMetric, dict[str, object]]:
    """A metric of the package: NAME, or NAME:CHECKPOINT with a checkpoint's name, folder or Hub id.

    With it come the arguments for its `compute`: those of `run`, none for a table, which runs no model.

    Raises ValueError: there is no such metric or checkpoint, or one of the arguments is invalid.
    """
    if RunOptions(**run).backend == "openvino":  # what is invalid or missing is refused before anything is loaded
        check_installed()
    name, _, checkpoint = source.partition(":")
    metric = load(name, checkpoint or None, keep_in_memory=True)
    return metric, dict(run) if getattr(metric, "runs_model", True) else {}


def without_questions(source: str) -> MetricDescription:
    """The description of a metric, NAME or NAME:CHECKPOINT; a ValueError if there is none or it needs questions."""
    described = describe(source.partition(":")[0])
    if described.takes_questions:
        raise ValueError(f"--metric: expected a metric that needs no questions, got {source}")
    return described


def check_run(run: Run) -> None:
    """Refuse options before there is a model to run, where that takes long to make, by an InvalidInput.

    A model may still be refused what this processor cannot compute: bfloat16 on OpenVINO.
    """
    options = RunOptions(**run)
    if options.backend == "openvino":
        check_installed()
    check_run_device(options)


def fits_a_card(run: Run) -> bool:
    """Whether a card may print the figures: those of float32, and those of bfloat16 where its notes say so."""
    return RunOptions(**run).precision in ("float32", "bfloat16")


def run_lines(run: Run) -> list[str]:
    """A line for a report that says how models ran; none where no option was given."""
    return ["models ran with " + ", ".join(f"{name} {value}" for name, value in run.items())] if run else []
