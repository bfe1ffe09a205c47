"""HTML pages: reports of scored systems and explanations of single scores."""

from semantic_metrics.report.page import Scores, write_explanation, write_report

__all__ = ["Scores", "write_explanation", "write_report"]
