"""`semantic-metrics report`: scores of a file as an HTML page.

It scores the file itself instead of reading scores: so the signature on the page is that of the scores on it, and the
heat maps are of the same checkpoint. Scores from elsewhere go to `report.write_report`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import with_options
from semantic_metrics.cli.scoring import COUNTS, OF_QUESTIONS, check_run

if TYPE_CHECKING:
    from semantic_metrics.files.table import Table
    from semantic_metrics.report.page import Scores

SINGULAR = {"predictions": "prediction", "references": "reference", "questions": "question"}
ROWS = 5  # as report.ROWS, which takes a second to import
_OPTIONS = (
    click.option("--metric", "metrics", multiple=True, required=True, metavar="NAME", help="May be repeated."),
    click.option("--predictions", required=True, metavar="COLUMN", help="Column with the texts to judge."),
    click.option("--references", required=True, metavar="COLUMN", help="Column with what they should say."),
    click.option("--questions", metavar="COLUMN", help="Column with what was asked, for nli_lex."),
    click.option("--label", metavar="COLUMN", help="Column of what people said: 1 or true for correct, 0 or false."),
    click.option("--config", "configs", multiple=True, metavar="[NAME=]CHECKPOINT", help="Folder or Hub id."),
    click.option(
        "--rows", default=ROWS, show_default=True, type=click.IntRange(0), help="Shown of the worst and best."
    ),
    click.option("--title", metavar="TEXT", help="Of the page; by default the file's name."),
    click.option("--output", required=True, type=click.Path(path_type=Path), help="HTML file to write."),
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_options(_OPTIONS)
def report(
    file: Path,
    metrics: tuple[str, ...],
    label: str | None,
    configs: tuple[str, ...],
    rows: int,
    title: str | None,
    output: Path,
    **columns: str | None,
) -> None:
    """Score FILE and write an HTML page: distributions, worst and best rows with heat maps, signatures.

    Example: semantic-metrics report my.csv --metric matcha --predictions said --references gold --output my.html
    """
    from semantic_metrics.files.table import check_output, read_table

    chosen = check_run(metrics, configs, columns["questions"])
    table = read_table(file)
    texts = {name: table.texts(f"--{name}", column) for name, column in columns.items() if column}
    labels = None if label is None else _labels(table, label)
    check_output(output, inputs=[file])
    from semantic_metrics.report.page import write_report

    scores = [_scores(name, config, texts) for name, config in chosen.items()]
    held = {SINGULAR[name]: column for name, column in texts.items()}
    write_report(output, title or file.name, scores, held, labels, rows)
    click.echo(
        "\n".join(f"{one.name}: {len(one.values)} rows, mean {sum(one.values) / len(one.values):.4f}" for one in scores)
    )
    click.echo(f"written to {output}", err=True)


def _labels(table: "Table", column: str) -> list[bool]:
    from semantic_metrics.files.table import number_of

    values = table.column("--label", column)
    numbers = list(map(number_of, values))
    if (wrong := next((i for i, number in enumerate(numbers) if number not in (0, 1)), None)) is not None:
        got = f"got {values[wrong]!r} in row {wrong + 1}"
        raise InputError(f"--label: expected 1, 0, true or false in column {column!r}, {got}")
    return list(map(bool, numbers))


def _scores(name: str, config: str | None, texts: dict[str, list[str]]) -> "Scores":
    from semantic_metrics import load
    from semantic_metrics.report.page import Scores

    if name not in OF_QUESTIONS:
        texts = {column: held for column, held in texts.items() if column != "questions"}
    with as_input_error(ValueError):
        metric = load(name, config, keep_in_memory=True)
        result = metric.compute(**texts)
    taken = [SINGULAR[column] for column in texts]

    def explain(row: dict[str, str]) -> dict:
        return metric.explain(**{side: row[side] for side in taken})

    counts = {count: result[count] for count in COUNTS if count in result}
    return Scores(name, result["scores"], result["signature"], counts, explain)
