"""One run of `semantic-metrics fit`: read, extract features, cross-validate, fit, write; and what is said of it."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from semantic_metrics.cli.fit import cross_validated, fit_weights
from semantic_metrics.cross_encoder.pair_scorer import RunOptions
from semantic_metrics.files.errors import file_errors
from semantic_metrics.files.table import check_output
from semantic_metrics.fitting.judged_answers import Columns, Examples, question_key, read_examples, read_questions
from semantic_metrics.fitting.lengthen import COUNTED, lengthen
from semantic_metrics.nli_lex import weights as weight_files
from semantic_metrics.nli_lex.features import TEMPLATE, Features, extract, load_scorer
from semantic_metrics.nli_lex.weights import Weights, write_weights
from semantic_metrics.nli_lex.windows import check_template, is_blank
from semantic_metrics.stats import binary as calibration


def run(
    files: tuple[Path, ...],
    columns: list[Columns],
    exclude: tuple[Path, ...],
    config: str | None,
    forms: tuple[str, ...],
    long: bool,
    folds: tuple[int, int],
    options: dict[str, str | None],
    output: Path,
    plot: Path | None,
) -> Iterator[str]:
    """Fit weights and write them, yielding the lines of the report; what is known to be wrong is said first.

    Args:
        files: of judged answers.
        columns: of each file.
        exclude: files whose questions are left out.
        config: the NLI model.
        forms: of the weights.
        long: whether to fit on long forms of the answers too (`lengthen`), which count COUNTED.
        folds: how many, and their seed.
        options: of `features.extract`: precision, device, template.
        output: file of the weights.
        plot: file of the reliability plots, or None.

    Raises:
        ValueError, InputError: a file, an option or the model is not what it should be.
    """
    output = _check_places(output, plot, (*files, *exclude))
    template = check_template(options.get("template", TEMPLATE))
    examples, held = yield from _read(files, columns, exclude)
    labels = np.array(examples.labels, dtype=bool)
    _check_classes(examples, labels, folds, files, columns)
    counted = np.ones(len(labels))
    if long:
        examples, labels = examples + lengthen(examples), np.tile(labels, 2)
        counted = np.r_[counted, COUNTED * counted]
    scorer = load_scorer(config)
    run = RunOptions(**{name: value for name, value in options.items() if name != "template"})
    found = extract(scorer, examples.questions, examples.answers, examples.references, template, run=run)
    yield from _read_lines(found, labels)
    origin = _origin(held, exclude) + f"; and their long forms, which count {COUNTED}" * long
    about = {"template": template, "checkpoint": scorer.checkpoint_sha256[:16], "fitted_on": origin}
    parts = {"as they are": slice(0, len(labels) // 2), "long": slice(len(labels) // 2, None)} if long else {}
    reliable = yield from _fit(forms, found, labels, counted, examples.questions, folds, about, output, parts)
    if plot is not None:
        calibration.draw_reliability(reliable, plot, f"NLI+lex, {folds[0]} folds by question, {len(labels)} answers")
    yield f"written to {', '.join(str(path) for path in (output, plot) if path is not None)}"


def _read_lines(found: Features, labels: np.ndarray) -> Iterator[str]:
    yield f"{len(labels)} answers, {labels.mean():.3f} of them correct, {int(found.blank.sum())} blank and not fitted"
    yield f"{found.windowed} pairs were read in windows, {found.truncated} had their question cut"


def _fit(
    forms: tuple[str, ...],
    found: Features,
    labels: np.ndarray,
    counted: np.ndarray,
    questions: list[str],
    folds: tuple[int, int],
    about: dict[str, str],
    output: Path,
    parts: dict[str, slice],
) -> Generator[str, None, dict[str, calibration.Reliability]]:
    """Fits and writes each form; yields what is said of it and of parts of it, returns how reliable it is."""
    reliable = {}
    for form in forms:
        p = cross_validated(found, labels, questions, form, *folds, counted)
        weights = replace(fit_weights(found, labels, form, counted), **about)
        with file_errors(output):
            write_weights(output, weights)
        reliable[form] = calibration.reliability(p, labels)
        yield from _lines(form, weights, calibration.figures(p, labels), reliable[form], folds[0])
        for name, part in parts.items():
            yield f"  answers {name}: {_spell(calibration.figures(p[part], labels[part]))}"
    return reliable


def _check_places(output: Path, plot: Path | None, inputs: tuple[Path, ...]) -> Path:
    """See that both can be written; the file of the weights, where `output` is a folder too."""
    with file_errors("--output"):
        output = output / weight_files.FILE if output.is_dir() else output
    if plot is not None and find_spec("matplotlib") is None:
        raise ValueError("--plot: expected matplotlib to be installed, as `semantic-metrics[benchmark]` does")
    check_output(output, "--output")
    if plot is not None:
        check_output(plot, "--plot")
    if output.exists():
        try:
            weight_files.read_forms(output)  # `write_weights` keeps the forms that it holds already
        except ValueError as error:
            raise ValueError(f"--output: expected a new file or one of weights, {output} is there ({error})") from None
    if plot is not None and plot.suffix.lower() != ".png":
        raise ValueError(f"--plot: expected a file that ends in .png, got {plot}")
    if plot is not None and plot.resolve() in {path.resolve() for path in (output, *inputs)}:
        raise ValueError(f"--plot: expected another file than --output and those that are read, got {plot}")
    return output


def _read(
    files: tuple[Path, ...], columns: list[Columns], exclude: tuple[Path, ...]
) -> Generator[str, None, tuple[Examples, list[str]]]:
    """Yields what is left out; returns the examples, and how many of each file there are."""
    excluded = set()
    for path in exclude:
        keys, blank = read_questions(path, [each.question for each in columns])
        excluded |= keys
        if blank:
            yield f"{path}: {blank} blank questions, which leave nothing out"
    examples, held = Examples([], [], [], [], []), []
    for path, names in zip(files, columns, strict=True):
        whole = read_examples(path, names)
        kept = whole.without(excluded)
        held.append(f"{short(path)}: {len(kept)} answers")
        yield f"{path}: {len(whole)} answers, {len(whole) - len(kept)} left out by --exclude"
        if any(kept.dropped):
            yield f"{path}: {sum(kept.dropped)} blank references dropped"
        examples += kept
    return examples, held


def _check_classes(
    examples: Examples, labels: np.ndarray, folds: tuple[int, int], files: tuple[Path, ...], columns: list[Columns]
) -> None:
    """See that each fit, of all answers and of all but a fold, has both classes: blank answers teach nothing."""
    told = np.array([not is_blank(answer) for answer in examples.answers])
    groups = list(map(question_key, examples.questions))
    try:
        calibration.check_labels(labels)
        calibration.check_labels(labels[told], "labels of answers that are not blank")
        for i, (kept, _) in enumerate(calibration.folds_by_group(labels, groups, *folds), 1):
            name = f"folds: without fold {i} of {folds[0]}, seed {folds[1]}, labels of answers that are not blank"
            calibration.check_labels(labels[kept][told[kept]], name)
    except ValueError as error:
        places = "; ".join(f"{path}, column {names.label!r}" for path, names in zip(files, columns, strict=True))
        raise ValueError(f"{error} ({places})") from None


def short(path: Path) -> str:
    """A file's name and its folder's: a whole path is another one on every machine."""
    return "/".join(path.resolve().parts[-2:])


def _origin(held: list[str], exclude: tuple[Path, ...]) -> str:
    return "; ".join([*held, *(f"without the questions of {short(path)}" for path in exclude)])


def _lines(
    form: str, weights: Weights, figures: dict[str, float], found: calibration.Reliability, folds: int
) -> Iterator[str]:
    yield f"\n{form}, {folds} folds by question: {_spell(figures)}"
    yield f"  {'intercept':<20}{weights.intercept:>9.3f}"
    for name, value in zip(weights.features, weights.coefficients, strict=True):
        yield f"  {name:<20}{value:>9.3f}"
    yield f"  {'probability':<20}{'answers':>9}{'said':>9}{'correct':>9}"
    for i, (count, said, true) in enumerate(zip(found.counts, found.predicted, found.observed, strict=True)):
        span = f"{i / calibration.BINS:.1f} to {(i + 1) / calibration.BINS:.1f}"
        yield f"  {span:<20}{count:>9}" + (f"{said:>9.3f}{true:>9.3f}" if count else f"{'-':>9}{'-':>9}")


def _spell(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
