"""Files of a checkpoint that someone else made: checked before a library reads them, errors become one line."""

import base64
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semantic_metrics.core.inputs import quote

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
    """The text of a file, which must be a regular one: a device never ends, and a pipe may never begin.

    Raises:
        OSError: it cannot be read.
        ValueError: it is a device, a pipe or a folder, or not UTF-8.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"expected a regular file, got {path}")
    return path.read_text(encoding="utf-8")


def check_files(folder: Path) -> None:
    """Refuse a folder with a file that never ends, or that is never ready, in it or in a folder of a module.

    Raises:
        ValueError: a file is a device or a pipe, or the folder cannot be read; names the folder.
    """
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

    Raises:
        ValueError: the `tokenizer.json`, or that of a module's folder, has it; names the file.
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


def _is_charsmap(stored: object) -> bool:
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
    """Refuse a `config.json`, in the folder or in one of a module, before a network of its sizes is built.

    Raises:
        ValueError: it asks for more layers than tensors are stored, or for a size above every stored one; names both.
    """
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
