"""HTML that the demos draw: alerts, tables and histograms; all text is escaped."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

import numpy as np

HISTOGRAM_BARS = 10  # of the whole scale: as many as a phone has room to label
BLUE, ORANGE = "0,114,178", "230,159,0"  # Okabe and Ito's, told apart by the colour-blind; the signs say the same


def histogram(values: Iterable[float], span: tuple[float, float]) -> str:
    """HTML of the share of the values in each of HISTOGRAM_BARS equal parts of a scale.

    Values beyond the scale add parts of the same width, so that the edges are the round numbers that are written.
    It is no `gr.BarPlot` (gradio 6.31), which went on to show the bars of the first run after a second one.
    """
    scores, step = np.array(list(values), dtype=float), (span[1] - span[0]) / HISTOGRAM_BARS
    low, high = min(span[0], scores.min()), max(span[1], scores.max())
    first, last = (math.floor(round(low / step, 6)), math.ceil(round(high / step, 6)))
    edges = np.round(step * np.arange(first, last + 1), 6)
    edges[[0, -1]] = min(edges[0], low), max(edges[-1], high)  # what rounding has cut off
    shares = np.histogram(scores, edges)[0] / len(scores)
    names = [f"{round(a, 2):g} to {round(b, 2):g}" for a, b in pairwise(edges)]
    numbers = [f"{100 * share:.1f}%" for share in shares]
    return _bar_table("How the scores are spread, in percent of the rows", names, numbers, shares.tolist())


def alert(error: Exception | str) -> str:
    """HTML of an error message; empty for an empty message."""
    message = " ".join(str(error).split())
    return message and f'<div class="sm-alert" role="alert"><b>That did not work.</b> {escape(message)}</div>'


def signed_table(values: dict[str, float], heading: str) -> str:
    """HTML table of named numbers with bars: positive ones blue, negative ones orange, largest magnitude first."""
    ordered = dict(sorted(values.items(), key=lambda item: -abs(item[1])))
    numbers = [f"{round(value, 2) + 0.0:+.2f}" for value in ordered.values()]  # + 0.0: no -0.00
    return _bar_table(heading, list(ordered), numbers, list(ordered.values()))


def _bar_table(heading: str, names: Sequence[str], numbers: Sequence[str], lengths: Sequence[float]) -> str:
    """HTML table of named numbers with bars, the longest of which fills its column."""
    longest = max(map(abs, lengths), default=0) or 1
    rows = []
    for name, number, length in zip(names, numbers, lengths, strict=True):
        bar = f"width:{100 * abs(length) / longest:.1f}%; background:rgb({BLUE if length > 0 else ORANGE})"
        rows.append(
            f"<tr><td>{escape(name)}</td><td>{number}</td><td><div class='sm-bar' style='{bar}'></div></td></tr>"
        )
    return f'<p>{escape(heading)}</p><table class="sm-signed">{"".join(rows)}</table>'
