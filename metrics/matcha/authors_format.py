"""Checkpoints in the authors' format, `model_config.json` + `max_diff.pth`: folded into a table once, and cached."""

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from semantic_metrics.core.checkpoint_files import (
    PROBE,
    WEIGHTS,
    default_cache,
    describe_error,
    hash_files,
    refuse_damage,
)
from semantic_metrics.matcha.file_names import AUTHORS_CONFIG, AUTHORS_WEIGHTS
from semantic_metrics.matcha.modeling_matcha import MatchaConfig, MatchaModel
from semantic_metrics.matcha.table import MatchaTable, TableConfig

AUTHORS_TOKENIZER = "gpt2"
FOLD_VERSION = 1  # raise it when folding changes: tables that an older version cached are then not read
AUTHORS_PAD_TO = 512  # the authors' code pads every text to this many tokens and averages over the padding too


def load_authors(folder: Path) -> MatchaTable:
    """Load a checkpoint in the authors' format. The first call folds it and caches the table.

    The table stays in float32 (float16 would move a cosine by up to 5e-5). Texts are padded to 512 tokens, as in the
    authors' code.

    Raises:
        ValueError: a file is damaged, contains anything but tensors, or does not fit the network.
    """
    config = MatchaConfig.from_json(folder / AUTHORS_CONFIG)
    tokenizer, pad_token_id = _authors_tokenizer(folder)
    files = hash_files(folder, [folder / AUTHORS_CONFIG, folder / AUTHORS_WEIGHTS])
    settings = f"fold {FOLD_VERSION}, {pad_token_id}, {files}, {tokenizer.to_str()}"
    digest = hashlib.sha256(settings.encode()).hexdigest()
    cached = default_cache("matcha") / digest
    if os.path.isdir(cached):  # Path.is_dir fails in a home folder that belongs to someone else
        try:
            return MatchaTable.from_folder(cached)
        except (OSError, ValueError):  # unreadable or damaged: fold again
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
        table = MatchaTable(network.fold().numpy(), tokenizer, table_config)
    except ValueError as error:
        raise ValueError(f"checkpoint {folder}: {error}") from None
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        _save_folded(table, cached)
        return MatchaTable.from_folder(cached)
    with tempfile.TemporaryDirectory() as temporary:
        table.save(Path(temporary) / "table")
        return MatchaTable.from_folder(Path(temporary) / "table")


def _save_folded(table: MatchaTable, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:  # renamed when complete: never half a checkpoint
        table.save(Path(temporary) / "table")
        try:
            (Path(temporary) / "table").rename(folder)
        except OSError:  # another process was faster
            if not (folder / WEIGHTS).is_file():
                raise


def _load_network(folder: Path, config: MatchaConfig) -> MatchaModel:
    path = folder / AUTHORS_WEIGHTS
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # damage raises errors of any kind: a text file is a KeyError
        raise ValueError(f"checkpoint {path}: not a file of plain tensors ({describe_error(error)})") from None
    state = stored.get("model_state_dict") if isinstance(stored, dict) else None
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise ValueError(f"checkpoint {path}: expected 'model_state_dict', a dict of tensors by name")
    # contxtl_model is a whole GPT-2 of which MATCHA uses nothing but the embedding, stored again as word_embeddings
    state = {key: value for key, value in state.items() if not key.startswith("contxtl_model.")}
    try:
        with torch.device("meta"):  # sizes that the weights do not have cost no memory
            model = MatchaModel(config)
        model.load_state_dict(state, assign=True)
        model.float()
    except (RuntimeError, TypeError, ValueError, KeyError) as error:  # invalid sizes, an unknown activation
        raise ValueError(f"checkpoint {path}: does not fit {AUTHORS_CONFIG} ({describe_error(error)})") from None
    return model


def _authors_tokenizer(folder: Path) -> tuple[Tokenizer, int]:
    source = str(folder) if (folder / "tokenizer.json").is_file() else AUTHORS_TOKENIZER
    with refuse_damage(f"checkpoint {folder}: its tokenizer, {source!r}, did not load"):
        tokenizer = PreTrainedTokenizerFast.from_pretrained(source)
        tokenizer.backend_tokenizer.encode(PROBE)  # some damage shows when a text is split
    end = tokenizer.backend_tokenizer.token_to_id("<|endoftext|>")
    pads = [i for i in (tokenizer.pad_token_id, tokenizer.eos_token_id, end) if i is not None]
    if not pads:
        raise ValueError(f"checkpoint {folder}: expected a tokenizer with a pad or eos token, got neither")
    backend = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.no_truncation()
    return backend, pads[0]
