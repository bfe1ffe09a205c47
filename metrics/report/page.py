"""Reports as one HTML file each, which needs no other file and no network.

`write_report` takes scores and the texts that they belong to, `write_explanation` a single pair, `write_check` long
texts whose sentences were judged, `write_annotation` pairs that a person is to judge. A report has a script, which
filters its list of rows, and so has a page of pairs, which keeps the judgements; all else works without.
"""

import math
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from semantic_metrics.files.output import atomic_write
from semantic_metrics.files.rows import number_of
from semantic_metrics.html.checked_texts import CheckedText, render_check
from semantic_metrics.html.heat_map import LEGEND, STYLE, HeatMap, heat_maps, render
from semantic_metrics.report.chart import draw
from semantic_metrics.stats.separation import auc
from semantic_metrics.stats.significance import interval

ROWS_PER_GROUP = 5  # the worst, and the best
MAX_WORDS = 200  # of a text in a heat map
MAX_PLAIN_CHARACTERS = 1000  # of a text without a heat map
MAX_LISTED_ROWS = 5000  # in the list of all rows; more make a page slow
FILTERED = ("decision", "verdict", "label")  # columns of that list by which its rows are chosen
LABELS = {True: "correct", False: "incorrect"}

Explain = Callable[[dict[str, str]], Mapping[str, Any]]


@dataclass(frozen=True)
class Scores:
    """Scores of a metric for n rows."""

    name: str  # name of the metric
    values: Sequence[float]  # n scores, higher is better
    signature: str  # every setting that can change a score
    counts: dict[str, int] = field(default_factory=dict)  # counts of the metric by name, such as `undefined`
    # function from the texts of one row to the metric's explanation; None for no heat maps
    explain: Explain | None = None
    # n texts, the reference that decided where rows have several; None for those of `texts`
    references: Sequence[str] | None = None
    threshold: float | None = None  # lowest score of a correct text; None for no decision
    # words, reasons: n verdicts of the metric, and n sentences that give their reasons; None for a metric without
    words: Sequence[str] | None = None
    reasons: Sequence[str] | None = None


def write_report(
    path: Path,
    title: str,
    scores: list[Scores],
    texts: dict[str, list[str]],
    labels: Sequence[bool] | None = None,
    rows: int = ROWS_PER_GROUP,
) -> None:
    """Write a report: for each metric the distribution of its scores, the most informative rows, and a list of all.

    Without labels these are the rows with the lowest and the highest scores. With labels they are the rows on which the
    metric disagrees most with people: correct rows with the lowest scores and incorrect rows with the highest.

    Args:
        path: file to write; it is replaced only when the new one is complete.
        title: title of the page.
        scores: scores of each metric for all n rows.
        texts: n texts by argument of `explain`: prediction, reference and perhaps question.
        labels: n labels, whether people judged the row correct; None for no labels.
        rows: number of rows in each group.
    """
    count = _check(scores, texts, labels, rows)
    judged = None if labels is None else np.asarray(labels, dtype=bool)
    sections = [_section(one, texts, judged, rows) for one in scores]
    notes = [f"{count:,} rows, {', '.join(one.name for one in scores)}"]
    facts = _facts(scores, judged)
    values = {"notes": notes, "facts": facts, "sections": sections, "maps": "", "signature": ""}
    _write(path, "report.html", title=title, **_script("filter.js"), **values)


def _script(name: str) -> dict[str, Any]:
    """A script beside this file, and its digest, by which the page's policy allows it."""
    script = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return {"script": Markup(script), "allowed": b64encode(sha256(script.encode()).digest()).decode()}


def write_explanation(path: Path, title: str, note: str, maps: list[HeatMap], signature: str) -> None:
    """Write the heat maps of one pair; `note` says what the numbers mean."""
    values = {"notes": [note], "facts": {}, "sections": [], "maps": Markup(render(maps)), "signature": signature}
    _write(path, "report.html", title=title, script="", **values)


def write_check(path: Path, title: str, texts: list[CheckedText], signature: str) -> None:
    """Write checked texts."""
    _write(path, "check.html", title=title, rows=Markup(render_check(texts, signature)))  # escaped there


def write_annotation(
    path: Path, title: str, texts: Mapping[str, Sequence[Any]], choices: Mapping[int, str], seed: int = 0
) -> None:
    """Write a page on which a person judges texts one by one and saves the judgements as a CSV.

    `texts` are columns of n texts or lists of texts in the order in which a row shows them, "predictions" among them,
    `choices` the word on the button of each rating. The order of the texts is random, so that none is judged by its
    neighbours.
    """
    names = [name.removesuffix("s") for name in texts]
    columns = [["\nor: ".join([one] if isinstance(one, str) else one) for one in column] for column in texts.values()]
    rows = [(i, list(zip(names, row, strict=True))) for i, row in enumerate(zip(*columns, strict=True), 1)]
    np.random.default_rng(seed).shuffle(rows)
    key = "semantic-metrics " + sha256(repr((rows, dict(choices))).encode("utf-8", "replace")).hexdigest()[:16]
    task = "Does the prediction say the same as the reference?"
    values = {"rows": rows, "choices": list(choices.items()), "key": key, "task": task}
    _write(path, "annotate.html", title=title, **_script("annotate.js"), **values)


def _write(path: Path, template: str, **values: Any) -> None:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    page = environment.get_template(template).render(heat_style=Markup(STYLE), legend=Markup(LEGEND), **values)
    content = page.replace("\0", "\ufffd").encode("utf-8", "replace")  # NUL and lone surrogates are invalid in HTML
    with atomic_write(path) as file:
        file.write(content)


def _check(scores: list[Scores], texts: dict[str, list[str]], labels: Sequence[bool] | None, rows: int) -> int:
    """Number of rows, the same in all arguments."""
    if not scores:
        raise ValueError("scores: expected those of at least one metric, got none")
    count = len(scores[0].values)
    if not count:
        raise ValueError(f"scores: expected rows, got none of {scores[0].name}")
    lengths = [(f"scores: of {one.name}", len(one.values)) for one in scores]
    lengths += [(f"texts: of {name!r}", len(column)) for name, column in texts.items()]
    for one in scores:
        for what in ("references", "words", "reasons"):
            if (column := getattr(one, what)) is not None:
                lengths.append((f"scores: {what} of {one.name}", len(column)))
    for name, length in [*lengths, ("labels:", count if labels is None else len(labels))]:
        if length != count:
            raise ValueError(f"{name} expected {count}, as many as scores of {scores[0].name}, got {length}")
    if labels is not None and (invalid := [label for label in labels if label not in (0, 1)]):
        raise ValueError(f"labels: expected true or false, got {invalid[0]!r}")
    if rows < 0:
        raise ValueError(f"rows: expected 0 or more, got {rows}")
    _check_values(scores, texts)
    return count


def _check_values(scores: list[Scores], texts: dict[str, list[str]]) -> None:
    for one in scores:
        for value in one.values:
            if not (isinstance(value, Real) and math.isfinite(number_of(value))):
                raise ValueError(f"scores: of {one.name} expected finite numbers, got {value!r}")
    for name, column in texts.items():
        if invalid := [text for text in column if not isinstance(text, str)]:
            raise ValueError(f"texts: of {name!r} expected texts, got {invalid[0]!r}")


def _section(scores: Scores, texts: dict[str, list[str]], labels: np.ndarray | None, rows: int) -> dict[str, Any]:
    """Values of the template for one metric."""
    values = np.asarray(scores.values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    if labels is None:
        half = min(rows, (len(values) + 1) // 2)  # if there are few rows, none is shown twice
        chosen = {"Lowest scores": order[:half], "Highest scores": order[::-1][: min(rows, len(values) - half)]}
    else:
        chosen = {
            "Labelled correct, lowest scores": order[labels[order]][:rows],
            "Labelled incorrect, highest scores": order[::-1][~labels[order[::-1]]][:rows],
        }
    groups = {
        title: [_row(scores, texts, labels, int(i)) for i in places] for title, places in chosen.items() if len(places)
    }
    return {
        "name": scores.name,
        "chart": draw(values, labels, scores.threshold),
        **_list(scores, texts, labels),
        "groups": groups,
        "explained": any(row["maps"] for shown in groups.values() for row in shown),
        "signature": scores.signature,
    }


def _list(scores: Scores, texts: dict[str, list[str]], labels: np.ndarray | None) -> dict[str, Any]:
    """The list of all rows: `columns`, `rows`, `more`, and `filters`, by the place of a column its name and values."""
    columns: dict[str, Sequence[str]] = {"score": [f"{value:.4f}" for value in scores.values]}
    if scores.threshold is not None:
        columns["decision"] = [LABELS[value >= scores.threshold] for value in scores.values]
    if scores.words is not None:
        columns["verdict"] = scores.words
    if labels is not None:
        columns["label"] = [LABELS[bool(label)] for label in labels]
    rows = []
    for i in range(min(len(scores.values), MAX_LISTED_ROWS)):
        said = [column[i] for column in texts.values()]
        said = [text if len(text) <= MAX_PLAIN_CHARACTERS else f"{text[:MAX_PLAIN_CHARACTERS]}…" for text in said]
        rows.append({"number": i + 1, "cells": [one[i] for one in columns.values()], "texts": said})
    filters = {
        place: (name, list(dict.fromkeys(columns[name]))) for place, name in enumerate(columns, 1) if name in FILTERED
    }
    return {"filters": filters, "rows": rows, "columns": [*columns, *texts], "more": len(scores.values) - len(rows)}


def _facts(scores: list[Scores], labels: np.ndarray | None) -> dict[str, list[str]]:
    """Rows of the table of all metrics: by the name of a figure, its value for each; a dash where a metric has none."""
    columns = [_metric_facts(one, np.asarray(one.values, dtype=np.float64), labels) for one in scores]
    names = dict.fromkeys(name for column in columns for name in column)
    return {name: [column.get(name, "-") for column in columns] for name in names}


def _metric_facts(scores: Scores, values: np.ndarray, labels: np.ndarray | None) -> dict[str, str]:
    facts = {"mean": f"{values.mean():.4f}"}
    if len(values) > 1:
        ends = interval(values)
        facts["95% interval"] = f"{ends.low:.4f} to {ends.high:.4f}"
    low, *quartiles, high = np.quantile(values, (0, 0.25, 0.5, 0.75, 1))
    facts["quartiles"] = " / ".join(f"{value:.3f}" for value in quartiles)
    facts["lowest, highest"] = f"{low:.3f}, {high:.3f}"
    if scores.threshold is not None:
        decided = values >= scores.threshold
        facts["correct"] = f"{decided.mean():.1%} ({scores.threshold:.4f} or more)"
        if labels is not None:
            facts["agrees with the labels"] = f"{(decided == labels).mean():.1%}"
            for label, name in LABELS.items():
                right = int((decided[labels == label] == label).sum())
                facts[f"labelled {name}: decided so, not so"] = f"{right:,}, {int((labels == label).sum()) - right:,}"
    if labels is not None:
        for label, name in LABELS.items():
            part = values[labels == label]
            facts[f"mean of {len(part):,} {name} rows"] = f"{part.mean():.4f}" if len(part) else "none"
        if labels.any() and not labels.all():
            facts["area under ROC"] = f"{auc(values[labels], values[~labels]):.4f}"
    return facts | {name: f"{count:,}" for name, count in scores.counts.items()}


def _row(scores: Scores, texts: dict[str, list[str]], labels: np.ndarray | None, index: int) -> dict[str, Any]:
    """Values of the template for a row: heat maps, and plain texts as (name, beginning, further characters)."""
    row = {name: column[index] for name, column in texts.items()}
    if scores.references is not None:
        row["reference"] = scores.references[index]
    maps: list[HeatMap] = []
    note = ""
    if scores.explain is not None:
        try:
            maps = heat_maps(scores.explain(row), row, MAX_WORDS)
        except ValueError as error:  # a method may refuse so long a text
            note = f"No heat map: {error}"
    shown = {one.name for one in maps}
    plain = [
        (name, text[:MAX_PLAIN_CHARACTERS], max(0, len(text) - MAX_PLAIN_CHARACTERS))
        for name, text in row.items()
        if name not in shown
    ]
    label = "" if labels is None else LABELS[bool(labels[index])]
    score = f"{scores.values[index]:.4f}"
    said = ["" if column is None else column[index] for column in (scores.words, scores.reasons)]
    drawn = Markup(render(maps)) if maps else ""
    row_values = {"number": index + 1, "score": score, "label": label, "maps": drawn, "texts": plain, "note": note}
    return row_values | dict(zip(("word", "reason"), said, strict=True))
