"""Load a MATCHA checkpoint by name: a table, a contextual encoder, or the authors' format."""

from pathlib import Path
from typing import TYPE_CHECKING

from semantic_metrics.core.checkpoint_files import CONFIG, WEIGHTS, resolve_checkpoint, shipped_checkpoints
from semantic_metrics.matcha.file_names import AUTHORS_CONFIG, AUTHORS_WEIGHTS, KIND, is_contextual
from semantic_metrics.matcha.table import MatchaTable

if TYPE_CHECKING:  # the table does without torch
    from semantic_metrics.matcha.contextual import ContextualEncoder

DEFAULT_CHECKPOINT = "matcha"
CONTEXTUAL = "contextual"


def load_checkpoint(name: str | None = None) -> "MatchaTable | ContextualEncoder":
    """Load a checkpoint by name.

    Args:
        name: `name` of `resolve_checkpoint`, or "contextual". A folder or repository may have the authors' own format.

    Raises:
        ValueError: there is no such checkpoint, or it is incomplete, damaged, or not plain tensors; names it.
    """
    folder = find_checkpoint(name, (AUTHORS_WEIGHTS,))
    if is_contextual(folder):
        from semantic_metrics.matcha.contextual import ContextualEncoder

        return ContextualEncoder.from_folder(folder)
    if (folder / WEIGHTS).is_file() and (folder / CONFIG).is_file():
        return MatchaTable.from_folder(folder)
    if (folder / AUTHORS_WEIGHTS).is_file() and (folder / AUTHORS_CONFIG).is_file():
        from semantic_metrics.matcha.authors_format import load_authors

        return load_authors(folder)
    names = sorted(path.name for path in folder.glob("*"))[:20]  # no folder if a Hub repository has none of the files
    raise ValueError(
        f"checkpoint {folder}: expected {CONFIG} and {WEIGHTS}, or {AUTHORS_CONFIG} and {AUTHORS_WEIGHTS}; "
        f"found {names}"
    )


def find_checkpoint(name: str | None, other_weights: tuple[str, ...] = ()) -> Path:
    """The folder of a checkpoint by name: a `name` of `resolve_checkpoint`, or "contextual"; a Hub id is downloaded.

    Raises:
        ValueError: there is no such checkpoint, or the Hub does not give it; names it.
    """
    return resolve_checkpoint(name, DEFAULT_CHECKPOINT, embedded_checkpoints(), other_weights)


def embedded_checkpoints() -> dict[str, Path]:
    """MATCHA checkpoints that are shipped with the package, by name; empty where it is not installed (a Space)."""
    return shipped_checkpoints(lambda config: config.get("model_type") == "matcha" or KIND in config)
