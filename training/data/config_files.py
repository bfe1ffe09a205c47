"""Configs: YAML files as dataclasses; an unknown key is an error."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from semantic_metrics.core.inputs import quote
from training.data.config_checks import CHECKS, describe
from training.data.sources import KINDS, Exclusion, Table

T = TypeVar("T")
TABLE_KEYS = {field.name for field in fields(Table)}


def read_yaml(path: Path, kind: type[T], changes: Sequence[str] = ()) -> T:
    """A YAML file as the dataclass `kind`, whose fields may be dataclasses, or lists of them, in their turn.

    Each of `changes` is KEY=VALUE, which the file's own value gives way to.

    `extends: FILE`, beside it, gives the keys that it does not set itself. The keys of a `table` stand in its entry.

    Raises ValueError: it is not a mapping, a key is unknown or missing, or a value is invalid; names the file and the
    key.
    """
    stored = _extended(Path(path))
    for change in changes:
        key, _, value = change.partition("=")
        try:
            stored[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ValueError(f"{key}: expected a value as YAML writes it, got {value!r}") from None
    exclude = {"exclude": stored["exclude"]} if "exclude" in stored else {}  # cards list these tables as they are
    try:
        TypeAdapter(dict[str, dict[str, list[Exclusion]]], config=CHECKS).validate_python({"": _with_tables(exclude)})
        given = TypeAdapter(dict[str, kind], config=CHECKS).validate_python({"": _with_tables(stored) | exclude})
    except ValidationError as error:
        raise ValueError(f"{path}: {_first_line(error)}") from None
    return given[""]


def _extended(path: Path, seen: tuple[Path, ...] = ()) -> dict:
    """The keys of a file and of those that it extends."""
    try:
        stored = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from None
    if not isinstance(stored, dict):
        raise ValueError(f"{path}: expected a mapping, got {type(stored).__name__}")
    if "extends" not in stored:
        return stored
    if path.resolve() in seen:
        raise ValueError(f"{path}: extends: expected another file, got one that extends itself")
    return _extended(path.parent / str(stored.pop("extends")), (*seen, path.resolve())) | stored


def _with_tables(value: object) -> object:
    """A config's mapping, in which the entries that name a file or a set of the Hub have a `table`."""
    if isinstance(value, list):
        return [_with_tables(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: _with_tables(item) for key, item in value.items()}
    if not {"path", "hub"} & value.keys():
        return value
    return value | {"table": {key: value.pop(key) for key in TABLE_KEYS & value.keys()}}


def _first_line(error: ValidationError) -> str:
    first = error.errors()[0]
    named = [part for before, part in pairwise(first["loc"]) if not (isinstance(before, int) and part in KINDS)]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in named).lstrip(".")
    if first["type"].startswith("union_tag"):
        return f"{where}: expected a kind among {', '.join(KINDS)}, got {quote(first['input'].get('kind'))}"
    return describe(first, where)
