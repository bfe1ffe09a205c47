"""`semantic-metrics fit`: the weights of nli_lex, or a metric's threshold, from answers that people judged.

The questions of evaluation sets are left out by --exclude. Every figure that is printed is cross-validated by question:
no answer is judged by weights, or a threshold, that were fitted on an answer to the same question.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import FILE, FilePath, shared_option
from semantic_metrics.cli.scoring import choose_checkpoints, score_rows
from semantic_metrics.core.contract import describe
from semantic_metrics.files.errors import file_errors
from semantic_metrics.files.output import check_output
from semantic_metrics.files.table import write_json
from semantic_metrics.fitting import CRITERIA
from semantic_metrics.fitting.judged_answers import JudgedAnswers, JudgedColumns, read_judged_answers, read_questions

WEIGHTED = "nli_lex"  # the metric whose weights are fitted
FORMS = ("rich", "two_features", "paper")  # forms of its weights
COLUMN_OPTIONS = ("question", "answer", "reference", "label", "separator", "correct_from")  # once, or for each file
WEIGHT_OPTIONS = ("exclude", "form", "template", "precision", "device", "long")  # no use for a threshold
_INPUT = FilePath(exists=True, dir_okay=False, path_type=Path)
_COLUMN = {"multiple": True, "metavar": "COLUMN"}


@dataclass(frozen=True)
class FitOptions:
    """Options of one call; `inputs` are the files with the names of their columns, the others as in `fit --help`."""

    inputs: list[tuple[Path, JudgedColumns]]
    metric: str
    criterion: str | None
    exclude: tuple[Path, ...]
    form: tuple[str, ...]
    template: str | None
    precision: str
    device: str | None
    long: bool
    config: str | None
    folds: int
    seed: int
    output: Path
    plot: Path | None


@click.command()
@click.argument("files", nargs=-1, required=True, type=_INPUT)
@shared_option("--metric", multiple=False, default=WEIGHTED, help=f"Metric to fit; default: {WEIGHTED}.")
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
@click.option(
    "--correct-from", default=[1.0], multiple=True, type=float, metavar="X", help="Lowest correct label; default: 1."
)
@click.option("--exclude", multiple=True, type=_INPUT, help="File whose questions are left out.")
@click.option(
    "--form",
    multiple=True,
    default=FORMS,
    type=click.Choice(FORMS),
    metavar="NAME",
    help=f"{', '.join(FORMS)}; default: all.",
)
@click.option("--template", metavar="TEXT", help="Model input, with {question} and {answer}.")
@click.option("--precision", default="float32", metavar="NAME", help="float32, bfloat16 or int8.")
@click.option("--device", metavar="NAME", help="Where the model runs, such as cuda.")
@click.option("--long", is_flag=True, help="Also fit on long forms of the answers.")
@shared_option("--config", multiple=False, metavar="CHECKPOINT")
@click.option("--folds", default=5, type=click.IntRange(2), metavar="N", help="Number of folds; default: 5.")
@click.option("--seed", default=0, metavar="N", help="Seed of the folds; default: 0.")
@shared_option("--output", required=True, help="File to write, or its folder.")
@click.option("--plot", type=FILE, help="PNG file of the reliability or ROC curve.")
def fit(files: tuple[Path, ...], metric: str, criterion: str | None, **options: object) -> None:
    """Fit the weights of NLI+lex on FILES (.csv, .tsv, .jsonl, .parquet) of answers that people judged.

    With --metric matcha or stsscore, or with --criterion, choose which scores count as correct: a threshold.
    Name columns once, or once for each file.

    Example: semantic-metrics fit judged.csv --answer said --output nli_lex.json
    """
    with as_input_error(ValueError):
        values = {name: _for_each(name, options.pop(name), len(files)) for name in COLUMN_OPTIONS}
        columns = [JudgedColumns(**dict(zip(values, row, strict=True))) for row in zip(*values.values(), strict=True)]
        inputs = list(zip(files, columns, strict=True))
        given = FitOptions(inputs=inputs, metric=metric, criterion=criterion, **options)
        if metric == WEIGHTED and criterion is None:
            _fit_weights(given)
        else:
            _check_threshold_options(metric, criterion)
            _fit_threshold(given)


def _output_file(options: FitOptions, name: str) -> Path:
    """The file to write: --output, or the file `name` in it if it is a folder; checks it, and the plot too."""
    with file_errors("--output"):
        output = options.output / name if options.output.is_dir() else options.output
    check_output(output, "--output")
    if options.plot is None:
        return output
    if find_spec("matplotlib") is None:
        raise InputError("--plot: expected matplotlib to be installed, as `semantic-metrics[benchmark]` does")
    check_output(options.plot, "--plot")
    if options.plot.suffix.lower() != ".png":
        raise InputError(f"--plot: expected a file that ends in .png, got {options.plot}")
    others = (output, *options.exclude, *(path for path, _ in options.inputs))
    if options.plot.resolve() in {path.resolve() for path in others}:
        raise InputError(f"--plot: expected another file than --output and those that are read, got {options.plot}")
    return output


def _for_each(name: str, values: tuple, count: int) -> tuple:
    """One value for each of `count` files."""
    if len(values) not in (1, count):
        option = "--" + name.replace("_", "-")
        raise InputError(f"{option}: expected it once, or {count} times as there are files, got it {len(values)} times")
    return values * count if len(values) == 1 else values


def _fit_weights(options: FitOptions) -> None:
    """Fit weights, print how good they are, and write them; invalid input is refused before a model runs."""
    from semantic_metrics.cross_encoder.pair_scorer import RunOptions
    from semantic_metrics.fitting.nli_lex_weights import check_classes, fit_form, training_set
    from semantic_metrics.nli_lex import weights
    from semantic_metrics.nli_lex.features import PAPER, RICH, TEMPLATE, extract, load_scorer
    from semantic_metrics.nli_lex.windows import check_template

    output = _output_file(options, weights.FILE)
    if output.exists():
        try:
            weights.read_forms(output)  # `write_weights` keeps the other forms in it
        except ValueError as error:
            raise InputError(f"--output: expected a new file or one of weights, {output} is there ({error})") from None
    template = check_template(options.template or TEMPLATE)
    judged, origin = _read_judged(options.inputs, options.exclude)
    folds, seed = options.folds, options.seed
    try:
        check_classes(judged, folds, seed)
    except ValueError as error:
        places = "; ".join(f"{path}, column {columns.label!r}" for path, columns in options.inputs)
        raise InputError(f"{error} ({places})") from None
    examples = training_set(judged, options.long)
    scorer = load_scorer(options.config)
    run = RunOptions(precision=options.precision, device=options.device)
    texts = (examples.judged.questions, examples.judged.answers, examples.judged.references)
    readings = {  # by whether the question is read whole
        whole: extract(scorer, *texts, template, features=PAPER if whole else RICH, run=run, whole_question=whole)
        for whole in sorted({form == "paper" for form in options.form})
    }
    features = next(iter(readings.values()))
    size, correct, blank = len(features.blank), examples.labels.mean(), int(features.blank.sum())
    click.echo(f"{size} answers, {correct:.3f} of them correct, {blank} blank and not fitted")
    click.echo(f"{features.windowed} pairs were read in windows, {features.truncated} had their question cut")
    made_for = {"template": template, "checkpoint": scorer.checkpoint_sha256[:16], "fitted_on": origin + examples.note}
    reliabilities = {}
    for name in options.form:
        fitted = fit_form(readings[name == "paper"], examples, name, folds, seed)
        with file_errors(output):
            weights.write_weights(output, replace(fitted.weights, **made_for))
        reliabilities[name] = fitted.reliability
        for line in fitted.lines(folds):
            click.echo(line)
    if options.plot is not None:
        from semantic_metrics.fitting.plots import draw_reliability

        draw_reliability(reliabilities, options.plot, f"NLI+lex, {folds} folds by question, {size} answers")
    _echo_written(output, options.plot)


def _read_judged(inputs: list[tuple[Path, JudgedColumns]], exclude: tuple[Path, ...]) -> tuple[JudgedAnswers, str]:
    """Judged answers of all files, and a description of them for people; prints what is left out."""
    excluded = set()
    for path in exclude:
        keys, blank = read_questions(path, [columns.question for _, columns in inputs])
        excluded |= keys
        if blank:
            click.echo(f"{path}: {blank} blank questions, which leave nothing out")
    judged, origins = JudgedAnswers([], [], [], [], []), []
    for path, columns in inputs:
        whole = read_judged_answers(path, columns)
        kept = whole.without(excluded)
        origins.append(f"{_short(path)}: {len(kept)} answers")
        click.echo(f"{path}: {len(whole)} answers, {len(whole) - len(kept)} left out by --exclude")
        if any(kept.dropped):
            click.echo(f"{path}: {sum(kept.dropped)} blank references dropped")
        judged += kept
    return judged, "; ".join([*origins, *(f"without the questions of {_short(path)}" for path in exclude)])


def _check_threshold_options(metric: str, criterion: str | None) -> None:
    """Refuse an unknown metric, and options that a threshold has no use for."""
    choose_checkpoints((metric,), ())
    context = click.get_current_context()
    for name in (*WEIGHT_OPTIONS, *(() if describe(metric).takes_questions else ("question",))):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            got = f"--metric {metric}" + (f" --criterion {criterion}" if criterion else "")
            raise InputError(f"--{name}: only a fit of the weights of {WEIGHTED} takes it, got {got}")


def _fit_threshold(options: FitOptions) -> None:
    """Choose a threshold, print how well it decides, and write it; invalid input is refused before a model runs."""
    import numpy as np

    from semantic_metrics.fitting.threshold import FILE, fit_threshold, join_texts, read_labelled_texts
    from semantic_metrics.stats.binary import folds_by_group

    metric, folds, seed = options.metric, options.folds, options.seed
    checkpoint = choose_checkpoints((metric,), () if options.config is None else (options.config,))[metric]
    output = _output_file(options, FILE)
    if output.suffix.lower() != ".json":
        raise InputError(f"--output: expected a folder or a file that ends in .json, got {output}")
    asks = describe(metric).takes_questions
    parts = [read_labelled_texts(path, columns, asks) for path, columns in options.inputs]
    texts = join_texts(parts)
    folds_by_group(texts.labels, texts.groups, folds, seed)  # refuses too few groups
    columns = {"predictions": texts.predictions, "references": texts.references, "questions": texts.questions}
    scored = score_rows(metric, checkpoint, columns, "fit")
    kind = "question" if asks else "reference"
    groups = len(set(texts.groups))
    click.echo(f"{len(texts.labels)} texts, {texts.labels.mean():.3f} of them correct, {groups} {kind}s")
    named = zip(options.inputs, parts, strict=True)
    origin = "; ".join(f"{_short(path)}: {len(part.labels)} texts" for (path, _), part in named)
    scores, criterion = np.array(scored.scores), options.criterion or CRITERIA[0]
    threshold = fit_threshold(metric, scores, scored.signature, texts, criterion, folds, seed, origin)
    for line in threshold.lines(kind):
        click.echo(line)
    write_json(output, threshold.to_json())
    if options.plot is not None:
        from semantic_metrics.fitting.plots import draw_roc

        draw_roc(scores, texts.labels, threshold.value, f"{metric}, {len(texts.labels)} texts", options.plot)
    click.echo(f"{scored.remarks}\n{scored.signature}")
    _echo_written(output, options.plot)


def _short(path: Path) -> str:
    """A file's name and its folder's; a whole path differs on every machine."""
    return "/".join(path.resolve().parts[-2:])


def _echo_written(*paths: Path | None) -> None:
    click.echo(f"written to {', '.join(str(path) for path in paths if path is not None)}")
