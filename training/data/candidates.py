"""Unlabelled sentence pairs for a teacher to score: a table's own pairs, or each text with its neighbours."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import semantic_search

from training.data.sources import Table, check_columns, normalise, take_limit

PAIR = ["sentence1", "sentence2"]


@dataclass(frozen=True)
class CandidateSource:
    """An entry of a config's `train` list.

    Attributes:
        name: name in the counts.
        table: where the rows are.
        columns: the two texts of a pair; or, with `near`, every column whose texts are paired with each other.
        near: ranges [first, last] of ranks (1 is the nearest); a text is paired with a neighbour drawn from each. Empty
            keeps the pairs of the rows.
        limit: keep this many pairs, drawn by seed 0.
        licence, credit: for the cards of models trained on them.
    """

    name: str
    table: Table
    columns: list[str] = field(default_factory=lambda: list(PAIR))
    near: list[list[int]] = field(default_factory=list)
    limit: int | None = None
    licence: str = "not stated"
    credit: str = ""

    def load(
        self, data: Path | None, encoder: SentenceTransformer | None, excluded: frozenset[str]
    ) -> tuple[pd.DataFrame, Counter]:
        """Columns `PAIR` and `source`, and the count of pairs made, kept, dropped.

        Args:
            data: the folder that relative paths begin in.
            encoder: finds the neighbours; needed where `near` is given.
            excluded: normalised texts of evaluation sets; a pair that holds one is dropped.
        """
        rows = self.table.read(data)
        check_columns(rows, self.columns, self.name)
        pairs = self._neighbours(rows, encoder) if self.near else rows[self.columns].set_axis(PAIR, axis=1)
        counts = Counter(pairs=len(pairs))
        forms = [pairs[column].fillna("").map(normalise) for column in PAIR]
        empty = (forms[0] == "") | (forms[1] == "") | (forms[0] == forms[1])
        held_out = ~empty & (forms[0].isin(excluded) | forms[1].isin(excluded))
        counts["dropped: empty, or the same twice"] = int(empty.sum())
        counts["dropped: in an evaluation set"] = int(held_out.sum())
        pairs = pairs[~empty & ~held_out].drop_duplicates()
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
