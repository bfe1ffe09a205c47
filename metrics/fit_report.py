"""One run of `semantic-metrics fit`: read, extract features, cross-validate, fit, write; and what is said of it."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from . import calibration
from .fit import Columns
from .fit import Examples
from .fit import cross_validated
from .fit import fit_weights
from .fit import question_key
from .fit import read_examples
from .fit import read_frame
from .nli_lex.features import TEMPLATE
from .nli_lex.features import extract
from .nli_lex.features import load_scorer
from .nli_lex.weights import Weights
from .nli_lex.weights import write_weights
from .nli_lex.windows import check_template


def run(
    files: tuple[Path, ...],
    columns: list[Columns],
    exclude: tuple[Path, ...],
    config: str | None,
    forms: tuple[str, ...],
    folds: tuple[int, int],
    options: dict[str, str | None],
    output: Path,
    plot: Path | None,
) -> Iterator[str]:
    """Fit weights and write them; everything that is known to be wrong is said before the model runs.

    Args:
        files: of judged answers.
        columns: of each file.
        exclude: files whose questions are left out.
        config: the NLI model.
        forms: of the weights.
        folds: how many, and their seed.
        options: of `features.extract`: precision, device, template.
        output: file of the weights.
        plot: file of the reliability plots, or None.

    Yields:
        The lines of the report.

    Raises:
        ValueError: a file, an option or the model is not what it should be.
    """
    _check_places(output, plot)
    template = check_template(options.get("template", TEMPLATE))
    excluded = _questions(exclude, columns)
    examples, held = Examples([], [], [], []), []
    for path, names in zip(files, columns, strict=True):
        whole = read_examples(path, names)
        kept = whole.without(excluded)
        held.append(f"{_short(path)}: {len(kept)} answers")
        yield f"{path}: {len(whole)} answers, {len(whole) - len(kept)} left out by --exclude"
        examples += kept
    labels = np.array(examples.labels, dtype=bool)
    calibration.folds_by_group(labels, list(map(question_key, examples.questions)), *folds)
    scorer = load_scorer(config)
    found = extract(scorer, examples.questions, examples.answers, examples.references, **options)
    yield f"{len(labels)} answers, {labels.mean():.3f} of them correct, {int(found.blank.sum())} blank and not fitted"
    yield f"{found.windowed} pairs were read in windows, {found.truncated} had their question cut"
    plots, origin = {}, _origin(held, exclude)
    for form in forms:
        p = cross_validated(found, labels, examples.questions, form, *folds)
        figures, plots[form] = calibration.figures(p, labels), calibration.reliability(p, labels)
        weights = replace(fit_weights(found, labels, form), fitted_on=origin, template=template)
        write_weights(output, weights)
        yield from _lines(form, weights, figures, plots[form], folds[0])
    if plot is not None:
        calibration.draw_reliability(plots, plot, f"NLI+lex, {folds[0]} folds by question, {len(labels)} answers")
    yield f"written to {', '.join(str(path) for path in (output, plot) if path is not None)}"


def _check_places(output: Path, plot: Path | None) -> None:
    if plot is not None and find_spec("matplotlib") is None:
        raise ValueError("--plot: expected matplotlib to be installed, as `semantic-metrics[benchmark]` does")
    for option, path in (("--output", output), ("--plot", plot)):
        if path is not None and not path.resolve().parent.is_dir():
            raise ValueError(f"{option}: expected an existing folder, there is no {path.resolve().parent}")


def _questions(exclude: tuple[Path, ...], columns: list[Columns]) -> set[str]:
    found = set()
    for path in exclude:
        frame = read_frame(path)
        names = [name for name in dict.fromkeys(each.question for each in columns) if name in frame]
        if not names:
            known = ", ".join(map(repr, frame.columns))
            raise ValueError(f"{path}: expected a column {columns[0].question!r} of questions, there are {known}")
        found |= {question_key(str(question)) for question in frame[names[0]]}
    return found


def _short(path: Path) -> str:
    """A file's name and its folder's: a whole path is another one on every machine."""
    return "/".join(path.resolve().parts[-2:])


def _origin(held: list[str], exclude: tuple[Path, ...]) -> str:
    return "; ".join([*held, *(f"without the questions of {_short(path)}" for path in exclude)])


def _lines(
    form: str, weights: Weights, figures: dict[str, float], found: calibration.Reliability, folds: int
) -> Iterator[str]:
    held = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
    yield f"\n{form}, {folds} folds by question: {held}"
    yield f"  {'intercept':<20}{weights.intercept:>9.3f}"
    for name, value in zip(weights.features, weights.coefficients, strict=True):
        yield f"  {name:<20}{value:>9.3f}"
    yield f"  {'probability':<20}{'answers':>9}{'said':>9}{'correct':>9}"
    for i, (count, said, true) in enumerate(zip(found.counts, found.said, found.true, strict=True)):
        span = f"{i / calibration.BINS:.1f} to {(i + 1) / calibration.BINS:.1f}"
        yield f"  {span:<20}{count:>9}" + (f"{said:>9.3f}{true:>9.3f}" if count else f"{'-':>9}{'-':>9}")
