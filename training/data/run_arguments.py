"""How a command that makes data runs its model: the same arguments for each."""

import argparse

from semantic_metrics.core.run_options import BACKENDS, DEFAULT_OPTIONS, PRECISION_CHOICES, RunOptions
from semantic_metrics.transformer.openvino_model import check_installed

NAMES = ("precision", "backend", "batch_size", "workers", "device")


def add_run_arguments(parser: argparse.ArgumentParser, default: RunOptions = DEFAULT_OPTIONS) -> None:
    """Add --precision, --backend, --batch-size, --workers and --device."""
    parser.add_argument("--precision", choices=PRECISION_CHOICES, default=default.precision, help="of the model")
    parser.add_argument("--backend", choices=BACKENDS, default=default.backend, help="what runs the model")
    parser.add_argument("--batch-size", type=int, default=default.batch_size, help="most pairs that it reads at a time")
    parser.add_argument("--workers", type=int, help="batches at a time on a CPU; default: as many as cores")
    parser.add_argument("--device", help="where the model runs; default: a GPU if there is one")


def run_options(arguments: argparse.Namespace) -> RunOptions:
    """What these arguments say.

    Raises:
        InvalidInput: a value is invalid, or OpenVINO is not installed.
    """
    run = RunOptions(**{name: getattr(arguments, name) for name in NAMES})
    if run.backend == "openvino":
        check_installed()
    return run
