"""Options that several commands take, each declared once."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.core.run_options import BACKENDS
from semantic_metrics.files.references import ReferenceColumns
from semantic_metrics.files.rows import MISSING, check_column
from semantic_metrics.files.table import Table, read_table


class FilePath(click.Path):
    """A path, as `click.Path` takes it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401
        """The path; a name with NUL or a lone surrogate, which no file can have, is an error of one line."""
        try:
            return Path(os.fsdecode(super().convert(value, param, ctx)))
        except ValueError:
            raise InputError(f"{value!r}: expected a name without NUL and lone surrogates") from None


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]  # of a command
FILE = FilePath(path_type=Path)
OVERWRITE = "semantic_metrics.overwrite"  # in the context's `meta`
WEIGHTED_METRICS = tuple(name for name in text_metrics() if describe(name).takes_weights)
MAX_RESAMPLES = 1_000_000  # more take hours, and change the third digit of no p-value
DEFAULT_METRIC = "consensus"  # of every command
ANSWER_METRICS = tuple(name for name in text_metrics() if describe(name).takes_questions)

SHARED: dict[str, dict[str, Any]] = {
    "--metric": {
        "multiple": True,
        "metavar": "NAME",
        "default": [DEFAULT_METRIC],
        "help": f"Metric, repeatable: {', '.join(text_metrics())}; default: {DEFAULT_METRIC}.",
    },
    "--config": {
        "multiple": True,
        "metavar": "[NAME=]CHECKPOINT",
        "help": "Checkpoint: a shipped one (large), a folder or a Hub id.",
    },
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
    "--references": {"multiple": True, "metavar": "COLUMN", "help": "Column of references; repeatable."},
    "--separator": {"metavar": "TEXT", "help": "What separates references in a cell."},
    "--json-lists": {"is_flag": True, "help": "A JSON list in a cell is several references."},
    "--questions": {"metavar": "COLUMN", "help": f"Column of the questions, for {', '.join(ANSWER_METRICS)}."},
    "--missing": {
        "type": click.Choice(MISSING),
        "metavar": "HOW",
        "help": f"Rows without an answer: {' or '.join(MISSING)}.",
    },
    "--resamples": {"show_default": True, "metavar": "N", "help": "Resamples of the bootstrap."},
    "--seed": {"default": 0, "show_default": True, "metavar": "N", "help": "Seed of the random numbers."},
    "--output": {"help": "File to write, .json or .csv."},
}
# how a transformer runs, by the name of the argument of `compute`; each fits on a line of help
MODEL_OPTIONS: dict[str, dict[str, Any]] = {
    "device": {"metavar": "NAME", "help": "Where models run; default: a GPU if any."},
    "precision": {"metavar": "NAME", "help": "float32 (default), bfloat16, int8 or auto."},
    "backend": {"type": click.Choice(BACKENDS), "metavar": "NAME", "help": "torch (default) or openvino."},
    "batch_size": {"type": click.IntRange(1), "metavar": "N", "help": "Most texts a model reads at a time."},
    "workers": {"type": click.IntRange(1), "metavar": "N", "help": "Batches at a time on a CPU."},
}
# arguments of options that may be repeated
_PLURALS = {"--metric": "metrics", "--config": "configs", "--threshold": "thresholds"}


@dataclass(frozen=True)
class TextColumns:
    """Where a file has its texts, by the options of the same names."""

    references: tuple[str, ...]
    separator: str | None
    json_lists: bool
    questions: str | None
    missing: str | None = None
    predictions: str | None = None

    def reference_columns(self, columns: list[str], names: tuple[str, ...] = ()) -> ReferenceColumns:
        """The columns of references, among those of a file; `names` take the place of --references."""
        names = names or self.references
        for name in names or (None,):
            check_column(columns, "--references", name)
        if len(set(names)) < len(names):
            raise InputError(f"--references: expected each column once, got {', '.join(map(repr, names))}")
        if self.separator == "":
            raise InputError("--separator: expected a text, got an empty one")
        return ReferenceColumns(names, self.separator or "", self.json_lists)

    def read(self, file: Path) -> tuple[Table, dict[str, list[Any]]]:
        """A file, and its texts by argument of `compute`; warns of a list that is read as one text."""
        table = read_table(file)
        if self.predictions is not None:
            table = table.answered("--predictions", self.predictions, self.missing)
        references = self.reference_columns(table.columns)
        named = {"predictions": self.predictions, "questions": self.questions}
        texts = {name: table.texts(f"--{name}", column) for name, column in named.items() if column is not None}
        texts["references"] = table.references("--references", references)
        for line in table.warnings(file, references):
            click.echo(line, err=True)
        for line in table.notes:
            click.echo(line)
        return table, texts


def refuse_existing(option: str, path: Path) -> None:
    """Refuse to replace a file without --overwrite."""
    if os.path.isfile(path) and not click.get_current_context().meta.get(OVERWRITE):
        raise InputError(f"{option}: {path} is there already; --overwrite replaces it")


def output_option(name: str, **settings: Any) -> Decorator:
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


def shared_option(name: str, **settings: Any) -> Decorator:
    """One of the shared options as a decorator of a command; `settings` replace those that it has by default."""
    settings = SHARED[name] | settings
    if name == "--output":
        return lambda command: output_option(name, **settings)(overwrite_option(command))
    names = [name, _PLURALS[name]] if settings.get("multiple") and name in _PLURALS else [name]
    return click.option(*names, **settings)


def group_options(argument: str, kind: Callable[..., object], options: Mapping[str, Mapping[str, Any]]) -> Decorator:
    """Options with their settings as a decorator of a command, which gets what `kind` makes of them as one argument."""
    names = {option: _PLURALS.get(option, option[2:].replace("-", "_")) for option in options}

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_group(**values: Any) -> object:
            group = kind(**{name: values.pop(name) for name in names.values()})
            return command(**values, **{argument: group})

        decorated: Callable[..., Any] = with_group
        for option, name in reversed(names.items()):
            decorated = click.option(option, name, **options[option])(decorated)
        return decorated

    return decorate


def text_options(predictions: bool = True, required: bool = False) -> Decorator:
    """The options of `TextColumns`, with --predictions or without, which a command gets as `text_columns`."""
    options = {
        name: SHARED[name] for name in ("--references", "--separator", "--json-lists", "--questions", "--missing")
    }
    options["--references"] = {**options["--references"], "required": required}
    if predictions:
        options = {"--predictions": {**SHARED["--predictions"], "required": required}, **options}
    return group_options("text_columns", TextColumns, options)


def model_options(*names: str) -> Decorator:
    """The options of how models run, some of MODEL_OPTIONS (all by default), as a decorator of a command.

    The command gets one argument `run`, a dict of those that were given and are not the default, for `LoadedMetric`.
    """

    def run(**given: Any) -> dict[str, Any]:
        default = {"backend": BACKENDS[0]}
        return {name: value for name, value in given.items() if value not in (None, default.get(name))}

    options = {f"--{name.replace('_', '-')}": MODEL_OPTIONS[name] for name in names or MODEL_OPTIONS}
    return group_options("run", run, options)
