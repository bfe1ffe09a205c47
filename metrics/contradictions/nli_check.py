"""The check of a contradiction by an NLI model."""

from functools import cached_property

import numpy as np

THRESHOLD = 0.5  # more probable than entailment and neutral together


def check_threshold(threshold: float) -> None:
    """Refuse what is not a probability.

    Raises:
        ValueError: `threshold` is not in [0, 1].
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold: expected a probability in [0, 1], got {threshold!r}")


class Checker:
    """An NLI model, loaded when it is first needed.

    Args:
        checkpoint: None for the shipped one, a folder, or a Hub id.
    """

    def __init__(self, checkpoint: str | None = None) -> None:
        self._checkpoint = checkpoint

    @cached_property
    def _model(self) -> tuple:
        """The scorer of pairs, and the index of its label for contradiction."""
        from semantic_metrics.nli_lex.features import load_scorer, nli_labels  # imports PyTorch, which takes seconds

        scorer = load_scorer(self._checkpoint)
        label = nli_labels(scorer.labels)[1]
        if label is None:
            raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
        return scorer, label

    def contradiction(self, pairs: list[tuple[str, str]]) -> list[float]:
        """Probabilities that the texts of each pair contradict each other, the lower one of the two orders."""
        if not pairs:
            return []
        scorer, label = self._model
        logits = scorer.logits([*pairs, *((b, a) for a, b in pairs)]).values.astype(np.float64)
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities = exponentials[:, label] / exponentials.sum(axis=1)
        return np.minimum(probabilities[: len(pairs)], probabilities[len(pairs) :]).tolist()
