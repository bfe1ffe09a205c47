"""`semantic-metrics validate`: which metric agrees with people on a file that they rated."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semantic_metrics.cli import options
from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.scoring import CORRECT, MetricOptions, ScoredRows, metric_options, score_rows, share_correct
from semantic_metrics.core.contract import describe, text_metrics
from semantic_metrics.core.signature import shorten
from semantic_metrics.files.table import check_records_path, write_records
from semantic_metrics.stats.bootstrap import RESAMPLES

if TYPE_CHECKING:
    from semantic_metrics.stats.validation import Validation

FIGURES = ("spearman", "kendall", "pearson", "ccc", "auc")


@click.command()
@click.argument("file", type=options.FILE)
@click.option("--human", multiple=True, required=True, metavar="COLUMN", help="Column of ratings, one a rater.")
@options.text_options(required=True)
@metric_options(default=[], help="Metric, repeatable; default: all.")
@options.model_options()
@click.option("--group", metavar="COLUMN", help="Column of groups; default: the references.")
@click.option("--scale", nargs=2, type=float, metavar="LOW HIGH", help="Ends of the rating scale; default: as in FILE.")
@click.option(
    "--by",
    type=click.Choice(FIGURES),
    metavar="FIGURE",
    help=f"Figure that decides: {', '.join(FIGURES)}; default: auc for labels of two kinds, else spearman.",
)
@options.shared_option("--resamples", default=RESAMPLES, type=click.IntRange(2, options.MAX_RESAMPLES))
@options.shared_option("--seed", type=click.IntRange(0))
@options.shared_option("--output", help="Write all figures to a .json or .csv file.")
def validate(
    file: Path,
    human: tuple[str, ...],
    text_columns: options.TextColumns,
    metrics: MetricOptions,
    group: str | None,
    scale: tuple[float, float] | None,
    by: str | None,
    resamples: int,
    seed: int,
    output: Path | None,
    run: dict[str, Any],
) -> None:
    """Say which metric agrees best with people on FILE (.csv, .jsonl, .parquet), which they rated.

    Example: semantic-metrics validate rated.csv --human rating --predictions said --references reference
    """
    import numpy as np

    from semantic_metrics.stats import validation  # scipy takes a second to import

    if not metrics.metrics:
        asked = options.ANSWER_METRICS if text_columns.questions is not None else ()
        others = (name for name in text_metrics() if name not in options.ANSWER_METRICS)
        metrics = replace(metrics, metrics=(*others, *asked))
    choices = metrics.choose(text_columns)
    check_records_path(output, [file])
    table, texts = text_columns.read(file)
    groups = texts["references"] if group is None else table.column("--group", group)
    if len(set(human)) < len(human):
        raise InputError(f"--human: expected each column once, got {', '.join(map(repr, human))}")
    raters = {name: np.array(table.numbers(f"{file}, --human", name)) for name in human}
    with as_input_error(ValueError, prefix="--"):
        ratings = validation.Ratings.on_scale(raters, list(map(repr, groups)), scale)
    scored = {choice.name: score_rows(choice, texts, "validate", run) for choice in choices}
    scores = {name: np.array(one.scores) for name, one in scored.items()}
    pairs = zip(texts["predictions"], texts["references"], strict=True)
    scores[validation.BASELINE] = np.array([validation.token_f1(*pair) for pair in pairs])
    ranges = {name: describe(name).score_range for name in scored}
    with as_input_error(ValueError, prefix="--"):
        result = validation.validate(scores, ratings, by, resamples, seed, ranges)
    click.echo(f"{file}: {ratings.summary()}")
    for line in _lines(result, scored):
        click.echo(line)
    if output is not None:
        write_records(output, _rows(result, scored))


def _lines(result: "Validation", scored: dict[str, ScoredRows]) -> Iterator[str]:
    yield from [*result.lines(), ""]
    for name, one in scored.items():
        if one.threshold is not None:
            yield f"{name}: {share_correct(sum(one.decide(one.scores)), len(one.scores), one.threshold)}"
    for one in scored.values():
        yield f"{one.remarks}\n{shorten(one.signature)}"


def _rows(result: "Validation", scored: dict[str, ScoredRows]) -> list[dict[str, Any]]:
    rows = result.rows()
    for name, one in scored.items():
        if one.threshold is not None:
            share = sum(one.decide(one.scores)) / len(one.scores)
            rows.append({"metric": name, "figure": CORRECT, "value": share})
    signatures = {name: one.signature for name, one in scored.items()}
    return [{**row, "signature": signatures.get(row["metric"])} for row in rows]
