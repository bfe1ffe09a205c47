"""Vectors of distinct texts: each is encoded once, and may be kept on disk for the next time."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semantic_metrics.core.batching import text_chunks
from semantic_metrics.set_criteria.encoders import Encoder

KEY_BYTES = 32  # of a SHA-256


@dataclass(frozen=True)
class TextVectors:
    """Vectors of texts, in memory or in files.

    Attributes:
        parts: (m, D) float32 each.
        part: (n,) in which of them the vector of a text lies, and
        row: (n,) in which row.
        truncated: how many distinct texts were cut.
    """

    parts: list[np.ndarray]
    part: np.ndarray
    row: np.ndarray
    truncated: int

    def take(self, texts: np.ndarray) -> np.ndarray:
        """(k,) numbers of texts -> (k, D) float32."""
        part, row = self.part[texts], self.row[texts]
        vectors = np.empty((len(texts), self.parts[0].shape[1]), dtype=np.float32)
        for i in np.unique(part):
            here = part == i
            vectors[here] = self.parts[i][row[here]]
        return vectors


def cache_folder(cache_dir: str | Path | None) -> Path | None:
    """The folder that a `cache_dir` argument names.

    Args:
        cache_dir: None for no cache, "default" for `set_criteria` in the folder that the environment variable
            SEMANTIC_METRICS_CACHE names (else in ~/.cache/semantic_metrics), or a folder.

    Returns:
        The folder, made if absent: what is wrong with it shows before anything is encoded.

    Raises:
        ValueError: it is none of these, or cannot be made; names it.
    """
    if cache_dir is None:
        return None
    if not isinstance(cache_dir, (str, Path)) or cache_dir == "":  # which would be the folder one happens to be in
        raise ValueError(f"cache_dir: expected None, 'default' or a folder, got {cache_dir!r}")
    if cache_dir == "default":
        root = os.environ.get("SEMANTIC_METRICS_CACHE") or Path.home() / ".cache" / "semantic_metrics"
        folder = Path(root) / "set_criteria"
    else:
        folder = Path(os.path.expanduser(cache_dir))  # leaves an unknown user's ~ as it is, where Path's fails
    if os.path.isfile(folder):  # of a name that is too long, Path.is_file raises
        raise ValueError(f"cache_dir: expected a folder, got the file {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"cache_dir: expected a folder that can be made, got {str(folder)!r} ({error})") from error
    return folder


def encode_texts(encoder: Encoder, texts: list[str], batch_size: int = 64, cache: Path | None = None) -> TextVectors:
    """Encode texts, equal ones once, in an order of their own, so that no order of the samples changes a vector.

    Args:
        encoder: turns texts into vectors.
        texts: n texts, n above 0.
        batch_size: texts that a network takes at a time.
        cache: folder of kept vectors, made if absent; None keeps them in memory alone, 4 bytes a number.

    Returns:
        The vectors; their text numbers are places in `texts`.
    """
    distinct = sorted(set(texts), key=lambda text: (len(text), text))  # alike in length: little padding in a batch
    place = {text: i for i, text in enumerate(distinct)}
    numbers = np.fromiter((place[text] for text in texts), dtype=np.int64, count=len(texts))
    if cache is None:
        vectors, cut = _encode_all(encoder, distinct, batch_size)
        return TextVectors([vectors], np.zeros(len(texts), dtype=np.int64), numbers, cut)
    keys = [hashlib.sha256(text.encode("utf-8")).digest() for text in distinct]
    held = _Shelf(cache / encoder.sha256)
    for chunk in text_chunks([text for text, key in zip(distinct, keys, strict=True) if key not in held.places]):
        held.add(chunk, *encoder.encode(chunk, batch_size))
    part, row = np.array([held.places[key] for key in keys], dtype=np.int64).T
    cut = sum(bool(held.parts[i]["cut"][j]) for i, j in zip(part, row, strict=True))
    return TextVectors([found["vector"] for found in held.parts], part[numbers], row[numbers], cut)


def _encode_all(encoder: Encoder, texts: list[str], batch_size: int) -> tuple[np.ndarray, int]:
    vectors, begin, truncated = None, 0, 0
    for chunk in text_chunks(texts):
        found, cut = encoder.encode(chunk, batch_size)
        if vectors is None:  # filled in place: parts to be joined would take the memory twice
            vectors = np.empty((len(texts), found.shape[1]), dtype=np.float32)
        vectors[begin : begin + len(chunk)] = found
        begin, truncated = begin + len(chunk), truncated + int(cut.sum())
    return vectors, truncated


class _Shelf:
    """The kept vectors of one encoder: files of records (key, whether cut, vector), never opened whole.

    Args:
        folder: of the files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: list[np.ndarray] = []
        self.places: dict[bytes, tuple[int, int]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("*.npy")):
            self._open(path)

    def add(self, texts: list[str], vectors: np.ndarray, cut: np.ndarray) -> None:
        """Keep vectors, written aside and renamed when complete: never half a file."""
        if self.parts and self.parts[0].dtype != _record(vectors.shape[1]):
            held = self.parts[0].dtype["vector"].shape[0]
            raise ValueError(
                f"cache_dir: expected vectors of width {vectors.shape[1]}, as this encoder gives, got {held} in "
                f"{self.folder}; remove that folder"
            )
        digests = [hashlib.sha256(text.encode("utf-8")).digest() for text in texts]
        records = np.empty(len(texts), dtype=_record(vectors.shape[1]))
        records["key"] = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, KEY_BYTES)
        records["cut"], records["vector"] = cut, vectors
        path = self.folder / f"{hashlib.sha256(records['key'].tobytes()).hexdigest()}.npy"
        with tempfile.TemporaryDirectory(dir=self.folder) as aside:
            np.save(Path(aside) / path.name, records)
            (Path(aside) / path.name).replace(path)
        self._open(path)

    def _open(self, path: Path) -> None:
        try:
            records = np.load(path, mmap_mode="r", allow_pickle=False)
            width = records.dtype["vector"].shape[0]
            if records.dtype != _record(width) or records.ndim != 1 or not len(records):
                return
            if self.parts and self.parts[0].dtype != records.dtype:
                return
        except (OSError, ValueError, KeyError, IndexError, EOFError):  # damaged: its texts are encoded again
            return
        for row, key in enumerate(records["key"]):
            self.places[key.tobytes()] = (len(self.parts), row)
        self.parts.append(records)


def _record(width: int) -> np.dtype:
    return np.dtype([("key", np.uint8, (KEY_BYTES,)), ("cut", np.bool_), ("vector", "<f4", (width,))])
