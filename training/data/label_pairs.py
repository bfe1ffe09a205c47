"""Let a teacher score sentence pairs, so that a smaller cross-encoder learns from more of them than people rated.

    python -m training.data.label_pairs --config training/configs/stsb_pairs.yaml \
        --teacher runs/stsb_teacher/checkpoint --data DATA --output runs/stsb_pairs.parquet

Writes sentence1, sentence2, score (the teacher's, clipped to [0, 1]) and source; prints what was kept and dropped.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.util import semantic_search

from training.data.config_files import read_yaml
from training.data.models import find_model
from training.data.sources import Entry, check_columns, drop_texts, read_excluded, take_limit

PAIR = ["sentence1", "sentence2"]


@dataclass(frozen=True)
class CandidateSource(Entry):
    """An entry of a config's `train` list.

    Attributes:
        columns: the two texts of a pair; or, with `near`, every column whose texts are paired with each other.
        near: ranges [first, last] of ranks (1 is the nearest); a text is paired with a neighbour drawn from each. Empty
            keeps the pairs of the rows.
    """

    columns: list[str] = field(default_factory=lambda: list(PAIR))
    near: list[list[int]] = field(default_factory=list)

    def load(
        self, data: Path | None, encoder: SentenceTransformer | None, excluded: frozenset[str]
    ) -> tuple[pd.DataFrame, Counter]:
        """Columns `PAIR` and `source`, and the count of pairs made, kept, dropped.

        Args:
            data: the folder that relative paths begin in.
            encoder: finds the neighbours; needed where `near` is given.
            excluded: normalised texts of evaluation sets; a pair that holds one is dropped.

        Raises:
            ValueError: a file or column is missing, or `near` is given without an encoder.
        """
        rows = self.table.read(data)
        check_columns(rows, self.columns, self.name)
        pairs = self._neighbours(rows, encoder) if self.near else rows[self.columns].set_axis(PAIR, axis=1)
        counts = Counter(pairs=len(pairs))
        pairs = drop_texts(pairs, excluded, counts, "empty, or the same twice", same=True).drop_duplicates()
        pairs = take_limit(pairs, self.limit, counts)
        counts["kept"] = len(pairs)
        return pairs.assign(source=self.name), counts

    def _neighbours(self, rows: pd.DataFrame, encoder: SentenceTransformer | None) -> pd.DataFrame:
        if encoder is None:
            raise ValueError(f"near of {self.name}: expected an `encoder` in the config, got none")
        texts = pd.unique(pd.concat([rows[column] for column in self.columns]).dropna()).tolist()
        vectors = encoder.encode(texts, convert_to_tensor=True, normalize_embeddings=True, show_progress_bar=False)
        furthest = max(last for _, last in self.near) + 1  # the text itself is among its own neighbours
        hits_by_text = semantic_search(vectors, vectors, top_k=min(furthest, len(texts)))
        rng = np.random.default_rng(0)
        pairs = []
        for i, hits in enumerate(hits_by_text):
            others = [hit["corpus_id"] for hit in hits if hit["corpus_id"] != i]
            ranks = [int(rng.integers(first, last + 1)) - 1 for first, last in self.near]
            pairs += [(texts[i], texts[others[rank]]) for rank in ranks if rank < len(others)]
        return pd.DataFrame(pairs, columns=PAIR)


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
