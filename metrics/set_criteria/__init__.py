"""Set criteria: whether a sentence encoder treats overlap, difference and union as sets do (Bansal et al., 2025)."""

from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(
    columns=("a", "b", "target", "operator"),
    no_text_scores="tests an encoder and gives texts no score",
)
