"""Support: which sentences of a summary or an answer its source bears out."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    counts=("undefined", "truncated", "passages_read", "unread", "thoughts"),
    mean_label="mean support",
    details={"minimums": float, "unsupported": float},
    explain_methods={"leave_one_out": "what the score loses where a word is left out"},
)
