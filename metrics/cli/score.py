"""`semantic-metrics score`: the rows of a file with the scores of one or more metrics."""

from pathlib import Path

import click

from semantic_metrics.cli.options import with_options
from semantic_metrics.files.formats import FORMATS

CHUNK_ROWS = 2048  # rows that are read, scored and written at a time

_PATH = click.Path(path_type=Path)
_OPTIONS = (
    click.option("--metric", multiple=True, required=True, metavar="NAME", help="matcha, nli_lex or stsscore."),
    click.option("--predictions", metavar="COLUMN", help="Column with the texts to judge."),
    click.option("--references", metavar="COLUMN", help="Column with what they should say."),
    click.option("--references-file", type=_PATH, metavar="TXT", help="The references of a .txt FILE, line by line."),
    click.option("--questions", metavar="COLUMN", help="Column with what was asked, for nli_lex."),
    click.option("--config", multiple=True, metavar="[NAME=]CHECKPOINT", help="Folder or Hub id."),
    click.option("--show", multiple=True, metavar="COLUMN", help="A further column to print."),
    click.option("--output", type=_PATH, metavar="FILE", help="Write the rows with their scores; - prints them."),
    click.option("--resume", is_flag=True, help="Continue a run that was cut off."),
    click.option("--format", type=click.Choice(FORMATS), metavar="NAME", help=f"Of FILE: {', '.join(FORMATS)}."),
    click.option("--batch-rows", default=CHUNK_ROWS, type=click.IntRange(1), metavar="N", help="Rows held at a time."),
)


@click.command()
@click.argument("file", type=_PATH)
@with_options(_OPTIONS)
def score(**given: object) -> None:
    """Score the rows of FILE (.txt, .csv, .tsv, .jsonl, .parquet or -).

    Example: semantic-metrics score answers.csv --metric matcha --predictions answer --references gold --output new.csv
    """
    from semantic_metrics.cli.stream import Job, run

    run(Job(**given))
