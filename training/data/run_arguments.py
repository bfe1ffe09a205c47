"""Arguments that several commands of training have: where the data is, and how a model runs."""

import argparse
import os
from pathlib import Path

from semantic_metrics.core.run_options import BACKENDS, DEFAULT_OPTIONS, PRECISION_CHOICES, RunOptions
from semantic_metrics.transformer.openvino_model import check_installed

NAMES = ("precision", "backend", "batch_size", "workers", "device")


def make_parser(
    doc: str | None, config: str | None = None, output: str | None = "Folder to write to."
) -> argparse.ArgumentParser:
    """A command's parser with --data, and with --config and --output, both paths, where their help is given."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, described in (("--config", config), ("--output", output)):
        if described is not None:
            parser.add_argument(name, type=Path, required=True, help=described)
    given = os.environ.get("SEMANTIC_METRICS_DATA") or None  # an empty one names no folder
    described = "Folder of the config's relative paths; default: SEMANTIC_METRICS_DATA."
    parser.add_argument("--data", type=Path, default=given, help=described)
    return parser


def add_run_arguments(parser: argparse.ArgumentParser, default: RunOptions = DEFAULT_OPTIONS) -> None:
    """Add --precision, --backend, --batch-size, --workers and --device."""
    add, size = parser.add_argument, default.batch_size
    add("--precision", choices=PRECISION_CHOICES, default=default.precision, help="Precision of the model.")
    add("--backend", choices=BACKENDS, default=default.backend, help="Library that runs the model.")
    add("--batch-size", type=int, default=size, help="Most pairs that the model reads at a time.")
    add("--workers", type=int, help="Batches at a time on a CPU; default: as many as cores.")
    add("--device", help="Device of the model, such as cuda:0; default: a GPU if there is one.")


def run_options(arguments: argparse.Namespace) -> RunOptions:
    """The options that these arguments give. Raises InvalidInput: a value is invalid, or OpenVINO is not installed."""
    run = RunOptions(**{name: getattr(arguments, name) for name in NAMES})
    if run.backend == "openvino":
        check_installed()
    return run
