"""Options from a file: the table `[tool.semantic-metrics]` of pyproject.toml, or a TOML or YAML file of one's own."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.files import file_errors, one_line

PYPROJECT = Path("pyproject.toml")
TABLE = "semantic-metrics"
# the table or a key of it, not a requirement of the name
NAMED = re.compile(rb"^\s*(?:\[?\s*tool\s*\.\s*)?[\"']?semantic-metrics[\"']?\s*[].=]", re.MULTILINE)


def read_settings(path: Path | None) -> tuple[str, Mapping[str, Any]]:
    """A name for messages, and the options: those of a file or, without one, of PYPROJECT if it has any."""
    if path is None and not PYPROJECT.is_file():
        return "", {}
    file = path or PYPROJECT
    with file_errors(file):
        content = file.read_bytes()
    if path is None and not NAMED.search(content):
        return "", {}
    values: Any = _parse(file, content)
    if file.name == PYPROJECT.name:
        values = values.get("tool", {}).get(TABLE, {})
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
            raise InputError(f"{place}: {key}: expected a text, a number, true, false or a list of them, got {value!r}")
        if (option := known[name].get(key)) is not None:
            if not option.multiple and len(items) != 1:
                raise InputError(f"{place}: {key}: expected one value for {name}, got {value!r}")
            values[option.name] = items if option.multiple else items[0]
    return values


def _options(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by their names without dashes."""
    return {
        name.lstrip("-"): option
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
    }
