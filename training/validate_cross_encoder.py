"""Measure cross-encoders on the validation sets of a config, side by side.

    python -m training.validate_cross_encoder model_cards/pairs runs/mine/checkpoint \
        --config training/configs/cross_encoder/pairs.yaml --data DATA

Prints a row for each figure of each set (accuracy of classes, Pearson's and Spearman's correlation of similarities),
times 100, and a column for each checkpoint; higher is better. Everything runs in float32.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
from sentence_transformers import CrossEncoder

from training.cross_encoder.config import CrossEncoderConfig
from training.data.config_files import read_yaml
from training.data.run_arguments import add_data_argument
from training.train_cross_encoder import build_evaluator


def measure(checkpoints: list[str], config: CrossEncoderConfig, data: Path | None) -> pd.DataFrame:
    """Figures of the config's validation sets, times 100: a row for each, a column for each checkpoint.

    Raises:
        OSError, ValueError: a set or a checkpoint cannot be read, or its outputs are not the config's.
    """
    sets = {source.name: source.load(data, config.outputs, frozenset())[0] for source in config.validate}
    evaluator, table = build_evaluator(config, sets), {}
    for checkpoint in checkpoints:
        model = CrossEncoder(checkpoint, device="cpu", local_files_only=True).float()
        if model.num_labels != len(config.outputs):
            expected = f"a model with the outputs {config.outputs.names}"
            raise ValueError(f"checkpoint: expected {expected}, got {checkpoint} with {model.num_labels}")
        figures = evaluator(model)
        table[checkpoint] = {name: 100 * value for name, value in figures.items() if name != "sequential_score"}
    return pd.DataFrame(table)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="+", metavar="checkpoint", help="Folder of a cross-encoder.")
    parser.add_argument("--config", type=Path, required=True, help="YAML file with the validation sets.")
    add_data_argument(parser)
    arguments = parser.parse_args()
    try:
        table = measure(arguments.checkpoints, read_yaml(arguments.config, CrossEncoderConfig), arguments.data)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    sys.stdout.write(table.to_string(float_format="%.1f") + "\n")


if __name__ == "__main__":
    main()
