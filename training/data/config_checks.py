"""Types of a config's numbers, and checks of its values and its models before any data is loaded."""

import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path, PurePosixPath, PureWindowsPath
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


def check_names(name: str, **lists: list) -> None:
    """Check that a config's name can be a folder's, and that each list has entries, each with a name of its own.

    Raises ValueError: a list is empty, a name has a path in it, or two entries of a list have one name.
    """
    if name in ("", ".", "..") or any(kind(name).name != name for kind in (PurePosixPath, PureWindowsPath)):
        raise ValueError(f"name: expected a name without a path, got {quote(name)}")
    for field, entries in lists.items():
        names = [entry.name for entry in entries]
        repeated = sorted({one for one in names if names.count(one) > 1})
        if not names or repeated:
            found = f"{repeated} twice" if names else "none"
            raise ValueError(f"{field}: expected one entry or more, each with a name of its own, got {found}")


def find_model(name: str) -> str:
    """`package:NAME/FOLDER` -> the folder that an installed package carries; a folder or Hub id stays as it is.

    Raises ValueError: no such package, or one without the folder.
    """
    kind, _, rest = name.partition(":")
    if kind != "package" or not rest:
        return name
    package, _, folder = rest.partition("/")
    try:
        path = Path(str(resources.files(package))) / folder
    except ModuleNotFoundError:
        raise ValueError(f"init: package {package!r} is not installed (pip install it, or name a Hub id)") from None
    if not path.is_dir():
        raise ValueError(f"init: package {package!r} holds no folder {folder!r}")
    return str(path)


def make_part(name: str, options: dict, kinds: dict[str, Callable]) -> object:
    """Call what the `kind` of a mapping, the field `name`, names among `kinds`, with the rest of it as arguments.

    Raises ValueError: the kind or an argument is unknown, an argument is missing, or a value is of another type or
    range.
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
