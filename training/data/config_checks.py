"""Checks of a config's values, before any data is loaded."""

import inspect
import math
import sys
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from types import NoneType, UnionType
from typing import Union, get_args, get_origin

from semantic_metrics.core.inputs import quote
from semantic_metrics.transformer.drifts import has_bfloat16

NAMES = {int: "whole number", float: "number", str: "text", bool: "true or false", list: "list", dict: "mapping"}
NAMES |= {NoneType: "null"}
Check = tuple[str, Callable[[float], bool]]  # what is expected, and whether a number is
ABOVE_0: Check = ("a number above 0", lambda value: value > 0)
FROM_0: Check = ("0 or more", lambda value: value >= 0)
FROM_1: Check = ("1 or more", lambda value: value >= 1)
BELOW_1: Check = ("a number from 0 to below 1", lambda value: 0 <= value < 1)


def check_type(name: str, value: object, hint: object) -> None:
    """Check a value against a type hint.

    Raises:
        ValueError: it is of another type.
    """
    if not _fits(value, hint):
        raise ValueError(f"{name}: expected {_words(hint)}, got {quote(value)}")


def _fits(value: object, hint: object) -> bool:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    if kind is int:
        return type(value) is int  # a bool is none
    if not isinstance(value, kind):
        return False
    if kind is list and parts:
        return all(_fits(item, parts[0]) for item in value)
    return kind is not dict or not parts or all(_fits(key, parts[0]) and _fits(value[key], parts[1]) for key in value)


def _words(hint: object) -> str:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return " or ".join(_words(part) for part in parts)
    word = NAMES.get(kind, getattr(kind, "__name__", str(kind)))
    return f"{word} ({_words(parts[-1])} each)" if parts else word


def warn_of_slow_precision(precision: str, device: str) -> None:
    """Say on standard error that bfloat16 would slow a run on this processor down.

    Args:
        precision: of a config, "bf16" or "no".
        device: kind of the device that trains, such as "cpu".
    """
    if precision == "bf16" and device == "cpu" and not has_bfloat16():
        sys.stderr.write(
            "precision: this processor has no instructions for bf16, which is many times slower here than precision: "
            "'no', float32\n"
        )


def check_numbers(config: object, **checks: Check) -> None:
    """Check fields that may be None.

    Raises:
        ValueError: a number is out of its range.
    """
    for name, (expected, check) in checks.items():
        value = getattr(config, name)
        if value is not None and not check(value):
            raise ValueError(f"{name}: expected {expected}, got {quote(value)}")


def check_name(name: str) -> None:
    """Check that a name can be that of a folder.

    Raises:
        ValueError: it is empty, or has a path in it.
    """
    if name in ("", ".", "..") or any(kind(name).name != name for kind in (PurePosixPath, PureWindowsPath)):
        raise ValueError(f"name: expected a name without a path, got {quote(name)}")


def check_distinct_names(field: str, entries: list) -> None:
    """Check that no two entries have one name.

    Raises:
        ValueError: two have.
    """
    names = [entry.name for entry in entries]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{field}: expected a name of its own for each entry, got {repeated} twice")


def check_options(name: str, options: dict, kinds: dict[str, Callable], own: tuple[str, ...] = ()) -> None:
    """Check a mapping of a `kind` and the arguments of the function or class that it names.

    Args:
        name: of the field.
        options: the mapping.
        kinds: function or class by kind.
        own: arguments that no config gives.

    Raises:
        ValueError: the kind or an argument is unknown, an argument is missing, or a value is of another type.
    """
    kind = options.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"{name}: expected kind {' or '.join(kinds)}, got {quote(kind)}")
    parameters = {key: p for key, p in inspect.signature(kinds[kind]).parameters.items() if key not in own}
    given = {key: value for key, value in options.items() if key != "kind"}
    if unknown := [key for key in given if key not in parameters]:
        raise ValueError(f"{name}: expected keys among {list(parameters)} for kind {kind}, got {unknown}")
    if missing := [key for key, p in parameters.items() if p.default is p.empty and key not in given]:
        raise ValueError(f"{name}: expected the keys {missing} for kind {kind}, got {list(given)}")
    for key, value in given.items():
        check_type(f"{name}.{key}", value, parameters[key].annotation)
