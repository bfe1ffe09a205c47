"""Consensus: what MATCHA, STSScore and NLI say together, one number and a verdict in words."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    counts=("undefined", "truncated", "unread", "thoughts"),
    words="verdicts",
    correct_above=0.5,
    details={"reasons": str}
    | {f"parts.{name}": float for name in ("matcha", "similarity", "entailment", "contradiction")},
    takes_weights=True,
    explain_methods={"leave_one_out": "what the score loses where a word is left out"},
)
