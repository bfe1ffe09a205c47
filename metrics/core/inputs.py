"""Input checks: what is wrong is said, with the argument and the place, before any model runs."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

Texts = list[str]
References = list[str] | list[list[str]]

_QUOTED = 40  # characters of an offending value that an error message repeats


def _show(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= _QUOTED else text[:_QUOTED] + '...'}"


def check_text(name: str, text: object) -> str:
    """One text: any `str` that is valid Unicode, the empty one included.

    Raises:
        ValueError: not a `str`, or it holds a lone surrogate (no tokeniser can encode one); names the argument.
    """
    if not isinstance(text, str):
        raise ValueError(f"{name}: expected a string, got {_show(text)}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            code = f"U+{ord(text[error.start]):04X}"
            raise ValueError(
                f"{name}: expected valid Unicode, got a lone surrogate ({code}) at character {error.start}"
            ) from None
    return text


def check_list(name: str, values: object) -> list:
    """A non-empty list (or tuple, array, column) of anything.

    Raises:
        ValueError: not a list, or empty; a bare string is told to be wrapped.
    """
    if isinstance(values, (str, bytes)):
        raise ValueError(f"{name}: expected a list of strings, got a bare {_show(values)}; wrap it in a list")
    if isinstance(values, (Mapping, AbstractSet)) or not isinstance(values, Iterable):
        raise ValueError(f"{name}: expected a list of strings, got {_show(values)}")
    if getattr(values, "ndim", 1) != 1:  # a data frame would be read as the names of its columns
        raise ValueError(f"{name}: expected a list of strings, got {type(values).__name__} of {values.ndim} dimensions")
    values = list(values)
    if not values:
        raise ValueError(f"{name}: expected at least one text, got an empty list")
    return values


def check_texts(name: str, texts: object) -> Texts:
    """A non-empty list of texts.

    Raises:
        ValueError: as `check_list` and `check_text`, with the index of the offending item.
    """
    return [check_text(f"{name}[{i}]", text) for i, text in enumerate(check_list(name, texts))]


def check_references(name: str, references: object) -> References:
    """A string each, or several references (a non-empty list of strings) each; never a mixture.

    Raises:
        ValueError: as `check_texts`; a mixture, or an empty list of references, is named with its index.
    """
    references = check_list(name, references)
    if isinstance(references[0], str):
        for i, item in enumerate(references):
            if isinstance(item, (list, tuple)):
                raise ValueError(
                    f"{name}: expected a string each or a list of strings each, got a str at 0 and {_show(item)} at {i}"
                )
        return check_texts(name, references)
    checked = []
    for i, item in enumerate(references):
        if isinstance(item, str):
            raise ValueError(
                f"{name}: expected a string each or a list of strings each, got {_show(references[0])} at 0 "
                f"and a str at {i}"
            )
        if item is None or not isinstance(item, Iterable):
            raise ValueError(f"{name}[{i}]: expected a string or a list of strings, got {_show(item)}")
        checked.append(check_texts(f"{name}[{i}]", item))
    return checked


def check_same_length(first: str, first_length: int, second: str, second_length: int) -> None:
    """Two arguments that go together item by item.

    Raises:
        ValueError: their lengths differ; names both with their lengths.
    """
    if first_length != second_length:
        raise ValueError(f"{second}: expected {first_length} items, one for each of {first}, got {second_length}")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """An option with a fixed list of values.

    Raises:
        ValueError: the value is none of them; the message lists them.
    """
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {_show(value)}")


def check_whole(name: str, value: object, lowest: int, highest: int | None = None) -> None:
    """A whole number, `highest` (None for no limit) included.

    Raises:
        ValueError: not an `int`, or out of range; names the range.
    """
    if type(value) is not int or value < lowest or (highest is not None and value > highest):
        span = f"from {lowest}" if highest is None else f"from {lowest} to {highest}"
        raise ValueError(f"{name}: expected a whole number {span}, got {_show(value)}")
