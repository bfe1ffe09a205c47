"""What the command line says where the user's input cannot be used."""

from collections.abc import Iterator
from contextlib import contextmanager

import click


class InputError(click.ClickException):
    """What the user gave cannot be used: one line on stderr, exit code 2 as for a mistyped option."""

    exit_code = 2


def one_line(error: Exception) -> str:
    """What an exception says, on one line."""
    return " ".join(str(error).split())


@contextmanager
def refusals() -> Iterator[None]:
    """Say what a metric refuses as the command line does.

    Raises:
        InputError: instead of a ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise InputError(one_line(error)) from None
