"""From a checkpoint's name to its folder: shipped with the package, a folder, or a Hub id."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from semantic_metrics.core.checkpoint_files import check_files, check_tokenizer, describe_error
from semantic_metrics.core.inputs import quote

if TYPE_CHECKING:  # imported where a Hub id is asked for: shipped checkpoints and folders do without
    from huggingface_hub import HfApi

HUB_OWNER = "semantic-metrics"  # of the checkpoints on the Hub; training/bundle.py writes the owner that pushes
SHIPPED_PACKAGE = "semantic_metrics.checkpoints"
MAX_NAME_CHARACTERS = 300  # of a name in an error message
BLOCK_BYTES = 2**20  # read at a time
CONFIG, WEIGHTS = "config.json", "model.safetensors"
LEFT_OUT = ("contextual", "large")  # of the wheel, for their size: a checkout has them, and so has the Hub
HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
BUSY_STATUSES = (408, 425, 429)
# httpx and requests, whichever huggingface_hub has, name errors of the connection so
PASSING_ERRORS = {"TransportError", "TimeoutError", "Timeout", "ConnectionError", "ChunkedEncodingError"}
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
    configs = [path for path in sorted(root.glob(f"*/{CONFIG}")) if any(path.parent.glob("model*.safetensors"))]
    return {path.parent.name: path.parent for path in configs if kind(json.loads(path.read_text(encoding="utf-8")))}


def resolve_checkpoint(
    name: str | None, default: str, shipped: dict[str, Path], other_weights: tuple[str, ...] = ()
) -> Path:
    """Find the folder of a checkpoint; a Hub id is downloaded.

    Args:
        name: None or "default" for the shipped checkpoint `default` (if the package is not installed, for
            `HUB_OWNER/default` from the Hub); else the name of another shipped checkpoint or of one of LEFT_OUT, a
            folder (written with a slash), or a Hub id `org/name[@revision]`.
        default: name of the default checkpoint.
        shipped: result of `shipped_checkpoints`.
        other_weights: files to download as well if a repository has no safetensors.

    Raises:
        ValueError: there is no such checkpoint (names it, and the shipped ones), or the Hub fails to give it (says
            whether trying again may help), or its tokeniser splits words at random.
    """
    if name is not None and not isinstance(name, str):
        raise ValueError(f"checkpoint: expected a name, a folder or a Hub id as a string, got {quote(name)}")
    if name in (None, "default"):
        if default in shipped:
            return shipped[default]
        name = f"{HUB_OWNER}/{default}"
    if name in shipped:
        return shipped[name]
    if name in LEFT_OUT:
        return _download_left_out(name)
    if "/" in name or os.sep in name:
        folder = Path(os.path.expanduser(name))  # keeps an unknown user's ~, where Path.expanduser fails
        if os.path.isdir(folder):
            check_files(folder)
            check_tokenizer(folder)
            return folder
    wanted = f"expected one of {sorted(shipped)}, a folder (written with a slash) or a Hub id org/name[@revision]"
    match = HUB_ID.fullmatch(name)
    if match is None or name.startswith("."):
        raise ValueError(f"checkpoint {quote(name, MAX_NAME_CHARACTERS)}: {wanted}")
    try:
        folder = download(match["repo"], match["revision"], CHECKPOINT_FILES, list(other_weights))
    except Exception as error:  # an answer that is cut or odd reaches here as an error of any kind
        again = "may help" if _may_pass(error) else "will not help"
        reason = f"the Hub did not give it ({describe_error(error)}); trying again {again}"
        raise ValueError(f"checkpoint {quote(name, MAX_NAME_CHARACTERS)}: no such folder, and {reason}") from error
    check_tokenizer(folder)
    return folder


def _download_left_out(name: str) -> Path:
    """The folder of one of LEFT_OUT, from the Hub.

    Raises:
        ValueError: the Hub does not give it; says where it is.
    """
    try:
        return resolve_checkpoint(f"{HUB_OWNER}/{name}", name, {})
    except ValueError as error:
        raise ValueError(
            f"{error}. The installed package leaves {name} out; it is the folder model_cards/{name} of a "
            f"checkout: install the checkout (pip install -e .), give that folder's path in place of {name!r}, "
            f"or push it to your own account (python training/push.py --folder model_cards/{name} --repo "
            "ORG/NAME --push) and give ORG/NAME"
        ) from error


def _may_pass(error: BaseException | None) -> bool:
    """Whether an error comes from the connection or from a busy server, not from what was asked for."""
    if error is None:
        return False
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return status in BUSY_STATUSES or status >= 500
    passing = not PASSING_ERRORS.isdisjoint(kind.__name__ for kind in type(error).__mro__)
    return passing or "Consistency check" in str(error) or _may_pass(error.__cause__ or error.__context__)


def download(repo: str, revision: str | None, patterns: list[str], other_weights: list[str] | None = None) -> Path:
    """Download files of a repository, all of one commit; without an answer of the Hub, use an earlier download.

    Args:
        repo: Hub id.
        revision: branch, tag or commit; None for the default branch.
        patterns: which files.
        other_weights: further ones, if no file of `patterns` is a safetensors.

    Raises:
        Exception: the Hub does not give them; of any kind.

    `snapshot_download` would do it at once, but it lists the files without a timeout (huggingface_hub 2.4): a Hub that
    takes a request and never answers it would be waited for without end. Every request here has a timeout, which
    HF_HUB_DOWNLOAD_TIMEOUT sets; one file is asked for in advance because `hf_hub_download` alone tries for minutes.
    """
    from huggingface_hub import HfApi, constants, hf_hub_url
    from huggingface_hub.errors import LocalEntryNotFoundError, RevisionNotFoundError
    from huggingface_hub.utils import filter_repo_objects

    api, other_weights = HfApi(), other_weights or []
    wanted = [*patterns, *other_weights]
    timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
    try:
        info = api.model_info(repo, revision=revision, timeout=timeout)
        commit = info.sha or revision  # a branch may move between two files
        names = list(filter_repo_objects([file.rfilename for file in info.siblings], allow_patterns=wanted))
        if names:
            url = hf_hub_url(repo, names[0], revision=commit, endpoint=api.endpoint)
            api.get_hf_file_metadata(url=url, timeout=timeout)
    except RevisionNotFoundError:
        raise
    except Exception as error:
        try:  # without `other_weights`, which are missing where there are safetensors
            return _find_downloaded(api, repo, revision, patterns)
        except LocalEntryNotFoundError:
            raise error from None
    if any(name.endswith(".safetensors") for name in names):
        names = [name for name in names if name not in other_weights]
    if not names:
        raise FileNotFoundError(f"the repository has no file like {', '.join(wanted)}")
    for name in names:
        api.hf_hub_download(repo, name, revision=commit)
    folder = _find_downloaded(api, repo, commit, names)
    if commit != revision:
        _note_commit(folder, revision or constants.DEFAULT_REVISION)
    return folder


def _note_commit(snapshot: Path, revision: str) -> None:
    """Note in the Hub's cache which commit a branch or tag was, so that `_find_downloaded` finds it by that name.

    huggingface_hub does so only where the file was asked for by that name. The cache has the folders
    REPOSITORY/snapshots/COMMIT and the files REPOSITORY/refs/REVISION, each with the name of a commit.
    """
    path = snapshot.parent.parent / "refs" / revision
    if not path.is_file() or path.read_text(encoding="utf-8") != snapshot.name:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(snapshot.name, encoding="utf-8")


def _find_downloaded(api: "HfApi", repo: str, revision: str | None, patterns: list[str]) -> Path:
    return Path(api.snapshot_download(repo, revision=revision, allow_patterns=patterns, local_files_only=True))


def default_cache(name: str) -> Path:
    """The folder `name` in the package's cache: SEMANTIC_METRICS_CACHE, or else ~/.cache/semantic_metrics."""
    return Path(os.environ.get("SEMANTIC_METRICS_CACHE") or Path.home() / ".cache" / "semantic_metrics") / name


def hash_files(folder: Path, files: list[Path]) -> str:
    """Digest of the names, sizes and contents of files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()
