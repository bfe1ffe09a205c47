"""Four ways to ask whether one text says the same as another, each a Hugging Face `evaluate` metric."""

from importlib.metadata import version
from typing import TYPE_CHECKING

from semantic_metrics.core.contract import check_parts, described_metrics, metric_class, metric_folders
from semantic_metrics.core.inputs import quote

if TYPE_CHECKING:
    import evaluate

__all__ = ["__version__", "available", "load"]

__version__ = version("semantic-metrics")


def available() -> list[str]:
    """Names of the metrics that `load` takes."""
    return described_metrics()


def load(name: str, checkpoint: str | None = None, **options: object) -> "evaluate.EvaluationModule":
    """Load a metric from the installed package, in any folder and without a network.

    The result is what `evaluate.load` returns, but its class is the package's own, not a copy in evaluate's module
    cache: a pickled metric can be read wherever the package is installed.

    Args:
        name: one of `available()`.
        checkpoint: `config_name` of `evaluate.load`: None for the checkpoint shipped with the package, or another
            shipped one, a folder (written with a slash), or a Hub id.
        options: further arguments of `evaluate.load` (`keep_in_memory`, `num_process`, ...).

    Raises:
        ValueError: the package has no such metric (the message lists those it has), the metric's folder lacks a part
            (see `core.contract`), or the checkpoint is an empty string.

    Example:
        >>> from semantic_metrics import load
        >>> load("matcha").compute(predictions=["It rains."], references=["It rains."])["matcha"]
        1.0
    """
    check_parts(name, "load")
    if checkpoint is not None and (not isinstance(checkpoint, str) or not checkpoint):
        # `evaluate` would use it as a folder's name, or take it for the shipped checkpoint
        raise ValueError(f"checkpoint: expected a name, a folder or a Hub id, got {quote(checkpoint)}")
    from evaluate.loading import files_to_hash  # takes seconds to import; `semantic-metrics --help` does without it

    download_config = options.pop("download_config", None)
    script = metric_folders()[name] / f"{name}.py"
    metric = metric_class(name)(config_name=checkpoint, hash=files_to_hash([str(script)]), **options)
    metric.download_and_prepare(download_config=download_config)
    return metric
