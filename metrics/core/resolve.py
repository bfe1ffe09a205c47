"""From a checkpoint's name to its folder: shipped with the package, a folder, or a Hub id."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from huggingface_hub import snapshot_download

from semantic_metrics.core.checkpoint_files import check_files
from semantic_metrics.core.inputs import quote

HUB_OWNER = os.environ.get("SEMANTIC_METRICS_HUB_OWNER", "semantic-metrics")  # owner of checkpoints on the Hub
SHIPPED_PACKAGE = "semantic_metrics.checkpoints"
MAX_NAME_CHARACTERS = 300  # of a name in an error message
BLOCK_BYTES = 2**20  # read at a time
CONFIG, WEIGHTS = "config.json", "model.safetensors"
HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
CHECKPOINT_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]  # never code; the last two are vocabularies


def shipped_checkpoints(kind: Callable[[dict], bool]) -> dict[str, Path]:
    """Folders of the checkpoints that are shipped with the package, by name; none if it is not installed (a Space).

    Args:
        kind: takes the content of a `config.json`; whether its folder is a checkpoint of the kind wanted.
    """
    try:
        root = Path(str(resources.files(SHIPPED_PACKAGE)))
    except ModuleNotFoundError:
        return {}
    configs = [path for path in sorted(root.glob(f"*/{CONFIG}")) if (path.parent / WEIGHTS).is_file()]
    return {path.parent.name: path.parent for path in configs if kind(json.loads(path.read_text(encoding="utf-8")))}


def resolve_checkpoint(
    name: str | None, default: str, shipped: dict[str, Path], other_weights: tuple[str, ...] = ()
) -> Path:
    """Find the folder of a checkpoint; a Hub id is downloaded.

    Args:
        name: None or "default" for the shipped checkpoint `default` (if the package is not installed, for
            `HUB_OWNER/default` from the Hub); else the name of another shipped checkpoint, a folder (written with a
            slash), or a Hub id `org/name[@revision]`.
        default: name of the default checkpoint.
        shipped: result of `shipped_checkpoints`.
        other_weights: files to download as well if a repository has no safetensors.

    Raises:
        ValueError: there is no such checkpoint; names it, and the shipped ones.
    """
    if name is not None and not isinstance(name, str):
        raise ValueError(f"checkpoint: expected a name, a folder or a Hub id as a string, got {quote(name)}")
    if name in (None, "default"):
        if default in shipped:
            return shipped[default]
        name = f"{HUB_OWNER}/{default}"
    if name in shipped:
        return shipped[name]
    if "/" in name or os.sep in name:
        folder = Path(os.path.expanduser(name))  # keeps an unknown user's ~, where Path.expanduser fails
        if os.path.isdir(folder):
            check_files(folder)
            return folder
    wanted = f"expected one of {sorted(shipped)}, a folder (written with a slash) or a Hub id org/name[@revision]"
    match = HUB_ID.fullmatch(name)
    if match is None or name.startswith("."):
        raise ValueError(f"checkpoint {quote(name, MAX_NAME_CHARACTERS)}: {wanted}")
    try:
        return _download(match["repo"], match["revision"], list(other_weights))
    except (OSError, ValueError) as error:  # the Hub's own errors are subclasses of these
        raise ValueError(f"checkpoint {name!r}: no such folder, and the Hub did not give it ({error})") from error


def _download(repo: str, revision: str | None, other_weights: list[str]) -> Path:
    folder = Path(snapshot_download(repo, revision=revision, allow_patterns=CHECKPOINT_FILES))
    if other_weights and not any(folder.glob("*.safetensors")):
        return Path(snapshot_download(repo, revision=revision, allow_patterns=[*CHECKPOINT_FILES, *other_weights]))
    return folder


def hash_files(folder: Path, files: list[Path]) -> str:
    """Digest of the names, sizes and contents of files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()
