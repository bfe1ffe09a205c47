"""`semantic-metrics contradict`: texts of a file, each with a text that contradicts it."""

from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import FILE, model_options, shared_option
from semantic_metrics.cli.terminal import plain
from semantic_metrics.contradictions import contradict as contradict_texts
from semantic_metrics.contradictions import summary
from semantic_metrics.files.formats import TEXT, format_of
from semantic_metrics.files.output import check_output
from semantic_metrics.files.table import Table, read_table, write_table
from semantic_metrics.files.writers import TABLE_NAMES

MAX_PRINTED = 20  # contradictions that are printed without --output
COLUMNS = ["row", "text", "contradiction", "rule", "probability"]


@click.command()
@click.argument("file", type=FILE)
@shared_option("--output", help="File to write the contradictions to.")
@shared_option("--seed", help="Seed of the choice among possible changes.")
@shared_option("--config", multiple=False, metavar="CHECKPOINT", help="NLI model: a folder or a Hub id.")
@model_options()
def contradict(file: Path, output: Path | None, seed: int, config: str | None, run: dict[str, Any]) -> None:
    """Make texts that contradict those of FILE: the lines of a .txt file, or the column `text` of a table.

    Example: semantic-metrics contradict claims.txt --output contradictions.csv
    """
    if output is not None:
        if format_of(output) == "txt":
            raise InputError(f"--output: expected a file of {TABLE_NAMES}, got {output}")
        check_output(output, inputs=[file])
    texts = read_table(file).texts(str(file), TEXT)
    with as_input_error(ValueError):
        results = contradict_texts(texts, seed=seed, checkpoint=config, run=run)
    rows: list[list[Any]] = [
        [i, result.text, one.text, one.rule, one.p]
        for i, result in enumerate(results, 1)
        for one in result.contradictions
    ]
    if output is not None:
        write_table(output, Table(COLUMNS, rows))
    else:
        for _, text, contradiction, rule, _ in rows[:MAX_PRINTED]:
            click.echo(f"{rule}: {plain(text)}\n  {plain(contradiction)}\n")
        if len(rows) > MAX_PRINTED:
            click.echo(f"and {len(rows) - MAX_PRINTED} more; --output FILE keeps them all\n")
    click.echo(", ".join(f"{name} {count}" for name, count in summary(results).items()))
