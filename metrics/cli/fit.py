"""`semantic-metrics fit`: the weights of NLI+lex, or a metric's threshold, from answers that people judged.

The questions of evaluation sets are kept out by --exclude. Every figure that is printed is of answers to questions that
the weights behind it were not fitted on (cross-validation, all answers to a question on one side).
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from semantic_metrics.cli.errors import as_input_error
from semantic_metrics.cli.options import with_options
from semantic_metrics.fitting.judged_answers import Columns, question_key

if TYPE_CHECKING:
    import numpy as np

    from semantic_metrics.nli_lex.features import Features
    from semantic_metrics.nli_lex.weights import Weights

FOLDS = 5
ROUNDS = 20  # of fit and choice of the best reference, at most; the last ones move weights in the third digit
FORMS = ("rich", "paper")
WEIGHED = "nli_lex"  # the metric whose weights are fitted
CRITERIA = ("youden", "macro_f1")  # as threshold.CRITERIA, which takes a second to import
_OPPOSED = ("contradiction", "negation_mismatch")  # features that speak against an answer


def take(found: "Features", answers: "np.ndarray") -> "Features":
    """The features of some answers, by ascending index."""
    import numpy as np

    rows = np.isin(found.answer_index, answers)
    index = np.searchsorted(answers, found.answer_index[rows])
    per_answer = {"blank": found.blank[answers], "shortened": found.shortened[answers]}
    return replace(found, table=found.table[rows], answer_index=index, truncated=0, windowed=0, pairs=(), **per_answer)


def fit_weights(
    found: "Features", labels: "np.ndarray", form: str, sample_weight: "np.ndarray | None" = None
) -> "Weights":
    """Fit one form of the weights.

    Of several references the one counts that speaks most for an answer, which the weights themselves decide: fit and
    choice are repeated until the choice stays. Blank answers, which are always judged incorrect, teach nothing.

    Args:
        found: features of n answers.
        labels: (n,) bool.
        form: of FORMS.
        sample_weight: (n,) how much each answer counts; None for 1.

    Raises:
        ValueError: one class only.
    """
    import numpy as np

    from semantic_metrics.nli_lex import features, weights
    from semantic_metrics.stats import binary as calibration

    names = features.FORMS[form]
    columns = [features.RICH.index(name) for name in names]
    fitted = weights.Weights(names, 0.0, tuple(-1.0 if name in _OPPOSED else 1.0 for name in names))
    rows = weights.judge(fitted, found).rows
    counted = None if sample_weight is None else sample_weight[~found.blank]
    for _ in range(ROUNDS):
        held = found.table[rows[~found.blank]][:, columns]
        intercept, coefficients = calibration.fit(held, labels[~found.blank], counted)
        fitted = replace(fitted, intercept=intercept, coefficients=tuple(map(float, coefficients)))
        before, rows = rows, weights.judge(fitted, found).rows
        if np.array_equal(before, rows):
            break
    return fitted


def cross_validated(
    found: "Features",
    labels: "np.ndarray",
    questions: list[str],
    form: str,
    folds: int = FOLDS,
    seed: int = 0,
    sample_weight: "np.ndarray | None" = None,
) -> "np.ndarray":
    """(n,) probabilities, each from weights that were fitted without any answer to the same question.

    Args:
        found: features of n answers.
        labels: (n,) bool.
        questions: what they answer.
        form: of FORMS.
        folds: parts that are left out in turn.
        seed: of which question comes into which part.
        sample_weight: (n,) how much each answer counts; None for 1.

    Raises:
        ValueError: one class only, or too few questions for so many folds.
    """
    import numpy as np

    from semantic_metrics.nli_lex.weights import judge
    from semantic_metrics.stats import binary as calibration

    p = np.empty(len(labels))
    for kept, left in calibration.folds_by_group(labels, list(map(question_key, questions)), folds, seed):
        counted = None if sample_weight is None else sample_weight[kept]
        p[left] = judge(fit_weights(take(found, kept), labels[kept], form, counted), take(found, left)).p
    return p


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_PLACE = click.Path(path_type=Path)
_DATA = {
    ("--question", "--questions"): {"default": ["question"], "help": "Of what was asked."},
    ("--answer", "--predictions"): {"default": ["answer"], "help": "Of the texts that people labelled."},
    ("--reference", "--references"): {"default": ["reference"], "metavar": "NAME", "help": "Column of the references."},
    ("--label",): {"default": ["label"], "help": "Of what people said: 1 correct, 0 incorrect."},
    ("--separator",): {"default": [""], "metavar": "TEXT", "help": "Of several references in one text."},
    ("--correct-from",): {"default": [1.0], "type": float, "metavar": "X", "help": "Lowest label that is correct; 1."},
}
_WEIGHTS = {  # options of the weights of NLI+lex, which a threshold has no use for
    "exclude": {"multiple": True, "type": _FILE, "help": "File whose questions are left out."},
    "form": {"multiple": True, "default": FORMS, "type": click.Choice(FORMS), "help": "Of the weights; both."},
    "template": {"metavar": "TEXT", "help": "With {question} and {answer}, for the model."},
    "precision": {"default": "float32", "metavar": "NAME", "help": "float32, bfloat16 or int8."},
    "device": {"metavar": "NAME", "help": "Where the model runs, as cpu or cuda."},
}
_CRITERION = f"{' or '.join(CRITERIA)}, of a threshold."
_OPTIONS = (
    click.option("--metric", default=WEIGHED, metavar="NAME", help=f"{WEIGHED} by default; others get a threshold."),
    click.option("--criterion", type=click.Choice(CRITERIA), metavar="NAME", help=_CRITERION),
    *(click.option(*names, names[0][2:].replace("-", "_"), multiple=True, **{"metavar": "COLUMN"} | settings)
      for names, settings in _DATA.items()),
    *(click.option(f"--{name}", **settings) for name, settings in _WEIGHTS.items()),
    click.option("--long", is_flag=True, help="Long forms of the answers count too, a tenth."),
    click.option("--config", metavar="CHECKPOINT", help="Of the metric: a folder or a Hub id."),
    click.option("--folds", default=FOLDS, type=click.IntRange(2), metavar="N", help="Of the cross-validation; 5."),
    click.option("--seed", default=0, metavar="N", help="Of the folds."),
    click.option("--output", required=True, type=_PLACE, help="File to write, or its folder."),
    click.option("--plot", type=_PLACE, help="PNG file of the reliability, or of the ROC."),
)  # fmt: skip


@click.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@with_options(_OPTIONS)
def fit(files: tuple[Path, ...], metric: str, criterion: str | None, **given: object) -> None:
    """Fit the weights of NLI+lex on FILES (.csv, .tsv, .jsonl, .parquet) of answers that people judged.

    With --metric matcha or stsscore, or with --criterion, choose which scores count as correct: a threshold.
    Name columns once, or once for each file.

    Example: semantic-metrics fit judged.csv --answer said --output nli_lex.json
    """
    with as_input_error(ValueError):
        each = {name: _each(name, given, len(files)) for name in vars(Columns())}
        columns = [Columns(**{name: each[name][i] for name in each}) for i in range(len(files))]
        run = _weights if metric == WEIGHED and criterion is None else _threshold
        for line in run(files, columns, metric, criterion, given):
            click.echo(line)


def _weights(files: tuple[Path, ...], columns: list[Columns], _: str, __: None, given: dict) -> Iterator[str]:
    from semantic_metrics.cli.fit_report import run

    options = {name: given[name] for name in ("precision", "device", "template") if given[name] is not None}
    places = (given["output"], given["plot"])
    how = (given["config"], given["form"], given["long"], _folds(given), options)
    yield from run(files, columns, given["exclude"], *how, *places)


def _threshold(
    files: tuple[Path, ...], columns: list[Columns], metric: str, criterion: str | None, given: dict
) -> Iterator[str]:
    from semantic_metrics.cli.threshold_report import run

    context = click.get_current_context()
    for name in (*_WEIGHTS, "long", *(() if metric == WEIGHED else ("question",))):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise ValueError(f"--{name}: expected it for {WEIGHED} alone, and got --metric {metric}"
                             + ("" if criterion is None else f" --criterion {criterion}"))  # fmt: skip
    places = (given["output"], given["plot"])
    yield from run(files, columns, metric, given["config"], criterion or CRITERIA[0], _folds(given), *places)


def _folds(given: dict) -> tuple[int, int]:
    return given["folds"], given["seed"]


def _each(name: str, given: dict, count: int) -> tuple:
    values = given[name]
    if len(values) not in (1, count):
        option = "--" + name.replace("_", "-")
        raise ValueError(f"{option}: expected it once, or {count} times as there are files, got it {len(values)} times")
    return values * count if len(values) == 1 else values
