"""HTML pages: reports of scored systems and explanations of single scores."""

from typing import Any

__all__ = ["Scores", "write_annotation", "write_check", "write_explanation", "write_report"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from semantic_metrics.report import page  # scipy takes a second to import

    return getattr(page, name)
