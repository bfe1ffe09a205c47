"""The last layer of a cross-encoder without what nobody reads: its head looks at the first token alone.

Keys and values are computed for every token, as the first one attends to all; queries, the output of the attention and
the feed-forward part, five sixths of a layer, for the first token only. The logits are the same but for rounding.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers import (
    BertForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
    RobertaForSequenceClassification,
)

MODELS = (BertForSequenceClassification, RobertaForSequenceClassification)  # whose heads read the first token alone
ATTENTION = ("sdpa", "eager")  # ways to compute it that mask by a tensor of four dimensions


def read_first_token(model: PreTrainedModel) -> PreTrainedModel:
    """Replace the last layer of a model by one that computes the first token alone; its weights keep their names.

    The model is in eval mode, and is changed if it is one of MODELS, no decoder, and attends by queries and keys alone.
    Its `last_hidden_state` is (n, 1, width) then, the state of the first token.
    """
    if type(model) in MODELS and _is_plain(model.config):
        layers = model.base_model.encoder.layer
        with torch.inference_mode():
            state = layers[-1](torch.zeros(1, 1, model.config.hidden_size, device=model.device))
        layers[-1] = FirstTokenLayer(layers[-1], isinstance(state, tuple))
    return model


def _is_plain(config: PretrainedConfig) -> bool:
    """Whether every layer attends to all tokens by queries and keys alone."""
    positions = getattr(config, "position_embedding_type", "absolute")  # no longer there in transformers 5
    return config._attn_implementation in ATTENTION and positions == "absolute" and not config.is_decoder


class FirstTokenLayer(nn.Module):
    """A layer of a BERT or RoBERTa that gives the state of the first token; in a tuple before transformers 5."""

    def __init__(self, layer: nn.Module, as_tuple: bool) -> None:
        super().__init__()
        self.attention, self.intermediate, self.output = layer.attention, layer.intermediate, layer.output
        self.as_tuple = as_tuple

    def forward(
        self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None = None, *_: object, **__: Any
    ) -> torch.Tensor | tuple[torch.Tensor]:
        """(n, tokens, width) states, and a mask that is broadcast to (n, heads, tokens, tokens) -> (n, 1, width)."""
        first, own = hidden_states[:, :1], self.attention.self
        query, key, value = (
            projected.unflatten(-1, (-1, own.attention_head_size)).transpose(1, 2)  # (n, heads, tokens, head width)
            for projected in (own.query(first), own.key(hidden_states), own.value(hidden_states))
        )
        mask = None if attention_mask is None else attention_mask[:, :, :1]
        context = F.scaled_dot_product_attention(query, key, value, mask).transpose(1, 2).flatten(2)
        attended = self.attention.output(context, first)
        state = self.output(self.intermediate(attended), attended)
        return (state,) if self.as_tuple else state
