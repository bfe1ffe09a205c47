"""Heat maps: texts as words, each with its contribution to a score as a sign and one of three strengths.

A report puts STYLE into its own style; a demo shows `draw_heat_maps`. All text is escaped.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from semantic_metrics.html.explained import Span, adds_up_to, explained_words

LEVELS = 3  # strengths of either sign; people cannot tell more shades apart side by side
FAINT_SHARE = 1 / 12  # of the strongest contribution: weaker ones get no colour
MAX_WORDS = 5000  # of a text on a page of its own, or in a demo
MAX_WORD_CHARACTERS = 200
STRONGEST = 5  # words of a text that are named
STYLE = """
.sm-heat { --up: 0, 114, 178; --down: 213, 94, 0; }
@media (prefers-color-scheme: dark) { .sm-heat { --up: 86, 180, 233; --down: 230, 159, 0; } }
.dark .sm-heat { --up: 86, 180, 233; --down: 230, 159, 0; }
.sm-heat .name, .sm-heat .soft { margin: .5rem 0 0; font-size: .875rem; overflow-wrap: anywhere; }
.sm-heat .text { max-width: 60rem; margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.sm-heat .text { unicode-bidi: plaintext; line-height: 2.3 !important; } /* Gradio's lines have no room for signs */
.sm-heat .t { position: relative; padding: .1rem 0; text-decoration-thickness: 2px; text-underline-offset: 3px; }
.sm-heat .t sub { position: absolute; left: 50%; top: 1.55rem; transform: translateX(-50%); font-size: .7rem; }
.sm-heat .t sub { font-weight: bold; line-height: 1; white-space: nowrap; user-select: none; }
.sm-heat .p1, .sm-heat .p2, .sm-heat .p3 { text-decoration: underline solid rgb(var(--up)); }
.sm-heat .n1, .sm-heat .n2, .sm-heat .n3 { text-decoration: underline dashed rgb(var(--down)); }
.sm-heat .p1 { background: rgba(var(--up), .15); } .sm-heat .n1 { background: rgba(var(--down), .15); }
.sm-heat .p2 { background: rgba(var(--up), .3); } .sm-heat .n2 { background: rgba(var(--down), .3); }
.sm-heat .p3 { background: rgba(var(--up), .45); } .sm-heat .n3 { background: rgba(var(--down), .45); }
"""
LEGEND = """<p class="soft">A word in blue over a solid line, with <b>+</b>, raises the score. One in orange over a
dashed line, with <b>&minus;</b>, lowers it. The number of signs compares its contribution with the strongest word of
these texts; a word without a mark adds next to nothing.</p>"""
TEMPLATE = """
{% macro short(text) %}{{ text[:most] }}
{%- if text|length > most %}<i class="soft">… {{ text|length - most }} more characters</i>{% endif %}{% endmacro %}
<div class="sm-heat">
{% for map in maps %}
<p class="name">{{ map.name }}{% if map.sums %}: {{ map.sums }}{% endif %}{% if map.strongest %}; strongest:
{% for piece in map.strongest %}
<bdi>{{ piece.text[:40] }}</bdi> {{ "%+.3f"|format(piece.share) }}{{ "" if loop.last else ", " }}
{%- endfor %}{% endif %}</p>
<p class="text" dir="auto">
{%- for piece in map.pieces %}{% if piece.level %}
{%- set sign = "p" if piece.level > 0 else "n" -%}
<span class="t {{ sign }}{{ piece.level|abs }}" title="{{ "%+.4f"|format(piece.share) }}">{{ short(piece.text) }}
{#- -#}
<sub>{{ ("+" if piece.level > 0 else "&minus;"|safe) * piece.level|abs }}</sub></span>
{%- else %}{{ short(piece.text) }}{% endif %}{% endfor %}</p>
{% if map.hidden %}
<p class="soft">and {{ map.hidden }} more words that are not shown</p>
{% endif %}
{% endfor %}
</div>
"""


@dataclass(frozen=True)
class Piece:
    """A word, or the characters between two."""

    text: str  # characters of the text
    share: float | None = None  # contribution to the score; None for characters that belong to no word
    level: int = 0  # sign and strength of the share relative to the strongest of all texts, from -LEVELS to LEVELS


@dataclass(frozen=True)
class HeatMap:
    """One text of an explanation."""

    name: str  # prediction, reference or question
    pieces: list[Piece]  # pieces that together are the text as it is read, without markup, up to where it is cut
    hidden: int  # number of words that are cut off
    sums: str  # what the contributions of all words, the hidden ones included, add up to; empty if to nothing
    strongest: list[Piece]  # words with the largest contributions, the largest first


def heat_maps(explanation: Mapping[str, Any], texts: dict[str, str], most: int) -> list[HeatMap]:
    """Make the heat maps of an explanation, of those texts that it explains; `most` words of a text are shown."""
    texts = {name: text for name, text in texts.items() if name in explanation}
    words = {name: explained_words(explanation[name], text) for name, text in texts.items()}
    scale = max((abs(share) for side in words.values() for *_, share in side), default=0.0)
    maps = []
    for name, text in texts.items():
        marked = [(Piece(written, share, _level(share, scale)), span) for written, span, share in words[name]]
        # tokens without characters in the text, such as padding, are always shown
        shown = marked[:most] + [(piece, span) for piece, span in marked[most:] if span is None]
        coloured = sorted((piece for piece, _ in marked if piece.level), key=lambda piece: -abs(piece.share or 0.0))
        hidden = len(marked) - len(shown)
        pieces = _pieces(explanation[name].get("text", text), shown, hidden == 0)
        maps.append(HeatMap(name, pieces, hidden, _sums(explanation, name), coloured[:STRONGEST]))
    return maps


def _sums(explanation: Mapping[str, Any], name: str) -> str:
    """Sum of the contributions to one text, in words; empty if they add up to nothing."""
    if (wanted := adds_up_to(explanation, name)) is None:
        return ""
    score, baseline = explanation["score"], explanation[name].get("baseline_score")
    if baseline is None:
        return f"its words add up to the score, {score:+.4f}"
    return f"its words add up to {wanted:+.4f}: the score, {score:.4f}, minus that of a baseline, {baseline:.4f}"


def _pieces(text: str, words: list[tuple[Piece, Span | None]], whole: bool) -> list[Piece]:
    """The words and the characters between them, and if they are the whole text, those behind the last."""
    pieces, end = [], 0
    for piece, span in words:
        if span is None:
            pieces.append(Piece(" "))
        elif span[0] > end:
            pieces.append(Piece(text[end : span[0]]))
        pieces.append(piece)
        end = end if span is None else max(end, span[1])
    if whole and end < len(text):
        pieces.append(Piece(text[end:]))
    return pieces


def _level(share: float, scale: float) -> int:
    if scale == 0 or abs(share) < FAINT_SHARE * scale:
        return 0
    strength = min(LEVELS, math.ceil(LEVELS * abs(share) / scale))  # rounding may lift the strongest above LEVELS
    return int(math.copysign(strength, share))


def render(maps: list[HeatMap]) -> str:
    """Heat maps as a piece of HTML, without STYLE and LEGEND."""
    return _template().render(maps=maps, most=MAX_WORD_CHARACTERS)


def draw_heat_maps(explanation: Mapping[str, Any], texts: dict[str, str]) -> str:
    """The heat maps of an explanation as a piece of HTML with its style and legend, for a demo."""
    maps = render(heat_maps(explanation, texts, MAX_WORDS))
    return f'<style>{STYLE}</style>{maps}<div class="sm-heat">{LEGEND}</div>'


@cache
def _template() -> Template:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(TEMPLATE)
