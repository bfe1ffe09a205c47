"""What the demos draw: alerts, heat maps and tables as HTML, and the bars of a histogram; all text is escaped."""

from collections.abc import Iterable
from html import escape

import numpy as np
import pandas as pd

HISTOGRAM_BARS = 10  # as many as a phone has room to label
FAINT_SHARE = 0.0005  # a contribution below it reads as 0 with three decimals
BLUE, ORANGE = "0,114,178", "230,159,0"  # Okabe and Ito's, told apart by the colour-blind; the signs say the same


def count_bins(values: Iterable[float], span: tuple[float, float]) -> pd.DataFrame:
    """Share of the values in each of HISTOGRAM_BARS equal parts of the scale, which is widened for values beyond it."""
    scores = np.array(list(values), dtype=float)
    low, high = min(span[0], scores.min()), max(span[1], scores.max())
    counts, edges = np.histogram(scores, bins=HISTOGRAM_BARS, range=(low, high))
    names = [f"{round(edge, 2):g}" for edge in edges[:-1]]
    return pd.DataFrame({"score, from": names, "% of rows": 100 * counts / len(scores)})


def alert(error: Exception | str) -> str:
    """HTML of an error message; empty for an empty message."""
    message = " ".join(str(error).split())
    return message and f'<div class="sm-alert" role="alert"><b>That did not work.</b> {escape(message)}</div>'


def heat_map(explanation: dict, texts: dict[str, str]) -> str:
    """HTML of an explanation: each token with its contribution, blue for one that raises the score, orange for others.

    Args:
        explanation: result of `explain`, with `tokens`, `spans`, `contributions` and `total` for each text.
        texts: the texts by name.
    """
    sides = {name: explanation[name] for name in texts if name in explanation}
    strongest = max((abs(share) for side in sides.values() for share in side["contributions"]), default=0)
    drawn = [
        f"<p><b>{escape(name.capitalize())}</b>: its tokens add up to {side['total']:+.3f}</p>"
        f'<div class="sm-tokens" dir="auto">{_tokens(side, texts[name], max(strongest, FAINT_SHARE))}</div>'
        for name, side in sides.items()
    ]
    legend = "Blue over a solid line raises the score, orange over a dashed line lowers it."
    return "".join([*drawn, f'<p class="sm-small">{legend}</p>'])


def _tokens(side: dict, text: str, strongest: float) -> str:
    pieces, end = [], None
    for token, span, share in zip(side["tokens"], side["spans"], side["contributions"], strict=True):
        written = (text[span[0] : span[1]] if span else "") or token  # as written in the text, not as a word piece
        kinds = ["sm-token"] if span and span[0] == end else ["sm-token", "sm-gap"]
        end = span[1] if span else None
        if abs(share) >= FAINT_SHARE:
            kinds.append("sm-up" if share > 0 else "sm-down")
        color = f"rgba({BLUE if share > 0 else ORANGE},{abs(share) / strongest * 0.6:.2f})"
        number = f"{share:+.3f}" if abs(share) >= FAINT_SHARE else "0"
        shape = f'class="{" ".join(kinds)}" style="background:{color}"'
        pieces.append(f"<span {shape}>{escape(written)}<small>{number}</small></span>")
    return "".join(pieces)


def signed_table(values: dict[str, float], heading: str) -> str:
    """HTML table of named numbers with bars: positive ones blue, negative ones orange, largest magnitude first."""
    strongest = max(map(abs, values.values()), default=0) or 1
    rows = []
    for name, value in sorted(values.items(), key=lambda item: -abs(item[1])):
        bar = f"width:{abs(value) / strongest * 7:.2f}em; background:rgb({BLUE if value > 0 else ORANGE})"
        number = f"{round(value, 2) + 0.0:+.2f}"  # + 0.0: no -0.00
        rows.append(
            f"<tr><td>{escape(name)}</td><td>{number}</td><td><div class='sm-bar' style='{bar}'></div></td></tr>"
        )
    return f'<p>{escape(heading)}</p><table class="sm-signed">{"".join(rows)}</table>'
