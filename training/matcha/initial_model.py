"""The start of a run (tokeniser, token embeddings), the network built on it, and its way into a checkpoint."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer

from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.matcha.file_names import AUTHORS_CONFIG, AUTHORS_WEIGHTS
from semantic_metrics.matcha.modeling_matcha import MatchaConfig, MatchaModel
from semantic_metrics.matcha.table import MatchaTable, TableConfig
from training.data.config_checks import find_model
from training.matcha.contextual import ContextualModel

TRANSFORMER = "transformer"
GPT2 = "gpt2"  # the model that the authors' package takes embeddings and tokeniser from
BACKBONE = "contxtl_model."  # prefix of its weights in the authors' format
PAD_TOKENS = ("<|endoftext|>", "[PAD]", "<pad>")  # the authors' padding, and what other vocabularies have


class TableModel(nn.Module):
    """A folded table whose rows are trained directly: fine-tuning without the network that it was folded from."""

    def __init__(self, rows: torch.Tensor) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding.from_pretrained(rows.float(), freeze=False)

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        """Like `MatchaModel.forward`: (n,) ids, (B,) offsets -> (B, D)."""
        return F.embedding_bag(ids, self.word_embeddings.weight, offsets, mode="mean")

    def fold(self) -> torch.Tensor:
        """(V, D) float32: the rows as they are."""
        return self.word_embeddings.weight.detach().clone()


@dataclass(frozen=True)
class InitialModel:
    """The start of a run: a `plain_tokenizer`, its token for unknown words (or None), (V, D) token embeddings.

    `source` is the folder or Hub id of the transformer, None for a folded table; `backbone` its weights by name if it
    is a GPT-2.
    """

    tokenizer: Tokenizer
    embeddings: torch.Tensor
    unk_token: str | None
    source: str | None = None
    backbone: dict[str, torch.Tensor] = field(default_factory=dict)


def load_initial_model(name: str) -> InitialModel:
    """Load what `init` of a config names; see `TrainConfig`."""
    kind, _, rest = name.partition(":")
    if kind == "checkpoint" and rest:
        table = load_checkpoint(rest)
        if not isinstance(table, MatchaTable):
            raise ValueError(f"init: expected a static checkpoint, got the contextual one {rest!r}")
        return InitialModel(table.tokenizer, torch.from_numpy(table.weights.astype(np.float32)), table.config.unk_token)
    source = find_model(name)
    model = AutoModel.from_pretrained(source)
    embeddings = model.get_input_embeddings().weight.detach().float()
    tokenizer = plain_tokenizer(AutoTokenizer.from_pretrained(source).backend_tokenizer)
    unk_token = json.loads(tokenizer.to_str())["model"].get("unk_token") or None
    backbone = model.state_dict() if model.config.model_type == GPT2 else {}
    return InitialModel(tokenizer, embeddings, unk_token, source, backbone)


def plain_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """A copy that adds no special tokens, reads special strings as plain text, and neither pads nor truncates.

    The saved tokenizer.json states all of it, so that whatever loads the file does the same.
    """
    stored = json.loads(tokenizer.to_str())
    stored.update(added_tokens=[], truncation=None, padding=None)
    if (stored["post_processor"] or {}).get("type") != "ByteLevel":  # GPT-2's only trims offsets; others add tokens
        stored["post_processor"] = None
    return Tokenizer.from_str(json.dumps(stored))


def build_model(initial: InitialModel, network: dict | None) -> nn.Module:
    """The model that a config's `network` asks for: a `MatchaModel`, the table itself for None, or a transformer."""
    if network is None:
        return TableModel(initial.embeddings)
    if network.get("kind") == TRANSFORMER:
        if initial.source is None:
            raise ValueError("init: expected a transformer's folder or Hub id, as network.kind says, got a table")
        return ContextualModel(initial.source, **{key: value for key, value in network.items() if key != "kind"})
    vocab_size, width = initial.embeddings.shape
    return MatchaModel(MatchaConfig(vocab_size, width, **network), initial.embeddings)


def scorer_of(model: nn.Module, initial: InitialModel) -> MatchaTable | ContextualEncoder:
    """The encoder that the metric would use: the folded table, or the transformer itself."""
    return model.scorer() if isinstance(model, ContextualModel) else fold_to_table(model, initial)


def save_checkpoint(model: nn.Module, initial: InitialModel, folder: Path) -> None:
    """Write the checkpoint that the metric loads."""
    (model if isinstance(model, ContextualModel) else fold_to_table(model, initial)).save(folder)


def save_network(model: MatchaModel, initial: InitialModel, folder: Path) -> None:
    """Write a network unfolded, in the authors' format, which the metric loads as well.

    `MATCHA.from_pretrained` of the authors' package, matcha-metric 0.1.8, takes tokeniser and shapes from GPT-2: it
    loads the network of a run that began with GPT-2, whose weights are stored beside the network's own as the package
    stores them. As in the package, a text's score includes the padding to 512 tokens, which training here leaves out.
    """
    state = model.state_dict()
    if initial.backbone:
        backbone = initial.backbone | {"wte.weight": state["word_embeddings.weight"]}  # one tensor with two names
        state |= {f"{BACKBONE}{name}": value for name, value in backbone.items()}
    torch.save({"model_state_dict": state}, folder / AUTHORS_WEIGHTS)
    model.config.to_json(folder / AUTHORS_CONFIG)
    initial.tokenizer.save(str(folder / "tokenizer.json"))
    candidates = (*PAD_TOKENS, initial.unk_token)
    pad = next((token for token in candidates if token and initial.tokenizer.token_to_id(token) is not None), None)
    if pad is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps({"pad_token": pad}) + "\n", encoding="utf-8")


def fold_to_table(model: nn.Module, initial: InitialModel) -> MatchaTable:
    """Fold a model into the checkpoint that ships: float16, masked mean (paper, eq. 4), nothing truncated."""
    rows = model.fold().cpu()
    # the scale changes no cosine, and a power of two no digit; this one keeps values well inside float16's range
    rows = rows * 2.0 ** -torch.floor(torch.log2(rows.abs().max()))
    network = vars(model.config) if isinstance(model, MatchaModel) else {}
    config = TableConfig(*rows.shape, unk_token=initial.unk_token, network=network)
    return MatchaTable(rows.half().numpy(), initial.tokenizer, config)
