"""How a metric runs its transformer: the values that `backend`, `precision` and `workers` may have."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from typing_extensions import TypedDict

from semantic_metrics.core.batching import BATCH_SEQUENCES
from semantic_metrics.core.inputs import check_choice, check_whole, invalid_input
from semantic_metrics.core.signature import if_changed, no_score_change

BACKENDS = ("torch", "openvino")
PRECISIONS = ("float32", "bfloat16", "int8")
AUTO = "auto"  # the fastest precision whose measured drift is small; see transformer/drifts.py
PRECISION_CHOICES = (*PRECISIONS, AUTO)
RUN_INPUTS = {  # what the docstring of a metric says of each
    "precision": '"float32" (default), or "bfloat16" or "int8", which are faster and move the scores; "auto" takes '
    "the fastest that moved no score by .005 when it was measured on a processor like this one, and the signature says "
    "which.",
    "max_length": "tokens of a pair that count; the longer text is cut first. None (default) for the checkpoint's own.",
    "batch_size": "largest number of pairs that the model reads at a time (default 64).",
    "device": 'where the model runs, such as "cpu" or "cuda:0"; None (default) for a GPU if there is one.',
    "backend": '"torch" (default), or "openvino", which is faster on a CPU and needs the package\'s extra `fast`.',
    "workers": "batches that run at a time on a CPU, a core for each; None (default) for as many as there are cores. "
    "It changes no score.",
}


def run_inputs(**changed: str) -> str:
    """The options as lines of a docstring's `Args`; `changed` replaces what RUN_INPUTS says of some."""
    lines = (f"{name}: {text}" for name, text in {**RUN_INPUTS, **changed}.items())
    wrapper = textwrap.TextWrapper(120, " " * 4, " " * 8, break_on_hyphens=False)
    return "\n".join(map(wrapper.fill, lines))


class TextRunArguments(TypedDict, total=False):
    """How a transformer runs that reads single texts, as arguments of `compute` and `explain`; see `RunOptions`."""

    precision: str
    batch_size: int
    device: str | None
    backend: str
    workers: int | None


class RunArguments(TextRunArguments, total=False):
    """How a transformer runs, as arguments of `compute` and `explain`; see `RunOptions`."""

    max_length: int | None


@dataclass(frozen=True)
class RunOptions:
    """How a transformer runs; RUN_INPUTS says what each option is.

    int8 and OpenVINO run on the CPU alone; "auto" goes by what `transformer.drifts` recorded; a forked process has one
    core for its workers.
    """

    precision: str = "float32"
    max_length: int | None = None
    batch_size: int = no_score_change(BATCH_SEQUENCES)
    device: str | None = no_score_change(None)
    backend: str = if_changed("torch")
    workers: int | None = no_score_change(None)

    def __post_init__(self) -> None:
        check_choice("precision", self.precision, PRECISION_CHOICES)
        check_choice("backend", self.backend, BACKENDS)
        check_whole("batch_size", self.batch_size, 1)
        if self.workers is not None:
            check_whole("workers", self.workers, 1)

    @classmethod
    def split(cls, arguments: Mapping[str, Any], known: type) -> tuple["RunOptions", dict[str, Any]]:
        """The options among arguments, with defaults for those that are missing, and the other arguments.

        `known` is the TypedDict of the arguments; one that it lacks is a TypeError, as for any function.
        """
        for name in arguments:
            if name not in known.__annotations__:
                raise TypeError(f"got an unexpected keyword argument {name!r}")
        names = {item.name for item in fields(cls)}
        own: dict[str, Any] = {name: value for name, value in arguments.items() if name in names}
        return cls(**own), {name: value for name, value in arguments.items() if name not in names}

    @property
    def changed(self) -> dict[str, str]:
        """Precision and backend, where they are not the default."""
        names = ("precision", "backend")
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(DEFAULT_OPTIONS, name)}


DEFAULT_OPTIONS = RunOptions()


def refuse_changed(run: RunOptions, where: str) -> None:
    """Refuse another precision ("auto" too) or backend than the default, where these alone will do ("for a table")."""
    for name, value in run.changed.items():
        raise invalid_input(name, f"expected {getattr(DEFAULT_OPTIONS, name)!r} {where}, got {value!r}")
