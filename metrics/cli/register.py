"""`semantic-metrics register`: `evaluate.load("matcha")` by its bare name, in any folder and without a network.

A bare name that is neither a folder here nor a metric of the Hub is looked up by `evaluate` in its module cache, at
`evaluate_modules/metrics/evaluate-metric--NAME/<64 hexadecimal digits>/NAME.py`; of several the newest script counts.
A script of two lines is put there, which imports the metric from this package, and beside it a file that names the
owner: only folders with that file are ever replaced or removed.
"""

import hashlib
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import click

from semantic_metrics import __version__, available
from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.core.contract import check_parts, metric_class
from semantic_metrics.files.errors import file_errors

MARKER_FILE = "registered_by.json"
OWNER = "semantic-metrics"
DIGEST_LENGTH = 64  # evaluate takes folders with a name of another length for no metric
SCRIPT = '''"""{name} of the installed package `semantic-metrics`, put here by `semantic-metrics register`."""
from semantic_metrics.{name}.{name} import {class_name}
'''


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--remove", is_flag=True, help="Remove the names again.")
def register(names: tuple[str, ...], remove: bool) -> None:
    """Make evaluate.load("matcha") work by bare NAME (all metrics by default).

    A script that imports the metric from this package is put into the module cache of `evaluate`, where it is found
    from any folder and without a network.

    Example: semantic-metrics register
    """
    known = available()
    for name in names:
        if name not in known:
            raise InputError(f"NAME: expected one of {', '.join(known)}, got {name!r}")
    names = tuple(dict.fromkeys(names)) or tuple(known)
    for name in names:
        with as_input_error(ValueError):
            click.echo(_unregister(name) if remove else _register(name))
    if not remove:
        hint = "HF_EVALUATE_OFFLINE=1 spares it asking the Hub first"
        click.echo(f'evaluate.load("{names[0]}") works in any folder now; {hint}')


def _register(name: str) -> str:
    """Put a script for a metric into the module cache, in place of an earlier one, and say what was done."""
    check_parts(name, "register")
    home = _cache_folder(name)
    kind = metric_class(name)
    assert kind is not None, "check_parts has found it"
    script = SCRIPT.format(name=name, class_name=kind.__name__)
    with file_errors(home):
        home.mkdir(parents=True, exist_ok=True)
        (home.parent / "__init__.py").touch()
        (home / "__init__.py").touch()
        replaced = _registered_copies(home)
        digest = hashlib.sha256(script.encode()).hexdigest()
        temporary = home / f"{digest}.{os.getpid()}"
        temporary.mkdir()
        try:
            (temporary / "__init__.py").touch()
            (temporary / f"{name}.py").write_text(script, encoding="utf-8")
            (temporary / MARKER_FILE).write_text(json.dumps({"owner": OWNER}) + "\n", encoding="utf-8")
            for folder in replaced:
                shutil.rmtree(folder)
            temporary.rename(home / digest)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        foreign = sum(len(path.name) == DIGEST_LENGTH for path in home.iterdir()) - 1
    older = f", beside {foreign} that others put there and that are older" if foreign else ""
    return f"{name} {__version__}: {'replaced' if replaced else 'entered'} as {home / digest}{older}"


def _unregister(name: str) -> str:
    """Remove from the module cache what `_register` put there, and say what was done."""
    home = _cache_folder(name)
    with file_errors(home):
        copies = _registered_copies(home)
        for folder in copies:
            shutil.rmtree(folder)
        if copies and {path.name for path in home.iterdir()} <= {"__init__.py", "__pycache__"}:
            shutil.rmtree(home)
    if not copies:
        return f"{name}: not registered, nothing removed"
    return f"{name}: removed {', '.join(map(str, copies))}"


def _registered_copies(home: Path) -> list[Path]:
    """Folders in a metric's cache folder that this command made, of this or an earlier version."""
    copies = []
    for marker in sorted(home.glob(f"*/{MARKER_FILE}")):
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(marker.read_text(encoding="utf-8")).get("owner") == OWNER:
                copies.append(marker.parent)
    return copies


def _cache_folder(name: str) -> Path:
    from evaluate.loading import init_dynamic_modules  # takes seconds to import; `--help` does without it

    with file_errors("the module cache of evaluate"):
        return Path(init_dynamic_modules()) / "metrics" / f"evaluate-metric--{name}"
