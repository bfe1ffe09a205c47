"""The check of a contradiction by an NLI model."""

from functools import lru_cache

import numpy as np

THRESHOLD = 0.5  # more probable than entailment and neutral together


def check_threshold(threshold: float) -> None:
    """Refuse what is not a probability.

    Raises:
        ValueError: `threshold` is not in [0, 1].
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a probability in [0, 1], got {threshold!r}")


@lru_cache(maxsize=1)
def _load(checkpoint: str | None) -> tuple:
    """The scorer of pairs, and the index of its label for contradiction."""
    from semantic_metrics.nli_lex.features import load_scorer, nli_labels  # imports PyTorch, which takes seconds

    scorer = load_scorer(checkpoint)
    label = nli_labels(scorer.labels)[1]
    if label is None:
        raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
    return scorer, label


def contradiction_probabilities(pairs: list[tuple[str, str]], checkpoint: str | None = None) -> list[float]:
    """Probabilities that the texts of each pair contradict each other, the lower one of the two orders.

    Args:
        pairs: n pairs of texts.
        checkpoint: NLI model: None for the shipped one, a folder, or a Hub id; loaded when there are pairs.

    Raises:
        ValueError: there is no such checkpoint, or it has no label for contradiction.
    """
    if not pairs:
        return []
    scorer, label = _load(checkpoint)
    logits = scorer.logits([*pairs, *((b, a) for a, b in pairs)]).values.astype(np.float64)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = exponentials[:, label] / exponentials.sum(axis=1)
    return np.minimum(probabilities[: len(pairs)], probabilities[len(pairs) :]).tolist()
