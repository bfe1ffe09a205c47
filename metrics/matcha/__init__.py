"""MATCHA: a cosine between texts in which contradictions fall low (Li et al., 2026)."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    counts=("undefined", "truncated"),
    score_range=(-1.0, 1.0),
    explain_methods={
        "exact": "each token's share of the score",
        "integrated_gradients": "each token's share of the change from a baseline to the score",
    },
)
