"""Contradictions that are there already: pairs of similar texts that the NLI model takes for contradictions.

For captions of different images, or claims and the evidence about them. What is similar the shipped MATCHA checkpoint
says, or any encoder; a pair counts where the model calls it a contradiction read either way round.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from semantic_metrics.contradictions.nli_check import Checker
from semantic_metrics.core.inputs import check_text

if TYPE_CHECKING:
    import numpy as np

THRESHOLD = 0.9  # stricter than for rules, whose changes are contradictions by construction
NEIGHBOURS = 8
BLOCK = 1024  # texts compared with all others at a time: bounds the memory to that many rows of similarities

Encoder = Callable[[list[str]], "np.ndarray"]


@dataclass(frozen=True)
class Mined:
    """A text and another that contradicts it.

    Attributes:
        text: the one.
        contradiction: the other.
        index: of the text among `texts`.
        other: index of the contradiction among `others`.
        similarity: cosine of the two, in [-1, 1].
        p: probability of a contradiction, of the model; the lower one of the two ways round.
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
) -> list[Mined]:
    """For each text, the most certain contradiction among those of `others` that are most similar to it, if any.

    Args:
        texts: n texts.
        others: where contradictions are looked for; None for the texts themselves.
        groups: of each text, where `others` is None: texts of one group (captions of one image) are no pair.
        neighbours: how many similar ones the model reads for each text.
        threshold: probability from which on it is a contradiction, in [0, 1].
        encoder: texts -> (n, width) vectors; None for the shipped MATCHA checkpoint.
        checkpoint: the NLI model: None for the shipped one, a folder, or a Hub id.

    Raises:
        ValueError: a text that is none, groups of another number than texts, or with `others`; a number out of range.
    """
    _check(texts, others, groups, neighbours, threshold)
    groups = list(range(len(texts))) if groups is None else groups
    pool = texts if others is None else others
    if not texts or not pool:
        return []
    pairs = _similar(list(texts), list(pool), None if others is not None else groups, neighbours, encoder or _matcha)
    found = Checker(checkpoint).contradiction([(texts[i], pool[j]) for i, j, _ in pairs])
    best: dict[int, Mined] = {}
    for (i, j, similarity), p in zip(pairs, found, strict=True):
        if p >= threshold and (i not in best or p > best[i].p):
            best[i] = Mined(texts[i], pool[j], i, j, similarity, p)
    return [best[i] for i in sorted(best)]


def _check(
    texts: Sequence[str],
    others: Sequence[str] | None,
    groups: Sequence[Hashable] | None,
    neighbours: int,
    threshold: float,
) -> None:
    for name, given in (("texts", texts), ("others", others or [])):
        for i, text in enumerate(given):
            check_text(f"{name}[{i}]", text)
    if groups is not None and (others is not None or len(groups) != len(texts)):
        raise ValueError(f"groups: expected one for each of {len(texts)} texts, and no others, got {len(groups)}")
    if neighbours < 1:
        raise ValueError(f"neighbours: expected a number from 1 on, got {neighbours}")
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a probability in [0, 1], got {threshold!r}")


def mine_pairs(
    pairs: Sequence[tuple[str, str]], threshold: float = THRESHOLD, checkpoint: str | None = None
) -> list[tuple[int, float]]:
    """Which pairs that belong together already, such as evidence and claim, are contradictions.

    Returns:
        (index, probability) of those that are, in order.
    """
    found = Checker(checkpoint).contradiction(list(pairs))
    return [(i, p) for i, p in enumerate(found) if p >= threshold]


def _matcha(texts: list[str]) -> "np.ndarray":
    from semantic_metrics.matcha.checkpoint import load_checkpoint

    return load_checkpoint().encode(texts).vectors


def _similar(
    texts: list[str], pool: list[str], groups: Sequence[Hashable] | None, neighbours: int, encoder: Encoder
) -> list[tuple[int, int, float]]:
    """(text, other, cosine) of each text's nearest, of another group and not the same text."""
    import numpy as np

    of_pool = _unit(encoder(pool))
    of_texts = of_pool if texts == pool else _unit(encoder(texts))
    found = []
    for begin in range(0, len(texts), BLOCK):
        cosines = of_texts[begin : begin + BLOCK] @ of_pool.T
        for i, row in enumerate(cosines, begin):
            kept = 0
            for j in np.argsort(-row, kind="stable"):
                if texts[i] != pool[j] and (groups is None or groups[i] != groups[j]):
                    found.append((i, int(j), float(row[j])))
                    kept += 1
                if kept == neighbours:
                    break
    return found


def _unit(vectors: "np.ndarray") -> "np.ndarray":
    """Rows of length 1; a row of zeros stays one."""
    import numpy as np

    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
