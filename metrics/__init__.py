"""Six ways to ask whether one text says the same as another, each a Hugging Face `evaluate` metric."""

from importlib.metadata import version

from semantic_metrics.core.contract import described_metrics
from semantic_metrics.core.loading import load, score
from semantic_metrics.core.registration import register

__all__ = ["__version__", "available", "load", "register", "score"]

__version__ = version("semantic-metrics")


def available() -> list[str]:
    """Names of the metrics that `load` takes; `score` takes those that score texts, all but "set_criteria"."""
    return described_metrics()
