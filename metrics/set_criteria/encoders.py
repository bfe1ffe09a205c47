"""Text encoders by name: a MATCHA table, a sentence-transformers model, or mean pooling of any transformers model."""

import hashlib
import json
from pathlib import Path
from typing import Protocol

import numpy as np
from safetensors import SafetensorError
from tokenizers import Tokenizer

from semantic_metrics.core.resolve import CONFIG, WEIGHTS, resolve_checkpoint, shipped_checkpoints

DEFAULT_ENCODER = "matcha"  # of the shipped checkpoints, the one that encodes single texts
MATCHA, TOKENIZER, TENSOR = "matcha", "tokenizer.json", "embedding.weight"  # as the MATCHA metric writes them
MODULES = "modules.json"  # what tells a sentence-transformers model from a plain transformer
FILES = (".json", ".model", ".safetensors", ".txt")  # what can change a vector
BLOCK = 2**20  # bytes read at a time


class Encoder(Protocol):
    """Anything that turns texts into vectors.

    Attributes:
        sha256: of all that can change a vector; the key of cached ones.
    """

    sha256: str

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts.

        Args:
            texts: n texts, n above 0.
            batch_size: texts that a network takes at a time.

        Returns:
            (n, D) float32 vectors, zeros for a text without a token; (n,) bool, whether a text was cut.
        """


def find_encoder(name: str | None) -> Path:
    """The folder of an encoder, downloaded if a Hub id asks for it.

    Args:
        name: None or "default" is the MATCHA table shipped with the package, or that of the Hub where the package is
            not installed; else a folder (written with a slash) or a Hub id `org/name[@revision]`.

    Raises:
        ValueError: no such folder, or one without the files of a model; names it.
    """
    shipped = shipped_checkpoints(lambda config: config.get("model_type") == MATCHA)
    folder = resolve_checkpoint(name, DEFAULT_ENCODER, shipped)
    described = (folder / CONFIG).is_file() or (folder / MODULES).is_file()
    if not described or not any(folder.rglob("*.safetensors")):  # in this order: a wrong folder may be a whole disk
        held = sorted(path.name for path in folder.glob("*"))[:20]
        raise ValueError(f"encoder {folder}: expected {CONFIG} or {MODULES}, and weights as safetensors; found {held}")
    return folder


def load_encoder(name: str | None = None, device: str | None = None) -> Encoder:
    """Load an encoder by name; a plain transformers model, also a causal one, is read by mean pooling.

    Args:
        name: as `find_encoder` takes it.
        device: where a network runs; None for sentence-transformers' choice.

    Raises:
        ValueError: as `find_encoder`, or it does not load; names it.
    """
    folder = find_encoder(name)
    try:
        described = json.loads((folder / CONFIG).read_text(encoding="utf-8")) if (folder / CONFIG).is_file() else {}
        if described.get("model_type") == MATCHA and not (folder / MODULES).is_file():
            return TableEncoder(folder, described)
        return NetworkEncoder(folder, device)
    except Exception as error:  # transformers, tokenizers and sentence-transformers raise many kinds
        reason = " ".join(str(error).split())
        raise ValueError(f"encoder {folder}: {type(error).__name__}: {reason}") from error


class TableEncoder:
    """A MATCHA checkpoint: a text is the mean of its known tokens' rows (Li et al., 2026, eq. 4).

    Args:
        folder: holds config.json, model.safetensors and tokenizer.json.
        config: what config.json says.

    Raises:
        ValueError: a file is damaged, or the table is one that pads or cuts its texts.
    """

    def __init__(self, folder: Path, config: dict[str, object]) -> None:
        from safetensors.torch import load_file

        if config.get("pad_to") is not None or config.get("max_length") is not None:
            raise ValueError("expected a table with pad_to and max_length null")
        self.tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.template = bool(config.get("add_special_tokens", False))
        try:
            self.rows = load_file(folder / WEIGHTS)[TENSOR].double()
        except (KeyError, SafetensorError) as error:
            raise ValueError(f"expected a tensor named {TENSOR!r} ({error})") from None
        token = config.get("unk_token")
        self.unknown = -1 if token is None else self.tokenizer.token_to_id(token)
        self.sha256 = hash_files(folder, [folder / name for name in (CONFIG, WEIGHTS, TOKENIZER)])

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """As `Encoder.encode`; nothing is cut, and there are no batches."""
        import torch
        from torch.nn import functional as F

        encodings = self.tokenizer.encode_batch_fast(texts, add_special_tokens=self.template)
        known = [[i for i in encoding.ids if i != self.unknown] for encoding in encodings]
        lengths = torch.tensor([len(ids) for ids in known])
        flat = torch.tensor([i for ids in known for i in ids], dtype=torch.int64)
        vectors = F.embedding_bag(flat, self.rows, lengths.cumsum(0) - lengths, mode="mean")
        return vectors.float().numpy(), np.zeros(len(texts), dtype=bool)


class NetworkEncoder:
    """A sentence-transformers model, or mean pooling over the last hidden states of a transformers model, in float32.

    The model's own maximal length, prompt and normalisation hold.

    Args:
        folder: of the model; no code in it is run.
        device: where it runs.
    """

    def __init__(self, folder: Path, device: str | None = None) -> None:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers import PreTrainedTokenizerBase

        options = {"use_safetensors": True, "dtype": torch.float32}
        self.model = SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=options)
        found = getattr(self.model, "tokenizer", None)
        self.tokenizer = found if isinstance(found, PreTrainedTokenizerBase) else None
        if self.tokenizer is not None and self.tokenizer.pad_token is None:  # GPT-2, LLaMA and their like have none
            spare = self.tokenizer.eos_token or self.tokenizer.unk_token
            self.tokenizer.pad_token = spare or self.tokenizer.convert_ids_to_tokens(0)
        if self.tokenizer is not None and not (folder / MODULES).is_file():
            self.tokenizer.padding_side = "right"  # padding before a text would shift its positions
        self.sha256 = hash_files(folder, [path for path in folder.rglob("*") if path.suffix in FILES])

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """As `Encoder.encode`."""
        lengths = self._count_tokens(texts)
        some = np.flatnonzero(lengths)  # a network makes nan, or an error, of a text without tokens
        chosen = [texts[i] for i in some] or ["a"]  # which tells the width
        found = self.model.encode(chosen, batch_size=batch_size, show_progress_bar=False)
        vectors = np.zeros((len(texts), found.shape[1]), dtype=np.float32)
        vectors[some] = found[: len(some)]
        longest = getattr(self.model, "max_seq_length", None)
        return vectors, lengths > (np.inf if longest is None else longest)

    def _count_tokens(self, texts: list[str]) -> np.ndarray:
        if self.tokenizer is None:
            return np.ones(len(texts), dtype=np.int64)
        ids = self.tokenizer(texts, truncation=False, padding=False, return_attention_mask=False, verbose=False)
        return np.array([len(found) for found in ids["input_ids"]])


def hash_files(folder: Path, files: list[Path]) -> str:
    """Digest of files' names in the folder and contents."""
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()
