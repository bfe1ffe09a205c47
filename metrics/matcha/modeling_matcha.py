"""The MATCHA network (Li et al., Findings of ACL 2026, section 3), and its exact folding into one table.

No layer mixes tokens: the vector of a token depends on its id alone, and a text's vector is the mean of its tokens'
vectors (eq. 4). So a trained network is one (vocabulary, width) table, which `MatchaModel.fold` computes. The same
identity makes training cheap: a batch runs the network once per DISTINCT token id, and the N_c context vectors of
eq. 2 are averaged as weights, before the product, instead of as activations, after it.

Module names and weight shapes are those of the authors' checkpoints, so that their state dict loads as it is.
"""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from transformers.activations import ACT2FN
from transformers.pytorch_utils import Conv1D

from semantic_metrics.core.inputs import quote

FOLD_CHUNK = 4096  # rows of the vocabulary folded at a time: bounds the memory to (FOLD_CHUNK, 4 * width) floats
# Distinct tokens of a batch are padded to a multiple of this many: CPU kernels are built and kept per shape, so that
# a new shape at every step costs a third of the speed and ever more memory (measured: 1.2 GB in 60 steps).
DISTINCT_MULTIPLE = 512


@dataclass(frozen=True)
class MatchaConfig:
    """Sizes of a MATCHA network, under the names of the authors' `model_config.json`.

    Attributes:
        vocab_size: rows of the embedding, V (50257 for GPT-2).
        n_embd: width D (768 for GPT-2).
        num_senses: context vectors per token, N_c = 16 (paper, appendix A.3).
        sense_intermediate_scale: the last MLP widens to this times D (4 in the authors' `model_config.json`).
        activation_function: a name of transformers' ACT2FN (`gelu_new`, GPT-2's).
        embd_pdrop: dropout on the embeddings (0.1, GPT-2's).
        resid_pdrop: dropout inside the block and on the context vectors (0.1, GPT-2's).
        layer_norm_epsilon: epsilon of the three layer norms (1e-5, GPT-2's).
    """

    vocab_size: int
    n_embd: int
    num_senses: int = 16
    sense_intermediate_scale: int = 4
    activation_function: str = "gelu_new"
    embd_pdrop: float = 0.1
    resid_pdrop: float = 0.1
    layer_norm_epsilon: float = 1e-5

    def __post_init__(self) -> None:
        for item in fields(self):
            value, kind = getattr(self, item.name), type(item.default)
            whole = item.name in ("vocab_size", "n_embd") or kind is int
            if whole and (type(value) is not int or value < 1):
                raise ValueError(f"{item.name}: expected a whole number from 1, got {quote(value)}")
            if kind is float and not (type(value) in (int, float) and 0 <= value < 1):
                raise ValueError(f"{item.name}: expected a number from 0 to 1, got {quote(value)}")

    @classmethod
    def from_json(cls, path: Path) -> "MatchaConfig":
        """Read a `model_config.json`, ours or the authors'; keys of a whole GPT-2 that are no part of MATCHA pass.

        Raises:
            ValueError: the file is not a JSON object, or lacks `vocab_size` or `n_embd`.
        """
        try:
            stored = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(**{f.name: stored[f.name] for f in fields(cls) if f.name in stored})
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path}: expected a JSON object with at least vocab_size and n_embd ({error})") from None

    def to_json(self, path: Path) -> None:
        """Write the file that `from_json` reads, and the authors' package, too."""
        # the package takes the embeddings of a "gpt2" by a method that every model of transformers has
        stored = {"model_type": "gpt2", **asdict(self)}
        Path(path).write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


class SenseMLP(nn.Module):
    """GPT-2's two-layer perceptron: width -> hidden -> out."""

    def __init__(self, config: MatchaConfig, hidden: int, out: int) -> None:
        super().__init__()
        self.c_fc = Conv1D(hidden, config.n_embd)
        self.c_proj = Conv1D(out, hidden)
        self.act = ACT2FN[config.activation_function]
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """(n, D) -> (n, out)."""
        return self.dropout(self.c_proj(self.act(self.c_fc(states))))

    def forward_mean(self, states: torch.Tensor, blocks: int) -> torch.Tensor:
        """(n, D) -> (n, out / blocks): the mean of `blocks` consecutive outputs, at the cost of one of them.

        Equal to `forward(states)` averaged over its blocks. The dropout on the outputs moves in front of the product,
        where it acts on the hidden units instead.
        """
        hidden = self.dropout(self.act(self.c_fc(states)))
        weight = self.c_proj.weight.unflatten(1, (blocks, -1)).mean(dim=1)  # (hidden, out / blocks)
        bias = self.c_proj.bias.unflatten(0, (blocks, -1)).mean(dim=0)
        return torch.addmm(bias, hidden, weight)


class SenseBlock(nn.Module):
    """A GPT-2 block with the attention left out: nothing passes from token to token."""

    def __init__(self, config: MatchaConfig) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = SenseMLP(config, hidden=4 * config.n_embd, out=config.n_embd)
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, states: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        """(n, D), (n, D) -> (n, D)."""
        residual = self.dropout(states) + residual
        residual = self.dropout(self.mlp(self.ln_1(residual))) + residual
        return self.ln_2(residual)


class SenseNetwork(nn.Module):
    """Token embedding -> N_c context vectors (paper, eq. 2), and their mean."""

    def __init__(self, config: MatchaConfig) -> None:
        super().__init__()
        self.num_senses = config.num_senses
        self.dropout = nn.Dropout(config.embd_pdrop)
        self.ln = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.block = SenseBlock(config)
        hidden = config.sense_intermediate_scale * config.n_embd
        self.final_mlp = SenseMLP(config, hidden=hidden, out=config.num_senses * config.n_embd)

    def forward(self, embeddings: torch.Tensor) -> torch.Tensor:
        """(n, D) -> (n, D): the mean over the context vectors, N_c times cheaper than the vectors themselves."""
        residual = self.dropout(embeddings)
        states = self.block(self.ln(residual), residual)
        return self.final_mlp.forward_mean(states, self.num_senses)


class MatchaModel(nn.Module):
    """MATCHA's text encoder: one vector per text, compared by cosine (paper, eq. 1 to 4).

    Args:
        config: the sizes.
        embeddings: (V, D) token embeddings to start from; GPT-2's in the paper. Random if left out.
    """

    def __init__(self, config: MatchaConfig, embeddings: torch.Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        shape = (config.vocab_size, config.n_embd)
        if embeddings is not None and tuple(embeddings.shape) != shape:
            raise ValueError(f"embeddings: expected shape {shape}, got {tuple(embeddings.shape)}")
        start = None if embeddings is None else embeddings.detach().float().clone()
        self.word_embeddings = nn.Embedding(*shape, _weight=start)
        self.sense_network = SenseNetwork(config)
        self.transformation_matrix = nn.Parameter(torch.randn(config.n_embd, config.n_embd))  # W of eq. 3, N(0, 1)

    def token_vectors(self, ids: torch.Tensor) -> torch.Tensor:
        """(n,) token ids -> (n, D): the mean over the contexts of S' in eq. 3."""
        return self.sense_network(self.word_embeddings(ids)) @ self.transformation_matrix

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        """Encode a ragged batch: each text is the mean of its own tokens (eq. 4).

        Args:
            ids: (n,) token ids of all texts, one text after the other.
            offsets: (B,) where each text begins in `ids`.

        Returns:
            (B, D) float32 text vectors; an empty text is the zero vector.
        """
        distinct, position = ids.unique(return_inverse=True)
        distinct = F.pad(distinct, (0, -len(distinct) % DISTINCT_MULTIPLE))  # rows that no position points to
        rows = self.token_vectors(distinct).float()  # under autocast the products are bf16: sum in float32
        return F.embedding_bag(position, rows, offsets, mode="mean")

    @torch.no_grad()
    def fold(self) -> torch.Tensor:
        """The whole network as one (V, D) float32 table: row v is the vector of token v. Switches dropout off."""
        training = self.training
        self.eval()
        ids = torch.arange(self.config.vocab_size, device=self.transformation_matrix.device)
        table = torch.cat([self.token_vectors(chunk).float() for chunk in ids.split(FOLD_CHUNK)])
        self.train(training)
        return table
