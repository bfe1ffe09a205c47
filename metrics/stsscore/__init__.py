"""STSScore: the similarity of two texts, predicted by a cross-encoder (Herbold, 2023)."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    counts=("undefined", "truncated", "unread", "thoughts"),
    explain_methods={
        "leave_one_out": "what the score loses where a word is left out",
        "integrated_gradients": "each token's share of the change from a baseline to the score",
    },
)
