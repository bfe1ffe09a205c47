"""Checks of a config's values, before any data is loaded."""

import inspect
import sys
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath

from pydantic import ConfigDict, TypeAdapter, ValidationError

from semantic_metrics.core.inputs import quote
from semantic_metrics.transformer.drifts import has_bfloat16

STRICT = ConfigDict(strict=True, allow_inf_nan=False)
Check = tuple[str, Callable[[float], bool]]  # what is expected, and whether a number is
ABOVE_0: Check = ("a number above 0", lambda value: value > 0)
FROM_0: Check = ("0 or more", lambda value: value >= 0)
FROM_1: Check = ("1 or more", lambda value: value >= 1)
BELOW_1: Check = ("a number from 0 to below 1", lambda value: 0 <= value < 1)


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
        try:
            TypeAdapter(parameters[key].annotation, config=STRICT).validate_python(value)
        except ValidationError as error:
            expected = error.errors()[0]["msg"].replace("Input should be", "expected")
            raise ValueError(f"{name}.{key}: {expected}, got {quote(value)}") from None
