"""A model in fewer bits, for speed on a CPU: bfloat16, or int8 with a scale for every token and every output."""

import warnings
from collections.abc import Callable
from copy import deepcopy

import torch
from torch import nn
from transformers import PreTrainedModel

LARGEST_INT8 = 127
SMALLEST_SCALE = torch.finfo(torch.float32).tiny  # divisor for a token of zeros


def convert(model: PreTrainedModel, precision: str) -> PreTrainedModel:
    """Copy a float32 model with its encoder in "bfloat16" or "int8", which runs on the CPU only.

    The head, which costs next to nothing, stays in float32.
    """
    model = deepcopy(model).to("cpu")
    encoder = model.base_model
    if precision == "bfloat16":
        encoder.to(torch.bfloat16)
        if encoder is not model:  # it has a head
            for part in model.children():
                if part is not encoder:
                    part.register_forward_pre_hook(_to_float32)
        return model
    replace_linear(encoder, Int8Linear)
    return model


def replace_linear(module: nn.Module, kind: Callable[[nn.Linear], nn.Module]) -> None:
    """Replace every linear layer inside a module by what `kind` makes of it."""
    for name, layer in list(module.named_modules()):
        if type(layer) is nn.Linear:
            parent, _, child = name.rpartition(".")
            setattr(module.get_submodule(parent), child, kind(layer))


def _to_float32(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(values.float() for values in inputs)


class Int8Linear(nn.Module):
    """A linear layer in int8 that quantises each token of its input by that token's largest value.

    torch's dynamic quantisation gives the whole input of a layer one scale, from its smallest and largest value. A few
    tokens (separators, mostly) have values many times larger than the others, for which only a handful of steps would
    be left; and a token's steps would depend on the other texts of the batch. So every token is divided by its largest
    value before the layer and multiplied by it afterwards, and one row more, which holds -1 and 1, makes the scale the
    same in every batch.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()
        scales = weight.abs().amax(dim=1).clamp_min(SMALLEST_SCALE).double() / LARGEST_INT8
        with warnings.catch_warnings():
            # torch offers no replacement yet
            warnings.filterwarnings("ignore", message="(?s).*deprecated", category=UserWarning)
            quantised = torch.quantize_per_channel(weight, scales, torch.zeros(len(scales)).long(), 0, torch.qint8)
            self.packed = torch.ops.quantized.linear_prepack(quantised, None)
        self.bias = layer.bias
        # sums of two products overflow 16 bits where the processor has no instruction for them: 7 bits fit
        self.seven_bits = not getattr(torch.cpu, "_is_vnni_supported", bool)()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """(..., in) -> (..., out)."""
        tokens = inputs.reshape(-1, inputs.shape[-1])
        sizes = tokens.abs().amax(dim=-1, keepdim=True).clamp_min_(SMALLEST_SCALE)
        scaled = torch.empty(len(tokens) + 1, tokens.shape[1])
        torch.div(tokens, sizes, out=scaled[:-1])
        scaled[-1] = 1.0
        scaled[-1, 0] = -1.0
        outputs = torch.ops.quantized.linear_dynamic(scaled, self.packed, self.seven_bits)[:-1]
        outputs.mul_(sizes)
        if self.bias is not None:
            outputs.add_(self.bias)
        return outputs.reshape(*inputs.shape[:-1], -1)
