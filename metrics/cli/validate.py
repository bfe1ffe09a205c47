"""`semantic-metrics validate`: which metric agrees with people on a file that they rated."""

from pathlib import Path

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import ANSWER_METRICS, FILE, MAX_RESAMPLES, shared_option
from semantic_metrics.cli.scoring import check_questions, choose_checkpoints, score_rows
from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.files.table import check_records_path, read_table, write_records
from semantic_metrics.stats.bootstrap import RESAMPLES

FIGURES = ("spearman", "kendall", "pearson", "ccc")  # the first decides by default, as no scaling of scores changes it


@click.command()
@click.argument("file", type=FILE)
@click.option("--human", multiple=True, required=True, metavar="COLUMN", help="Column of ratings, one for each rater.")
@shared_option("--predictions", required=True, help="Column of the texts that were rated.")
@shared_option("--references", required=True)
@shared_option("--questions")
@shared_option("--metric", help="Metric, repeatable; default: all.")
@shared_option("--config")
@click.option("--group", metavar="COLUMN", help="Column that groups candidates; default: the references.")
@click.option("--scale", nargs=2, type=float, metavar="LOW HIGH", help="Ends of the rating scale; default: as in FILE.")
@click.option(
    "--by",
    default=FIGURES[0],
    type=click.Choice(FIGURES),
    metavar="FIGURE",
    help=f"Figure that decides; default: {FIGURES[0]}.",
)
@shared_option("--resamples", default=RESAMPLES, type=click.IntRange(2, MAX_RESAMPLES))
@shared_option("--seed", type=click.IntRange(0))
@shared_option("--output", help="Write all figures to a .json or .csv file.")
def validate(
    file: Path,
    human: tuple[str, ...],
    metrics: tuple[str, ...],
    configs: tuple[str, ...],
    group: str | None,
    scale: tuple[float, float] | None,
    by: str,
    resamples: int,
    seed: int,
    output: Path | None,
    **columns: str | None,
) -> None:
    """Say which metric agrees best with people on FILE (.csv, .jsonl, .parquet), which they rated.

    Example: semantic-metrics validate rated.csv --human rating --predictions answer --references gold
    """
    import numpy as np

    from semantic_metrics.stats import validation  # scipy takes a second to import

    if not metrics:
        metrics = [name for name in text_metrics() if name not in ANSWER_METRICS]
        metrics += ANSWER_METRICS if columns["questions"] is not None else ()
    checkpoints = choose_checkpoints(metrics, configs)
    check_questions("--questions", "a column", columns["questions"] is not None, metrics)
    check_records_path(output, [file])
    table = read_table(file)
    given = {name: column for name, column in columns.items() if column is not None}
    texts = {name: table.texts(f"--{name}", column, name == "references") for name, column in given.items()}
    groups = texts["references"] if group is None else table.column("--group", group)
    if len(set(human)) < len(human):
        raise InputError(f"--human: expected each column once, got {', '.join(map(repr, human))}")
    raters = {name: np.array(table.numbers(f"{file}, --human", name)) for name in human}
    with as_input_error(ValueError, prefix="--"):
        ratings = validation.Ratings.on_scale(raters, list(map(repr, groups)), scale)
    scored = {name: score_rows(name, checkpoint, texts, "validate") for name, checkpoint in checkpoints.items()}
    scores = {name: np.array(one.scores) for name, one in scored.items()}
    pairs = zip(texts["predictions"], texts["references"], strict=True)
    scores[validation.BASELINE] = np.array([validation.token_f1(*pair) for pair in pairs])
    ranges = {name: describe(name).score_range for name in scored}
    result = validation.validate(scores, ratings, by, resamples, seed, ranges)
    click.echo(f"{file}: {ratings.summary()}")
    for line in [*result.lines(), "", *(f"{one.remarks}\n{one.signature}" for one in scored.values())]:
        click.echo(line)
    if output is not None:
        signatures = {name: one.signature for name, one in scored.items()}
        write_records(output, [{**row, "signature": signatures.get(row["metric"])} for row in result.rows()])
