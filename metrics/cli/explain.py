"""`semantic-metrics explain`: which words moved the score of one pair, in the terminal and as HTML."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from semantic_metrics.cli.errors import InputError, as_input_error
from semantic_metrics.cli.scoring import OF_QUESTIONS, check_metric
from semantic_metrics.cli.terminal import LONG, NARROW, PIPED, plain, width_of

if TYPE_CHECKING:
    from semantic_metrics.report.heat_map import HeatMap, Piece

SHOWN = 300  # tokens of a text that are printed
KEPT = 5000  # tokens of a text that the HTML file shows
INDENT = "  "
LEGEND = "\n+ raises the score, - lowers it; more signs, more of it"
SUMS = {
    "exact": "the tokens of a text add up to the score",
    "integrated_gradients": "the tokens of a text add up to the score minus that of a baseline",
    "leave_one_out": "what the score loses where a token is left out",
}


@click.command()
@click.argument("prediction")
@click.argument("reference")
@click.option("--metric", required=True, metavar="NAME", help="matcha, nli_lex or stsscore.")
@click.option("--question", metavar="TEXT", help="What was asked, for nli_lex alone.")
@click.option("--config", metavar="CHECKPOINT", help="A folder or a Hub id; by default the shipped checkpoint.")
@click.option("--method", metavar="NAME", help="exact (matcha), leave_one_out (others) or integrated_gradients.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write the heat map to this file.")
def explain(
    prediction: str,
    reference: str,
    metric: str,
    question: str | None,
    config: str | None,
    method: str | None,
    html: Path | None,
) -> None:
    """Show which tokens of PREDICTION and REFERENCE raise (+) or lower (-) their score.

    Example: semantic-metrics explain "It did not rain." "It rained." --metric matcha --html why.html
    """
    from semantic_metrics.files.table import check_output
    from semantic_metrics.report.heat_map import heat_maps

    check_metric(metric)
    if (metric in OF_QUESTIONS) != (question is not None):
        raise InputError(f"--question: expected a text for {' and '.join(OF_QUESTIONS)}, and for no other metric")
    texts = {"prediction": prediction, "reference": reference} | ({} if question is None else {"question": question})
    if html is not None:
        check_output(html)
    found, signature = run_explain(metric, config, texts, method)
    head = f"{metric} {found['score']:.4f}"
    note = f"{found['method']}: {SUMS[found['method']]}"
    click.echo("\n".join([f"{head}  ({note})", *lines(heat_maps(found, texts, SHOWN)), LEGEND, signature]))
    if html is not None:
        from semantic_metrics.report.page import write_explanation

        write_explanation(html, head, note, heat_maps(found, texts, KEPT), signature)
        click.echo(f"written to {html}", err=True)


def run_explain(metric: str, config: str | None, texts: dict[str, str], method: str | None) -> tuple[dict, str]:
    """What a metric's `explain` gives, and its signature.

    Raises:
        InputError: the metric refused its input or its checkpoint.
    """
    from semantic_metrics import load

    with as_input_error(ValueError):
        loaded = load(metric, config, keep_in_memory=True)
        return loaded.explain(**texts, **({} if method is None else {"method": method})), loaded.signature()


def lines(maps: list["HeatMap"]) -> Iterator[str]:
    """Heat maps for a terminal: lines of text, each over a line of signs where a token of it has any."""
    width = max(NARROW, shutil.get_terminal_size((PIPED, 0)).columns) - 1 - len(INDENT)
    for found in maps:
        yield f"\n{found.name}, together {found.total:+.4f}"
        for above, below in _wrapped(found.pieces, width):
            yield (INDENT + above).rstrip()
            if below.strip():
                yield (INDENT + below).rstrip()
        if found.hidden:
            yield f"{INDENT}and {found.hidden} more tokens; --html FILE shows up to {KEPT}"
        if found.strongest:
            named = ", ".join(f"{plain(piece.text)} {piece.share:+.4f}" for piece in found.strongest)
            yield from (INDENT + line for line in _folded(f"strongest: {named}", width))


def _wrapped(pieces: list["Piece"], width: int) -> Iterator[tuple[str, str]]:
    """Lines of at most `width` cells, and what stands below each."""
    above, below, used = "", "", 0
    for text, level in _cells(pieces, width):
        sign = ("+" if level > 0 else "-") * abs(level)
        size = max(width_of(text), len(sign))
        if used + size > width:
            yield above, below
            above, below, used = "", "", 0
        if text == " " and not used:
            continue
        colour = {"fg": "bright_blue" if level > 0 else "yellow", "bold": abs(level) > 1} if level else {}
        padding = " " * (size - width_of(text))
        above += (click.style(text, **colour) if level else text) + padding
        below += sign.ljust(size)
        used += size
    yield above, below


def _cells(pieces: list["Piece"], width: int) -> Iterator[tuple[str, int]]:
    """What stands on a line beside one another: tokens, cut where one is longer than a line, and single spaces."""
    for piece in pieces:
        if piece.share is None and not piece.text.strip():
            yield " ", 0
            continue
        text = plain(piece.text) + "..." * (len(piece.text) > LONG)
        for begin in range(0, len(text), width // 2):  # a character may take two cells
            yield text[begin : begin + width // 2], piece.level


def _folded(text: str, width: int) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(text, width, subsequent_indent=INDENT, break_long_words=True)
