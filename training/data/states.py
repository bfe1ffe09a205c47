"""Saved states for --resume, and folders that are complete or absent: a run may be killed at any moment.

No pickle is read: states are tensors and plain values (torch.load with weights_only), and JSON.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import torch


class UnusableState(ValueError):
    """A saved state cannot be continued from; one line that says why."""


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """A new folder to write to, which takes the place of `folder` when the block ends.

    A kill leaves `folder` as it was or, between two renames, as `folder.old`, which `restore_folder` renames.
    """
    new, old = (folder.with_name(folder.name + ending) for ending in (".new", ".old"))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    yield new
    restore_folder(folder)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Finish a `written_whole` that a kill interrupted."""
    old = folder.with_name(folder.name + ".old")
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def discard(folder: Path) -> None:
    """Rename a folder and then remove it, so that a kill never leaves half a folder under the old name."""
    aside = folder.with_name(folder.name + ".discarded")
    shutil.rmtree(aside, ignore_errors=True)
    if folder.exists():
        folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def config_values(config: object) -> dict:
    """A config as JSON has it, to be stored with a state and compared with the config of the run that resumes."""
    return json.loads(json.dumps(asdict(config), default=str))


def check_values(stored: object, values: dict, folder: Path) -> None:
    """Raise an UnusableState that names the fields in which a state's config differs from `values`."""
    stored = stored if isinstance(stored, dict) else {}
    differing = sorted(name for name in values.keys() | stored.keys() if values.get(name) != stored.get(name))
    if differing:
        raise UnusableState(f"--resume: expected the config of the run in {folder}, got another {', '.join(differing)}")


def read_tensors(path: Path) -> object:
    """Read what `torch.save` wrote; an UnusableState if it is missing, cut off, or no plain tensors and values."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # OSError, EOFError, RuntimeError, UnpicklingError: each kind of damage has its own
        raise UnusableState(
            f"--resume: {path} cannot be read ({type(error).__name__}); start without --resume"
        ) from None
