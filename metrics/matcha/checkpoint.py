"""From a checkpoint's name to a table: embedded in the package, a folder, or a Hub id; ours or the authors' format."""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from semantic_metrics.core.resolve import CONFIG, HUB_OWNER, WEIGHTS, resolve_checkpoint, shipped_checkpoints
from semantic_metrics.matcha.contextual import KIND, ContextualEncoder
from semantic_metrics.matcha.modeling_matcha import MatchaConfig, MatchaModel
from semantic_metrics.matcha.table import MatchaTable, TableConfig

DEFAULT_CHECKPOINT = "matcha"
CONTEXTUAL = "contextual"
AUTHORS_CONFIG, AUTHORS_WEIGHTS = "model_config.json", "max_diff.pth"  # as in Siran-Li/MATCHA
AUTHORS_TOKENIZER = "gpt2"
FOLD_VERSION = 1  # raised when a fold of the same files comes out different: cached ones are then left alone
AUTHORS_PAD_TO = 512  # the authors' code pads every text to this and averages over the padding too


def load_checkpoint(name: str | None = None) -> MatchaTable | ContextualEncoder:
    """Load a checkpoint by name.

    Args:
        name: as `resolve_checkpoint` takes it, or "contextual". A folder or repository may be in the authors' own
            format.

    Raises:
        ValueError: no such checkpoint, or it is incomplete, damaged, or not plain tensors; names it.
    """
    embedded = embedded_checkpoints()
    if name == CONTEXTUAL and name not in embedded:  # too large for the package: a checkout has it, and the Hub
        name = f"{HUB_OWNER}/{CONTEXTUAL}"
    folder = resolve_checkpoint(name, DEFAULT_CHECKPOINT, embedded, (AUTHORS_WEIGHTS,))
    if is_contextual(folder):
        return ContextualEncoder.from_folder(folder)
    if (folder / WEIGHTS).is_file() and (folder / CONFIG).is_file():
        return MatchaTable.from_folder(folder)
    if (folder / AUTHORS_WEIGHTS).is_file() and (folder / AUTHORS_CONFIG).is_file():
        return load_authors(folder)
    held = sorted(path.name for path in folder.glob("*"))[:20]  # a Hub repository with none of them has no folder
    raise ValueError(
        f"checkpoint {folder}: expected {CONFIG} and {WEIGHTS}, or {AUTHORS_CONFIG} and {AUTHORS_WEIGHTS}; found {held}"
    )


def embedded_checkpoints() -> dict[str, Path]:
    """MATCHA checkpoints that are shipped with the package, by name; empty where it is not installed (a Space)."""
    return shipped_checkpoints(lambda config: config.get("model_type") == "matcha" or KIND in config)


def is_contextual(folder: Path) -> bool:
    """Whether a folder holds a contextual checkpoint."""
    try:
        return KIND in json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):  # none, or damaged: others say so
        return False


def load_authors(folder: Path) -> MatchaTable:
    """Load the authors' format, `model_config.json` + `max_diff.pth`, folded once and cached as one of ours.

    The table is kept in float32 (float16 would move a cosine by up to 5e-5), and scores pad to 512 tokens as the
    authors' code does.

    Raises:
        ValueError: a file is damaged, holds something else than tensors, or does not fit the network.
    """
    config = MatchaConfig.from_json(folder / AUTHORS_CONFIG)
    tokenizer, pad_token_id = _authors_tokenizer(folder)
    digest = _authors_digest(folder, f"fold {FOLD_VERSION}, {pad_token_id}, {tokenizer.to_str()}")
    cached = _cache_folder() / digest
    if cached.is_dir():
        try:
            return MatchaTable.from_folder(cached)
        except ValueError:  # damaged: folded again
            shutil.rmtree(cached, ignore_errors=True)
    network = _load_network(folder, config)
    try:
        table_config = TableConfig(
            config.vocab_size,
            config.n_embd,
            pad_to=AUTHORS_PAD_TO,
            pad_token_id=pad_token_id,
            max_length=AUTHORS_PAD_TO,
            add_special_tokens=True,  # their call leaves it at the tokenizer's default
            source_sha256=digest,
            network=vars(config),
        )
        table = MatchaTable(network.fold(), tokenizer, table_config)
    except ValueError as error:
        raise ValueError(f"checkpoint {folder}: {error}") from None
    _save_folded(table, cached)
    return MatchaTable.from_folder(cached)


def _authors_digest(folder: Path, settings: str) -> str:
    digest = hashlib.sha256(settings.encode())
    for name in (AUTHORS_CONFIG, AUTHORS_WEIGHTS):
        with (folder / name).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _save_folded(table: MatchaTable, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:  # renamed when complete: never half a checkpoint
        table.save(Path(aside) / "table")
        try:
            (Path(aside) / "table").rename(folder)
        except OSError:  # another process was faster
            if not (folder / WEIGHTS).is_file():
                raise


def _cache_folder() -> Path:
    root = os.environ.get("SEMANTIC_METRICS_CACHE") or Path.home() / ".cache" / "semantic_metrics"
    return Path(root) / "matcha"


def _load_network(folder: Path, config: MatchaConfig) -> MatchaModel:
    path = folder / AUTHORS_WEIGHTS
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # damage raises errors of any kind: a text file is a KeyError
        raise ValueError(f"checkpoint {path}: not a file of plain tensors ({type(error).__name__}: {error})") from None
    state = stored.get("model_state_dict") if isinstance(stored, dict) else None
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise ValueError(f"checkpoint {path}: expected 'model_state_dict', a dict of tensors by name")
    # contxtl_model is a whole GPT-2 of which MATCHA uses nothing but the embedding, stored again as word_embeddings
    state = {key: value for key, value in state.items() if not key.startswith("contxtl_model.")}
    try:
        model = MatchaModel(config)
        model.load_state_dict(state)
    except (RuntimeError, TypeError, ValueError, KeyError) as error:  # sizes that are none; an unknown activation
        raise ValueError(f"checkpoint {path}: does not fit {AUTHORS_CONFIG} ({error})") from None
    return model


def _authors_tokenizer(folder: Path) -> tuple[Tokenizer, int]:
    source = str(folder) if (folder / "tokenizer.json").is_file() else AUTHORS_TOKENIZER
    try:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(source)
    except Exception as error:  # transformers, tokenizers and the Hub raise many kinds
        raise ValueError(f"checkpoint {folder}: its tokenizer, {source!r}, did not load ({error})") from error
    end = tokenizer.backend_tokenizer.token_to_id("<|endoftext|>")
    pads = [i for i in (tokenizer.pad_token_id, tokenizer.eos_token_id, end) if i is not None]
    if not pads:
        raise ValueError(f"checkpoint {folder}: expected a tokenizer with a pad or eos token, got neither")
    backend = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.no_truncation()
    return backend, pads[0]
