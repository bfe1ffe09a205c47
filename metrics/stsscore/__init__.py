"""STSScore: the similarity of two texts, predicted by a cross-encoder (Herbold, 2023)."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    counts=("undefined", "truncated"),
    explain_methods={
        "leave_one_out": "what the score loses where a token is left out",
        "integrated_gradients": "the tokens of a text add up to the score minus that of a baseline",
    },
)
