"""Let a teacher score sentence pairs, so that a smaller cross-encoder learns from more of them than people rated.

    python -m training.data.label_pairs --config training/configs/stsb_pairs.yaml \
        --teacher runs/stsb_teacher/checkpoint --data DATA --output runs/stsb_pairs.parquet

Writes sentence1, sentence2, score (the teacher's, clipped to [0, 1]) and source; prints what was kept and dropped.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

from training.data.candidates import PAIR, CandidateSource
from training.data.config_files import read_yaml
from training.data.models import find_model
from training.data.sources import read_excluded


@dataclass(frozen=True)
class CandidateConfig:
    """Which pairs are scored.

    Attributes:
        train: sources of the pairs.
        encoder: sentence encoder that finds neighbours, named like `init` of a training config.
        exclude: tables with `columns` of texts that no pair may contain.
    """

    train: list[CandidateSource]
    encoder: str | None = None
    exclude: list[dict] = field(default_factory=list)


def collect(config: CandidateConfig, data: Path | None) -> tuple[pd.DataFrame, dict[str, dict]]:
    """All pairs without repeats (the first source keeps one), and the counts per source."""
    encoder = SentenceTransformer(find_model(config.encoder), device="cpu") if config.encoder else None
    excluded = read_excluded(config.exclude, data)
    parts, counts = [], {}
    for source in config.train:
        pairs, count = source.load(data, encoder, excluded)
        parts.append(pairs)
        counts[source.name] = dict(count)
    return pd.concat(parts, ignore_index=True).drop_duplicates(PAIR, ignore_index=True), counts


def label(pairs: pd.DataFrame, teacher: str) -> pd.DataFrame:
    """The pairs with the `score` in [0, 1] of a teacher that `train_cross_encoder` trained on STS.

    Raises:
        ValueError: the teacher's config does not state the scale of its raw scores.
    """
    # bfloat16 takes a third of the time, and rounds scores by at most 0.008: far less than the teacher's own error
    model = CrossEncoder(teacher, model_kwargs={"dtype": torch.bfloat16})
    scale = (getattr(model.config, "stsscore", None) or {}).get("scale")
    if scale is None:
        raise ValueError(f"--teacher: expected a checkpoint of train_cross_encoder.py on STS, got {teacher}")
    by_length = pairs.iloc[np.argsort([len(a) + len(b) for a, b in zip(*(pairs[name] for name in PAIR), strict=True)])]
    texts = list(by_length[PAIR].itertuples(index=False, name=None))
    raw = model.predict(texts, batch_size=128, convert_to_tensor=True, show_progress_bar=True).float().cpu().numpy()
    return by_length.assign(score=np.clip(raw / scale, 0, 1)).sort_index()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True, help="a YAML file; see CandidateConfig")
    parser.add_argument("--teacher", required=True, help="folder or Hub id")
    parser.add_argument("--data", type=Path, help="folder of the config's relative paths")
    parser.add_argument("--output", type=Path, required=True, help="parquet file to write")
    arguments = parser.parse_args()
    pairs, counts = collect(read_yaml(arguments.config, CandidateConfig), arguments.data)
    sys.stdout.write("".join(f"{name}: {count}\n" for name, count in counts.items()))
    label(pairs, arguments.teacher).to_parquet(arguments.output, index=False)


if __name__ == "__main__":
    main()
