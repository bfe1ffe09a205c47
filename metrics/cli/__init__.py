"""Command line: `semantic-metrics COMMAND`; each command has a module of its own."""

import errno
import io
import os
import sys
from collections import Counter
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError, as_input_error, did_you_mean
from semantic_metrics.cli.options import FilePath
from semantic_metrics.cli.settings import defaults, read_settings
from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.files import FileError, file_errors

# each is the name of a module here and of the click function in it
COMMANDS = (
    "annotate",
    "check",
    "compare",
    "contradict",
    "criteria",
    "demo",
    "explain",
    "fit",
    "register",
    "report",
    "samples",
    "score",
    "validate",
)


class Lazy(click.Group):
    """A group that imports a command when it is called, so that `semantic-metrics --help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, sorted."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        return getattr(import_module(f".{cmd_name}", __package__), cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        """Like click's `invoke`, but input that cannot be used, and a full disk, are one-line errors."""
        try:
            with as_input_error(FileError, InvalidInput):
                result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return result
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise InputError(f"standard output: {error.strerror}") from None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, ...]:
        """Like click's `resolve_command`, but an unknown name gets a suggestion."""
        with file_errors("the working folder"):
            os.getcwd()  # fails if it was removed
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS)
            raise InputError(f"expected a command, one of {', '.join(COMMANDS)}, got {args[0]!r}{hint}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _check_once(command, rest)
        return name, command, rest


def _check_once(command: click.Command, args: list[str]) -> None:
    """Refuse a second column for an option that takes one: click would take the last, and score other texts."""
    given = Counter(word.partition("=")[0] for word in takewhile(lambda word: word != "--", args))
    for option in command.params:
        if isinstance(option, click.Option) and option.metavar == "COLUMN" and not option.multiple:
            times = sum(given[name] for name in option.opts)
            if times > 1:
                raise InputError(f"{option.opts[-1]}: expected it once, got it {times} times")


@click.group(cls=Lazy)
@click.option(
    "--options",
    type=FilePath(path_type=Path),
    metavar="FILE",
    help="TOML or YAML file of options; default: [tool.semantic-metrics] in pyproject.toml.",
)
@click.version_option(package_name="semantic-metrics")
@click.pass_context
def main(context: click.Context, options: Path | None) -> None:
    """Score texts against references by what they say."""
    place, settings = read_settings(options)
    if settings and (name := context.invoked_subcommand):
        assert isinstance(context.command, Lazy), "this group"
        commands = {one: command for one in COMMANDS if (command := context.command.get_command(context, one))}
        context.default_map = {name: defaults(commands, name, settings, place)}
    if isinstance(sys.stdout, io.TextIOWrapper):  # it is None when it was closed
        sys.stdout.reconfigure(errors="backslashreplace")  # spell out what a terminal or pipe cannot show


if __name__ == "__main__":
    sys.exit(main())
