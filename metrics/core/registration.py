"""`evaluate.load("matcha")` by its bare name, in any folder and without a network.

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
from importlib.metadata import version
from pathlib import Path

from semantic_metrics.core.contract import check_parts, described_metrics, metric_class

MARKER_FILE = "registered_by.json"
OWNER = "semantic-metrics"
SCRIPT = '''"""{name} of the installed package `semantic-metrics`, put here by `semantic-metrics register`."""
from semantic_metrics.{name}.{name} import {class_name}
'''


def register(*names: str, remove: bool = False) -> list[str]:
    """Make `evaluate.load("matcha")` work by its bare name, in any folder and without a network.

    A script that imports the metric from this package is put into the module cache of `evaluate`, in place of one that
    an earlier call put there. HF_EVALUATE_OFFLINE=1 spares `evaluate` asking the Hub first.

    Args:
        names: some of `available()`; none for all of them.
        remove: remove the scripts again.

    Returns:
        A line for each name that says what was done.

    Raises:
        ValueError: there is no such metric.
        OSError: the module cache cannot be written.

    Examples:
        >>> import semantic_metrics
        >>> lines = semantic_metrics.register("matcha")
        >>> evaluate.load("matcha").compute(predictions=["It rains."], references=["It rains."])["matcha"]
        1.0
    """
    names = tuple(dict.fromkeys(names)) or tuple(described_metrics())
    for name in names:
        check_parts(name, "register")
    return [_unregister(name) if remove else _register(name) for name in names]


def _register(name: str) -> str:
    """Put a script for a metric into the module cache, in place of an earlier one, and say what was done."""
    home = _cache_folder(name)
    kind = metric_class(name)
    assert kind is not None, "check_parts has found it"
    script = SCRIPT.format(name=name, class_name=kind.__name__)
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
    foreign = sum(len(path.name) == 64 for path in home.iterdir()) - 1  # evaluate takes no other folder for a metric
    older = f", beside {foreign} that others put there and that are older" if foreign else ""
    return f"{name} {version(OWNER)}: {'replaced' if replaced else 'entered'} as {home / digest}{older}"


def _unregister(name: str) -> str:
    """Remove from the module cache what `_register` put there, and say what was done."""
    home = _cache_folder(name)
    copies = _registered_copies(home)
    for folder in copies:
        shutil.rmtree(folder)
    if copies and {path.name for path in home.iterdir()} <= {"__init__.py", "__pycache__"}:
        shutil.rmtree(home)
    if not copies:
        return f"{name}: not registered, nothing removed"
    return f"{name}: removed {', '.join(map(str, copies))}"


def _registered_copies(home: Path) -> list[Path]:
    """Folders in a metric's cache folder that this module made, of this or an earlier version."""
    copies = []
    for marker in sorted(home.glob(f"*/{MARKER_FILE}")):
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(marker.read_text(encoding="utf-8")).get("owner") == OWNER:
                copies.append(marker.parent)
    return copies


def _cache_folder(name: str) -> Path:
    from evaluate.loading import init_dynamic_modules  # takes seconds to import; `import semantic_metrics` does without

    return Path(init_dynamic_modules()) / "metrics" / f"evaluate-metric--{name}"
