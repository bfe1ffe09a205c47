"""What the commands share of how their options are declared."""

from collections.abc import Callable

Decorator = Callable[[Callable], Callable]


def with_options(options: tuple[Decorator, ...]) -> Decorator:
    """A decorator that adds options to a command; `--help` lists them in this order."""

    def add(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return add
