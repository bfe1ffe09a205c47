"""Load a MATCHA checkpoint by name: a table, a contextual encoder, or the authors' format."""

import json
from pathlib import Path

from semantic_metrics.core.resolve import CONFIG, HUB_OWNER, WEIGHTS, resolve_checkpoint, shipped_checkpoints
from semantic_metrics.matcha.authors_format import AUTHORS_CONFIG, AUTHORS_WEIGHTS, load_authors
from semantic_metrics.matcha.contextual import KIND, ContextualEncoder
from semantic_metrics.matcha.table import MatchaTable

DEFAULT_CHECKPOINT = "matcha"
CONTEXTUAL = "contextual"


def load_checkpoint(name: str | None = None) -> MatchaTable | ContextualEncoder:
    """Load a checkpoint by name.

    Args:
        name: `name` of `resolve_checkpoint`, or "contextual". A folder or repository may have the authors' own format.

    Raises:
        ValueError: there is no such checkpoint, or it is incomplete, damaged, or not plain tensors; names it.
    """
    embedded = embedded_checkpoints()
    if name == CONTEXTUAL and name not in embedded:  # too large for the package; a checkout has it
        name = f"{HUB_OWNER}/{CONTEXTUAL}"
    folder = resolve_checkpoint(name, DEFAULT_CHECKPOINT, embedded, (AUTHORS_WEIGHTS,))
    if is_contextual(folder):
        return ContextualEncoder.from_folder(folder)
    if (folder / WEIGHTS).is_file() and (folder / CONFIG).is_file():
        return MatchaTable.from_folder(folder)
    if (folder / AUTHORS_WEIGHTS).is_file() and (folder / AUTHORS_CONFIG).is_file():
        return load_authors(folder)
    names = sorted(path.name for path in folder.glob("*"))[:20]  # no folder if a Hub repository has none of the files
    raise ValueError(
        f"checkpoint {folder}: expected {CONFIG} and {WEIGHTS}, or {AUTHORS_CONFIG} and {AUTHORS_WEIGHTS}; "
        f"found {names}"
    )


def embedded_checkpoints() -> dict[str, Path]:
    """MATCHA checkpoints that are shipped with the package, by name; empty where it is not installed (a Space)."""
    return shipped_checkpoints(lambda config: config.get("model_type") == "matcha" or KIND in config)


def is_contextual(folder: Path) -> bool:
    """Whether a folder holds a contextual checkpoint."""
    try:
        return KIND in json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError):  # a missing or damaged file is reported by `from_folder`
        return False
