"""From a checkpoint's name to its folder (shipped, given or from the Hub); its files are checked before use."""

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semantic_metrics.core.inputs import quote

if TYPE_CHECKING:  # imported where a Hub id is asked for: shipped checkpoints and folders do without
    from huggingface_hub import HfApi

MAX_ERROR_CHARACTERS = 300  # of a library's message that a refusal quotes
MAX_HEADER_BYTES = 100_000_000  # of a safetensors file, as in the library
# most layers, and largest size, that a config may ask for if no header says what is stored
UNKNOWN_LAYERS = 1_000
UNKNOWN_SIZE = 2**20
MAX_ROWS = 2**17  # of a table for tokens or positions, which a header may lack; a larger one must be stored
LAYERS = re.compile(r"(num_)?(\w+_)?(layers?|n_layers?)|n_layers?")
SIZES = re.compile(r"(\w+_)?(hidden|embedding|intermediate)_size|type_vocab_size|n_embd|d_model|d_ff|num_labels|dim")
ROWS = re.compile(r"vocab_size|max_position_embeddings|n_positions|n_ctx")
CHECKED_SUFFIXES = (".json", ".safetensors", ".txt", ".model", ".bin", ".pth")
# a text of many kinds of characters, known and unknown: a tokeniser that is damaged fails on it
PROBE = "The dog, 3 Ångström: naïve ﬁ 日本 \u0301 \U0001f995 \U0010fffd?"
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


@contextmanager
def refuse_damage(what: str) -> Iterator[None]:
    """Make one line of what a library raises on a damaged file, a panic of tokenizers included.

    Raises:
        ValueError: "`what` (error: its message)"; refusals of our own, which begin with its first word, pass unchanged.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if type(error) is ValueError and str(error).startswith(what.partition(" ")[0] + " "):
            raise
        raise ValueError(f"{what} ({describe_error(error)})") from error


def describe_error(error: BaseException) -> str:
    """Kind of an error and the beginning of its message, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MAX_ERROR_CHARACTERS]


def read_regular(path: Path) -> str:
    """The text of a file, which must be a regular one: a device never ends, and a pipe may never begin."""
    if path.exists() and not path.is_file():
        raise ValueError(f"expected a regular file, got {path}")
    return path.read_text(encoding="utf-8")


def check_files(folder: Path) -> None:
    """Refuse a folder with a file that never ends, or that is never ready, in it or in a folder of a module."""
    try:
        paths = [path for path in [*folder.iterdir(), *folder.glob("*/*")] if path.suffix in CHECKED_SUFFIXES]
        odd = [path for path in paths if path.exists() and not path.is_file() and not path.is_dir()]
    except OSError as error:
        raise ValueError(f"checkpoint {folder}: cannot be read ({error.strerror})") from None
    if odd:
        names = ", ".join(sorted(path.relative_to(folder).as_posix() for path in odd))
        raise ValueError(f"checkpoint {folder}: expected regular files, got a device or a pipe: {names}")


def check_tokenizer(folder: Path) -> None:
    """Refuse a tokeniser that splits at random, or whose table of characters the library would trust blindly.

    BPE dropout (Provilkov et al., 2020) is meant for training. A `precompiled_charsmap` of sentencepiece begins with
    the size of its trie, and tokenizers reads as much memory, whatever there is.
    """
    for path in sorted([*folder.glob("tokenizer.json"), *folder.glob("*/tokenizer.json")]):
        place = f"checkpoint {folder}: {path.relative_to(folder)}"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue  # damaged: who reads it reports that
        model, normalizer = (stored.get(key) if isinstance(stored, dict) else None for key in ("model", "normalizer"))
        if isinstance(model, dict) and (dropout := model.get("dropout")):
            raise ValueError(
                f"{place}: expected a tokeniser that splits a text in one way, got BPE dropout of {quote(dropout)}; "
                "set model.dropout to null"
            )
        if not all(map(_is_charsmap, _charsmaps(normalizer))):
            raise ValueError(
                f"{place}: precompiled_charsmap: expected a trie of its stated size and UTF-8 text behind it"
            )


def _charsmaps(normalizer: object) -> Iterator[object]:
    """The tables of characters of a normaliser and of those that it consists of."""
    waiting = [normalizer]
    while waiting:  # without recursion, which a file could nest too deep
        part = waiting.pop()
        if isinstance(part, dict):
            if "precompiled_charsmap" in part:
                yield part["precompiled_charsmap"]
            parts = part.get("normalizers")
            waiting += parts if isinstance(parts, list) else []


def _is_charsmap(stored: Any) -> bool:  # noqa: ANN401  (anything that JSON may hold)
    """Whether a table has the form that sentencepiece writes: size of the trie, its units of 4 bytes, texts."""
    if stored is None:
        return True
    try:
        data = base64.b64decode(stored, validate=True)
        size = int.from_bytes(data[:4], "little")
        data[4 + size :].decode("utf-8")
    except (TypeError, ValueError):
        return False
    return 0 < size <= len(data) - 4 and size % 4 == 0


def check_sizes(folder: Path) -> None:
    """Refuse a `config.json`, in the folder or in one of a module, before a network of its sizes is built."""
    for path in [folder / "config.json", *sorted(folder.glob("*/config.json"))]:
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):  # missing or damaged: who needs it reports that
            continue
        _check_sizes(path.parent, config)


def _check_sizes(folder: Path, config: object) -> None:
    shapes = [shape for path in folder.glob("*.safetensors") for shape in _stored_shapes(path)]
    layers = len(shapes) if shapes else UNKNOWN_LAYERS
    largest = max((size for shape in shapes for size in shape), default=UNKNOWN_SIZE)
    for name, value in config.items() if isinstance(config, dict) else ():
        for pattern, highest in ((LAYERS, layers), (SIZES, largest), (ROWS, max(largest, MAX_ROWS))):
            if pattern.fullmatch(name) and type(value) in (int, float) and not value <= highest:
                got = f"{value:g}" if math.isfinite(value) else value
                raise ValueError(f"checkpoint {folder}: config.json: {name}: expected at most {highest}, got {got}")


def _stored_shapes(path: Path) -> list[list[int]]:
    """Shapes of the tensors of a safetensors file, from its header; none of a damaged one, which its reader reports."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if length <= MAX_HEADER_BYTES else {}
        return [tensor["shape"] for name, tensor in header.items() if name != "__metadata__"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return []


def shipped_checkpoints(kind: Callable[[dict[str, Any]], bool]) -> dict[str, Path]:
    """Folders of the shipped checkpoints whose `config.json` is of a kind, by name.

    None are found where the package is not installed (a Space).
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
    if name in LEFT_OUT and name not in shipped_checkpoints(lambda config: True):  # there, but of another kind
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
        again = "may help" if may_pass(error) else "will not help"
        reason = f"the Hub did not give it ({describe_error(error)}); trying again {again}"
        raise ValueError(f"checkpoint {quote(name, MAX_NAME_CHARACTERS)}: no such folder, and {reason}") from error
    check_tokenizer(folder)
    return folder


def split_name(name: str | None) -> tuple[str | None, str | None]:
    """Names of the cross-encoder and of MATCHA's checkpoint from "NAME" or "NAME+NAME"; None for the shipped ones."""
    if name is None or "+" not in name or os.path.isdir(os.path.expanduser(name)):
        return name, None
    pairs, _, matcha = name.rpartition("+")
    return pairs or None, matcha or None


def _download_left_out(name: str) -> Path:
    """The folder of one of LEFT_OUT, from the Hub."""
    try:
        return resolve_checkpoint(f"{HUB_OWNER}/{name}", name, {})
    except ValueError as error:
        raise ValueError(
            f"{error}. The installed package leaves {name} out; it is the folder model_cards/{name} of a "
            f"checkout: install the checkout (pip install -e .), give that folder's path in place of {name!r}, "
            f"or push it to your own account (python training/push.py --folder model_cards/{name} --repo "
            "ORG/NAME --push) and give ORG/NAME"
        ) from error


def may_pass(error: BaseException | None) -> bool:
    """Whether an error comes from the connection or from a busy server, not from what was asked for."""
    if error is None:
        return False
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return status in BUSY_STATUSES or status >= 500
    passing = not PASSING_ERRORS.isdisjoint(kind.__name__ for kind in type(error).__mro__)
    return passing or "Consistency check" in str(error) or may_pass(error.__cause__ or error.__context__)


def download(repo: str, revision: str | None, patterns: list[str], other_weights: list[str] | None = None) -> Path:
    """Download files of a repository, all of one commit; without an answer of the Hub, use an earlier download.

    `revision` is a branch, tag or commit; `other_weights` are wanted where no file of `patterns` is a safetensors. It
    raises what the Hub's client does. `snapshot_download` would do it at once, but it lists the files without a timeout
    (huggingface_hub 2.4): a Hub that takes a request and never answers it would be waited for without end. Every
    request here has one, HF_HUB_DOWNLOAD_TIMEOUT; each file is asked for in advance, as `hf_hub_download` tries for
    minutes.
    """
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import LocalEntryNotFoundError, RevisionNotFoundError
    from huggingface_hub.utils import filter_repo_objects

    api, other_weights = HfApi(), other_weights or []
    wanted = [*patterns, *other_weights]
    try:
        info = api.model_info(repo, revision=revision, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT)
        commit = info.sha or revision  # a branch may move between two files
        names = list(filter_repo_objects([file.rfilename for file in info.siblings], allow_patterns=wanted))
        if names:
            _ask_for(api, repo, names[0], commit)
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
    _download_files(api, repo, names, commit)
    folder = _find_downloaded(api, repo, commit, names)
    if commit != revision:
        _note_commit(folder, revision or constants.DEFAULT_REVISION)
    return folder


def _download_files(api: "HfApi", repo: str, names: list[str], commit: str | None) -> None:
    from huggingface_hub import try_to_load_from_cache

    for name in names:
        if not isinstance(try_to_load_from_cache(repo, name, revision=commit), str):
            _ask_for(api, repo, name, commit)
        api.hf_hub_download(repo, name, revision=commit)


def _ask_for(api: "HfApi", repo: str, name: str, commit: str | None) -> None:
    from huggingface_hub import constants, hf_hub_url

    url = hf_hub_url(repo, name, revision=commit, endpoint=api.endpoint)
    api.get_hf_file_metadata(url=url, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT)


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
