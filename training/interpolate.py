r"""A checkpoint between two: the mean of a checkpoint's weights before and after further training.

    python training/interpolate.py runs/contextual/checkpoint runs/contextual_order/checkpoint --share 0.8 \
        --config training/configs/contextual_order.yaml --data DATA --output runs/contextual_mean

A step back towards the start regains what the training made worse, and loses less of what the training taught
(Wortsman et al., CVPR 2022, "Robust fine-tuning of zero-shot models"). Takes contextual checkpoints or cross-encoders.
Writes the checkpoint with its card, measured on the config's validation sets.

    python training/interpolate.py runs/release_0.2.0/model_cards/nli runs/release_0.2.0/model_cards/stsscore \
        --share 0.4 --heads --output runs/pairs_start

With --heads, two cross-encoders that were trained from the same start become one with the outputs of both, a checkpoint
to train on from (configs/pairs.yaml). It has no card.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from sentence_transformers import CrossEncoder

from semantic_metrics.core.checkpoint_files import CONFIG, WEIGHTS
from semantic_metrics.cross_encoder.heads import SIMILARITY
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.file_names import KIND, is_contextual
from semantic_metrics.nli_lex.weights import FILE as NLI_LEX_WEIGHTS
from semantic_metrics.transformer.drifts import FILE as DRIFTS
from training.cards import RECORD, started_from, write_card
from training.cross_encoder.config import CrossEncoderConfig
from training.data.config_files import read_yaml
from training.data.models import find_model
from training.data.run_arguments import NAMES, add_data_argument, add_run_arguments, run_options
from training.matcha.config import TrainConfig
from training.matcha.validate import load_validation, validate
from training.train_cross_encoder import build_evaluator

HEAD_PREFIX = "classifier."  # begins the names of a cross-encoder's outputs, in BERT's architecture


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


def join_heads(first: Path, second: Path, share: float, output: Path) -> None:
    """Write the mean of two cross-encoders with the outputs of both, those of the first in front.

    Args:
        first: checkpoint folder.
        second: another, of the same architecture; its settings of the similarity are kept.
        share: share of the second in the encoder's weights, in [0, 1].
        output: folder to write; it must not exist.

    Raises:
        ValueError: the share is outside of [0, 1], or the encoders differ in names or shapes.
        OSError: a file is missing, or the folder exists.
    """
    tensors = [load_file(folder / WEIGHTS) for folder in (first, second)]
    heads = [{name: one.pop(name) for name in list(one) if name.startswith(HEAD_PREFIX)} for one in tensors]
    weights = interpolate(*tensors, share)
    weights |= {name: torch.cat([head[name] for head in heads]) for name in heads[0]}
    configs = [json.loads((folder / CONFIG).read_text(encoding="utf-8")) for folder in (first, second)]
    names = [SIMILARITY if len(config["id2label"]) == 1 else label for config in configs for label in _labels(config)]
    shutil.copytree(first, output, ignore=shutil.ignore_patterns(WEIGHTS, RECORD, "README.md", NLI_LEX_WEIGHTS))
    save_file(weights, output / WEIGHTS, metadata={"format": "pt"})
    labels = {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}
    joined = {**configs[0], **labels, "stsscore": configs[1].get("stsscore")}
    (output / CONFIG).write_text(json.dumps(joined, indent=2) + "\n", encoding="utf-8")
    runs = [run for folder in (first, second) for run in started_from(str(folder)).get("started_from", [])]
    (output / RECORD).write_text(json.dumps({"started_from": runs}, indent=2) + "\n", encoding="utf-8")


def _labels(config: dict) -> list[str]:
    return [config["id2label"][str(i)] for i in range(len(config["id2label"]))]


def _read(folder: Path) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint, without the pooling layer and the positions that some models store."""
    unused = ("pooler.", "embeddings.position_ids")
    return {name: tensor for name, tensor in load_file(folder / WEIGHTS).items() if not name.startswith(unused)}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", help="Checkpoint folder, or a model named like `init` of a config.")
    parser.add_argument("second", type=Path, help="Checkpoint folder, whose other files are kept.")
    parser.add_argument("--share", type=float, required=True, help="Share of the second checkpoint, in [0, 1].")
    parser.add_argument("--config", type=Path, help="YAML file with the validation sets; not with --heads.")
    parser.add_argument("--heads", action="store_true", help="Join the outputs of two cross-encoders.")
    add_data_argument(parser)
    parser.add_argument("--output", type=Path, required=True, help="Folder to write to.")
    add_run_arguments(parser)
    arguments = parser.parse_args()
    if arguments.heads == (arguments.config is not None):
        parser.error("--config, --heads: expected one of them")
    own = [f"--{name.replace('_', '-')}" for name in NAMES if getattr(arguments, name) != parser.get_default(name)]
    if arguments.heads and own:
        parser.error(f"--heads: expected no option of how a model runs, as none runs, got {own}")
    if arguments.heads:
        try:
            join_heads(Path(arguments.first), arguments.second, arguments.share, arguments.output)
        except (OSError, ValueError, SafetensorError) as error:
            parser.error(str(error))
        return
    contextual = is_contextual(arguments.second)
    if own and not contextual:
        parser.error(f"second: expected a contextual checkpoint with options of how it runs, got {own}")
    try:
        record = (_mean_of_contextual if contextual else _mean_of_cross_encoders)(arguments)
    except (OSError, ValueError, SafetensorError) as error:
        parser.error(str(error))
    output = arguments.output / "checkpoint"
    write_card(output, record)
    sys.stdout.write(f"{json.dumps(record['validation'], indent=2)}\nwritten to {output}\n")


def _mean_of_contextual(arguments: argparse.Namespace) -> dict:
    """Write the mean of two contextual checkpoints; returns the record of the second with what changed."""
    run = load_checkpoint(f"{arguments.second.resolve()}/").resolve(run_options(arguments))
    sets = load_validation(read_yaml(arguments.config, TrainConfig).validate, arguments.data)
    record, output = _write_mean(arguments)
    config = json.loads((output / CONFIG).read_text(encoding="utf-8"))
    config.get(KIND, {}).pop("ratings", None)  # the map was fitted to other weights
    (output / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    record["validation"] = validate(load_checkpoint(f"{output}/"), sets, run)
    if run.precision != "float32":
        record["command"] += f" --precision {run.precision}"
    return record


def _mean_of_cross_encoders(arguments: argparse.Namespace) -> dict:
    """Like `_mean_of_contextual`; validated in float32, as `training.train_cross_encoder` does."""
    config = read_yaml(arguments.config, CrossEncoderConfig)
    sets = {source.name: source.load(arguments.data, config.outputs, frozenset())[0] for source in config.validate}
    record, output = _write_mean(arguments)
    figures = build_evaluator(config, sets)(CrossEncoder(str(output), device="cpu").float())
    record["validation"] = {name: float(value) for name, value in figures.items() if name != "sequential_score"}
    return record


def _write_mean(arguments: argparse.Namespace) -> tuple[dict, Path]:
    """Write the mean of the weights beside the files of the second checkpoint; returns its record, and the folder.

    What was fitted to, or measured with, the second one's weights stays behind.
    """
    output = arguments.output / "checkpoint"
    record = json.loads((arguments.second / RECORD).read_text(encoding="utf-8"))
    first, second = _read(Path(find_model(arguments.first))), _read(arguments.second)
    weights = interpolate(first, second, arguments.share)
    shutil.copytree(arguments.second, output, ignore=shutil.ignore_patterns(DRIFTS, NLI_LEX_WEIGHTS))
    save_file(weights, output / WEIGHTS, metadata={"format": "pt"})
    mean = f"python training/interpolate.py {arguments.first} {arguments.second} --share {arguments.share}"
    record["command"] += f"\n{mean} --config {arguments.config} --data DATA --output {arguments.output}"
    return record, output


if __name__ == "__main__":
    main()
