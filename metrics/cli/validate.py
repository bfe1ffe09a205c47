"""`semantic-metrics validate`: which metric agrees with people on a file that they rated."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import with_options
from semantic_metrics.cli.scoring import OF_QUESTIONS, check_run

if TYPE_CHECKING:
    from semantic_metrics.files.table import Table
    from semantic_metrics.stats.validation import Ratings

RESAMPLES = 1_000  # as stats.bootstrap.RESAMPLES, which takes a second to import
USUAL = ("matcha", "stsscore")  # and, where there are questions, OF_QUESTIONS
FIGURES = ("spearman", "kendall", "pearson", "ccc")  # the first decides by default: no scaling moves it

_BY = f"Decides: {', '.join(FIGURES)}."
_DRAWS = f"Of the intervals; {RESAMPLES} by default."
_FILE = click.Path(path_type=Path)
_OPTIONS = (
    click.option("--human", multiple=True, required=True, metavar="COLUMN", help="Of ratings; once for each rater."),
    click.option("--predictions", required=True, metavar="COLUMN", help="Of the texts that were rated."),
    click.option("--references", required=True, metavar="COLUMN", help="Of what they should say."),
    click.option("--questions", metavar="COLUMN", help="Of what was asked, for nli_lex."),
    click.option("--metric", "metrics", multiple=True, metavar="NAME", help="May be repeated; by default all."),
    click.option("--config", "configs", multiple=True, metavar="[NAME=]CHECKPOINT", help="Folder or Hub id."),
    click.option("--group", metavar="COLUMN", help="Of what candidates belong to: the references."),
    click.option("--scale", nargs=2, type=float, metavar="LOW HIGH", help="Of the ratings; by default those seen."),
    click.option("--by", default="spearman", type=click.Choice(FIGURES), metavar="FIGURE", help=_BY),
    click.option("--resamples", default=RESAMPLES, type=click.IntRange(2), metavar="N", help=_DRAWS),
    click.option("--seed", default=0, type=click.IntRange(0), metavar="N", help="Of the intervals; 0 by default."),
    click.option("--output", type=_FILE, help="Write all figures to a .json or .csv file."),
)


@click.command()
@click.argument("file", type=_FILE)
@with_options(_OPTIONS)
def validate(file: Path, human: tuple[str, ...], metrics: tuple[str, ...], **more: object) -> None:
    """Say which metric agrees best with people on FILE (.csv, .jsonl, .parquet), which they rated.

    Example: semantic-metrics validate rated.csv --human rating --predictions answer --references gold
    """
    from semantic_metrics.cli import whole
    from semantic_metrics.files.table import read_table
    from semantic_metrics.stats import validation

    questions, output = more["questions"], more["output"]
    metrics = metrics or (*USUAL, *(OF_QUESTIONS if questions is not None else ()))
    checkpoints = check_run(metrics, more["configs"], questions)
    whole.check_outcome(output, [file])
    table = read_table(file)
    predictions = table.texts("--predictions", more["predictions"])
    references = table.texts("--references", more["references"], several=True)
    texts = (predictions, references, None if questions is None else table.texts("--questions", questions))
    rated = _ratings(table, file, human, whole.groups_of(table, "--group", more["group"], references), more["scale"])
    scored = {name: whole.score_rows(name, config, *texts) for name, config in checkpoints.items()}
    scores = {name: one.scores for name, one in scored.items()}
    scores[validation.BASELINE] = [validation.token_f1(*pair) for pair in zip(predictions, references, strict=True)]
    found = validation.validate(scores, rated, more["by"], more["resamples"], more["seed"])
    click.echo(f"{file}: {rated.summary()}")
    for line in [*found.lines(), "", *(f"{one.remarks}\n{one.signature}" for one in scored.values())]:
        click.echo(line)
    if output is not None:
        signatures = {name: one.signature for name, one in scored.items()}
        whole.write_outcome(output, [{**row, "signature": signatures.get(row["metric"])} for row in found.rows()])


def _ratings(
    table: "Table", file: Path, human: tuple[str, ...], groups: list, scale: tuple[float, float] | None
) -> "Ratings":
    from semantic_metrics.cli.whole import numbers_of
    from semantic_metrics.stats.validation import Ratings

    if len(set(human)) < len(human):
        raise InputError(f"--human: expected each column once, got {', '.join(map(repr, human))}")
    columns = {name: numbers_of(table, file, "--human", name) for name in human}
    try:
        return Ratings.on_scale(columns, groups, scale)
    except ValueError as error:
        raise InputError(f"--{error}") from None
