"""Checked long texts as HTML: each sentence coloured by its verdict, with a link to the place in its source.

The demo shows this piece, and `semantic_metrics.report.write_check` writes it as a page. All text is escaped.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from jinja2 import Environment, StrictUndefined

# verdicts are told apart without colours, too
MARKS = {"supported": "✓", "contradicted": "✗", "not found": "?", "skipped": "·"}
QUOTED_CHARACTERS = 600  # of a place, in the list of sentences
STYLE = """
.sm-check { --yes: 0, 114, 178; --no: 213, 94, 0; --maybe: 128, 128, 128; }
@media (prefers-color-scheme: dark) { .sm-check { --yes: 86, 180, 233; --no: 230, 159, 0; --maybe: 160, 160, 160; } }
.dark .sm-check { --yes: 86, 180, 233; --no: 230, 159, 0; --maybe: 160, 160, 160; }
.sm-check { overflow-wrap: anywhere; }
.sm-check * { box-sizing: border-box; }
.sm-check h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-top: 2px solid; padding-top: 1rem; }
.sm-check h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
.sm-check .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 2rem; }
@media (max-width: 50rem) { .sm-check .columns { grid-template-columns: minmax(0, 1fr); } }
@media screen and (min-width: 50.01rem) { /* the sentences stay beside a long source */
  .sm-check .columns > :first-child { position: sticky; top: 0; align-self: start; }
  .sm-check .columns > :first-child { max-height: 100vh; overflow-y: auto; }
}
.sm-check .text { white-space: pre-wrap; unicode-bidi: plaintext; line-height: 1.7; margin: .25rem 0 1rem; }
.sm-check a { color: inherit; text-decoration-thickness: 2px; text-underline-offset: 3px; }
.sm-check .supported { background: rgba(var(--yes), .18); text-decoration: underline solid rgb(var(--yes)); }
.sm-check .contradicted { background: rgba(var(--no), .3); text-decoration: underline double rgb(var(--no)); }
.sm-check .not-found { background: rgba(var(--maybe), .15); text-decoration: underline dotted rgb(var(--maybe)); }
.sm-check .place { background: rgba(var(--maybe), .15); }
.sm-check .mark { font-size: .75rem; font-weight: bold; font-variant-numeric: tabular-nums; padding: 0 .15rem; }
.sm-check :target { outline: 3px solid rgb(var(--no)); outline-offset: 1px; scroll-margin-top: 4rem; }
.sm-check ol { padding-left: 1.75rem; }
.sm-check li { margin: .4rem 0; break-inside: avoid; }
.sm-check .skipped { opacity: .7; }
.sm-check > label { margin-right: 1rem; }
.sm-check > .show-supported:not(:checked) ~ section li.supported,
.sm-check > .show-contradicted:not(:checked) ~ section li.contradicted,
.sm-check > .show-not-found:not(:checked) ~ section li.not-found,
.sm-check > .show-skipped:not(:checked) ~ section li.skipped { display: none; }
.sm-check li.supported, .sm-check li.contradicted, .sm-check li.not-found { background: none; text-decoration: none; }
@media print { .sm-check > input, .sm-check > label { display: none; } .sm-check .columns { display: block; } }
.sm-check .soft { opacity: .75; font-size: .875rem; font-variant-numeric: tabular-nums; }
"""
TEMPLATE = """
{% macro number(value) %}{{ "%.3f"|format(value) }}{% endmacro %}
<div class="sm-check">
<p class="soft"><span class="supported">✓ solid line: the source supports it</span>; <span class="contradicted">✗ double
line: the source contradicts it</span>; <span class="not-found">? dotted line: not found in the source</span>; · claims
nothing and is skipped. A sentence leads to its place in the source, the number there leads back.</p>
{% for verdict, mark in marks.items() %}
<input type="checkbox" checked id="{{ prefix }}-show-{{ verdict|replace(" ", "-") }}"
 class="show-{{ verdict|replace(" ", "-") }}">
<label for="{{ prefix }}-show-{{ verdict|replace(" ", "-") }}">{{ mark }} {{ verdict }}</label>
{% endfor %}
{% for row in rows %}
<section>
<h2>{{ row.name }}</h2>
<p>Score {{ number(row.score) }} (mean support), lowest sentence {{ number(row.minimum) }}
{%- if row.coverage is not none %}, coverage of the reference {{ number(row.coverage) }}{% endif %};
{% for verdict in marks %}{{ row.counts[verdict] }} {{ verdict }}{{ "." if loop.last else ", " }}{% endfor %}
</p>
<div class="columns">
<div>
<h3>Text</h3>
<p class="text" dir="auto">
{%- for piece in row.text %}
{%- if piece.sentence is none %}{{ piece.text }}
{%- else %}{% set one = row.sentences[piece.sentence] -%}
<a id="{{ one.id }}" class="{{ one.kind }}" title="{{ one.verdict }}
{%- if one.support is not none %}, support {{ number(one.support) }}{% endif %}"
{%- if one.target %} href="#{{ one.target }}"{% endif %}>{{ piece.text }}</a>
{#- -#}
<span class="mark">{{ one.mark }}{{ one.number }}</span>
{%- endif %}
{%- endfor %}</p>
<ol>
{% for one in row.sentences %}
<li class="{{ one.kind }}"><b>{{ one.mark }} {{ one.verdict }}</b>
{% if one.support is not none %}
<span class="soft">support {{ number(one.support) }}, contradiction {{ number(one.contradiction) }}</span><br>
{% endif %}
<span dir="auto">{{ one.text }}</span><br>
{% if one.target %}
<a href="#{{ one.target }}" dir="auto">“{{ one.quote }}”</a> <span class="soft">{{ one.where }}</span></li>
{% elif one.support is none %}
<span class="soft">It claims nothing.</span></li>
{% else %}
<span class="soft">There is nothing to compare it with.</span></li>
{% endif %}
{% endfor %}
</ol>
{% if row.missing %}
<h3>Of the reference, this is missing</h3>
<ol>
{% for one in row.missing %}
<li dir="auto">{{ one.text }} <span class="soft">support {{ number(one.support) }}</span></li>
{% endfor %}
</ol>
{% endif %}
</div>
<div>
{% for source in row.sources %}
<h3>{{ source.name }}</h3>
<p class="text" dir="auto">
{%- for piece in source.pieces %}
{%- for one in piece.marks -%}
<a class="mark" id="{{ one.target }}" href="#{{ one.id }}" title="back to sentence {{ one.number }}, {{ one.verdict }}">
{{- one.mark }}{{ one.number }}</a>
{%- endfor %}
{%- if piece.kind %}<span class="{{ piece.kind }}">{{ piece.text }}</span>{% else %}{{ piece.text }}{% endif %}
{%- endfor %}</p>
{% endfor %}
</div>
</div>
</section>
{% endfor %}
<p class="soft">Signature, every setting that can change a score: <code>{{ signature }}</code></p>
</div>
"""


@dataclass(frozen=True)
class CheckedText:
    """A text with the result of a metric that judged its sentences (`support`)."""

    name: str  # heading of the text
    text: str  # the text
    sources: list[str]  # the texts that it was judged against
    # score, minimum: mean and lowest support
    score: float
    minimum: float
    sentences: list[dict[str, Any]]  # the result's `sentences` of this text
    coverage: float | None = None  # the result's `coverage`; None if it was not asked for
    missing: tuple[dict[str, Any], ...] = ()  # the result's `missing`


def checked_texts(
    names: list[str], predictions: list[str], references: list[Any], result: Mapping[str, Any]
) -> list[CheckedText]:
    """Texts for a page: n headings, texts, and sources (one or a list each), with the result of `support` for them."""
    given = (names, predictions, ([one] if isinstance(one, str) else list(one) for one in references))
    parts = [result[name] for name in ("scores", "minimums", "sentences")]
    if "coverage" in result:
        parts += [result["coverage"], map(tuple, result["missing"])]
    return [CheckedText(*row) for row in zip(*given, *parts, strict=True)]


def render_check(texts: list[CheckedText], signature: str, prefix: str = "check") -> str:
    """Texts with their verdicts as a piece of HTML, with its style.

    The ids of its links begin with `prefix`: another one for each piece on a page.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    rows = [_row(one, f"{prefix}-{number}") for number, one in enumerate(texts, 1)]
    page = environment.from_string(TEMPLATE).render(rows=rows, signature=signature, marks=MARKS, prefix=prefix)
    return f"<style>{STYLE}</style>{page}".replace("\0", "\ufffd")  # NUL is invalid in HTML


def _row(checked: CheckedText, prefix: str) -> dict[str, Any]:
    """Values of the template for one text."""
    sentences = [
        _sentence(one, f"{prefix}-{number}", number, checked) for number, one in enumerate(checked.sentences, 1)
    ]
    ends = [0, *(one["end"] for one in checked.sentences)]
    pieces: list[dict[str, Any]] = []
    for i, (end, one) in enumerate(zip(ends, checked.sentences, strict=False)):
        pieces.append({"text": checked.text[end : one["begin"]], "sentence": None})
        pieces.append({"text": checked.text[one["begin"] : one["end"]], "sentence": i})
    pieces.append({"text": checked.text[ends[-1] :], "sentence": None})
    several = len(checked.sources) > 1
    return {
        **{name: getattr(checked, name) for name in ("name", "score", "minimum", "coverage", "missing")},
        "counts": Counter(one["verdict"] for one in checked.sentences),
        "text": pieces,
        "sentences": sentences,
        "sources": [
            {"name": f"Source {number + 1}" if several else "Source", "pieces": _pieces(source, number, sentences)}
            for number, source in enumerate(checked.sources)
        ],
    }


def _sentence(judged: dict[str, Any], identifier: str, number: int, checked: CheckedText) -> dict[str, Any]:
    """Values of the template for one sentence; its place is the one that decided its verdict."""
    values = {
        **judged,
        "id": identifier,
        "number": number,
        "mark": MARKS[judged["verdict"]],
        "kind": _css_class(judged["verdict"]),
        "place": None,
        "target": "",
    }
    if judged["places"]:
        place = judged["places"][0]
        source = f"source {place['reference'] + 1}, " if len(checked.sources) > 1 else ""
        cut = "…" if len(place["text"]) > QUOTED_CHARACTERS else ""
        quote = place["text"][:QUOTED_CHARACTERS] + cut
        where = f"{source}characters {place['begin']:,} to {place['end']:,}"
        values |= {"place": place, "target": f"{identifier}-place", "quote": quote, "where": where}
    return values


def _css_class(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _pieces(source: str, number: int, sentences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A source cut where places begin and end.

    A piece has the verdict of the sentences that it belongs to, the worst of several, and the marks of those whose
    place begins with it.
    """
    here = [one for one in sentences if one["place"] is not None and one["place"]["reference"] == number]
    begun, ended = defaultdict(list), defaultdict(list)  # sentences by where their place begins and ends
    for one in here:
        begun[one["place"]["begin"]].append(one)
        ended[one["place"]["end"]].append(one)
    covering: Counter[str] = Counter()  # places that a piece belongs to, by verdict
    pieces = []
    for begin, end in pairwise(sorted({0, len(source), *begun, *ended})):
        covering.update(one["verdict"] for one in begun[begin])
        covering.subtract(one["verdict"] for one in ended[begin])
        verdict = next((name for name in ("contradicted", "supported", "not found") if covering[name] > 0), "")
        pieces.append({"text": source[begin:end], "kind": _css_class(verdict), "marks": begun[begin]})
    return pieces
