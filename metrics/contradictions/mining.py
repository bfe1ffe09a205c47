"""Mining of contradictions: pairs of similar texts in a collection that the NLI model calls contradictions.

Made for captions of different images. Similarity comes from the shipped MATCHA checkpoint; a pair counts if the model
calls it a contradiction in both orders.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from semantic_metrics.contradictions.nli_check import check_threshold, contradiction_probabilities
from semantic_metrics.core.inputs import check_text, check_whole

THRESHOLD = 0.9  # stricter than for rules, whose changes are contradictions by construction
NEIGHBOURS = 8  # similar texts that the NLI model reads for each text
TEXTS_AT_A_TIME = 1024  # compared with all others: bounds the memory to that many rows of similarities


@dataclass(frozen=True)
class Mined:
    """A text and another one that contradicts it.

    Attributes:
        text: the text.
        contradiction: the other text.
        index: index of the text.
        other: index of the contradiction.
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
    groups: Sequence[Hashable] | None = None,
    neighbours: int = NEIGHBOURS,
    threshold: float = THRESHOLD,
    checkpoint: str | None = None,
    run: Mapping[str, Any] | None = None,
) -> list[Mined]:
    """Find for each text the most probable contradiction among the texts most similar to it, if there is one.

    Args:
        texts: n texts.
        groups: group of each text: texts of one group (captions of one image) form no pair; None for n groups.
        neighbours: number of similar texts that the NLI model reads for each text.
        threshold: lowest probability of a contradiction, in [0, 1].
        checkpoint: NLI model: None for the shipped one, a folder, or a Hub id.
        run: how the NLI model runs, as `contradiction_probabilities` takes it.

    Raises:
        ValueError: a text is not a valid string; `groups` differs in length from `texts`; a number is out of range.
    """
    texts = [check_text(f"texts[{i}]", text) for i, text in enumerate(texts)]
    if groups is not None and len(groups) != len(texts):
        raise ValueError(f"groups: expected one for each of {len(texts)} texts, got {len(groups)}")
    check_whole("neighbours", neighbours, 1)
    check_threshold(threshold)
    if not texts:
        return []
    pairs = _similar(list(texts), range(len(texts)) if groups is None else groups, neighbours)
    probabilities = contradiction_probabilities([(texts[i], texts[j]) for i, j, _ in pairs], checkpoint, run)
    best: dict[int, Mined] = {}
    for (i, j, similarity), p in zip(pairs, probabilities, strict=True):
        if p >= threshold and (i not in best or p > best[i].p):
            best[i] = Mined(texts[i], texts[j], i, j, similarity, p)
    return [best[i] for i in sorted(best)]


def _similar(texts: list[str], groups: Sequence[Hashable], neighbours: int) -> list[tuple[int, int, float]]:
    """Nearest neighbours of each text as (text, other, cosine), without its own group and texts equal to it."""
    from sklearn.preprocessing import normalize

    from semantic_metrics.matcha.checkpoint import load_checkpoint  # imports PyTorch, which takes seconds

    vectors = normalize(load_checkpoint().encode(texts).vectors)
    nearest: list[tuple[int, int, float]] = []
    for begin in range(0, len(texts), TEXTS_AT_A_TIME):
        cosines = vectors[begin : begin + TEXTS_AT_A_TIME] @ vectors.T
        for i, row in enumerate(cosines, begin):
            order = map(int, np.argsort(-row, kind="stable"))
            others = (j for j in order if texts[i] != texts[j] and groups[i] != groups[j])
            nearest += [(i, j, float(row[j])) for j in islice(others, neighbours)]
    return nearest
