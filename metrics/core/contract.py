"""Parts that a metric must have to work with `load`, `Scorer` and every command.

A metric NAME is a folder `semantic_metrics/NAME` with these parts:

* `NAME.py`: the script that `evaluate` loads, with one `evaluate.Metric` class. If the metric scores texts, the class
  is a `TextMetric`. With `CheckedInputs` before `evaluate.Metric`, its columns are checked like those of the others.
* `scoring.py`, if the metric scores texts: a class derived from `TextScoring`, a `TextMetric` that does without
  `evaluate`, from which the script's class derives too. `semantic_metrics.score` and the commands use it. Where it is
  missing they use the script's class, at the price of importing `evaluate`.
* `__init__.py` with `DESCRIPTION = MetricDescription(...)`, and nothing that takes long to import: commands read it
  before they load a model.
* `app.py`: the Gradio demo, with a `PAGE` (`semantic_metrics.demo.page.Page`).
* `README.md` and `requirements.txt`: the card of the Space on the Hub, and what it installs, for `push`.

`missing_parts` lists what a folder lacks, of all parts or of those that one command needs.
"""

import importlib
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, get_args

from semantic_metrics.core.inputs import quote
from semantic_metrics.core.text_scoring import TextScoring

PACKAGE = __name__.partition(".")[0]
METHODS = ("compute", "signature", "explain")  # of a TextMetric
FILES = {"app.py": "the demo", "README.md": "the card of the Space", "requirements.txt": "what the Space installs"}
SCORING = ("compute", "signature")  # what score, compare, validate, fit and report need
# what other commands need; all of them need a script with a class, and a description
COMMAND_PARTS = {
    "load": (),
    "register": (),
    "explain": ("signature", "explain"),
    "demo": ("app.py",),
    "push": tuple(FILES),
}
OF_EVALUATE = ("load", "register", "demo", "push")  # use the script's class; other commands that in `scoring.py`


@dataclass(frozen=True)
class MetricDescription:
    """Description of a metric, which commands read before they load it."""

    # arguments of `compute` that are columns of texts, in their order
    columns: tuple[str, ...] = ("predictions", "references")
    # keys of the result that count rows, in the order in which they are reported: the first always, the others where
    # they are above 0
    counts: tuple[str, ...] = ()
    # key of the result with a word for each row, reported beside its score; None for a metric without
    words: str | None = None
    mean_label: str = "mean"  # what the mean of the scores is called
    score_range: tuple[float, float] = (0.0, 1.0)  # lowest and highest score, higher is better
    # the score above which the metric itself calls a text correct; None if it draws no line
    correct_above: float | None = None
    decides: bool = False  # whether results have `correct` by that line, and the mean is the share of correct texts
    # keys of the result with further values of each row, with their types; `parts.matcha` is in a dict
    details: Mapping[str, type] = field(default_factory=dict)
    # whether `compute` and `explain` take `weights`, a file that `semantic-metrics fit` writes
    takes_weights: bool = False
    # what `reasons` of the result are, numbers by name for each row, with `output="reasons"`; None for a metric without
    feature_reasons: str | None = None
    # methods of `explain` by name, the default first, each with what its contributions are
    explain_methods: Mapping[str, str] = field(default_factory=dict)
    # why the metric gives texts no score; None for one that does. Such a metric works with `load`, `register`, `demo`
    # and `push` only
    no_text_scores: str | None = None

    def added_columns(self, name: str) -> dict[str, type]:
        """Names and types of the columns that commands add to a file: the scores, and the words."""
        words = {} if self.words is None else {f"{name}_{self.words.removesuffix('s')}": str}
        return {name: float, **words}

    @property
    def lowest_correct(self) -> float | None:
        """The lowest score that the metric itself calls correct: the next above its line; None if it draws none."""
        return None if self.correct_above is None else math.nextafter(self.correct_above, math.inf)

    @property
    def scores_texts(self) -> bool:
        """Whether the metric gives each row of texts a score."""
        return self.no_text_scores is None

    @property
    def takes_questions(self) -> bool:
        """Whether the metric judges answers to questions."""
        return "questions" in self.columns


class TextMetric(Protocol):
    """The class of a metric that scores texts; `evaluate.Metric` adds `add`, `add_batch` and the rest."""

    def compute(self, *_: Any, **arguments: Any) -> Mapping[str, Any]:
        """Score n rows.

        Args:
            arguments: `predictions`, n texts to judge (None scores the rows that were added before); `references`, n
                texts or n lists of texts; `questions`, n texts, if the description has that column; and the metric's
                own options, each with a default.

        Returns:
            The mean under the metric's name, `scores` (n floats, higher is better), `signature`, and each of the
            description's counts that was counted. A score depends on its own row alone.

        Raises:
            InvalidInput: an argument is invalid; its `argument` and `index` say which text.
        """

    def signature(self, *_: Any, **settings: Any) -> str:
        """Every setting that can change a score, for those options of `compute` that are not left at their defaults."""

    def explain(self, *_: Any, **arguments: Any) -> Mapping[str, Any]:
        """Contribution of each token to the score of one pair.

        Args:
            arguments: `prediction`, the text to judge; `reference`, the text that it is compared with; `question`, for
                a metric with questions; `method`, one of the description's `explain_methods`, by default the first;
                and options.

        Returns:
            `score`, `method`, and for each text (`prediction`, `reference`, `question`) a dict of `tokens`, `spans`
            (begin and end characters; None for what is not in the text), `contributions` and their `total`.
        """


def metric_folders() -> Mapping[str, Path]:
    """Folders of the package that contain a script of the folder's name, by that name, described or not."""
    return _folders_in(tuple(sys.modules[PACKAGE].__path__))


@cache
def _folders_in(roots: tuple[str, ...]) -> Mapping[str, Path]:
    scripts = [path for root in roots for path in Path(root).glob("*/*.py")]
    return MappingProxyType(dict(sorted((path.stem, path.parent) for path in scripts if path.stem == path.parent.name)))


def described_metrics() -> list[str]:
    """Names of the metrics, those without a description left out."""
    return [name for name in metric_folders() if _description(name) is not None]


def text_metrics() -> list[str]:
    """Names of the metrics that give texts a score."""
    return [name for name in described_metrics() if describe(name).scores_texts]


def describe(name: str) -> MetricDescription:
    """The description of a metric; a ValueError where there is none."""
    description = _description(name) if isinstance(name, str) and name in metric_folders() else None
    if description is None:
        raise ValueError(f"name: expected one of {described_metrics()}, got {quote(name)}")
    return description


def metric_class(name: str) -> type[Any] | None:
    """The class in a metric's script, the one that `evaluate.load` takes; None if the script has no metric class."""
    from evaluate.loading import import_main_class  # takes seconds to import; descriptions do without it

    return import_main_class(f"{PACKAGE}.{name}.{name}")


def scoring_class(name: str) -> type[TextScoring] | None:
    """The class in a metric's `scoring.py`; None if the metric has none."""
    if not (metric_folders()[name] / "scoring.py").is_file():
        return None
    module = importlib.import_module(f"{PACKAGE}.{name}.scoring")
    own = (item for item in vars(module).values() if getattr(item, "__module__", None) == module.__name__)
    return next((item for item in own if isinstance(item, type) and issubclass(item, TextScoring)), None)


def missing_parts(folder: str | Path, command: str | None = None) -> list[str]:
    """Parts that a metric's folder (or name) lacks for a command, or with None of all, a line for each."""
    name = Path(folder).name
    home = metric_folders().get(name)
    if home is None:
        return [f"{name} lacks {name}.py, the script with its evaluate.Metric class"]
    description = _description(name)
    if description is None:
        return [f"{name} lacks DESCRIPTION, a MetricDescription in its __init__.py"]
    needed = (*METHODS, *FILES) if command is None else COMMAND_PARTS.get(command, SCORING)
    metric: type[Any] | None = scoring_class(name) if command is not None and command not in OF_EVALUATE else None
    metric = metric or metric_class(name)
    if metric is None:
        return [f"{name} lacks a class derived from evaluate.Metric in {name}.py"]
    methods = [part for part in needed if part in METHODS]
    if not description.scores_texts and command is not None and methods:
        return [f"{name} {description.no_text_scores}"]
    lines = [_missing_method(name, metric, part) for part in methods if description.scores_texts]
    files = [part for part in needed if part in FILES and not (home / part).is_file()]
    return [line for line in lines if line] + [f"{name} lacks {file}, {FILES[file]}" for file in files]


def check_parts(name: str, command: str) -> None:
    """Refuse a metric that lacks a part that a command needs: a ValueError of one line that names all of them."""
    if not isinstance(name, str) or name not in metric_folders():
        raise ValueError(f"name: expected one of {described_metrics()}, got {quote(name)}")
    if lines := missing_parts(name, command):
        raise ValueError(f"name: expected a metric that works with {command!r}, got {name!r}: {'; '.join(lines)}")


def check_options(name: str, metric: TextMetric, options: Mapping[str, Any]) -> None:
    """Refuse options that the metric's `compute` lacks or refuses, or that say what its result looks like."""
    check_option_names(name, metric, options, without={"contradictions", "output"})
    metric.signature(**options)


def check_option_names(
    name: str, metric: TextMetric, options: Iterable[str], without: AbstractSet[str] = frozenset()
) -> None:
    """Refuse options that the metric's `compute` lacks, and those in `without`; the message lists what it has."""
    known = argument_names(metric.compute) - {*describe(name).columns} - without
    if unknown := sorted(set(options) - known):
        raise ValueError(f"options: expected some of {sorted(known)}, got {unknown}")


def argument_names(method: Callable[..., object]) -> set[str]:
    """Names of the arguments of a method, those of the TypedDict that its `**arguments` unpack among them."""
    names: set[str] = set()
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            names.add(parameter.name)
        else:
            names |= {name for kind in get_args(parameter.annotation) for name in kind.__annotations__}
    return names


def _missing_method(name: str, metric: type[Any], method: str) -> str | None:
    if not callable(getattr(metric, method, None)):
        return f"{name} lacks {metric.__name__}.{method}, see semantic_metrics.core.contract.TextMetric"
    missing = set(describe(name).columns) - argument_names(metric.compute)
    if method == "compute" and missing:
        return f"{name} lacks {', '.join(sorted(missing))} among the arguments of {metric.__name__}.compute"
    return None


def _description(name: str) -> MetricDescription | None:
    description = getattr(importlib.import_module(f"{PACKAGE}.{name}"), "DESCRIPTION", None)
    return description if isinstance(description, MetricDescription) else None
