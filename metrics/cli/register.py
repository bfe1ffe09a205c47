"""`semantic-metrics register`: `evaluate.load("matcha")` by its bare name, in any folder and without a network.

A bare name that is neither a folder here nor a metric of the Hub is looked up by `evaluate` in its module cache, at
`evaluate_modules/metrics/evaluate-metric--NAME/<64 hexadecimal digits>/NAME.py`; of several the newest script counts.
The scripts of the package are put there, each copy with a file that says whose it is, and only such copies are removed.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from semantic_metrics.files.errors import InputError
from semantic_metrics.files.formats import named

MARKER = "registered_by.json"
OWNER = "semantic-metrics"
_SIBLING = re.compile(r"^from \.(\w+) import", re.MULTILINE)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--remove", is_flag=True, help="Undo it.")
def register(names: tuple[str, ...], remove: bool) -> None:
    """Make evaluate.load("matcha") work by bare NAME (all metrics by default).

    The metrics are copied to the module cache of `evaluate`, and are found in any folder, without a network. Run it
    again after the package was updated.

    Example: semantic-metrics register
    """
    from semantic_metrics import available

    known = available()
    for name in names:
        if name not in known:
            raise InputError(f"NAME: expected one of {', '.join(known)}, got {name!r}")
    names = tuple(dict.fromkeys(names)) or tuple(known)
    for line in map(withdraw, names) if remove else _enter_all(names):
        click.echo(line)


def _enter_all(names: tuple[str, ...]) -> Iterator[str]:
    yield from map(enter, names)
    yield f'evaluate.load("{names[0]}") works in any folder now; HF_EVALUATE_OFFLINE=1 spares it asking the Hub first'


def enter(name: str) -> str:
    """Put a metric into the module cache, in place of what was put there before.

    Returns:
        What was done.

    Raises:
        InputError: the cache cannot be written.
    """
    from semantic_metrics import __version__

    home = _home(name)
    files = scripts(name)
    with named(home):
        home.mkdir(parents=True, exist_ok=True)
        (home.parent / "__init__.py").touch()
        (home / "__init__.py").touch()
        content = b"".join(f"{file.name}\n".encode() + file.read_bytes() for file in files)
        digest = hashlib.sha256(__version__.encode() + content).hexdigest()
        before = _entries(home)
        aside = home / f"{digest}.{os.getpid()}"  # not 64 characters long: no loader takes it for a metric
        aside.mkdir()
        try:
            for file in files:
                shutil.copyfile(file, aside / file.name)
            (aside / "__init__.py").touch()
            (aside / MARKER).write_text(json.dumps({"owner": OWNER, "version": __version__}) + "\n", encoding="utf-8")
            for folder in before:
                shutil.rmtree(folder)
            aside.rename(home / digest)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    others = _others(home)
    beside = f", beside {len(others)} that others put there and that are older" if others else ""
    return f"{name} {__version__}: {'replaced' if before else 'entered'} as {home / digest}{beside}"


def withdraw(name: str) -> str:
    """Take a metric out of the module cache, if `enter` put it there.

    Returns:
        What was done.

    Raises:
        InputError: the cache cannot be written.
    """
    home = _home(name)
    with named(home):
        entries = _entries(home)
        for folder in entries:
            shutil.rmtree(folder)
        if entries and {path.name for path in home.iterdir()} <= {"__init__.py", "__pycache__"}:
            shutil.rmtree(home)
    if not entries:
        return f"{name}: not registered, nothing removed"
    return f"{name}: removed {', '.join(map(str, entries))}"


def scripts(name: str) -> list[Path]:
    """A metric's script and the siblings that it imports, which is what `evaluate` itself would copy."""
    folder = Path(__file__).parents[1] / name
    script = folder / f"{name}.py"
    siblings = sorted(set(_SIBLING.findall(script.read_text(encoding="utf-8"))))
    return [script, *(folder / f"{sibling}.py" for sibling in siblings)]


def _home(name: str) -> Path:
    from evaluate.loading import init_dynamic_modules

    with named("the module cache of evaluate"):
        return Path(init_dynamic_modules()) / "metrics" / f"evaluate-metric--{name}"


def _entries(home: Path) -> list[Path]:
    """Copies that `enter` made."""
    found = []
    for marker in sorted(home.glob(f"*/{MARKER}")):
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(marker.read_text(encoding="utf-8")).get("owner") == OWNER:
                found.append(marker.parent)
    return found


def _others(home: Path) -> list[Path]:
    return [path for path in home.iterdir() if len(path.name) == 64 and path not in _entries(home)]
