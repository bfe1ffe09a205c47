"""Four ways to ask whether one text says the same as another, each a Hugging Face `evaluate` metric."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import evaluate

__all__ = ["__version__", "available", "load"]

__version__ = version("semantic-metrics")


def available() -> list[str]:
    """Names of the metrics that `load` takes."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/*.py") if path.stem == path.parent.name)


def load(name: str, checkpoint: str | None = None, **options: object) -> "evaluate.EvaluationModule":
    """Load a metric from the installed package, in any folder and without a network.

    Args:
        name: one of `available()`.
        checkpoint: `config_name` of `evaluate.load`: None for the checkpoint shipped with the package, or another
            shipped one, a folder (written with a slash), or a Hub id.
        options: passed on to `evaluate.load` (`keep_in_memory`, `num_process`, ...).

    Raises:
        ValueError: no metric of that name, which lists those there are; an empty checkpoint.

    Example:
        >>> from semantic_metrics import load
        >>> load("matcha").compute(predictions=["It rains."], references=["It rains."])["matcha"]
        1.0
    """
    import evaluate  # seconds, which `semantic-metrics --help` need not take

    if name not in available():
        raise ValueError(f"name: expected one of {available()}, got {name!r}")
    if checkpoint == "":  # which `evaluate` would take for the shipped one
        raise ValueError("checkpoint: expected a name, a folder or a Hub id, got ''")
    return evaluate.load(str(Path(__file__).parent / name), checkpoint, **options)
