"""Text encoders by name: a MATCHA table, a sentence-transformers model, or mean pooling of any transformers model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from semantic_metrics.core.checkpoint_files import CONFIG, PROBE, WEIGHTS, check_sizes, hash_files, refuse_damage
from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions, refuse_changed
from semantic_metrics.matcha.checkpoint import find_checkpoint
from semantic_metrics.matcha.file_names import TOKENIZER, is_contextual
from semantic_metrics.matcha.table import MatchaTable

MODULES = "modules.json"  # sentence-transformers models have this file, plain transformers do not
HASHED_SUFFIXES = (".json", ".model", ".safetensors", ".txt")  # of files that can change a vector, but for:
RECORDS = (
    "nli_lex.json",
    "precision.json",
    "support.json",
    "training.json",
)  # what was measured with the weights, or made them


class Encoder(Protocol):
    """Anything that turns texts into vectors.

    Attributes:
        sha256: digest of the files that can change a vector, with the precision and the backend behind it if they are
            not the default; cached vectors are stored under it.
    """

    sha256: str

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """N texts -> (n, D) float32 vectors, zeros for a text without a token; (n,) bool, whether a text was cut."""


def find_encoder(name: str | None, run: RunOptions = DEFAULT_OPTIONS) -> Path:
    """The folder of an encoder, downloaded if a Hub id asks for it.

    Args:
        name: None or "default" is the MATCHA table shipped with the package (where the package is not installed, that
            of the Hub), "contextual" its contextual checkpoint; else a folder (written with a slash) or a Hub id
            `org/name[@revision]`.
        run: how it should run; only a contextual MATCHA checkpoint has a choice of precision and backend.

    Raises:
        ValueError: there is no such folder, it lacks the files of a model, or it does not run so; names it.
    """
    folder = find_checkpoint(name)
    described = (folder / CONFIG).is_file() or (folder / MODULES).is_file()
    if not described or not any(folder.rglob("*.safetensors")):  # in this order: a wrong folder may be a whole disk
        names = sorted(path.name for path in folder.glob("*"))[:20]
        raise ValueError(f"encoder {folder}: expected {CONFIG} or {MODULES}, and weights as safetensors; found {names}")
    if not is_contextual(folder):
        refuse_changed(run, f"for encoder {folder}, which is no contextual MATCHA checkpoint")
    return folder


def load_encoder(
    name: str | None = None, device: str | None = None, precision: str = "float32", backend: str = "torch"
) -> Encoder:
    """Load an encoder by name; of a plain transformers model, also a causal one, the last states are averaged.

    Precision and backend are those of a contextual MATCHA checkpoint; others run in float32 on torch alone.

    Raises:
        ValueError: `find_encoder` refuses the encoder, or it does not load or run so; names it.
    """
    run = RunOptions(precision, device=device, backend=backend)
    folder = find_encoder(name, run)
    if run.changed and (contextual := ContextualMatcha(folder, run)).run.changed:  # "auto" may be the default
        return contextual
    with refuse_damage(f"encoder {folder}: did not load"):  # transformers, tokenizers, sentence-transformers raise many
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8")) if (folder / CONFIG).is_file() else {}
        if config.get("model_type") == "matcha" and not (folder / MODULES).is_file():
            return TableEncoder(folder)
        check_sizes(folder)
        encoder = NetworkEncoder(folder, device)
        encoder.encode([PROBE])  # some damage shows when a text is split
        return encoder


class TableEncoder:
    """A MATCHA table: a text is the mean of its known tokens' rows (Li et al., 2026, eq. 4).

    Raises:
        ValueError: a file is damaged, or the table pads or cuts its texts.
    """

    def __init__(self, folder: Path) -> None:
        self.table = MatchaTable.from_folder(folder)
        if self.table.config.pad_to is not None or self.table.config.max_length is not None:
            raise ValueError("expected a table with pad_to and max_length null")
        self.sha256 = hash_files(folder, [folder / name for name in (CONFIG, WEIGHTS, TOKENIZER)])

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """See `Encoder.encode`; nothing is cut, and there are no batches."""
        encoded = self.table.encode(texts)
        return encoded.vectors.astype(np.float32), encoded.truncated


class NetworkEncoder:
    """A sentence-transformers model, or mean pooling over the last hidden states of a transformers model, in float32.

    The model's own maximal length, prompt and normalisation apply; no code in its folder is run.
    """

    def __init__(self, folder: Path, device: str | None = None) -> None:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers import PreTrainedTokenizerBase

        options = {"use_safetensors": True, "dtype": torch.float32}
        self.model = SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=options)
        tokenizer = getattr(self.model, "tokenizer", None)
        self.tokenizer = tokenizer if isinstance(tokenizer, PreTrainedTokenizerBase) else None
        if self.tokenizer is not None and self.tokenizer.pad_token is None:  # GPT-2, LLaMA and their like have none
            spare = self.tokenizer.eos_token or self.tokenizer.unk_token
            self.tokenizer.pad_token = spare or self.tokenizer.convert_ids_to_tokens(0)
        if self.tokenizer is not None and not (folder / MODULES).is_file():
            self.tokenizer.padding_side = "right"  # padding before a text would shift its positions
        self.sha256 = _digest(folder)

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """See `Encoder.encode`."""
        lengths = self._count_tokens(texts)
        rows = np.flatnonzero(lengths)  # a text without tokens would give nan or an error
        chosen = [texts[i] for i in rows] or ["a"]  # one text at least, which shows the width
        encoded = self.model.encode(chosen, batch_size=batch_size, show_progress_bar=False)
        vectors = np.zeros((len(texts), encoded.shape[1]), dtype=np.float32)
        vectors[rows] = encoded[: len(rows)]
        longest = getattr(self.model, "max_seq_length", None)
        return vectors, lengths > (np.inf if longest is None else longest)

    def _count_tokens(self, texts: list[str]) -> np.ndarray:
        if self.tokenizer is None:
            return np.ones(len(texts), dtype=np.int64)
        ids = self.tokenizer(texts, truncation=False, padding=False, return_attention_mask=False, verbose=False)
        return np.array([len(tokens) for tokens in ids["input_ids"]])


class ContextualMatcha:
    """A contextual MATCHA checkpoint in another precision, or on another backend, than `NetworkEncoder` runs it.

    Unlike there, a string such as "[SEP]" is plain text, and a text without a known token has no vector. Its `run` has
    the precision that "auto" stands for.

    Raises:
        ValueError: a file is damaged, or the checkpoint cannot run so.
    """

    def __init__(self, folder: Path, run: RunOptions) -> None:
        from semantic_metrics.matcha.contextual import ContextualEncoder

        self.encoder = ContextualEncoder.from_folder(folder)
        self.run = self.encoder.resolve(run)
        self.encoder.encode([PROBE], self.run)  # a backend that is missing, or cannot run it, is refused here
        self.sha256 = "-".join([_digest(folder), *self.run.changed.values()])

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """See `Encoder.encode`."""
        encoded = self.encoder.encode(texts, replace(self.run, batch_size=batch_size))
        return encoded.vectors.astype(np.float32), encoded.truncated


def _digest(folder: Path) -> str:
    """Digest of the files of a network that can change a vector."""
    files = (path for path in folder.rglob("*") if path.suffix in HASHED_SUFFIXES and path.name not in RECORDS)
    return hash_files(folder, list(files))
