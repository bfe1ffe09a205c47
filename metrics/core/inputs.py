"""Checks of arguments before any model runs: each raises `InvalidInput`, which says what was expected and given."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

Texts = list[str]
References = list[str] | list[list[str]]

MAX_QUOTED_CHARACTERS = 40  # a longer value is cut in error messages


class InvalidInput(ValueError):
    """An argument is invalid.

    Attributes:
        argument: name of the argument, without an index.
        index: of the invalid item where the argument is a list, which names a row of a file; None for the whole.
        reason: the message without the argument's name: what was expected and what was given.
    """

    def __init__(self, message: str, argument: str, index: int | None = None) -> None:
        super().__init__(message)
        self.argument, self.index = argument, index
        self.reason = message.split(": ", 1)[-1]

    def __reduce__(self) -> tuple[Any, ...]:  # `Exception` would pickle the message alone
        return type(self), (str(self), self.argument, self.index)


def invalid_input(name: str, problem: str) -> InvalidInput:
    """An error about `name`, an argument or an item of one such as `references[3][0]`; `problem` says the rest."""
    argument, _, rest = name.partition("[")
    index = rest.partition("]")[0]
    return InvalidInput(f"{name}: {problem}", argument, int(index) if index.isdecimal() else None)


def describe_value(value: object) -> str:
    """An invalid value for an error message: its type and the beginning of its repr, on one line."""
    return f"{type(value).__name__} {quote(value)}"


def quote(value: object, characters: int = MAX_QUOTED_CHARACTERS) -> str:
    """The beginning of a value's repr, on one line; for messages in which its type would say nothing."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a repr may fail in any way, and the message must still say what is invalid
        return "without a repr"
    return text if len(text) <= characters else text[:characters] + "..."


def check_text(name: str, text: object) -> str:
    """Check that a text is a `str`, perhaps empty, without a lone surrogate, which no tokeniser can encode."""
    if not isinstance(text, str):
        raise invalid_input(name, f"expected a string, got {describe_value(text)}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            code = f"U+{ord(text[error.start]):04X}"
            raise invalid_input(
                name, f"expected valid Unicode, got a lone surrogate ({code}) at character {error.start}"
            ) from None
    return text


def check_list(name: str, values: object) -> list[Any]:
    """Check for a non-empty list (or tuple, array, column, iterator); a bare string gets the advice to wrap it.

    An error of the caller's own iterator becomes the cause of the refusal.
    """
    if isinstance(values, (str, bytes)):
        raise invalid_input(name, f"expected a list of strings, got a bare {describe_value(values)}; wrap it in a list")
    if isinstance(values, (Mapping, AbstractSet)) or not isinstance(values, Iterable):
        raise invalid_input(name, f"expected a list of strings, got {describe_value(values)}")
    if (dimensions := getattr(values, "ndim", 1)) != 1:  # a data frame would be read as the names of its columns
        raise invalid_input(name, f"expected a list of strings, got {type(values).__name__} of {dimensions} dimensions")
    try:
        values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)  # a column of pyarrow
    except Exception as error:  # the caller's own iterator
        got = f"{type(values).__name__} that fails ({type(error).__name__}: {quote(str(error))})"
        raise invalid_input(name, f"expected a list of strings, got {got}") from error
    if not values:
        raise invalid_input(name, "expected at least one text, got an empty list")
    return values


def check_texts(name: str, texts: object) -> Texts:
    """Check for a non-empty list of texts; the error has the index of the invalid item."""
    return [check_text(f"{name}[{i}]", text) for i, text in enumerate(check_list(name, texts))]


def check_references(name: str, references: object) -> References:
    """Check for a list of strings, or of non-empty lists of strings (several references each), but no mixture."""
    references = check_list(name, references)
    if isinstance(references[0], str):
        for i, item in enumerate(references):
            if isinstance(item, (list, tuple)):
                problem = f"got a str at 0 and {describe_value(item)} at {i}"
                raise invalid_input(name, f"expected a string each or a list of strings each, {problem}")
        return check_texts(name, references)
    checked = []
    for i, item in enumerate(references):
        if isinstance(item, str):
            problem = f"got {describe_value(references[0])} at 0 and a str at {i}"
            raise invalid_input(name, f"expected a string each or a list of strings each, {problem}")
        if item is None or not isinstance(item, Iterable):
            raise invalid_input(f"{name}[{i}]", f"expected a string or a list of strings, got {describe_value(item)}")
        checked.append(check_texts(f"{name}[{i}]", item))
    return checked


def check_same_length(first: str, first_length: int, second: str, second_length: int) -> None:
    """Check that two arguments, which belong together item by item, have the same length."""
    if first_length != second_length:
        raise invalid_input(second, f"expected {first_length} items, one for each of {first}, got {second_length}")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Check an option that has a fixed list of values."""
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        raise invalid_input(name, f"expected one of {', '.join(map(repr, choices))}, got {describe_value(value)}")


def check_whole(name: str, value: object, lowest: int, highest: int | None = None) -> None:
    """Check for a whole number from `lowest` to `highest`, both included; None for no limit."""
    if type(value) is not int or value < lowest or (highest is not None and value > highest):
        span = f"from {lowest}" if highest is None else f"from {lowest} to {highest}"
        raise invalid_input(name, f"expected a whole number {span}, got {describe_value(value)}")
