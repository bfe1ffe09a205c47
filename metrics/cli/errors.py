"""Errors as the command line shows them: one line on stderr.

Whatever a command cannot use raises an InputError here, or a FileError in `files`, before a model runs.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from semantic_metrics.files.errors import one_line


class InputError(click.ClickException):
    """The user's input cannot be used: one line on stderr, exit code 2 like for a mistyped option."""

    exit_code = 2


@contextmanager
def as_input_error(*kinds: type[Exception], prefix: str = "") -> Iterator[None]:
    """Turn errors of the library about the user's input into one line on stderr.

    Args:
        kinds: exceptions to turn; any other one is a bug, and keeps its traceback.
        prefix: text to put before the message, such as "--" if it begins with an option's name.
    """
    try:
        yield
    except kinds as error:
        raise InputError(prefix + one_line(error)) from error
