"""The check of a contradiction by an NLI model."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from semantic_metrics.cross_encoder.pair_scorer import PairScorer

THRESHOLD = 0.5  # more probable than entailment and neutral together


def check_threshold(threshold: float) -> None:
    """Refuse what is not a probability.

    Raises:
        ValueError: `threshold` is not in [0, 1].
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a probability in [0, 1], got {threshold!r}")


@lru_cache(maxsize=1)
def _load(checkpoint: str | None) -> "PairScorer":
    """The scorer of pairs, which has a label for contradiction."""
    from semantic_metrics.cross_encoder.heads import nli_labels  # imports PyTorch, which takes seconds
    from semantic_metrics.nli_lex.features import load_scorer

    scorer = load_scorer(checkpoint)
    if nli_labels(scorer.labels)[1] is None:
        raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
    return scorer


def contradiction_probabilities(
    pairs: list[tuple[str, str]], checkpoint: str | None = None, run: Mapping[str, Any] | None = None
) -> list[float]:
    """Probabilities that the texts of each pair contradict each other, the lower one of the two orders.

    Args:
        pairs: n pairs of texts.
        checkpoint: NLI model: None for the shipped one, a folder, or a Hub id; loaded when there are pairs.
        run: how it runs, by the name of a field of `RunOptions` (`device`, `precision`, ...); None for the defaults.

    Raises:
        ValueError: there is no such checkpoint, or it has no label for contradiction.
    """
    if not pairs:
        return []
    from semantic_metrics.core.run_options import RunOptions
    from semantic_metrics.cross_encoder.heads import nli_probabilities

    scorer = _load(checkpoint)
    logits = scorer.logits([*pairs, *((b, a) for a, b in pairs)], RunOptions(**(run or {})))
    probabilities = nli_probabilities(logits.values, scorer.labels)[:, 1]
    return np.minimum(probabilities[: len(pairs)], probabilities[len(pairs) :]).tolist()
