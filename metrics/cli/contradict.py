"""`semantic-metrics contradict`: texts of a file, each with a text that contradicts it."""

from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.options import FILE, model_options, shared_option
from semantic_metrics.cli.terminal import plain
from semantic_metrics.contradictions import contradict as contradict_texts
from semantic_metrics.contradictions import mining, nli_check, summary
from semantic_metrics.contradictions.chat_model import Writer
from semantic_metrics.endpoint import EndpointError
from semantic_metrics.files.formats import format_of
from semantic_metrics.files.output import check_output
from semantic_metrics.files.table import Table, read_table, write_table
from semantic_metrics.files.writers import TABLE_NAMES

MAX_PRINTED = 20  # contradictions that are printed without --output
COLUMNS = ("row", "text", "contradiction", "rule", "probability")


@click.command()
@click.argument("file", type=FILE)
@click.option("--column", default="text", show_default=True, metavar="COLUMN", help="Column of the texts.")
@shared_option("--output", help="File to write the contradictions to.")
@click.option("--rules", metavar="NAMES", help="Rules to use, separated by commas; default: all.")
@click.option("--per-text", default=1, type=click.IntRange(1), metavar="N", help="Contradictions per text; default: 1.")
@shared_option("--seed", help="Seed of the choice among possible changes.")
@click.option("--threshold", type=click.FloatRange(0, 1), metavar="P", help="Lowest probability of the NLI model.")
@click.option("--no-check", is_flag=True, help="Skip the check by the NLI model.")
@click.option("--checkpoint", metavar="NAME", help="NLI model: a folder or Hub id; default: the shipped one.")
@model_options()
@click.option("--mine", is_flag=True, help="Find contradictions among the texts; make none.")
@click.option("--group", metavar="COLUMN", help="With --mine: column of groups, whose own texts form no pair.")
@click.option("--endpoint", metavar="URL", help="OpenAI-compatible API, up to /v1, that writes them.")
@click.option("--model", metavar="NAME", help="Model of the endpoint.")
def contradict(file: Path, column: str, output: Path | None, **options: Any) -> None:
    """Make texts that contradict those of FILE (.txt, .csv, .tsv, .jsonl or .parquet), one for each by default.

    Example: semantic-metrics contradict claims.csv --column claim --output contradictions.csv
    """
    _check(options)
    if output is not None:
        if format_of(output) == "txt":
            raise InputError(f"--output: expected a file of {TABLE_NAMES}, got {output}")
        check_output(output, inputs=[file])
    table = read_table(file)
    texts = table.texts("--column", column)
    # replies of the endpoint are kept beside the output until it is complete: the same command asks only for the rest
    kept = None if output is None or not options["endpoint"] else output.with_name(f"{output.name}.replies.jsonl")
    if kept is not None:
        check_output(kept, inputs=[file])
    with as_input_error(ValueError):
        try:
            rows, counts = _mine(texts, table, options) if options["mine"] else _make(texts, options, kept)
        except EndpointError as error:
            if kept is None or not kept.exists():
                raise
            raise InputError(f"{error}; the replies until then are kept in {kept}: repeat the command") from error
    if output is not None:
        write_table(output, Table(list(COLUMNS), rows))
        if kept is not None:
            kept.unlink(missing_ok=True)
    else:
        for _, text, contradiction, rule, _ in rows[:MAX_PRINTED]:
            click.echo(f"{rule}: {plain(text)}\n  {plain(contradiction)}\n")
        if len(rows) > MAX_PRINTED:
            click.echo(f"and {len(rows) - MAX_PRINTED} more; --output FILE keeps them all\n")
    click.echo(counts)


def _check(options: dict[str, Any]) -> None:
    for name in ("rules", "endpoint", "model", "checkpoint", "group"):
        if options[name] == "":
            raise InputError(f"--{name}: expected a value, got ''")
    if options["mine"] and (options["no_check"] or options["rules"] or options["endpoint"] or options["per_text"] > 1):
        raise InputError("--mine: expected no --no-check, --rules, --per-text or --endpoint, which make contradictions")
    if (options["endpoint"] is None) != (options["model"] is None):
        raise InputError("--endpoint: expected a URL and --model, both or none")
    if options["endpoint"] and options["rules"]:
        raise InputError("--endpoint: expected no --rules, which a language model does not follow")
    if options["group"] is not None and not options["mine"]:
        raise InputError("--group: expected with --mine alone")


def _make(texts: list[str], options: dict[str, Any], kept: Path | None) -> tuple[list[list[Any]], str]:
    """Rows of the contradictions that the rules or a language model make, and the counts."""
    results = contradict_texts(
        texts,
        [name.strip() for name in options["rules"].split(",")] if options["rules"] else None,
        seed=options["seed"],
        per_text=options["per_text"],
        check=not options["no_check"],
        threshold=nli_check.THRESHOLD if options["threshold"] is None else options["threshold"],
        checkpoint=options["checkpoint"],
        run=options["run"],
        writer=Writer(options["endpoint"], options["model"], kept=kept) if options["endpoint"] else None,
    )
    rows = [
        [i, result.text, one.text, one.rule, one.p]
        for i, result in enumerate(results, 1)
        for one in result.contradictions
    ]
    return rows, ", ".join(f"{name} {count}" for name, count in summary(results).items())


def _mine(texts: list[str], table: Table, options: dict[str, Any]) -> tuple[list[list[Any]], str]:
    """Rows of the contradictions found among the texts, and the counts."""
    groups = None if options["group"] is None else table.column("--group", options["group"])
    threshold = mining.THRESHOLD if options["threshold"] is None else options["threshold"]
    pairs = mining.mine(texts, groups=groups, threshold=threshold, checkpoint=options["checkpoint"], run=options["run"])
    rows = [[one.index + 1, one.text, one.contradiction, "mined", one.p] for one in pairs]
    without = len(texts) - len(rows)
    return rows, f"texts {len(texts)}, contradictions {len(rows)}, none: no similar text contradicts {without}"
