"""Types of a config's numbers, and checks of its values before any data is loaded."""

import sys
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, validate_call

from semantic_metrics.core.inputs import quote
from semantic_metrics.transformer.drifts import has_bfloat16

CHECKS = ConfigDict(extra="forbid", allow_inf_nan=False)
STRICT = ConfigDict(strict=True, allow_inf_nan=False)
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, lt=1)]
Seed = Annotated[int, Field(ge=0)]
Precision = Literal["bf16", "no"]


def warn_of_slow_precision(precision: str, device: str) -> None:
    """Say on standard error that a config's "bf16" would slow a run on this processor down, if `device` is "cpu"."""
    if precision == "bf16" and device == "cpu" and not has_bfloat16():
        sys.stderr.write(
            "precision: this processor has no instructions for bf16, which is many times slower here than precision: "
            "'no', float32\n"
        )


def check_name(name: str) -> None:
    """Check that a name can be that of a folder. Raises ValueError: it is empty, or has a path in it."""
    if name in ("", ".", "..") or any(kind(name).name != name for kind in (PurePosixPath, PureWindowsPath)):
        raise ValueError(f"name: expected a name without a path, got {quote(name)}")


def check_distinct_names(field: str, entries: list) -> None:
    """Check that no two entries have one name. Raises ValueError: two have."""
    names = [entry.name for entry in entries]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{field}: expected a name of its own for each entry, got {repeated} twice")


def make_part(name: str, options: dict, kinds: dict[str, Callable]) -> object:
    """Call what the `kind` of a mapping, the field `name`, names among `kinds`, with the rest of it as arguments.

    Raises:
        ValueError: the kind or an argument is unknown, an argument is missing, or a value is of another type or range.
    """
    kind = options.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"{name}: expected kind {' or '.join(kinds)}, got {quote(kind)}")
    part, values = kinds[kind], {key: options[key] for key in options if key != "kind"}
    try:
        if isinstance(part, type):
            return TypeAdapter(dict[str, part], config=CHECKS).validate_python({name: values})[name]
        return validate_call(part, config=STRICT)(**values)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(describe(first, ".".join(dict.fromkeys((name, *map(str, first["loc"])))))) from None


def describe(error: dict, where: str) -> str:
    """One line for an error of pydantic: the key, and what is wrong with its value."""
    if error["type"] == "value_error":  # of a class's own checks
        said = str(error["ctx"]["error"])
    elif error["type"] == "unexpected_keyword_argument":
        said = "unknown key"
    elif error["type"].startswith("missing"):
        said = "missing"
    else:
        said = f"{error['msg'].replace('Input should be', 'expected')}, got {quote(error['input'])}"
    return f"{where}: {said}" if where else said
