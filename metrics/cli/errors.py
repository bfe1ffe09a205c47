"""How a command ends: an error is one line on stderr, and a gate for CI is asked when all is printed and written.

Whatever a command cannot use raises an InputError here, or a FileError in `files`, before a model runs (code 2). A gate
that is missed ends a command with code 1.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import click

from semantic_metrics.core.inputs import MAX_QUOTED_CHARACTERS
from semantic_metrics.files import one_line

PLAIN_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")  # float() also takes "1_0" and the digits of all scripts


class InputError(click.ClickException):
    """The user's input cannot be used: one line on stderr, exit code 2 like for a mistyped option."""

    exit_code = 2


def did_you_mean(given: str, known: Sequence[str]) -> str:
    """A hint at the nearest of the known names; empty if none is near."""
    matches = get_close_matches(given.lower(), known, n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""


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


@dataclass(frozen=True)
class Gate:
    """The demands on scores; None for no such demand."""

    fail_under: float | None = None  # lowest mean
    max_wrong: float | None = None  # most texts that are not correct

    def failures(self, name: str, mean: float, wrong: int | None, line: float | None) -> list[str]:
        """Failures, a line each; `wrong`, the texts below `line`, is None where nothing says what is correct."""
        lines = []
        if self.fail_under is not None and not mean >= self.fail_under:
            lines.append(f"{name}: expected a mean of {self.fail_under:g} or more, got {mean:.4f}")
        if self.max_wrong is not None and wrong is not None and wrong > self.max_wrong:
            below = "" if line is None else f" that score below {line:.4g}"
            lines.append(f"{name}: expected at most {self.max_wrong:g} wrong, got {wrong}{below}")
        return lines


def read_number(option: str, given: str | float | None, low: float, high: float = math.inf) -> float | None:
    """A finite number in a range, where there is one; without an upper end a whole one."""
    if given is None:
        return None
    whole = math.isinf(high)
    try:
        if isinstance(given, str) and not PLAIN_NUMBER.fullmatch(given.strip()):
            raise ValueError(given)
        number = float(int(given) if whole else given)
    except (ValueError, OverflowError):  # OverflowError: hundreds of digits
        number = math.nan
    if not (math.isfinite(number) and low <= number <= high):
        kind = f"a whole number from {low:g}" if whole else f"a number from {low:g} to {high:g}"
        raise InputError(f"{option}: expected {kind}, got {str(given)[:MAX_QUOTED_CHARACTERS]}")
    return number


def finish(failures: Iterable[str], summary: dict[str, Any] | None = None) -> None:
    """End a command: print what machines read, where it was asked for, and exit with code 1 if something failed."""
    lines = list(failures)
    if summary is not None:
        click.echo(json.dumps(summary | {"failed": lines}, indent=1, ensure_ascii=False, allow_nan=False))
    for line in lines:
        click.echo(f"failed: {line}", err=True)
    if lines:
        raise click.exceptions.Exit(1)
