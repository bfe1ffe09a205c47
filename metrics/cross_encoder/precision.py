"""A model in fewer bits, for speed on a CPU: bfloat16, or int8 with a scale for every token and every output."""

import warnings
from copy import deepcopy

import torch
from torch import nn
from transformers import PreTrainedModel

PRECISIONS = ("float32", "bfloat16", "int8")
LARGEST_INT8 = 127
SMALLEST = torch.finfo(torch.float32).tiny  # divides a token that is all zeros


def convert(model: PreTrainedModel, precision: str) -> PreTrainedModel:
    """A copy with its encoder in another precision; the head, which costs next to nothing, stays in float32.

    Args:
        model: in float32.
        precision: "bfloat16" or "int8" (on the CPU).
    """
    model = deepcopy(model).to("cpu")
    encoder = model.base_model
    if precision == "bfloat16":
        encoder.to(torch.bfloat16)
        for part in model.children():
            if part is not encoder:
                part.register_forward_pre_hook(_to_float32)
        return model
    for name, layer in list(encoder.named_modules()):
        if type(layer) is nn.Linear:
            parent, _, child = name.rpartition(".")
            setattr(encoder.get_submodule(parent), child, Int8Linear(layer))
    return model


def _to_float32(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(values.float() for values in inputs)


class Int8Linear(nn.Module):
    """A linear layer in int8, its input quantised as it comes.

    `torch.ao.quantization.quantize_dynamic` gives the input of a layer one scale. A few tokens (separators, mostly)
    have values many times larger than the others, which are then left with a handful of steps: the error of a score
    was a fifth of the scores' spread. So every token is divided by its largest value before, and multiplied after.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()
        scales = weight.abs().amax(dim=1).clamp_min(SMALLEST).double() / LARGEST_INT8
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="(?s).*deprecated", category=UserWarning
            )  # torch has no other yet
            quantised = torch.quantize_per_channel(weight, scales, torch.zeros(len(scales)).long(), 0, torch.qint8)
            self.packed = torch.ops.quantized.linear_prepack(quantised, None)
        self.bias = layer.bias
        # sums of two products overflow 16 bits where the processor has no instruction for them: 7 bits fit
        self.seven_bits = not getattr(torch.cpu, "_is_vnni_supported", bool)()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """(..., in) -> (..., out)."""
        sizes = inputs.abs().amax(dim=-1, keepdim=True).clamp_min_(SMALLEST)
        outputs = torch.ops.quantized.linear_dynamic(inputs / sizes, self.packed, self.seven_bits)
        outputs.mul_(sizes)
        return outputs if self.bias is None else outputs.add_(self.bias)
