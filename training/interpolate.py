r"""A checkpoint between two: the mean of a contextual checkpoint's weights before and after further training.

    python training/interpolate.py runs/contextual/checkpoint runs/contextual_order/checkpoint --share 0.8 \
        --config training/configs/contextual_order.yaml --data DATA --output runs/contextual_mean

A step back towards the start regains what the training made worse, and loses less of what the training taught
(Wortsman et al., CVPR 2022, "Robust fine-tuning of zero-shot models"). Writes the checkpoint with its card, measured on
the config's validation sets.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from semantic_metrics.core.resolve import CONFIG, WEIGHTS
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.contextual import KIND
from training.cards import RECORD, write_card
from training.data.config_files import read_yaml
from training.data.models import find_model
from training.matcha.config import TrainConfig
from training.matcha.validate import load_validation, validate


def interpolate(
    first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """The mean of two sets of tensors, by name: (1 - share) of the first and share of the second, in float16.

    Raises:
        ValueError: the share is outside of [0, 1], or the tensors differ in names or shapes.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share: expected a number in [0, 1], got {share}")
    shapes = [{name: tuple(tensor.shape) for name, tensor in tensors.items()} for tensors in (first, second)]
    if shapes[0] != shapes[1]:
        other = sorted({name for name, _ in set(shapes[0].items()) ^ set(shapes[1].items())})
        raise ValueError(f"expected the same tensors in both checkpoints, these are not: {other[:5]}")
    means = {name: (1 - share) * first[name].float() + share * second[name].float() for name in first}
    return {name: mean.half().contiguous() for name, mean in means.items()}


def _read(folder: Path) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint, without the pooling layer and the positions that some models store."""
    unused = ("pooler.", "embeddings.position_ids")
    return {name: tensor for name, tensor in load_file(folder / WEIGHTS).items() if not name.startswith(unused)}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", help="checkpoint folder, or a model named like `init` of a config")
    parser.add_argument("second", type=Path, help="checkpoint folder, whose other files are kept")
    parser.add_argument("--share", type=float, required=True, help="share of the second checkpoint, in [0, 1]")
    parser.add_argument("--config", type=Path, required=True, help="YAML file with the validation sets")
    parser.add_argument("--data", type=Path, default=os.environ.get("SEMANTIC_METRICS_DATA"), help="data folder")
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    output = arguments.output / "checkpoint"
    try:
        sets = load_validation(read_yaml(arguments.config, TrainConfig).validate, arguments.data)
        record = json.loads((arguments.second / RECORD).read_text(encoding="utf-8"))
        first, second = _read(Path(find_model(arguments.first))), _read(arguments.second)
        weights = interpolate(first, second, arguments.share)
        shutil.copytree(arguments.second, output)
    except (OSError, ValueError, SafetensorError) as error:
        parser.error(str(error))
    save_file(weights, output / WEIGHTS, metadata={"format": "pt"})
    config = json.loads((output / CONFIG).read_text(encoding="utf-8"))
    config.get(KIND, {}).pop("ratings", None)  # the map was fitted to other weights
    (output / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    record["validation"] = validate(load_checkpoint(f"{output}/"), sets)
    mean = f"python training/interpolate.py {arguments.first} {arguments.second} --share {arguments.share}"
    record["command"] += f"\n{mean} --config {arguments.config} --data DATA --output {arguments.output}"
    write_card(output, record)
    sys.stdout.write(f"{json.dumps(record['validation'], indent=2)}\nwritten to {output}\n")


if __name__ == "__main__":
    main()
