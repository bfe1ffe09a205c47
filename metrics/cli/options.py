"""Options that several commands take, each declared once."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.core.run_options import BACKENDS
from semantic_metrics.files.references import ReferenceColumns
from semantic_metrics.files.rows import check_column


class FilePath(click.Path):
    """A path, as `click.Path` takes it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401
        """The path; a name with NUL or a lone surrogate, which no file can have, is an error of one line."""
        try:
            return Path(os.fsdecode(super().convert(value, param, ctx)))
        except ValueError:
            raise InputError(f"{value!r}: expected a name without NUL and lone surrogates") from None


FILE = FilePath(path_type=Path)
OVERWRITE = "semantic_metrics.overwrite"  # in the context's `meta`
WEIGHTED_METRICS = tuple(name for name in text_metrics() if describe(name).takes_weights)
MAX_RESAMPLES = 1_000_000  # more take hours, and change the third digit of no p-value
DEFAULT_METRIC = "consensus"  # of every command
ANSWER_METRICS = tuple(name for name in text_metrics() if describe(name).takes_questions)

_SHARED: dict[str, dict[str, Any]] = {
    "--metric": {
        "multiple": True,
        "metavar": "NAME",
        "default": [DEFAULT_METRIC],
        "help": f"Metric, repeatable: {', '.join(text_metrics())}; default: {DEFAULT_METRIC}.",
    },
    "--config": {"multiple": True, "metavar": "[NAME=]CHECKPOINT", "help": "Checkpoint: a folder or a Hub id."},
    "--weights": {
        "multiple": True,
        "metavar": "[NAME=]FILE",
        "help": f"Weights from `fit`, for {' or '.join(WEIGHTED_METRICS)}.",
    },
    "--threshold": {
        "multiple": True,
        "metavar": "[NAME=]VALUE",
        "help": "Lowest correct score: a number or `fit`'s file.",
    },
    "--fail-under": {"multiple": True, "metavar": "[NAME=]X", "help": "Exit with code 1 if a mean is lower."},
    "--max-wrong": {"multiple": True, "metavar": "[NAME=]N", "help": "Exit with code 1 if more texts are wrong."},
    "--json": {"is_flag": True, "help": "Print one JSON object, for machines."},
    "--predictions": {"metavar": "COLUMN", "help": "Column of the texts to judge."},
    "--references": {
        "multiple": True,
        "metavar": "COLUMN",
        "help": "Column of references; repeatable.",
    },
    "--separator": {"metavar": "TEXT", "help": "What separates references in a cell."},
    "--json-lists": {"is_flag": True, "help": "A JSON list in a cell is several references."},
    "--questions": {"metavar": "COLUMN", "help": f"Column of the questions, for {', '.join(ANSWER_METRICS)}."},
    "--resamples": {"show_default": True, "metavar": "N", "help": "Resamples of the bootstrap."},
    "--seed": {"default": 0, "show_default": True, "metavar": "N", "help": "Seed of the random numbers."},
    "--output": {"help": "File to write, .json or .csv."},
}
MODEL_OPTIONS: dict[
    str, dict[str, Any]
] = {  # how a transformer runs, by the name of the argument of `compute`; each fits on a line of help
    "device": {"metavar": "NAME", "help": "Where models run; default: a GPU if any."},
    "precision": {"metavar": "NAME", "help": "float32 (default), bfloat16, int8 or auto."},
    "backend": {"type": click.Choice(BACKENDS), "metavar": "NAME", "help": "torch (default) or openvino."},
    "batch_size": {"type": click.IntRange(1), "metavar": "N", "help": "Most texts a model reads at a time."},
    "workers": {"type": click.IntRange(1), "metavar": "N", "help": "Batches at a time on a CPU."},
}
# arguments of options that may be repeated
_PLURALS = {"--metric": "metrics", "--config": "configs", "--threshold": "thresholds"}


def choose_references(
    columns: list[str], names: tuple[str, ...], separator: str | None, json_lists: bool
) -> ReferenceColumns:
    """The columns of references, among those of a file, that the options of these names ask for.

    Raises:
        InputError: a column is named twice, or the separator is empty.
        FileError: a column is missing, or none was named.
    """
    for name in names or (None,):
        check_column(columns, "--references", name)
    if len(set(names)) < len(names):
        raise InputError(f"--references: expected each column once, got {', '.join(map(repr, names))}")
    if separator == "":
        raise InputError("--separator: expected a text, got an empty one")
    return ReferenceColumns(names, separator or "", json_lists)


def refuse_existing(option: str, path: Path) -> None:
    """Refuse to replace a file without --overwrite.

    Raises:
        InputError: the file is there.
    """
    if os.path.isfile(path) and not click.get_current_context().meta.get(OVERWRITE):
        raise InputError(f"{option}: {path} is there already; --overwrite replaces it")


def output_option(name: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option for a file to write, which must be new, as a decorator of a command."""

    def check(_: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        if path is not None:
            refuse_existing(parameter.opts[-1], path)
        return path

    return click.option(name, type=FILE, metavar="FILE", callback=check, **settings)


overwrite_option = click.option(
    "--overwrite",
    is_flag=True,
    is_eager=True,  # read before the files to write
    expose_value=False,
    callback=lambda context, _, given: context.meta.update({OVERWRITE: given}),
    help="Replace files that are there.",
)


def shared_option(name: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """One of the shared options as a decorator of a command; `settings` replace those that it has by default."""
    settings = _SHARED[name] | settings
    if name == "--output":
        return lambda command: output_option(name, **settings)(overwrite_option(command))
    names = [name, _PLURALS[name]] if settings.get("multiple") and name in _PLURALS else [name]
    return click.option(*names, **settings)


def model_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of how models run, some of MODEL_OPTIONS (all by default), as a decorator of a command.

    The command gets one argument `run`, a dict of those that were given and are not the default, for `LoadedMetric`.
    """
    names = names or tuple(MODEL_OPTIONS)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_run(**options: Any) -> object:
            given = {name: options.pop(name) for name in names}
            if given.get("backend") == BACKENDS[0]:
                given["backend"] = None
            return command(**options, run={name: value for name, value in given.items() if value is not None})

        decorated: Callable[..., Any] = with_run
        for name in reversed(names):
            decorated = click.option(f"--{name.replace('_', '-')}", name, **MODEL_OPTIONS[name])(decorated)
        return decorated

    return decorate
