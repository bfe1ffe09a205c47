"""`semantic-metrics fit`: the weights of NLI+lex from answers that people judged.

The questions of evaluation sets are kept out by --exclude. Every figure that is printed is of answers to questions that
the weights behind it were not fitted on (cross-validation, all answers to a question on one side).
"""

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
import re
from typing import TYPE_CHECKING

import click

from .errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from .nli_lex.features import Features
    from .nli_lex.weights import Weights

FOLDS = 5
ROUNDS = 20  # of fit and choice of the best reference, at most; the last ones move weights in the third digit
FORMS = ("rich", "paper")
_OPPOSED = ("contradiction", "negation_mismatch")  # features that speak against an answer


@dataclass(frozen=True)
class Columns:
    """Names of a file's columns, and how it writes what they hold.

    Attributes:
        question, answer, reference, label: names.
        separator: between several references in one text; empty for one reference, or a column of lists.
        correct_from: labels from this number on mean a correct answer.
    """

    question: str = "question"
    answer: str = "answer"
    reference: str = "reference"
    label: str = "label"
    separator: str = ""
    correct_from: float = 1.0


@dataclass(frozen=True)
class Examples:
    """Judged answers.

    Attributes:
        questions, answers: n texts.
        references: n lists of texts.
        labels: n times whether people found the answer correct.
    """

    questions: list[str]
    answers: list[str]
    references: list[list[str]]
    labels: list[bool]

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: "Examples") -> "Examples":
        return Examples(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def without(self, questions: set[str]) -> "Examples":
        """The answers to other questions than these, which are given as `question_key` writes them."""
        kept = [i for i, question in enumerate(self.questions) if question_key(question) not in questions]
        return Examples(*([column[i] for i in kept] for column in vars(self).values()))


def question_key(question: str) -> str:
    """A question without its case, spaces and signs: what the same question is found by."""
    return re.sub(r"[\W_]+", "", question).casefold()


def read_frame(path: Path) -> "pd.DataFrame":
    """A CSV or parquet file.

    Raises:
        ValueError: it ends otherwise, cannot be read, or has no rows; names it.
    """
    import pandas as pd

    readers = {".csv": lambda file: pd.read_csv(file, keep_default_na=False, dtype=str), ".parquet": pd.read_parquet}
    if path.suffix not in readers:
        raise ValueError(f"{path}: expected a file that ends in {' or '.join(readers)}, got {path.suffix!r}")
    try:
        frame = readers[path.suffix](path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from error
    if frame.empty:
        raise ValueError(f"{path}: expected rows, got none")
    return frame


def read_examples(path: Path, columns: Columns) -> Examples:
    """Judged answers from a CSV or parquet file.

    Raises:
        ValueError: the file lacks a column, a text, a reference or a label; names it, and the row.
    """
    frame = read_frame(path)
    wanted = [columns.question, columns.answer, columns.reference, columns.label]
    if missing := [name for name in wanted if name not in frame]:
        known = ", ".join(map(repr, frame.columns))
        raise ValueError(f"{path}: expected the columns {', '.join(map(repr, missing))}, there are {known}")
    questions, answers = ([_text(path, frame, name, row) for row in range(len(frame))] for name in wanted[:2])
    references = [_references(path, value, columns, row) for row, value in enumerate(frame[columns.reference])]
    return Examples(questions, answers, references, _labels(path, frame[columns.label], columns.correct_from))


def _text(path: Path, frame: "pd.DataFrame", name: str, row: int) -> str:
    value = frame[name].iloc[row]
    if not isinstance(value, str):
        raise ValueError(f"{path}: expected a text in column {name!r}, got {value!r} in row {row}")
    return value


def _references(path: Path, value: object, columns: Columns, row: int) -> list[str]:
    parts = value.split(columns.separator) if isinstance(value, str) and columns.separator else value
    texts = list(parts) if isinstance(parts, Iterable) and not isinstance(parts, str) else [parts]
    kept = list(dict.fromkeys(text.strip() for text in texts if isinstance(text, str) and text.strip()))
    if not kept or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{path}: expected references in column {columns.reference!r}, got {value!r} in row {row}")
    return kept


def _labels(path: Path, values: "pd.Series", correct_from: float) -> list[bool]:
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce").astype(float)
    if numbers.isna().any():
        row, column = int(numbers.isna().to_numpy().argmax()), values.name
        raise ValueError(f"{path}: expected numbers in column {column!r}, got {values.tolist()[row]!r} in row {row}")
    return (numbers >= correct_from).tolist()


def take(found: "Features", answers: "np.ndarray") -> "Features":
    """The features of some answers, by ascending index."""
    import numpy as np

    rows = np.isin(found.owner, answers)
    owner = np.searchsorted(answers, found.owner[rows])
    return replace(found, table=found.table[rows], owner=owner, blank=found.blank[answers], truncated=0, windowed=0)


def fit_weights(found: "Features", labels: "np.ndarray", form: str) -> "Weights":
    """Fit one form of the weights.

    Of several references the one counts that speaks most for an answer, which the weights themselves decide: fit and
    choice are repeated until the choice stays. Blank answers, which are always judged incorrect, teach nothing.

    Args:
        found: features of n answers.
        labels: (n,) bool.
        form: of FORMS.

    Raises:
        ValueError: one class only.
    """
    import numpy as np

    from . import calibration
    from .nli_lex import features
    from .nli_lex import weights

    names = features.FORMS[form]
    columns = [features.RICH.index(name) for name in names]
    fitted = weights.Weights(names, 0.0, tuple(-1.0 if name in _OPPOSED else 1.0 for name in names))
    rows = weights.judge(fitted, found).rows
    for _ in range(ROUNDS):
        held = found.table[rows[~found.blank]][:, columns]
        intercept, coefficients = calibration.fit(held, labels[~found.blank])
        fitted = replace(fitted, intercept=intercept, coefficients=tuple(map(float, coefficients)))
        before, rows = rows, weights.judge(fitted, found).rows
        if np.array_equal(before, rows):
            break
    return fitted


def cross_validated(
    found: "Features", labels: "np.ndarray", questions: list[str], form: str, folds: int = FOLDS, seed: int = 0
) -> "np.ndarray":
    """(n,) probabilities, each from weights that were fitted without any answer to the same question.

    Raises:
        ValueError: one class only, or too few questions for so many folds.
    """
    import numpy as np

    from . import calibration
    from .nli_lex.weights import judge

    p = np.empty(len(labels))
    for kept, left in calibration.folds_by_group(labels, list(map(question_key, questions)), folds, seed):
        p[left] = judge(fit_weights(take(found, kept), labels[kept], form), take(found, left)).p
    return p


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_DATA = {
    "--question": {"default": ["question"], "help": "Column of the questions."},
    "--answer": {"default": ["answer"], "help": "Column of the answers."},
    "--reference": {"default": ["reference"], "help": "Column of the reference, or of lists of several."},
    "--label": {"default": ["label"], "help": "Column of what people said: 1 correct, 0 incorrect."},
    "--separator": {"default": [""], "help": "Of several references in one text; none by default."},
    "--correct-from": {"default": [1.0], "type": float, "help": "Labels from here on are correct; 1 by default."},
}


def _data_options(command: Callable) -> Callable:
    for name, settings in reversed(_DATA.items()):
        command = click.option(name, multiple=True, **settings)(command)
    return command


@click.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@_data_options
@click.option("--exclude", multiple=True, type=_FILE, help="File whose questions are left out; may be repeated.")
@click.option("--config", help="The NLI model: a folder or a Hub id; by default the shipped one.")
@click.option("--form", multiple=True, default=FORMS, type=click.Choice(FORMS), help="Of the weights; both by default.")
@click.option("--template", help="What the model reads, with {question} and {answer}; by default the metric's own.")
@click.option("--folds", default=FOLDS, show_default=True, type=click.IntRange(2), help="Of the cross-validation.")
@click.option("--seed", default=0, show_default=True, help="Of the folds.")
@click.option("--precision", default="float32", show_default=True, help="Of the model: float32, bfloat16 or int8.")
@click.option("--device", help="Where the model runs, as cpu or cuda.")
@click.option("--output", required=True, type=click.Path(path_type=Path), help="File to write, as nli_lex.json.")
@click.option("--plot", type=click.Path(path_type=Path), help="Write reliability plots to this PNG file.")
def fit(
    files: tuple[Path, ...],
    exclude: tuple[Path, ...],
    config: str | None,
    form: tuple[str, ...],
    template: str | None,
    folds: int,
    seed: int,
    precision: str,
    device: str | None,
    output: Path,
    plot: Path | None,
    **data: tuple,
) -> None:
    """Fit the weights of NLI+lex on FILES (.csv or .parquet) of answers that people judged.

    An option that names a column is given once for all files, or once for each, in their order.

    Example: semantic-metrics fit judged.csv --answer said --reference gold --output my_model/nli_lex.json
    """
    from .fit_report import run

    try:
        each = {name: _each(name, data, len(files)) for name in data}
        columns = [Columns(**{name: each[name][i] for name in each}) for i in range(len(files))]
        options = {"precision": precision, "device": device} | ({} if template is None else {"template": template})
        for line in run(files, columns, exclude, config, form, (folds, seed), options, output, plot):
            click.echo(line)
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from None


def _each(name: str, data: dict[str, tuple], count: int) -> tuple:
    values = data[name]
    if len(values) not in (1, count):
        option = "--" + name.replace("_", "-")
        raise ValueError(f"{option}: expected it once, or {count} times as there are files, got it {len(values)} times")
    return values * count if len(values) == 1 else values
