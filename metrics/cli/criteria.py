"""`semantic-metrics criteria`: whether sentence encoders treat overlap, difference and union as sets do."""

from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import as_input_error
from semantic_metrics.cli.options import FILE, model_options, shared_option
from semantic_metrics.core.signature import shorten
from semantic_metrics.files.table import check_records_path, read_table, write_records

METRIC = "set_criteria"
COLUMNS = ("a", "b", "target", "operator")
DEFAULT_ENCODER = "matcha"
MEASURES = ("cosine", "dot", "l1", "l2", "ned")  # geometry.MEASURES, which takes long to import


@click.command()
@click.argument("samples", type=FILE)
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    default=[DEFAULT_ENCODER],
    metavar="NAME",
    help="Encoder: matcha, contextual, a folder or a Hub id; repeatable. Default: matcha.",
)
@click.option(
    "--measure",
    default=MEASURES[0],
    show_default=True,
    type=click.Choice(MEASURES),
    metavar="NAME",
    help=f"Similarity of C1, C3 and C4: {', '.join(MEASURES)}.",
)
@model_options("device", "precision", "backend", "batch_size")
@shared_option("--output", help="Write all figures to a .json or .csv file.")
def criteria(samples: Path, encoders: tuple[str, ...], measure: str, run: dict[str, Any], output: Path | None) -> None:
    """Test sentence encoders with SAMPLES (.csv, .jsonl, .parquet): six criteria of Bansal et al., in percent.

    Its columns are two sentences, a and b; target, what they share, what only the first says, or both together; and
    operator: overlap, difference or union.

    Example: semantic-metrics criteria --encoder matcha sets.csv
    """
    check_records_path(output, [samples])
    table = read_table(samples)
    texts = {name: table.texts(str(samples), name) for name in COLUMNS}
    from semantic_metrics import load  # takes seconds to import
    from semantic_metrics.set_criteria.summary import figure_rows, table_lines

    with as_input_error(ValueError):
        result = load(METRIC, keep_in_memory=True).compute(**texts, encoders=list(encoders), **run)
    for line in table_lines(result, measure):
        click.echo(line)
    for one in result["encoders"].values():
        click.echo(shorten(one["signature"]))
    if output is not None:
        named = result["encoders"].items()
        rows = [
            {"encoder": name, **row, "signature": one["signature"]} for name, one in named for row in figure_rows(one)
        ]
        write_records(output, rows)
