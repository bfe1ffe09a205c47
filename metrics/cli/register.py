"""`semantic-metrics register`: `evaluate.load("matcha")` by its bare name; see `core.registration`."""

import click

import semantic_metrics
from semantic_metrics.cli.errors import as_input_error
from semantic_metrics.files import file_errors


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--remove", is_flag=True, help="Remove the names again.")
def register(names: tuple[str, ...], remove: bool) -> None:
    """Make evaluate.load("matcha") work by bare NAME (all metrics by default).

    A script that imports the metric from this package is put into the module cache of `evaluate`, where it is found
    from any folder and without a network. `semantic_metrics.register()` does the same in a notebook.

    Example: semantic-metrics register
    """
    with as_input_error(ValueError), file_errors("the module cache of evaluate"):
        lines = semantic_metrics.register(*names, remove=remove)
    for line in lines:
        click.echo(line)
    if not remove:
        hint = "HF_EVALUATE_OFFLINE=1 spares it asking the Hub first"
        click.echo(f'evaluate.load("{lines[0].split()[0]}") works in any folder now; {hint}')
