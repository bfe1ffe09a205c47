"""A decision threshold: from which score of a metric on a text counts as correct."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import TypedDict

from semantic_metrics.core.checkpoint_files import MAX_NAME_CHARACTERS, read_regular
from semantic_metrics.core.inputs import check_choice, invalid_input, quote
from semantic_metrics.core.signature import NOT_IN_SIGNATURE, differing, no_score_change

FILE = "threshold.json"


@dataclass(frozen=True)
class Threshold:
    """A text is correct where its score is `value` or more."""

    metric: str  # name of the metric
    value: float  # lowest correct score, on the metric's own scale
    criterion: str  # rule by which the value was chosen
    signature: str  # signature of the metric; scores with another one have another scale
    fitted_on: str  # the files it was chosen on
    # rows, correct: number of texts in those, and of texts that people found correct
    rows: int
    correct: int
    # accuracy, macro_f1, mcc and majority by cross-validation, auc with its interval auc_low and auc_high, and the
    # number of folds and their seed
    figures: dict[str, float]

    def check_signature(self, signature: str) -> None:
        """Refuse scores with another signature, whose scale is another; names the settings that differ."""
        if signature != self.signature:
            expected, got = differing(self.signature, signature), differing(signature, self.signature)
            raise invalid_input("threshold", f"expected one fitted for scores with {got}, got one for {expected}")

    def lines(self, kind: str) -> Iterator[str]:
        """The report, for people; `kind` is what the folds were drawn by, such as "question"."""
        figures = self.figures
        yield f"threshold by {self.criterion}: correct where {self.metric} is {self.value:.4f} or more"
        decided = ", ".join(f"{name} {figures[name]:.4f}" for name in ("accuracy", "macro_f1", "mcc"))
        majority = f"always the same answer: accuracy {figures['majority']:.4f}"
        yield f"{figures['folds']} folds by {kind}: {decided}; {majority}"
        warning = "; the scores may tell nothing here" if figures["auc_low"] <= 0.5 else ""
        yield f"AUC {figures['auc']:.4f} [{figures['auc_low']:.4f}, {figures['auc_high']:.4f}]{warning}"

    def to_json(self) -> dict[str, Any]:
        """The content of the file that `read_threshold` reads."""
        return {"rule": "correct where score >= value", **asdict(self)}


def read_threshold(path: Path) -> Threshold:
    """A threshold from a file (or a folder's threshold.json) of `semantic-metrics fit`; a ValueError if it is none."""
    path = path / FILE if os.path.isdir(path) else path
    names = [item.name for item in fields(Threshold)]
    try:
        values = json.loads(read_regular(path))
        value = float(values["value"])
        if not math.isfinite(value):
            raise ValueError(f"value {value}")
        return Threshold(**{name: values[name] for name in names} | {"value": value})
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else repr(error)
        name = str(path) if str(path).isprintable() and len(str(path)) <= MAX_NAME_CHARACTERS else quote(str(path))
        expected = f"a JSON file with {', '.join(names)}, which one of weights has not"
        raise ValueError(f"threshold {name}: expected {expected} ({reason})") from None


def resolve(threshold: float | str | Path) -> float | Threshold:
    """A finite number as it is, or the threshold in a file; a ValueError for anything else."""
    if isinstance(threshold, (str, Path)):
        return read_threshold(Path(threshold))
    with suppress(OverflowError):  # no float is as large as 10**400
        if isinstance(threshold, (int, float)) and type(threshold) is not bool and math.isfinite(threshold):
            return float(threshold)
    raise invalid_input("threshold", f"expected a number, a file or None, got {quote(threshold)}")


class ResultArguments(TypedDict, total=False):
    """Arguments of `compute` that say what the result holds; see `ResultOptions`."""

    output: str
    progress: bool
    threshold: float | str | Path | None


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """Options of the form of a result; none changes a score."""

    outputs: ClassVar[tuple[str, ...]] = ("all", "mean")
    output: str = no_score_change("all")  # one of `outputs`
    progress: bool = no_score_change(True)  # whether bars are shown
    # what decides which texts are correct: the lowest correct score, or a file of `semantic-metrics fit`
    threshold: float | str | Path | None = field(default=None, metadata=NOT_IN_SIGNATURE)

    def __post_init__(self) -> None:
        check_choice("output", self.output, self.outputs)
        check_choice("progress", self.progress, (False, True))
        if self.line is not None and self.output == "mean":
            raise invalid_input("threshold", f"expected None with output='mean', got {quote(self.threshold)}")

    @cached_property
    def line(self) -> float | Threshold | None:
        """The threshold, read."""
        return None if self.threshold is None else resolve(self.threshold)

    def decide(self, result: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of a metric, with `correct` by the threshold if there is one.

        Where the metric draws a line of its own, the threshold wins: its mean is the share of correct texts. One that
        was fitted for scores with another signature is refused.
        """
        if self.line is None:
            return result
        if isinstance(self.line, Threshold):
            self.line.check_signature(result["signature"])
        value = self.line if isinstance(self.line, float) else self.line.value
        correct = [score >= value for score in result["scores"]]
        mean = {next(iter(result)): sum(correct) / len(correct)} if "correct" in result else {}
        return {**result, **mean, "correct": correct, "decided_by": f"threshold {value:.4f}"}
