"""`semantic-metrics check`: which sentences of a summary its source supports, contradicts or does not contain."""

from collections import Counter
from collections.abc import Iterator, Mapping
from json import dumps
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from semantic_metrics.cli.errors import Gate, InputError, as_input_error, finish, read_number
from semantic_metrics.cli.options import FILE, model_options, output_option, shared_option
from semantic_metrics.cli.terminal import plain
from semantic_metrics.core.contract import describe
from semantic_metrics.core.inputs import quote
from semantic_metrics.core.loading import score
from semantic_metrics.core.signature import shorten
from semantic_metrics.files import FileError, file_errors
from semantic_metrics.files.formats import MAX_LINE_BYTES
from semantic_metrics.files.output import atomic_write, check_output
from semantic_metrics.files.table import Table, read_table
from semantic_metrics.html.checked_texts import MARKS, checked_texts
from semantic_metrics.support.decision import NOT_FOUND

METRIC = "support"
WIDTH = 100  # characters of a line on the terminal
INDENT = " " * 30  # of a sentence's lines below its verdict
MAX_PRINTED_TEXTS = 20  # --output and --html have them all


@click.command()
@click.argument("summary", type=FILE)
@click.argument("source", type=FILE, required=False)
@shared_option("--predictions", help="With a table in place of SUMMARY and SOURCE: column of the texts to check.")
@shared_option("--references", multiple=False, help="With a table: column of their sources.")
@shared_option("--missing")
@click.option("--coverage", is_flag=True, help="Also say which sentences of the source the summary leaves out.")
@click.option("--k", metavar="N", help="Sentences of the source to read for each sentence, or all; default: 8.")
@shared_option("--config", multiple=False, metavar="CHECKPOINT")
@model_options()
@click.option(
    "--fail-under",
    metavar="SUPPORT",
    help="Exit with code 1 if a sentence of a text has less support than this; 0.5 stands for even odds.",
)
@click.option("--max-wrong", metavar="N", help="Exit with code 1 if more sentences have no support.")
@shared_option("--json")
@shared_option("--output", help="JSONL or JSON file to write: each text with its sentences and places.")
@output_option("--html", help="HTML page to write: each sentence leads to its place in the source.")
def check(
    summary: Path,
    source: Path | None,
    predictions: str | None,
    references: str | None,
    missing: str | None,
    coverage: bool,
    k: str | None,
    config: str | None,
    fail_under: str | None,
    max_wrong: str | None,
    json: bool,
    output: Path | None,
    html: Path | None,
    run: dict[str, Any],
) -> None:
    """Check each sentence of SUMMARY, a text file, against SOURCE, another one.

    Or check all rows of a table: semantic-metrics check rows.csv --predictions summary --references article

    Example: semantic-metrics check summary.txt article.txt --html check.html
    """
    lowest, most = read_number("--fail-under", fail_under, 0, 1), read_number("--max-wrong", max_wrong, 0)
    names, texts, sources, table = _read(summary, source, predictions, references, missing)
    options: dict[str, Any] = {} if k is None else {"k": sentences_to_read(k)}
    for path in filter(None, (output, html)):
        check_output(path, inputs=[summary, *([source] if source else [])])
    if output is not None and html is not None and output.resolve() == html.resolve():
        raise InputError(f"--html: expected another file than --output, got {html}")
    with as_input_error(ValueError):
        result = score(METRIC, texts, sources, checkpoint=config, coverage=coverage, **options, **run)
    if not json:
        click.echo("\n".join([*_lines(names, result), *table.notes]))
    if output is not None:
        _write(output, names, result)
        click.echo(f"written to {output}", err=True)
    if html is not None:
        from semantic_metrics.report import write_check  # scipy takes a second to import

        title = f"{summary.name} checked against {source.name if source else references}"
        write_check(html, title, checked_texts(names, texts, sources, result), result["signature"])
        click.echo(f"written to {html}", err=True)
    counts = {name: result[name] for name in (*describe(METRIC).counts, "signature") if name in result}
    wrong = sum(result["unsupported"])
    figures = {"texts": len(names), "without_answer": table.without_answer, "mean": result[METRIC]}
    figures |= {"lowest": min(result["minimums"]), "wrong": wrong, **counts}
    finish(_failures(names, result["minimums"], wrong, Gate(lowest, most)), figures if json else None)


def _failures(names: list[str], minimums: list[float], wrong: int, gate: Gate) -> Iterator[str]:
    """Failures: texts whose lowest sentence has too little support, and too many sentences without."""
    if gate.fail_under is not None:
        support = gate.fail_under
        low = [plain(name) for name, lowest in zip(names, minimums, strict=True) if lowest < support]
        if low:
            shown = ", ".join(low[:MAX_PRINTED_TEXTS])
            yield f"lowest sentence below {support:g} in {len(low)} of {len(names)} texts: {shown}"
    if gate.max_wrong is not None and wrong > gate.max_wrong:
        yield f"expected at most {gate.max_wrong:g} sentences not supported, got {wrong}"


def _read(
    summary: Path, source: Path | None, predictions: str | None, references: str | None, missing: str | None
) -> tuple[list[str], list[str], list[Any], Table]:
    """Names, texts and sources, of two files or of the rows of a table, and that table (empty for two files)."""
    if source is not None:
        if predictions or references or missing:
            raise InputError("--predictions, --references, --missing: expected them with one table, got two files")
        return [summary.name], [_text(summary)], [_text(source)], Table([], [])
    if not (predictions and references):
        raise InputError("SOURCE: expected a file, or --predictions and --references with a table")
    table = read_table(summary).answered("--predictions", predictions, missing)
    texts = table.texts("--predictions", predictions)
    sources = table.texts("--references", references, several=True)
    return [f"Row {row}" for row in range(1, len(texts) + 1)], texts, sources, table


def _text(path: Path) -> str:
    """A file as one text."""
    with file_errors(path), path.open("rb") as file:
        content = file.read(MAX_LINE_BYTES + 1)
    if len(content) > MAX_LINE_BYTES:
        raise FileError(f"{path}: expected a text of at most {MAX_LINE_BYTES // 2**20} MiB, got a longer one")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: expected UTF-8 text, got the byte 0x{content[error.start]:02x}") from None


def sentences_to_read(given: str) -> int | None:
    """Value of --k; None for all. InputError: it is neither a number from 1 nor "all"."""
    if given == "all":
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0):
        raise InputError(f"--k: expected a whole number from 1, or all, got {quote(given)}")
    return int(given)


def _lines(names: list[str], result: Mapping[str, Any]) -> Iterator[str]:
    """The report for a terminal."""
    for i, name in enumerate(names[:MAX_PRINTED_TEXTS]):
        sentences = result["sentences"][i]
        counts = Counter(one["verdict"] for one in sentences)
        verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in MARKS)
        covers = f", coverage {result['coverage'][i]:.3f}" if "coverage" in result else ""
        yield f"{plain(name)}: {result['scores'][i]:.3f}, lowest {result['minimums'][i]:.3f}{covers}; {verdicts}"
        several = any(place["reference"] for one in sentences for place in one["places"])
        for one in sentences:
            support = f"{'':13}" if one["support"] is None else f"support {one['support']:.3f}"
            head = f"{MARKS[one['verdict']]} {one['verdict']:12} {support}  "
            yield _wrapped(head, one["text"])
            for place in one["places"][:1]:
                source = f"source {place['reference'] + 1}, " if several else ""
                nearest = "nearest: " if one["verdict"] == NOT_FOUND else ""
                yield _wrapped(f"{INDENT}{nearest}{source}{place['begin']}-{place['end']}: ", place["text"])
        for one in result["missing"][i] if "missing" in result else ():
            head = f"- missing      support {one['support']:.3f}  "
            yield _wrapped(head, one["text"])
    if len(names) > MAX_PRINTED_TEXTS:
        yield f"and {len(names) - MAX_PRINTED_TEXTS} more texts; --output FILE keeps them all"
    notes = "".join(
        f", {kind} {result[kind]}" for kind in ("undefined", "truncated", "unread", "thoughts") if result[kind]
    )
    unsupported, read = sum(result["unsupported"]), result["passages_read"]
    mean = f"mean {result[METRIC]:.4f}, sentences not supported {unsupported}"
    yield f"texts {len(names)}, {mean}; passages read {read}{notes}"
    yield shorten(result["signature"])


def _wrapped(head: str, text: str) -> str:
    """A text behind its head, whole: what decides may be its last word."""
    return fill(plain(text, len(text)), WIDTH, initial_indent=head, subsequent_indent=INDENT)


def _write(path: Path, names: list[str], result: Mapping[str, Any]) -> None:
    """Write an object of JSON for each text: a line each, or for a name that ends with .json one list."""
    names_of = {"score": "scores", "minimum": "minimums"}
    names_of |= {name: name for name in ("unsupported", "coverage", "missing", "sentences") if name in result}
    columns = {"name": names, **{key: result[name] for key, name in names_of.items()}}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    lines = [dumps(row | {"signature": result["signature"]}, ensure_ascii=False) for row in rows]
    text = "[" + ",\n".join(lines) + "]" if path.suffix.lower() == ".json" else "\n".join(lines)
    with atomic_write(path) as file:
        file.write(f"{text}\n".encode())
