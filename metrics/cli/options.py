"""Options that several commands take, each declared once."""

from collections.abc import Callable
from pathlib import Path

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.core.contract import describe, text_metrics


class FilePath(click.Path):
    """A path, as `click.Path` takes it."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; a name with NUL or a lone surrogate, which no file can have, is an error of one line."""
        try:
            return super().convert(value, param, ctx)
        except ValueError:
            raise InputError(f"{value!r}: expected a name without NUL and lone surrogates") from None


FILE = FilePath(path_type=Path)
MAX_RESAMPLES = 1_000_000  # more take hours, and change the third digit of no p-value
ANSWER_METRICS = tuple(name for name in text_metrics() if describe(name).takes_questions)

_SHARED = {
    "--metric": {"multiple": True, "metavar": "NAME", "help": f"Metric, repeatable: {', '.join(text_metrics())}."},
    "--config": {"multiple": True, "metavar": "[NAME=]CHECKPOINT", "help": "Checkpoint: a folder or a Hub id."},
    "--predictions": {"metavar": "COLUMN", "help": "Column of the texts to judge."},
    "--references": {"metavar": "COLUMN", "help": "Column of the references."},
    "--questions": {"metavar": "COLUMN", "help": f"Column of the questions, for {', '.join(ANSWER_METRICS)}."},
    "--resamples": {"show_default": True, "metavar": "N", "help": "Resamples of the bootstrap."},
    "--seed": {"default": 0, "show_default": True, "metavar": "N", "help": "Seed of the random numbers."},
    "--output": {"type": FILE, "metavar": "FILE", "help": "File to write, .json or .csv."},
}
_PLURALS = {"--metric": "metrics", "--config": "configs"}  # arguments of options that may be repeated


def shared_option(name: str, **settings: object) -> Callable[[Callable], Callable]:
    """One of the shared options as a decorator of a command; `settings` replace those that it has by default."""
    settings = _SHARED[name] | settings
    names = [name, _PLURALS[name]] if settings.get("multiple") and name in _PLURALS else [name]
    return click.option(*names, **settings)
