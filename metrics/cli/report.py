"""`semantic-metrics report`: scores of a file as an HTML page.

It scores the file itself instead of reading scores, so that the signature on the page belongs to its scores, and the
heat maps to the same checkpoint. Scores from elsewhere go to `report.write_report`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import FILE, TextColumns, model_options, shared_option, text_options
from semantic_metrics.cli.scoring import LoadedMetric, MetricOptions, metric_options
from semantic_metrics.core.inputs import References, quote
from semantic_metrics.core.signature import shorten
from semantic_metrics.files.output import check_output
from semantic_metrics.files.rows import number_of
from semantic_metrics.files.table import Table

ROWS = 5  # worst rows, and best rows


@click.command()
@click.argument("file", type=FILE)
@metric_options()
@text_options(required=True)
@click.option("--label", metavar="COLUMN", help="Column of human labels: 1 or true for correct, 0 or false.")
@model_options()
@click.option("--rows", default=ROWS, show_default=True, type=click.IntRange(0), help="Worst and best rows to show.")
@shared_option("--output", required=True, help="HTML file to write.")
def report(
    file: Path,
    metrics: MetricOptions,
    text_columns: TextColumns,
    label: str | None,
    rows: int,
    output: Path,
    run: dict[str, Any],
) -> None:
    """Score FILE and write an HTML page: distributions, worst and best rows with heat maps, all rows, signatures.

    Example: semantic-metrics report rated.csv --predictions said --references reference --output rated.html
    """
    choices = metrics.choose(text_columns)
    table, texts = text_columns.read(file)
    labels = None if label is None else _labels(table, label)
    check_output(output, inputs=[file])
    from semantic_metrics.report import Scores, write_report  # scipy takes a second to import

    scores = []
    for choice in choices:
        metric = LoadedMetric(replace(choice, details=True), "report", run)
        result = metric.score(texts)
        values = result[choice.name]
        scores.append(
            Scores(
                choice.name,
                values,
                metric.signature,
                metric.counted(),
                metric.explain,
                _deciding(texts["references"], metric.best_reference),
                metric.line,
                result.get(f"{choice.name}_verdict"),
                result.get(f"{choice.name}_reason"),
            )
        )
        click.echo(f"{choice.name}: {len(values)} rows, {metric.summary()}\n{shorten(metric.signature)}")
    shown = {name.removesuffix("s"): column for name, column in texts.items()}
    shown["reference"] = [" | ".join(one) if isinstance(one, list) else one for one in texts["references"]]
    write_report(output, file.name, scores, shown, labels, rows)
    click.echo(f"written to {output}", err=True)


def _deciding(references: References, best: list[int | None] | None) -> list[str] | None:
    """The reference that decided each row's score, the first where none did; all where all are read, as of `support`.

    None if each row has one reference.
    """
    if best is not None:
        return [texts[i or 0] for texts, i in zip(references, best, strict=True)]
    return ["\n\n".join(texts) for texts in references] if isinstance(references[0], list) else None


def _labels(table: Table, column: str) -> list[bool]:
    values = table.column("--label", column)
    for row, value in enumerate(values, 1):
        if number_of(value) not in (0, 1):
            expected = f"expected 1, 0, true or false in column {quote(column)}"
            raise InputError(f"--label: {expected}, got {quote(value)} in row {row}")
    return [number_of(value) == 1 for value in values]
