"""Configs: YAML files as dataclasses; an unknown key is an error."""

from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import TypeVar, get_args, get_origin, get_type_hints

import yaml

from training.data.config_checks import check_type
from training.data.sources import SOURCE_KINDS, Exclusion, Source, Table

T = TypeVar("T")


def read_yaml(path: Path, kind: type[T]) -> T:
    """A YAML file as the dataclass `kind`; its fields that are dataclasses, or lists of them, are mappings in the file.

    `extends: FILE`, beside it, gives the keys that it does not set itself, and `more: {KEY: [...]}` adds to its lists.

    Raises:
        ValueError: it is not a mapping, or a key is unknown or missing; names the file and the key.
    """
    stored, hints = _extended(Path(path)), get_type_hints(kind)
    try:
        for key, entry_kind in _entry_kinds(kind).items():
            if key not in stored or get_origin(hints[key]) is not list:
                continue
            entries = stored[key]
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise ValueError(f"{key}: expected a list of mappings, got {entries!r}")
            built = [_build_entry(entry, entry_kind, key) for entry in entries]
            stored[key] = entries if entry_kind is Exclusion else built  # cards list the excluded tables as they are
        return _build(kind, stored)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _entry_kinds(kind: type) -> dict[str, type]:
    """The fields that are dataclasses (or null) or lists of them, with that class."""
    first_arguments = {name: (*get_args(hint), hint)[0] for name, hint in get_type_hints(kind).items()}
    kinds = {name: argument for name, argument in first_arguments.items() if is_dataclass(argument)}
    return kinds | ({"exclude": Exclusion} if "exclude" in first_arguments else {})


def _extended(path: Path, seen: tuple[Path, ...] = ()) -> dict:
    """The keys of a file and of those that it extends."""
    stored = _load(path)
    if "extends" not in stored:
        return stored
    if path.resolve() in seen:
        raise ValueError(f"{path}: extends: expected another file, got one that extends itself")
    more = stored.pop("more", {})
    stored = _extended(path.parent / str(stored.pop("extends")), (*seen, path.resolve())) | stored
    lists = [*more.values(), *(stored.get(key, []) for key in more)] if isinstance(more, dict) else [None]
    if not all(isinstance(value, list) for value in lists):
        raise ValueError(f"{path}: more: expected lists by name, for keys that are lists, got {more!r}")
    return stored | {key: stored.get(key, []) + added for key, added in more.items()}


def _load(path: Path) -> dict:
    try:
        stored = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from None
    if not isinstance(stored, dict):
        raise ValueError(f"{path}: expected a mapping, got {type(stored).__name__}")
    return stored


def _build_entry(entry: dict, kind: type[T], key: str) -> T:
    """An entry of the list `key`; its keys include those of its `table`, if it has one."""
    return _build_named(entry, kind, f"{key}, {entry.get('name', 'an entry')}")


def _build_named(entry: dict, kind: type[T], name: str) -> T:
    """A mapping as the dataclass `kind`; an error begins with `name`."""
    try:
        return _build_rows(dict(entry), kind)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _build_rows(entry: dict, kind: type[T]) -> T:
    if kind is Source:
        name, given = entry.get("name"), entry.pop("kind", None)
        if not isinstance(given, str) or given not in SOURCE_KINDS:
            raise ValueError(f"kind of {name}: expected one of {', '.join(SOURCE_KINDS)}, got {given!r}")
        kind = SOURCE_KINDS[given]
    if "table" in {f.name for f in fields(kind)}:
        names = {f.name for f in fields(Table)} & entry.keys()
        table = {name: entry.pop(name) for name in names}
        _check_keys(kind, entry | {"table": table})
        entry["table"] = _build(Table, table)
    return _build(kind, entry)


def _build(kind: type[T], values: dict) -> T:
    _check_keys(kind, values)
    hints, kinds = get_type_hints(kind), _entry_kinds(kind)
    built = {
        name: _build_named(value, kinds[name], name) if name in kinds and isinstance(value, dict) else value
        for name, value in values.items()
    }
    for name, value in built.items():
        check_type(name, value, hints[name])
    return kind(**built)


def _check_keys(kind: type, values: dict) -> None:
    given = [f for f in fields(kind) if f.init]
    unknown = sorted(map(str, values.keys() - {f.name for f in given}))
    if unknown:
        raise ValueError(f"unknown keys {unknown}; {kind.__name__} has {[f.name for f in given]}")
    missing = [f.name for f in given if f.name not in values and f.default is f.default_factory is MISSING]
    if missing:
        raise ValueError(f"missing keys {missing} of {kind.__name__}")
