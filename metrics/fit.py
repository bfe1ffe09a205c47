"""`semantic-metrics fit`: the weights of NLI+lex from answers that people judged.

The questions of evaluation sets are kept out by --exclude. Every figure that is printed is of answers to questions that
the weights behind it were not fitted on (cross-validation, all answers to a question on one side).
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .errors import InputError
from .judged import Columns
from .judged import question_key

if TYPE_CHECKING:
    import numpy as np

    from .nli_lex.features import Features
    from .nli_lex.weights import Weights

FOLDS = 5
ROUNDS = 20  # of fit and choice of the best reference, at most; the last ones move weights in the third digit
FORMS = ("rich", "paper")
_OPPOSED = ("contradiction", "negation_mismatch")  # features that speak against an answer


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
    except (ValueError, OSError) as error:
        raise InputError(" ".join(str(error).split())) from None


def _each(name: str, data: dict[str, tuple], count: int) -> tuple:
    values = data[name]
    if len(values) not in (1, count):
        option = "--" + name.replace("_", "-")
        raise ValueError(f"{option}: expected it once, or {count} times as there are files, got it {len(values)} times")
    return values * count if len(values) == 1 else values
