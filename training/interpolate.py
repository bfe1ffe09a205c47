r"""A checkpoint between two: the mean of a contextual checkpoint's weights before and after further training.

    python -m training.interpolate runs/contextual_joint/checkpoint runs/contextual/checkpoint --share 0.5 \
        --config training/configs/matcha/contextual.yaml --data DATA --output runs/contextual_mean

A step back towards the start regains what the training made worse, and loses less of what the training taught
(Wortsman et al., CVPR 2022, "Robust fine-tuning of zero-shot models"). Writes the checkpoint with its card, measured on
the config's validation sets.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from semantic_metrics.core.checkpoint_files import CONFIG, WEIGHTS
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.file_names import KIND, is_contextual
from semantic_metrics.transformer.drifts import FILE as DRIFTS
from training.cards import RECORD, write_card
from training.data.config_checks import find_model
from training.data.config_files import read_yaml
from training.data.run_arguments import add_run_arguments, make_parser, run_options
from training.matcha.config import TrainConfig
from training.matcha.validate import load_validation, validate


def interpolate(
    first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """The mean of tensors of one name: (1 - share) of the first and share of the second, in float16."""
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
    parser = make_parser(__doc__, "YAML file with the validation sets.")
    parser.add_argument("first", help="Checkpoint folder, or a model named like `init` of a config.")
    parser.add_argument("second", type=Path, help="Folder of a contextual checkpoint, whose other files are kept.")
    parser.add_argument("--share", type=float, required=True, help="Share of the second checkpoint, in [0, 1].")
    add_run_arguments(parser)
    arguments = parser.parse_args()
    if not is_contextual(arguments.second):
        parser.error(f"second: expected the folder of a contextual checkpoint, got {arguments.second}")
    try:
        record = write_mean(arguments)
    except (OSError, ValueError, SafetensorError) as error:
        parser.error(str(error))
    output = arguments.output / "checkpoint"
    write_card(output, record)
    sys.stdout.write(f"{json.dumps(record['validation'], indent=2)}\nwritten to {output}\n")


def write_mean(arguments: argparse.Namespace) -> dict:
    """Write the mean of the weights, and the second checkpoint's other files; returns its record with what changed.

    What was fitted to, or measured with, the second one's weights stays behind.
    """
    run = load_checkpoint(f"{arguments.second.resolve()}/").resolve(run_options(arguments))
    sets = load_validation(read_yaml(arguments.config, TrainConfig).validate, arguments.data)
    output = arguments.output / "checkpoint"
    record = json.loads((arguments.second / RECORD).read_text(encoding="utf-8"))
    first, second = _read(Path(find_model(arguments.first))), _read(arguments.second)
    weights = interpolate(first, second, arguments.share)
    shutil.copytree(arguments.second, output, ignore=shutil.ignore_patterns(DRIFTS))
    save_file(weights, output / WEIGHTS, metadata={"format": "pt"})
    config = json.loads((output / CONFIG).read_text(encoding="utf-8"))
    config.get(KIND, {}).pop("ratings", None)  # the map was fitted to other weights
    (output / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    record["validation"] = validate(load_checkpoint(f"{output}/"), sets, run)
    mean = f"python -m training.interpolate {arguments.first} {arguments.second} --share {arguments.share}"
    record["command"] += f"\n{mean} --config {arguments.config} --data DATA --output {arguments.output}"
    if run.precision != "float32":
        record["command"] += f" --precision {run.precision}"
    return record


if __name__ == "__main__":
    main()
