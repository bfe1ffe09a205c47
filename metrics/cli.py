"""Command line: `semantic-metrics score FILE` scores the rows of a file with a metric and prints or keeps them."""

from collections.abc import Callable
from collections.abc import Iterator
import difflib
from pathlib import Path
import shutil
import sys
import unicodedata

import click

from .errors import InputError
from .fit import fit
from .tables import Table
from .tables import check_output
from .tables import read_csv
from .tables import write_csv

SHOWN = 50  # rows that are printed; --output keeps them all
BAR = 5  # characters that a bar has for each half of the scale, below and above 0
LONG = 1000  # characters of a text that are looked at for printing it
NARROW = 60  # a table is never narrower than this, whatever the terminal says
PIPED = 120  # its width where there is no terminal
NOT_OF_TEXTS = {"set_criteria": "tests an encoder and gives texts no score"}
OF_QUESTIONS = ("nli_lex",)  # metrics that judge answers to questions
LOW, HIGH = 0.0, 0.5  # colours on a terminal: red up to the middle of [-1, 1], green from its upper half


READERS: dict[str, Callable[[Path], Table]] = {".csv": read_csv}


@click.group()
@click.version_option(package_name="semantic-metrics")
def main() -> None:
    """Score texts against references by what they say."""
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal or pipe that cannot show a character still gets it


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--metric", required=True, metavar="NAME", help="matcha, nli_lex or stsscore.")
@click.option("--predictions", required=True, metavar="COLUMN", help="Column with the texts to judge.")
@click.option("--references", required=True, metavar="COLUMN", help="Column with what they should say.")
@click.option("--questions", metavar="COLUMN", help="Column with what was asked, for nli_lex alone.")
@click.option("--config", metavar="CHECKPOINT", help="A folder or a Hub id; by default the shipped checkpoint.")
@click.option("--show", multiple=True, metavar="COLUMN", help="A further column to print; may be repeated.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the rows with their scores to this CSV file.")
def score(
    file: Path,
    metric: str,
    predictions: str,
    references: str,
    questions: str | None,
    config: str | None,
    show: tuple[str, ...],
    output: Path | None,
) -> None:
    """Score the rows of a CSV FILE and print them, with the mean and the signature.

    Example: semantic-metrics score answers.csv --metric matcha --predictions answer --references gold
    """
    _check_metric(metric)
    if (metric in OF_QUESTIONS) != (questions is not None):
        raise InputError(f"--questions: expected a column for {' and '.join(OF_QUESTIONS)}, and for no other metric")
    reader = READERS.get(file.suffix.lower())
    if reader is None and not file.is_dir():
        raise InputError(f"{file}: expected a file that ends in {' or '.join(READERS)}")
    table = (reader or read_csv)(file)
    columns = {"questions": questions, "predictions": predictions, "references": references}
    texts = {name: table.column(f"--{name}", column) for name, column in columns.items() if column is not None}
    shown = {name: table.column("--show", name) for name in show}
    if output is not None:
        check_output(output)
    if output is not None and metric in table.columns:
        raise InputError(f"{file}: expected no column named {metric!r}, which the scores are written to")
    result = _compute(metric, config, texts)
    scores = result["scores"]
    if output is not None:
        rows = [[*row, repr(value)] for row, value in zip(table.rows, scores, strict=True)]
        write_csv(output, Table([*table.columns, metric], rows))
    for line in _lines(scores, {**shown, **{columns[name]: column for name, column in texts.items()}}):
        click.echo(line)
    odd = next(name for name in ("undefined", "blank") if name in result)
    click.echo(f"\n{len(scores)} rows, mean {result[metric]:.4f}, {odd} {result[odd]}")
    click.echo(result["signature"])


def _check_metric(name: str) -> None:
    from . import available

    known = [metric for metric in available() if metric not in NOT_OF_TEXTS]
    if name in known:
        return
    near = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    hint = f", which {NOT_OF_TEXTS[name]}" if name in NOT_OF_TEXTS else hint
    raise InputError(f"--metric: expected one of {', '.join(known)}, got {name!r}{hint}")


def _compute(metric: str, config: str | None, texts: dict[str, list[str]]) -> dict:
    from . import load

    try:
        loaded = load(metric, config, keep_in_memory=True)
        return loaded.compute(**texts)
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from None


def _lines(scores: list[float], texts: dict[str, list[str]]) -> Iterator[str]:
    """The table, row by row: score, bar, and the texts cut to the width of the terminal."""
    width = max(NARROW, shutil.get_terminal_size((PIPED, 0)).columns) - 1
    left = BAR if min(scores) < 0 else 0
    heads = ["score".rjust(7), " " * (left + 1 + BAR)]
    widths = _widths(list(texts), list(texts.values()), width - sum(len(head) + 2 for head in heads))
    yield "  ".join([*heads, *(_fit(name, size) for name, size in zip(texts, widths, strict=True))]).rstrip()
    for i, value in enumerate(scores[:SHOWN]):
        colour = "red" if value <= LOW else "green" if value >= HIGH else "yellow"
        cells = (_fit(column[i], size) for column, size in zip(texts.values(), widths, strict=True))
        yield "  ".join([f"{value:7.3f}", click.style(_bar(value, left), fg=colour), *cells]).rstrip()
    if len(scores) > SHOWN:
        yield f"and {len(scores) - SHOWN} more rows; --output FILE keeps them all"


def _bar(value: float, left: int) -> str:
    """A bar from 0 to the right for a score above it, to the left for one below; one sign for each fifth."""
    below, above = round(max(-value, 0) * left), round(max(value, 0) * BAR)
    return ("-" * below).rjust(left) + "|" + ("#" * above).ljust(BAR)


def _widths(names: list[str], columns: list[list[str]], room: int) -> list[int]:
    """Widths of the columns: what each needs where that fits, the rest shared evenly among the longer ones."""
    cells = [[name, *column[:SHOWN]] for name, column in zip(names, columns, strict=True)]
    needs = [max(_width(_plain(text)) for text in column) for column in cells]
    widths = [0] * len(needs)
    room -= 2 * (len(needs) - 1)
    order = sorted(range(len(needs)), key=needs.__getitem__)
    for done, i in enumerate(order):
        widths[i] = min(needs[i], room // (len(order) - done))
        room -= widths[i]
    return widths


def _plain(text: str) -> str:
    """A text on one line: runs of white space become one space, and what would steer the terminal is spelled out."""
    line = " ".join(text[:LONG].split())
    return line if line.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line)


def _width(text: str) -> int:
    """Terminal cells that a text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _fit(text: str, width: int) -> str:
    """A text cut or filled up to `width` cells."""
    text = _plain(text)
    if _width(text) > width:
        kept, room = [], width - 3
        for character in text:
            room -= _width(character)
            if room < 0:
                break
            kept.append(character)
        text = ("".join(kept) + "...")[:width]
    return text + " " * (width - _width(text))


main.add_command(fit)

if __name__ == "__main__":
    sys.exit(main())
