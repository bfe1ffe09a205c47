"""Weights of a cross-encoder in 8 bits: a quarter of the size of float32, brought back to it when they are loaded.

A matrix is stored as integers from -127 to 127 with a scale for each group of 64 values of a row (`NAME.scales`,
float16): the group's largest absolute value divided by 127. With one scale for a whole row, single large weights move
a probability ten times as far. Everything else, biases and norms, is float32. The files are shards of safetensors, with
an index; `CrossEncoder` of sentence-transformers finds no weights in such a folder, and those of the Hub in float16.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from semantic_metrics.core.checkpoint_files import WEIGHTS, refuse_damage
from semantic_metrics.transformer.precision import LARGEST_INT8

# of another name than the index that transformers looks for: it would take the integers for weights, without a word
INDEX = "eight_bits.json"
SCALES = ".scales"
SHARD_BYTES = 40_000_000
GROUP = 64  # values that share a scale; a row whose length is no multiple of it has one scale for all its values
SMALLEST_GROUP = 1e-3  # a group with smaller values has the scale of this one, which float16 holds

Tensors = dict[str, torch.Tensor]


def to_eight_bits(weights: Tensors) -> Tensors:
    """Weights by name -> integers and scales of the matrices, float32 of the rest."""
    stored = {}
    for name, values in weights.items():
        values = values.detach().float().cpu()
        if values.ndim != 2:
            stored[name] = values.contiguous()
            continue
        rows, columns = values.shape
        groups = values.reshape(rows, -1, columns if columns % GROUP else GROUP)
        scales = (groups.abs().amax(dim=2).clamp_min(SMALLEST_GROUP) / LARGEST_INT8).half()
        integers = (groups / scales.float()[:, :, None]).round().clamp(-LARGEST_INT8, LARGEST_INT8)
        stored[name] = integers.to(torch.int8).reshape(rows, columns)
        stored[name + SCALES] = scales
    return stored


def from_eight_bits(stored: Tensors) -> Tensors:
    """Result of `to_eight_bits` -> weights in float32; a ValueError names the tensor that it could not have given."""
    weights = {}
    for name, values in stored.items():
        if name.endswith(SCALES):
            if name.removesuffix(SCALES) not in stored:
                raise ValueError(f"{name}: expected integers named {name.removesuffix(SCALES)!r}, got none")
        elif values.dtype == torch.int8:
            weights[name] = _scaled(name, values, stored.get(name + SCALES))
        else:
            weights[name] = values.float()
    return weights


def _scaled(name: str, integers: torch.Tensor, scales: torch.Tensor | None) -> torch.Tensor:
    """(rows, columns) integers and (rows, groups) scales -> weights."""
    if integers.ndim != 2:
        raise ValueError(f"{name}: expected integers of a matrix, got the shape {tuple(integers.shape)}")
    rows, columns = integers.shape
    wanted = (rows, 1 if columns % GROUP else columns // GROUP)
    if scales is None or tuple(scales.shape) != wanted:
        got = "none" if scales is None else f"the shape {tuple(scales.shape)}"
        raise ValueError(f"{name + SCALES}: expected scales of the shape {wanted}, got {got}")
    if not scales.is_floating_point():
        raise ValueError(f"{name + SCALES}: expected scales in floating point, got {scales.dtype}")
    if not bool((scales > 0).all() and torch.isfinite(scales).all()):
        raise ValueError(f"{name + SCALES}: expected finite scales above 0, got others")
    return (integers.float().reshape(*wanted, -1) * scales.float()[:, :, None]).reshape(rows, columns)


def is_in_eight_bits(files: list[Path]) -> bool:
    """Whether one of the files holds integers or scales."""
    return any(name.endswith(SCALES) or kind == "I8" for path in files for name, kind in _kinds(path))


def read(files: list[Path]) -> Tensors:
    """Weights in float32 from all shards of a checkpoint; a ValueError names the file that is damaged."""
    stored: Tensors = {}
    places: dict[str, str] = {}
    for path in files:
        with refuse_damage(path.name), safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118 - no mapping
                if name in stored:
                    raise ValueError(f"{path.name} has {name}: expected each tensor once, got it in {places[name]} too")
                stored[name], places[name] = file.get_tensor(name), path.name
    index = files[0].parent / INDEX
    if index.is_file():
        with refuse_damage(INDEX):
            wanted = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"])
        if missing := sorted(wanted - set(stored)):
            raise ValueError(f"{INDEX}: expected {len(wanted)} tensors in the shards, missing {missing[0]}")
    try:
        return from_eight_bits(stored)
    except ValueError as error:
        name = str(error).partition(": ")[0]
        raise ValueError(f"{places.get(name) or places[name.removesuffix(SCALES)]}: {error}") from None


def write(weights: Tensors, folder: Path) -> list[Path]:
    """Write weights in 8 bits into shards of at most SHARD_BYTES, with an index; result: the files of the shards."""
    shards: list[Tensors] = [{}]
    size = 0
    for name, values in to_eight_bits(weights).items():
        if size + values.nbytes > SHARD_BYTES and shards[-1]:
            shards.append({})
            size = 0
        shards[-1][name] = values
        size += values.nbytes
    files = [folder / f"model-{i:05d}-of-{len(shards):05d}.safetensors" for i in range(1, len(shards) + 1)]
    for path, shard in zip(files, shards, strict=True):
        save_file(shard, path, metadata={"format": "pt"})
    weight_map = {name: path.name for path, shard in zip(files, shards, strict=True) for name in shard}
    total = sum(values.nbytes for shard in shards for values in shard.values())
    content = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / INDEX).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return files


def to_half(folder: Path) -> None:
    """Replace weights in 8 bits by float16, as sentence-transformers loads them; leave others as they are."""
    shards = sorted(folder.glob("model*.safetensors"))
    if not is_in_eight_bits(shards):
        return
    weights = {name: values.half() for name, values in read(shards).items()}
    for path in (*shards, folder / INDEX):
        path.unlink()
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


@contextmanager
def in_half(folder: Path) -> Iterator[Path]:
    """A checkpoint as sentence-transformers loads it: the folder or, where it is in 8 bits, a copy in float16."""
    if not is_in_eight_bits(sorted(folder.glob("model*.safetensors"))):
        yield folder
        return
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        to_half(Path(copy))
        yield Path(copy)


def _kinds(path: Path) -> list[tuple[str, str]]:
    if path.suffix != ".safetensors":
        return []
    with refuse_damage(path.name), safe_open(path, "pt") as file:
        return [(name, file.get_slice(name).get_dtype()) for name in file.keys()]  # noqa: SIM118 - no mapping
