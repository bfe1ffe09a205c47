"""Mining of contradictions: pairs of similar texts in a collection that the NLI model calls contradictions.

Made for captions of different images, or for claims and the evidence about them. Similarity comes from the shipped
MATCHA checkpoint, or from any encoder you pass; a pair counts if the model calls it a contradiction in both orders.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semantic_metrics.contradictions.nli_check import check_threshold, contradiction_probabilities
from semantic_metrics.core.inputs import check_text, check_whole

THRESHOLD = 0.9  # stricter than for rules, whose changes are contradictions by construction
NEIGHBOURS = 8  # similar texts that the NLI model reads for each text
TEXTS_AT_A_TIME = 1024  # compared with all others: bounds the memory to that many rows of similarities

Encoder = Callable[[list[str]], np.ndarray]


@dataclass(frozen=True)
class Mined:
    """A text and another one that contradicts it.

    Attributes:
        text: the text.
        contradiction: the other text.
        index: index of the text in `texts`.
        other: index of the contradiction in `others`.
        similarity: cosine of the two, in [-1, 1].
        p: probability of the NLI model that they contradict each other, the lower one of the two orders.
    """

    text: str
    contradiction: str
    index: int
    other: int
    similarity: float
    p: float


def mine(
    texts: Sequence[str],
    others: Sequence[str] | None = None,
    groups: Sequence[Hashable] | None = None,
    neighbours: int = NEIGHBOURS,
    threshold: float = THRESHOLD,
    encoder: Encoder | None = None,
    checkpoint: str | None = None,
    run: Mapping[str, Any] | None = None,
) -> list[Mined]:
    """Find for each text the most probable contradiction among the texts most similar to it, if there is one.

    Args:
        texts: n texts.
        others: texts to search for contradictions; None for `texts` themselves.
        groups: group of each text, if `others` is None: texts of one group (captions of one image) form no pair.
        neighbours: number of similar texts that the NLI model reads for each text.
        threshold: lowest probability of a contradiction, in [0, 1].
        encoder: function from texts to (n, width) vectors; None for the shipped MATCHA checkpoint.
        checkpoint: NLI model: None for the shipped one, a folder, or a Hub id.
        run: how the NLI model runs, as `contradiction_probabilities` takes it.

    Raises:
        ValueError: a text is not a valid string; `groups` differs in length from `texts` or comes with `others`; a
            number is out of range.
    """
    for name, column in (("texts", texts), ("others", others or [])):
        for i, text in enumerate(column):
            check_text(f"{name}[{i}]", text)
    if groups is not None and (others is not None or len(groups) != len(texts)):
        raise ValueError(f"groups: expected one for each of {len(texts)} texts, and no others, got {len(groups)}")
    check_whole("neighbours", neighbours, 1)
    check_threshold(threshold)
    groups = list(range(len(texts))) if groups is None else groups
    pool = texts if others is None else others
    if not texts or not pool:
        return []
    pairs = _similar(list(texts), list(pool), None if others is not None else groups, neighbours, encoder or _matcha)
    probabilities = contradiction_probabilities([(texts[i], pool[j]) for i, j, _ in pairs], checkpoint, run)
    best: dict[int, Mined] = {}
    for (i, j, similarity), p in zip(pairs, probabilities, strict=True):
        if p >= threshold and (i not in best or p > best[i].p):
            best[i] = Mined(texts[i], pool[j], i, j, similarity, p)
    return [best[i] for i in sorted(best)]


def _matcha(texts: list[str]) -> np.ndarray:
    from semantic_metrics.matcha.checkpoint import load_checkpoint  # imports PyTorch, which takes seconds

    return load_checkpoint().encode(texts).vectors


def _similar(
    texts: list[str], pool: list[str], groups: Sequence[Hashable] | None, neighbours: int, encoder: Encoder
) -> list[tuple[int, int, float]]:
    """Nearest neighbours of each text as (text, other, cosine), without its own group and texts equal to it."""
    pool_vectors = _unit(encoder(pool))
    text_vectors = pool_vectors if texts == pool else _unit(encoder(texts))
    nearest = []
    for begin in range(0, len(texts), TEXTS_AT_A_TIME):
        cosines = text_vectors[begin : begin + TEXTS_AT_A_TIME] @ pool_vectors.T
        for i, row in enumerate(cosines, begin):
            kept = 0
            for j in np.argsort(-row, kind="stable"):
                if texts[i] != pool[j] and (groups is None or groups[i] != groups[j]):
                    nearest.append((i, int(j), float(row[j])))
                    kept += 1
                if kept == neighbours:
                    break
    return nearest


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1; rows of zeros stay as they are."""
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
