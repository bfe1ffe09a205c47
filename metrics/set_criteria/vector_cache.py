"""Vectors of texts: each distinct text is encoded once, and its vector may be kept on disk for the next time."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semantic_metrics.core.batching import text_chunks
from semantic_metrics.core.checkpoint_files import default_cache
from semantic_metrics.core.progress import progress_bar
from semantic_metrics.set_criteria.encoders import Encoder

KEY_BYTES = 32  # length of a SHA-256


@dataclass(frozen=True)
class CachedVectors:
    """Vectors of n texts, in memory or in files.

    Attributes:
        parts: arrays of float32 vectors, (m, D) each.
        part: (n,) index in `parts` of the array with a text's vector.
        row: (n,) row of that array.
        truncated: number of distinct texts that were cut.
    """

    parts: list[np.ndarray]
    part: np.ndarray
    row: np.ndarray
    truncated: int

    def take(self, texts: np.ndarray) -> np.ndarray:
        """(k,) indices of texts -> (k, D) float32."""
        part, row = self.part[texts], self.row[texts]
        vectors = np.empty((len(texts), self.parts[0].shape[1]), dtype=np.float32)
        for i in np.unique(part):
            in_part = part == i
            vectors[in_part] = self.parts[i][row[in_part]]
        return vectors


def cache_folder(cache_dir: str | Path | None) -> Path | None:
    """The folder that a `cache_dir` argument names: None for no cache, or "default" for that of `default_cache`.

    It is made if absent, so that a bad path is an error before anything is encoded.

    Raises:
        ValueError: `cache_dir` is of another kind, or the folder cannot be made; names it.
    """
    if cache_dir is None:
        return None
    if not isinstance(cache_dir, (str, Path)) or cache_dir == "":  # would mean the current folder
        raise ValueError(f"cache_dir: expected None, 'default' or a folder, got {cache_dir!r}")
    # os.path.expanduser keeps an unknown user's ~, where Path.expanduser fails
    folder = default_cache("set_criteria") if cache_dir == "default" else Path(os.path.expanduser(cache_dir))
    if os.path.isfile(folder):  # Path.is_file raises if the name is too long
        raise ValueError(f"cache_dir: expected a folder, got the file {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"cache_dir: expected a folder that can be made, got {str(folder)!r} ({error})") from error
    return folder


def encode_texts(encoder: Encoder, texts: list[str], batch_size: int = 64, cache: Path | None = None) -> CachedVectors:
    """Encode n texts, n above 0, equal ones once and sorted, so that the order of the samples changes no vector.

    Without a folder of the cache, which is made if absent, the vectors are in memory, 4 bytes a number. With one, what
    was encoded before an encoder failed is stored.
    """
    distinct = sorted(set(texts), key=lambda text: (len(text), text))  # by length: little padding in a batch
    position = {text: i for i, text in enumerate(distinct)}
    numbers = np.fromiter((position[text] for text in texts), dtype=np.int64, count=len(texts))
    if cache is None:
        vectors, cut = _encode_all(encoder, distinct, batch_size)
        return CachedVectors([vectors], np.zeros(len(texts), dtype=np.int64), numbers, cut)
    keys = [_key(text) for text in distinct]
    stored = VectorCache(cache / encoder.sha256)
    new = [text for text, key in zip(distinct, keys, strict=True) if key not in stored.places]
    with progress_bar(len(new), "text") as bar:
        for chunk in text_chunks(new):
            stored.add(chunk, *encoder.encode(chunk, batch_size))
            bar.update(len(chunk))
    part, row = np.array([stored.places[key] for key in keys], dtype=np.int64).T
    cut = sum(bool(stored.parts[i]["cut"][j]) for i, j in zip(part, row, strict=True))
    return CachedVectors([records["vector"] for records in stored.parts], part[numbers], row[numbers], cut)


def _encode_all(encoder: Encoder, texts: list[str], batch_size: int) -> tuple[np.ndarray, int]:
    vectors: np.ndarray | None = None
    begin = truncated = 0
    with progress_bar(len(texts), "text") as bar:
        for chunk in text_chunks(texts):
            encoded, cut = encoder.encode(chunk, batch_size)
            if vectors is None:  # filled in place: joining the parts would take the memory twice
                vectors = np.empty((len(texts), encoded.shape[1]), dtype=np.float32)
            vectors[begin : begin + len(chunk)] = encoded
            begin, truncated = begin + len(chunk), truncated + int(cut.sum())
            bar.update(len(chunk))
    assert vectors is not None, "there are texts"
    return vectors, truncated


class VectorCache:
    """The vectors of one encoder on disk: files of records (key, whether cut, vector), mapped into memory.

    The folder is made if absent. Damaged files are ignored: their texts are encoded again.

    Attributes:
        parts: the records of each file.
        places: index in `parts` and row there, by key of the text.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: list[np.ndarray] = []
        self.places: dict[bytes, tuple[int, int]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("*.npy")):
            self._open(path)

    def add(self, texts: list[str], vectors: np.ndarray, cut: np.ndarray) -> None:
        """Write vectors to a new file, which gets its name when it is complete: never half a file.

        Raises:
            ValueError: the folder's vectors have another width.
        """
        if self.parts and self.parts[0].dtype != _record(vectors.shape[1]):
            their_width = self.parts[0].dtype["vector"].shape[0]
            raise ValueError(
                f"cache_dir: expected vectors of width {vectors.shape[1]}, as this encoder gives, got {their_width} in "
                f"{self.folder}; remove that folder"
            )
        records = np.empty(len(texts), dtype=_record(vectors.shape[1]))
        records["key"] = np.frombuffer(b"".join(map(_key, texts)), dtype=np.uint8).reshape(-1, KEY_BYTES)
        records["cut"], records["vector"] = cut, vectors
        path = self.folder / f"{hashlib.sha256(records['key'].tobytes()).hexdigest()}.npy"
        with tempfile.TemporaryDirectory(dir=self.folder) as temporary:
            np.save(Path(temporary) / path.name, records)
            (Path(temporary) / path.name).replace(path)
        self._open(path)

    def _open(self, path: Path) -> None:
        try:
            records = np.load(path, mmap_mode="r", allow_pickle=False)
            width = records.dtype["vector"].shape[0]
            if records.dtype != _record(width) or records.ndim != 1 or not len(records):
                return
            if self.parts and self.parts[0].dtype != records.dtype:
                return
        except (OSError, ValueError, KeyError, IndexError, EOFError):  # damaged
            return
        for row, key in enumerate(records["key"]):
            self.places[key.tobytes()] = (len(self.parts), row)
        self.parts.append(records)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()


def _record(width: int) -> np.dtype:
    return np.dtype([("key", np.uint8, (KEY_BYTES,)), ("cut", np.bool_), ("vector", "<f4", (width,))])
