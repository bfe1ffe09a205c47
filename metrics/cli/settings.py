"""Options from a file: the table `[tool.semantic-metrics]` of pyproject.toml, or a TOML or YAML file of one's own."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.core.inputs import quote
from semantic_metrics.files import file_errors, one_line

PYPROJECT = Path("pyproject.toml")
TABLE = "semantic-metrics"
MAX_BYTES = 2**20  # of a file of options
# the table or a key of it, not a requirement of the name
NAMED = re.compile(rb"^\s*(?:\[?\s*tool\s*\.\s*)?[\"']?semantic-metrics[\"']?\s*[].=]", re.MULTILINE)


def read_settings(path: Path | None) -> tuple[str, Mapping[str, Any]]:
    """A name for messages, and the options: those of a file or, without one, of PYPROJECT if it has any."""
    if path is None and not PYPROJECT.is_file():
        return "", {}
    file = path or PYPROJECT
    with file_errors(file), file.open("rb") as opened:
        content = opened.read(MAX_BYTES + 1)
    if path is None and not NAMED.search(content):
        return "", {}
    if len(content) > MAX_BYTES:
        raise InputError(f"{file}: expected at most {MAX_BYTES // 1024} KiB of options, got more")
    values: Any = _parse(file, content)
    for key in ("tool", TABLE) if file.name == PYPROJECT.name else ():
        values = values.get(key, {}) if isinstance(values, dict) else values
    if not isinstance(values, dict):
        raise InputError(f"{file}: expected a table of options, got {type(values).__name__}")
    return str(file), values


def _parse(file: Path, content: bytes) -> object:
    try:
        if file.suffix.lower() in (".yaml", ".yml"):
            import yaml

            return yaml.safe_load(content)
        import tomllib

        return tomllib.loads(content.decode())
    except ImportError:
        raise InputError(f"{file}: expected Python 3.11 or later to read TOML; name a YAML file as --options") from None
    except Exception as error:  # of either library, which have no common one
        raise InputError(f"{file}: expected TOML or YAML ({one_line(error)})") from None


def defaults(commands: Mapping[str, click.Command], name: str, settings: Mapping[str, Any], place: str) -> Any:  # noqa: ANN401
    """Values of the options of command `name`, by its arguments: what holds for all commands, then its own table.

    `settings` holds options by name, and tables of options by the name of a command; messages call it `place`.
    """
    known = {command: _options(one) for command, one in commands.items()}
    tables = {key: value for key, value in settings.items() if key in commands}
    shared = {key: value for key, value in settings.items() if key not in commands}
    if unknown := [key for key in shared if not any(key in options for options in known.values())]:
        raise InputError(f"{place}: expected an option or a command, got {unknown[0]!r}")
    for command, table in tables.items():
        if unknown := [key for key in table if key not in known[command]] if isinstance(table, dict) else [str(table)]:
            raise InputError(f"{place}: {command}: expected its options, got {unknown[0]!r}")
    values = {}
    for key, value in {**shared, **tables.get(name, {})}.items():
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, (str, int, float)) for item in items):
            kinds = "a text, a number, true, false or a list of them"
            raise InputError(f"{place}: {key}: expected {kinds}, got {quote(value)}")
        if (option := known[name].get(key)) is not None:
            if expected := _expected(option, items):
                raise InputError(f"{place}: {key}: expected {expected} for {name}, got {quote(value)}")
            values[option.name] = items if option.multiple or option.nargs > 1 else items[0]
    return values


def _expected(option: click.Option, items: list[Any]) -> str:
    """What an option takes in place of these values; "" where it takes them."""
    if option.is_flag:
        return "" if len(items) == 1 and isinstance(items[0], bool) else "true or false"
    if not option.multiple and len(items) != option.nargs:
        return "one value" if option.nargs == 1 else f"a list of {option.nargs}"
    whole = isinstance(option.type, click.types.IntParamType)
    return "a whole number" if whole and any(isinstance(item, (bool, float)) for item in items) else ""


def _options(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by their names without dashes."""
    return {
        name.lstrip("-"): option
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
    }
