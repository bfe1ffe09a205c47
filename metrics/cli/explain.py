"""`semantic-metrics explain`: which words moved the score of one pair, in the terminal and as HTML."""

import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from semantic_metrics.cli.errors import as_input_error
from semantic_metrics.cli.options import (
    ANSWER_METRICS,
    DEFAULT_METRIC,
    model_options,
    output_option,
    overwrite_option,
    shared_option,
)
from semantic_metrics.cli.scoring import LoadedMetric, MetricOptions, check_questions
from semantic_metrics.cli.terminal import MAX_CHARACTERS, MIN_WIDTH, PIPE_WIDTH, plain, width_of
from semantic_metrics.core.contract import describe
from semantic_metrics.core.signature import shorten
from semantic_metrics.files.output import check_output
from semantic_metrics.html.heat_map import MAX_WORDS, HeatMap, Piece, heat_maps

MAX_TERMINAL_WORDS = 300  # words of a text that are printed
INDENT = "  "
REASON_SIGNS = 20  # of the largest contribution of a feature
LEGEND = "\n+ raises the score, - lowers it; more signs, more of it"


@click.command()
@click.argument("prediction")
@click.argument("reference")
@shared_option("--metric", multiple=False, default=DEFAULT_METRIC, show_default=True, help="Metric to explain.")
@click.option("--question", metavar="TEXT", help=f"Question that was asked, for {', '.join(ANSWER_METRICS)}.")
@shared_option("--config", multiple=False, metavar="CHECKPOINT")
@shared_option("--weights", multiple=False, metavar="FILE")
@model_options()
@overwrite_option
@output_option("--html", help="Also write the heat map to this file.")
def explain(
    prediction: str,
    reference: str,
    metric: str,
    question: str | None,
    config: str | None,
    weights: str | None,
    html: Path | None,
    run: dict[str, Any],
) -> None:
    """Show which words of PREDICTION and REFERENCE raise (+) or lower (-) their score.

    Example: semantic-metrics explain "It did not rain." "It rained." --metric matcha --html why.html
    """
    choice = MetricOptions.of_one(metric, config, weights)
    check_questions("--question", "a text", question is not None, [metric])
    texts = {"prediction": prediction, "reference": reference} | ({} if question is None else {"question": question})
    if html is not None:
        check_output(html)
    loaded = LoadedMetric(choice, "explain", run)
    with as_input_error(ValueError):
        explanation = loaded.explain(texts)
        reasons = loaded.feature_reasons(texts)
    head = f"{metric} {explanation['score']:.4f}"
    note = f"{explanation['method']}: {describe(metric).explain_methods[explanation['method']]}"
    decided = [f"{INDENT}{explanation['rule']}"] if explanation.get("rule") else []
    lines = [
        *decided,
        *_reason_lines(metric, reasons),
        *heat_map_lines(heat_maps(explanation, texts, MAX_TERMINAL_WORDS)),
    ]
    click.echo("\n".join([f"{head}  ({note})", *lines, LEGEND, shorten(loaded.signature)]))
    if html is not None:
        from semantic_metrics.report import write_explanation  # scipy takes a second to import

        write_explanation(
            html, " ".join((head, *decided)), note, heat_maps(explanation, texts, MAX_WORDS), loaded.signature
        )
        click.echo(f"written to {html}", err=True)


def _reason_lines(metric: str, reasons: dict[str, float]) -> Iterator[str]:
    """Lines of the contributions of features, the largest first, with signs as long as it is large."""
    if not reasons:
        return
    yield f"\n{describe(metric).feature_reasons}:"
    largest = max(map(abs, reasons.values())) or 1
    width = max(map(len, reasons))
    for name, value in sorted(reasons.items(), key=lambda item: -abs(item[1])):
        signs = ("+" if value > 0 else "-") * round(REASON_SIGNS * abs(value) / largest)
        yield f"{INDENT}{name:<{width}}  {round(value, 2) + 0.0:+6.2f}  {signs}".rstrip()  # + 0.0: no -0.00


def heat_map_lines(maps: list[HeatMap]) -> Iterator[str]:
    """Heat maps for a terminal: lines of text, each above a line of signs if one of its words has any."""
    width = max(MIN_WIDTH, shutil.get_terminal_size((PIPE_WIDTH, 0)).columns) - 1 - len(INDENT)
    for heat_map in maps:
        yield f"\n{heat_map.name}" + (f": {heat_map.sums}" if heat_map.sums else "")
        for above, below in _wrapped(heat_map.pieces, width):
            yield (INDENT + above).rstrip()
            if below.strip():
                yield (INDENT + below).rstrip()
        if heat_map.hidden:
            yield f"{INDENT}and {heat_map.hidden} more words; --html FILE shows up to {MAX_WORDS}"
        if heat_map.strongest:
            tokens = ", ".join(f"{plain(piece.text)} {piece.share:+.4f}" for piece in heat_map.strongest)
            for line in textwrap.wrap(f"strongest: {tokens}", width, subsequent_indent=INDENT):
                yield INDENT + line


def _wrapped(pieces: list[Piece], width: int) -> Iterator[tuple[str, str]]:
    """Lines of at most `width` cells, each with the signs below it."""
    above, below, used = "", "", 0
    for text, level in _cells(pieces, width):
        sign = ("+" if level > 0 else "-") * abs(level)
        size = max(width_of(text), len(sign))
        if used + size > width:
            yield above, below
            above, below, used = "", "", 0
        if text == " " and not used:
            continue
        colour: dict[str, Any] = (
            {"fg": "bright_blue" if level > 0 else "yellow", "bold": abs(level) > 1} if level else {}
        )
        padding = " " * (size - width_of(text))
        above += (click.style(text, **colour) if level else text) + padding
        below += sign.ljust(size)
        used += size
    yield above, below


def _cells(pieces: list[Piece], width: int) -> Iterator[tuple[str, int]]:
    """Words, cut if they are longer than a line, and the single spaces between them."""
    for piece in pieces:
        if piece.share is None and not piece.text.strip():
            yield " ", 0
            continue
        text = plain(piece.text) + "..." * (len(piece.text) > MAX_CHARACTERS)
        for begin in range(0, len(text), width // 2):  # a character may take two cells
            yield text[begin : begin + width // 2], piece.level
