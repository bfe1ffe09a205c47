"""`semantic-metrics fit`: the weights of nli_lex or consensus, or a metric's threshold, from what people judged.

The questions of evaluation sets are left out by --exclude. Every figure that is printed is cross-validated by question:
no answer is judged by weights, or a threshold, that were fitted on an answer to the same question.
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import (
    DEFAULT_METRIC,
    FilePath,
    model_options,
    output_option,
    refuse_existing,
    shared_option,
)
from semantic_metrics.cli.scoring import MetricChoice, MetricOptions, score_rows
from semantic_metrics.core.contract import describe
from semantic_metrics.core.loading import load_scoring
from semantic_metrics.core.signature import shorten
from semantic_metrics.files import file_errors
from semantic_metrics.files.output import check_output
from semantic_metrics.files.table import write_json
from semantic_metrics.fitting import CRITERIA, FOLDS
from semantic_metrics.fitting.judged_answers import JudgedColumns, JudgedFile, read_judged_answers, read_questions

if TYPE_CHECKING:
    import numpy as np

WEIGHTED = "nli_lex"  # the metric whose weights are fitted on labels
RATED = "consensus"  # the metric whose weights are fitted on ratings
FORMS = ("rich", "two_features", "paper")  # forms of its weights
COLUMN_OPTIONS = ("question", "answer", "reference", "label", "separator", "weight")  # once, or a file
ONLY_LABELS = ("exclude", "form", "long", "rows", "weight")  # only a fit of weights on labels takes them
# no use for ratings
LABEL_OPTIONS = (*ONLY_LABELS, "question", "label", "separator", "json_lists", "weights", "plot")
_INPUT = FilePath(exists=True, dir_okay=False, path_type=Path)
_COLUMN: dict[str, Any] = {"multiple": True, "metavar": "COLUMN"}
# the options of one call, by the names of `fit --help`; `inputs` are the files with the names of their columns
FitOptions = SimpleNamespace


@click.command()
@click.argument("files", nargs=-1, required=True, type=_INPUT)
@shared_option("--metric", multiple=False, default=DEFAULT_METRIC, help=f"Metric to fit; default: {DEFAULT_METRIC}.")
@click.option(
    "--criterion", type=click.Choice(CRITERIA), metavar="NAME", help="Rule for a threshold: youden or macro_f1."
)
@click.option("--question", "--questions", "question", default=["question"], **_COLUMN, help="Column of the questions.")
@click.option("--answer", "--predictions", "answer", default=["answer"], **_COLUMN, help="Column of the judged texts.")
@click.option(
    "--reference",
    "--references",
    "reference",
    default=["reference"],
    multiple=True,
    metavar="NAME",
    help="Column of the references.",
)
@click.option("--label", default=["label"], **_COLUMN, help="Column of labels: 1 correct, 0 incorrect.")
@click.option("--separator", default=[""], multiple=True, metavar="TEXT", help="Splits a text into references.")
@shared_option("--json-lists")
@shared_option("--missing")
@click.option(
    "--weight", default=[1.0], multiple=True, type=float, metavar="X", help="Weight of an answer; default: 1."
)
@click.option("--exclude", multiple=True, type=_INPUT, help="File whose questions are left out.")
@click.option(
    "--form",
    multiple=True,
    default=FORMS[:1],
    type=click.Choice(FORMS),
    metavar="NAME",
    help=f"{', '.join(FORMS)}; default: {FORMS[0]}.",
)
@model_options()
@click.option("--long", is_flag=True, help="Also fit on long forms of answers.")
@click.option("--rows", type=click.IntRange(1), metavar="N", help="Most answers of a file, drawn at random.")
@shared_option("--config", multiple=False, metavar="CHECKPOINT")
@shared_option("--weights", multiple=False, metavar="FILE", help="Weights of the metric, to fit a threshold.")
@click.option("--human", metavar="COLUMN", help="Column of ratings, for weights of consensus.")
@click.option("--scale", nargs=2, type=float, metavar="LOW HIGH", help="Ends of the ratings; default: as in FILES.")
@click.option("--seed", default=0, metavar="N", help="Seed of the folds; default: 0.")
@shared_option("--output", required=True, help="File to write, or its folder.")
@output_option("--plot", help="PNG file of the reliability or ROC curve.")
def fit(
    files: tuple[Path, ...],
    metric: str,
    criterion: str | None,
    json_lists: bool,
    missing: str | None,
    **options: Any,
) -> None:
    """Fit a metric to FILES (.csv, .tsv, .jsonl, .parquet) of texts that people judged: its threshold, or weights.

    A threshold says which scores count as correct. With --metric nli_lex and no --criterion, fit the weights of its
    features; with --human, the weights of the parts of consensus on texts that people rated. `score`, `compare`,
    `report` and `validate` take both files. Name columns once, or once for each file.

    Example: semantic-metrics fit rated.csv --predictions said --references gold --label right --output line.json
    """
    with as_input_error(ValueError):
        values = {name: _for_each(name, options.pop(name), len(files)) for name in COLUMN_OPTIONS}
        rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
        columns = [JudgedColumns(**row, json_lists=json_lists, missing=missing) for row in rows]
        inputs = list(zip(files, columns, strict=True))
        given = FitOptions(inputs=inputs, metric=metric, criterion=criterion, **options)
        if given.human is not None:
            _fit_consensus(given)
            return
        _refuse_options(("scale",), "only a fit on ratings takes it, --human asks for one")
        if metric == WEIGHTED and criterion is None:
            _refuse_options(("weights",), "only a fit of a threshold takes them, --criterion asks for one")
            _fit_weights(given)
        else:
            _fit_threshold(given, _threshold_metric(given))


def _output_file(options: FitOptions, name: str) -> Path:
    """The file to write: --output, or the file `name` in it if it is a folder; checks it, and the plot too."""
    with file_errors("--output"):
        output = options.output / name if options.output.is_dir() else options.output
    refuse_existing("--output", output)
    read = [*options.exclude, *(path for path, _ in options.inputs)]
    read += [] if options.weights is None else [Path(options.weights)]
    check_output(output, "--output", inputs=read)
    if options.plot is None:
        return output
    if find_spec("matplotlib") is None:
        raise InputError("--plot: expected matplotlib to be installed, as the extra `benchmark` does")
    if options.plot.suffix.lower() != ".png":
        raise InputError(f"--plot: expected a file that ends in .png, got {options.plot}")
    check_output(options.plot, "--plot", inputs=[output, *read])
    return output


def _for_each(name: str, values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """One value for each of `count` files."""
    if len(values) not in (1, count):
        option = "--" + name.replace("_", "-")
        raise InputError(f"{option}: expected it once, or {count} times as there are files, got it {len(values)} times")
    return values * count if len(values) == 1 else values


def _fit_weights(options: FitOptions) -> None:
    """Fit weights, print how good they are, and write them; invalid input is refused before a model runs."""
    from semantic_metrics.core.run_options import RunOptions
    from semantic_metrics.fitting.judged_answers import join
    from semantic_metrics.fitting.nli_lex_weights import check_classes, fit_form, training_set
    from semantic_metrics.nli_lex import weights
    from semantic_metrics.nli_lex.features import FORMS as FEATURES
    from semantic_metrics.nli_lex.features import TEMPLATE, extract, load_scorer

    output = _output_file(options, weights.FILE)
    if output.exists():
        try:
            weights.read_forms(output)  # `write_weights` keeps the other forms in it
        except ValueError as error:
            raise InputError(f"--output: expected a new file or one of weights, {output} is there ({error})") from None
    files, origin = _read_judged(options.inputs, options.exclude, options.rows)
    judged = join(files)
    try:
        check_classes(judged, FOLDS, options.seed)
    except ValueError as error:
        places = "; ".join(f"{path}, column {columns.label!r}" for path, columns in options.inputs)
        raise InputError(f"{error} ({places})") from None
    examples = training_set(files, options.long, options.rows)
    scorer = load_scorer(options.config)
    run = RunOptions(**options.run)
    texts = (examples.judged.questions, examples.judged.answers, examples.judged.references)
    readings = {}  # by whether the question is read whole
    for whole in sorted({form == "paper" for form in options.form}):
        names = {name for form in options.form if (form == "paper") == whole for name in FEATURES[form]}
        readings[whole] = extract(scorer, *texts, features=names, run=run, whole_question=whole)
    features = next(iter(readings.values()))
    size, correct, blank = len(features.blank), examples.labels.mean(), int(features.blank.sum())
    click.echo(f"{size} answers, {correct:.3f} of them correct, {blank} blank and not fitted")
    click.echo(f"{features.windowed} pairs were read in windows, {features.truncated} had their question cut")
    made_for: dict[str, Any] = {
        "template": TEMPLATE,
        "checkpoint": scorer.checkpoint_sha256[:16],
        "fitted_on": origin + examples.note,
    }
    reliabilities = {}
    for name in options.form:
        shipped = None
        with suppress(ValueError):  # the checkpoint has none of this form
            shipped = weights.read_weights(scorer.folder, name, scorer.checkpoint_sha256)
        same = shipped is not None and shipped.template == TEMPLATE
        given = (readings[name == "paper"], examples, name, FOLDS, options.seed)
        fitted = fit_form(*given, shipped if same else None)
        with file_errors(output):
            weights.write_weights(output, replace(fitted.weights, **made_for))
        reliabilities[name] = fitted.reliability
        for line in fitted.lines(FOLDS):
            click.echo(line)
    if options.plot is not None:
        from semantic_metrics.fitting.plots import draw_reliability

        draw_reliability(reliabilities, options.plot, f"NLI+lex, {FOLDS} folds by question, {size} answers")
    _echo_written(output, options.plot)


def _read_judged(
    inputs: list[tuple[Path, JudgedColumns]], exclude: tuple[Path, ...], rows: int | None
) -> tuple[list[JudgedFile], str]:
    """Judged answers of each file, and a description of them for people; prints what is left out."""
    excluded = set()
    for path in exclude:
        keys, blank = read_questions(path, [columns.question for _, columns in inputs])
        excluded |= keys
        if blank:
            click.echo(f"{path}: {blank} blank questions, which leave nothing out")
    files, origins = [], []
    short = [_short(path) for path, _ in inputs]
    for i, (path, columns) in enumerate(inputs):
        name = short[i] if short.count(short[i]) == 1 else str(path)
        whole = read_judged_answers(path, columns, click.echo)
        left = whole.without(excluded)
        if not len(left):
            raise InputError(f"{path}: expected questions that --exclude leaves, got none among {len(whole)} answers")
        kept = left.sample(rows)
        weight = f", each counts {columns.weight:g}" * (columns.weight != 1)
        origins.append(f"{name}: {len(kept)} answers{weight}")
        click.echo(f"{path}: {len(whole)} answers, {len(whole) - len(left)} left out by --exclude")
        if len(kept) < len(left):
            click.echo(f"{path}: {len(kept)} of {len(left)} drawn by --rows")
        if any(kept.dropped):
            click.echo(f"{path}: {sum(kept.dropped)} blank references dropped")
        files.append(JudgedFile(name, kept, columns.weight))
    return files, "; ".join([*origins, *(f"without the questions of {_short(path)}" for path in exclude)])


def _threshold_metric(options: FitOptions) -> MetricChoice:
    """The metric whose threshold is fitted; refuses an unknown one, and options that a threshold has no use for."""
    metric, criterion = options.metric, options.criterion
    choice = MetricOptions.of_one(metric, options.config, options.weights)
    choice = replace(choice, missing=options.inputs[0][1].missing)
    got = f"--metric {metric}" + (f" --criterion {criterion}" if criterion else "")
    names = (*ONLY_LABELS, *(() if describe(metric).takes_questions else ("question",)))
    _refuse_options(names, f"only a fit of the weights of {WEIGHTED} takes it, got {got}")
    return choice


def _refuse_options(names: tuple[str, ...], problem: str) -> None:
    """Refuse options that would have no effect."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise InputError(f"--{name.replace('_', '-')}: {problem}")


def _fit_consensus(options: FitOptions) -> None:
    """Fit weights on ratings, print how much closer they come to people, and write them."""
    from semantic_metrics.consensus.scoring import ConsensusScoring
    from semantic_metrics.consensus.weights import CHECKPOINT_DIGITS
    from semantic_metrics.core.run_options import RunOptions
    from semantic_metrics.fitting.consensus_weights import FILE, fit_consensus

    if options.metric != RATED or options.criterion is not None:
        raise InputError(f"--human: only a fit of the weights of {RATED} takes it, got --metric {options.metric}")
    _refuse_options(LABEL_OPTIONS, f"only a fit on labels takes it, got --human {options.human}")
    output = _output_file(options, FILE)
    with as_input_error(ValueError, prefix="--"):
        run = RunOptions(**options.run)
    predictions, references, ratings = _read_rated(options)
    metric = load_scoring(RATED, options.config)
    assert isinstance(metric, ConsensusScoring), "the metric that is fitted"
    parts = metric.models.parts(predictions, references, run)
    fitted = fit_consensus(parts, ratings, references, FOLDS, options.seed)
    origin = "; ".join(_short(path) for path, _ in options.inputs)
    signature = metric.signature(**options.run)
    checkpoint = metric.models.scorer.checkpoint_sha256[:CHECKPOINT_DIGITS]
    fitted = replace(fitted, fitted_on=origin, checkpoint=checkpoint, signature=signature)
    for line in fitted.lines():
        click.echo(line)
    write_json(output, fitted.to_json())
    _echo_written(output)


def _read_rated(options: FitOptions) -> "tuple[list[str], list[str], np.ndarray]":
    """Texts of all files, references and (n,) ratings in [0, 1].

    Blank texts score 0 whatever the weights are: they are left out, and their number is printed.
    """
    import numpy as np

    from semantic_metrics.fitting.consensus_weights import check_enough
    from semantic_metrics.stats.validation import Ratings

    assert options.human is not None, "the column of the ratings"
    predictions, references, ratings = [], [], []
    for path, columns in options.inputs:
        table = columns.read(path, click.echo)
        predictions += table.texts(f"{path}, --predictions", columns.answer)
        references += table.texts(f"{path}, --references", columns.reference)
        ratings += table.numbers(f"{path}, --human", options.human)
        for line in table.warnings(path, columns.references):
            click.echo(line.rpartition("; ")[0], err=True)  # without the advice: this fit takes one reference a text
    pairs = zip(predictions, references, strict=True)
    rows = [row for row, pair in enumerate(pairs) if all(text.strip() for text in pair)]
    check_enough([references[row] for row in rows], FOLDS, options.seed)
    with as_input_error(ValueError, prefix="--"):
        scaled = Ratings.on_scale({options.human: np.array(ratings)}, references, options.scale)
    click.echo(f"{len(predictions)} rated texts, {len(predictions) - len(rows)} blank and not fitted")
    return [predictions[row] for row in rows], [references[row] for row in rows], scaled.mean[rows]


def _fit_threshold(options: FitOptions, choice: MetricChoice) -> None:
    """Choose a threshold, print how well it decides, and write it; invalid input is refused before a model runs."""
    import numpy as np

    from semantic_metrics.core.threshold import FILE
    from semantic_metrics.fitting.threshold import fit_threshold, join_texts, read_labelled_texts
    from semantic_metrics.stats.binary import folds_by_group

    metric, seed = choice.name, options.seed
    output = _output_file(options, FILE)
    if output.suffix.lower() != ".json":
        raise InputError(f"--output: expected a folder or a file that ends in .json, got {output}")
    asks = describe(metric).takes_questions
    warn = partial(click.echo, err=True)
    parts = [read_labelled_texts(path, columns, asks, warn) for path, columns in options.inputs]
    texts = join_texts(parts)
    folds_by_group(texts.labels, texts.groups, FOLDS, seed)  # refuses too few groups
    columns = {"predictions": texts.predictions, "references": texts.references, "questions": texts.questions or []}
    named = list(zip(options.inputs, parts, strict=True))
    places = [f"{path}, row {row}" for (path, _), part in named for row in range(1, len(part.labels) + 1)]
    scored = score_rows(choice, columns, "fit", options.run, lambda column, i: f"{places[i]}, {column}")
    kind = "question" if asks else "reference"
    groups = len(set(texts.groups))
    click.echo(f"{len(texts.labels)} texts, {texts.labels.mean():.3f} of them correct, {groups} {kind}s")
    origin = "; ".join(f"{_short(path)}: {len(part.labels)} texts" for (path, _), part in named)
    scores, criterion = np.array(scored.scores), options.criterion or CRITERIA[0]
    threshold = fit_threshold(metric, scores, scored.signature, texts, criterion, FOLDS, seed, origin)
    for line in threshold.lines(kind):
        click.echo(line)
    write_json(output, threshold.to_json())
    if options.plot is not None:
        from semantic_metrics.fitting.plots import draw_roc

        draw_roc(scores, texts.labels, threshold.value, f"{metric}, {len(texts.labels)} texts", options.plot)
    click.echo(f"{scored.remarks}\n{shorten(scored.signature)}")
    _echo_written(output, options.plot)


def _short(path: Path) -> str:
    """A file's name and its folder's; a whole path differs on every machine."""
    return "/".join(path.resolve().parts[-2:])


def _echo_written(*paths: Path | None) -> None:
    click.echo(f"written to {', '.join(str(path) for path in paths if path is not None)}")
