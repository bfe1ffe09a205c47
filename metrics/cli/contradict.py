"""`semantic-metrics contradict`: texts of a file, each with a text that contradicts it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import with_options
from semantic_metrics.cli.terminal import plain

if TYPE_CHECKING:
    from semantic_metrics.contradictions.generate import Contradicted
    from semantic_metrics.files.table import Table

SHOWN = 20  # contradictions that are printed where there is no --output
MINE = "mined"  # stands for the rule of a contradiction that was found, not made
COLUMNS = ("row", "text", "contradiction", "rule", "probability")

_PATH = click.Path(path_type=Path)


_OPTIONS = (
    click.option("--column", default="text", show_default=True, metavar="COLUMN", help="Column with the texts."),
    click.option("--output", type=_PATH, metavar="FILE", help="Write the contradictions to this file."),
    click.option("--rules", metavar="NAMES", help="Rules to use, with commas; all by default."),
    click.option(
        "--per-text", default=1, type=click.IntRange(1), metavar="N", help="Contradictions of a text, at most."
    ),
    click.option("--seed", default=0, type=int, metavar="N", help="Of the choice among those that fit."),
    click.option("--threshold", type=click.FloatRange(0, 1), metavar="P", help="How sure the NLI model is, at least."),
    click.option("--no-check", is_flag=True, help="Keep what the NLI model finds no contradiction."),
    click.option("--checkpoint", metavar="NAME", help="The NLI model, if not the shipped one: a folder or Hub id."),
    click.option("--mine", is_flag=True, help="Find contradictions among the texts; make none."),
    click.option("--group", metavar="COLUMN", help="With --mine: texts of one group (one image) are no pair."),
    click.option("--endpoint", metavar="URL", help="An OpenAI-compatible API that writes instead, up to /v1."),
    click.option("--model", metavar="NAME", help="With --endpoint: the model's name there."),
)


@click.command()
@click.argument("file", type=_PATH)
@with_options(_OPTIONS)
def contradict(file: Path, column: str, output: Path | None, **options: object) -> None:
    """Make texts that contradict those of FILE (.txt, .csv, .tsv, .jsonl or .parquet), one for each by default.

    Example: semantic-metrics contradict claims.csv --column claim --output contradictions.csv
    """
    from semantic_metrics.files.formats import format_of
    from semantic_metrics.files.table import Table, check_output, read_table, write_table

    _check(options)
    if output is not None:
        if format_of(output) == "txt":
            raise InputError(f"--output: expected a file of .csv, .tsv, .jsonl or .parquet, got {output}")
        check_output(output, inputs=[file])
    table = read_table(file)
    texts = table.texts("--column", column)
    with as_input_error(ValueError):
        rows, told = _mined(texts, table, options) if options["mine"] else _made(texts, options)
    if output is not None:
        write_table(output, Table(list(COLUMNS), rows))
    for row in [] if output is not None else rows[:SHOWN]:
        click.echo(f"{row[3]}: {plain(row[1])}\n  {plain(row[2])}\n")
    if output is None and len(rows) > SHOWN:
        click.echo(f"and {len(rows) - SHOWN} more; --output FILE keeps them all\n")
    click.echo(told)


def _check(options: dict) -> None:
    for name in ("rules", "endpoint", "model", "checkpoint", "group"):
        if options[name] == "":
            raise InputError(f"--{name}: expected a value, got ''")
    if options["mine"] and (options["no_check"] or options["rules"] or options["endpoint"] or options["per_text"] > 1):
        raise InputError("--mine: expected no --no-check, --rules, --per-text or --endpoint, which are of made ones")
    if (options["endpoint"] is None) != (options["model"] is None):
        raise InputError("--endpoint: expected a URL and --model, both or none")
    if options["endpoint"] and options["rules"]:
        raise InputError("--endpoint: expected no --rules, which a language model does not follow")
    if options["group"] is not None and not options["mine"]:
        raise InputError("--group: expected with --mine alone")


def _made(texts: list[str], options: dict) -> tuple[list[list], str]:
    """Rows of what the rules, or a language model, made; and the counts."""
    from semantic_metrics.contradictions import generate as contradictions

    given = {name: options[name] for name in ("seed", "per_text", "checkpoint")} | {"check": not options["no_check"]}
    if options["threshold"] is not None:
        given["threshold"] = options["threshold"]
    if options["endpoint"]:
        from semantic_metrics.contradictions.chat_model import Writer

        given["writer"] = Writer(options["endpoint"], options["model"])
    rules = [name.strip() for name in options["rules"].split(",")] if options["rules"] else None
    results = contradictions.contradict(texts, rules, **given)
    told = ", ".join(f"{name} {count}" for name, count in contradictions.summary(results).items())
    return list(_rows(results)), told


def _rows(results: "list[Contradicted]") -> list[list]:
    return [
        [i, result.text, one.text, one.rule, one.p]
        for i, result in enumerate(results, 1)
        for one in result.contradictions
    ]


def _mined(texts: list[str], table: "Table", options: dict) -> tuple[list[list], str]:
    """Rows of what was found among the texts, and the counts."""
    from semantic_metrics.contradictions.mining import THRESHOLD, mine

    groups = None if options["group"] is None else table.column("--group", options["group"])
    threshold = THRESHOLD if options["threshold"] is None else options["threshold"]
    found = mine(texts, groups=groups, threshold=threshold, checkpoint=options["checkpoint"])
    rows = [[one.index + 1, one.text, one.contradiction, MINE, one.p] for one in found]
    return (
        rows,
        f"texts {len(texts)}, contradictions {len(rows)}, none: no similar text contradicts {len(texts) - len(rows)}",
    )
