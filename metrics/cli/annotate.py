"""`semantic-metrics annotate`: a page on which people judge the texts of a file, and their judgements in one table."""

from itertools import combinations
from pathlib import Path

import click

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.options import FILE, TextColumns, shared_option, text_options
from semantic_metrics.core.inputs import quote
from semantic_metrics.files.output import check_output
from semantic_metrics.files.rows import list_names
from semantic_metrics.files.table import Table, read_table, write_table

LABELS = {1: "correct", 0: "incorrect"}
MOST_RATINGS = 11  # buttons in a row: 0 to 10
ROW, PREDICTION, MAJORITY = "row", "prediction", "majority"  # columns
Raters = dict[str, dict[int, int]]  # by name, the ratings of rows, from 0


@click.command()
@click.argument("file", type=FILE)
@text_options(required=True)
@click.option("--scale", nargs=2, type=int, metavar="LOW HIGH", help="Rate from LOW to HIGH; default: correct or not.")
@click.option("--ratings", multiple=True, type=FILE, help="CSV that a rater saved, repeatable: join them with FILE.")
@shared_option("--seed", type=click.IntRange(0), help="Seed of the order of the texts.")
@shared_option("--output", required=True, help="Page (.html) to write; with --ratings a table.")
def annotate(
    file: Path,
    text_columns: TextColumns,
    scale: tuple[int, int] | None,
    ratings: tuple[Path, ...],
    seed: int,
    output: Path,
) -> None:
    """Write a page on which people judge the texts of FILE without seeing scores, or join what they saved.

    Each saves a CSV with the page. Joined, with a column a rater, they are what `validate --human` and `fit` read.

    Example: semantic-metrics annotate rated.csv --predictions said --references reference --output page.html
    """
    if scale is not None and not 0 < scale[1] - scale[0] < MOST_RATINGS:
        raise InputError(f"--scale: expected LOW below HIGH, {MOST_RATINGS} whole numbers at most, got {scale}")
    if (output.suffix == ".html") == bool(ratings):
        expected = "a table, such as rated.csv, with --ratings" if ratings else "a page, such as page.html"
        raise InputError(f"--output: expected {expected}, got {output}")
    check_output(output, inputs=[file, *ratings])
    table, texts = text_columns.read(file)
    allowed = LABELS if scale is None else {value: str(value) for value in range(scale[0], scale[1] + 1)}
    if not ratings:
        from semantic_metrics.report import write_annotation  # scipy takes a second to import

        shown = {name: texts[name] for name in ("questions", "references", "predictions") if name in texts}
        write_annotation(output, file.name, shown, allowed, seed)
        click.echo(f"{output}: {len(table.rows):,} rows to judge")
        return
    raters = _read(ratings, texts["predictions"], set(allowed))
    joined = _joined(table, raters, labels=scale is None)
    write_table(output, joined)
    click.echo(f"{output}: {len(joined.rows):,} of {len(table.rows):,} rows, those that all raters judged")
    if scale is None and joined.rows:
        click.echo("\n".join(_agreement(joined, list(raters))))


def _read(files: tuple[Path, ...], predictions: list[str], allowed: set[int]) -> Raters:
    """Ratings by rater and row."""
    raters: Raters = {}
    for file in files:
        saved = read_table(file)
        names = [name for name in saved.columns if name not in (ROW, PREDICTION)]
        if len(names) != 1 or not {ROW, PREDICTION} < set(saved.columns):
            raise InputError(
                f"{file}: expected the columns {ROW}, {PREDICTION} and a rater's, got {list_names(saved.columns)}"
            )
        if names[0] in raters:
            raise InputError(f"--ratings: expected raters of different names, got {quote(names[0])} twice")
        rows, given = (saved.numbers(str(file), name) for name in (ROW, names[0]))
        own: dict[int, int] = {}
        for row, text, rating in zip(rows, saved.texts(str(file), PREDICTION), given, strict=True):
            place = int(row) - 1
            if row != place + 1 or place not in range(len(predictions)) or predictions[place].split() != text.split():
                raise InputError(f"{file}: expected the texts of the rated file, got another one as row {row:g}")
            if rating not in allowed:
                raise InputError(f"{file}: expected ratings among {sorted(allowed)}, got {rating:g} in row {row:g}")
            own[place] = int(rating)
        raters[names[0]] = own
    return raters


def _joined(table: Table, raters: Raters, labels: bool) -> Table:
    """The rows that all raters judged, with a column each and, of an odd number of them, the label of most."""
    added = [*raters, *[MAJORITY] * (labels and len(raters) % 2)]
    if taken := sorted(set(added) & set(table.columns)):
        raise InputError(
            f"--ratings: expected raters with other names than the columns of the file, got {list_names(taken)}"
        )
    rows = []
    for i, row in enumerate(table.rows):
        given = [ratings[i] for ratings in raters.values() if i in ratings]
        if len(given) == len(raters):
            rows.append([*row, *given, *[int(sum(given) > len(given) / 2)] * (len(added) - len(raters))])
    return Table([*table.columns, *added], rows)


def _agreement(joined: Table, names: list[str]) -> list[str]:
    """A line for each two raters: the share judged alike, and Cohen's kappa, which is 0 where that is chance."""
    from sklearn.metrics import accuracy_score, cohen_kappa_score

    lines = []
    for one, other in combinations(names, 2):
        given, others = joined.column("", one), joined.column("", other)
        only_one = len({*given, *others}) == 1
        kappa = "undefined, one label alone" if only_one else f"{cohen_kappa_score(given, others):.3f}"
        lines.append(f"{one} and {other}: {accuracy_score(given, others):.1%} judged alike, kappa {kappa}")
    return lines
