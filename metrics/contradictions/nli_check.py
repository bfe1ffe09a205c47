"""The NLI model's word on whether a text contradicts another."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semantic_metrics.cross_encoder.pair_scorer import PairScorer

THRESHOLD = 0.5  # more likely than entailment and neutral together


class Checker:
    """An NLI model, loaded when it is first asked.

    Args:
        checkpoint: None for the shipped one, a folder, or a Hub id.
    """

    def __init__(self, checkpoint: str | None = None) -> None:
        self._checkpoint = checkpoint

    @cached_property
    def _scorer(self) -> "PairScorer":
        from semantic_metrics.nli_lex.features import load_scorer, nli_labels

        scorer = load_scorer(self._checkpoint)
        if nli_labels(scorer.labels)[1] is None:
            raise ValueError(f"checkpoint: expected a label for contradiction, got {', '.join(scorer.labels)}")
        return scorer

    def contradiction(self, pairs: list[tuple[str, str]]) -> list[float]:
        """Probabilities that the second text of a pair contradicts the first: read both ways, the lower one."""
        import numpy as np

        from semantic_metrics.nli_lex.features import nli_labels

        if not pairs:
            return []
        values = self._scorer.logits([*pairs, *((b, a) for a, b in pairs)]).values.astype(np.float64)
        each = np.exp(values - values.max(axis=1, keepdims=True))
        found = each[:, nli_labels(self._scorer.labels)[1]] / each.sum(axis=1)
        return np.minimum(found[: len(pairs)], found[len(pairs) :]).tolist()
