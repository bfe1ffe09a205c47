"""The leaderboard: one HTML file that needs no other file and no network."""

import math
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks.set_criteria.figures import angle_chart, ratio_chart
from benchmarks.set_criteria.means import CRITERIA
from benchmarks.set_criteria.tables import PrintedTable

TEMPLATE = "leaderboard.html"
TITLE = "Set-theoretic criteria for sentence encoders"
MEAN = "mean"
LABELS = {
    MEAN: "mean of all six",
    "C1": "C1 overlap: nearer to both",
    "C2": "C2 overlap: between A and B",
    "C3": "C3 difference: near A, far from B",
    "C4": "C4 difference: along A - B",
    "C5": "C5 difference: at A",
    "C6": "C6 union: in the middle",
}


def write_page(
    path: Path,
    facts: list[tuple[str, str]],
    scores: pd.DataFrame,
    checks: PrintedTable,
    tables: list[PrintedTable],
    results: dict[str, dict],
    signatures: dict[str, str],
    absent: dict[str, str],
) -> None:
    """Write the page.

    Args:
        path: path of the file.
        facts: name and value, shown at the top.
        scores: result of `means.score_table`.
        checks: checks of the run.
        tables: all other tables.
        results: results of the metric's `report` by encoder.
        signatures: signatures by encoder.
        absent: why encoders were not measured, by name.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    charts = {
        name: [*(angle_chart(result[one], one) for one in ("C2", "C5", "C6")), ratio_chart(result, name)]
        for name, result in results.items()
    }
    page = environment.get_template(TEMPLATE).render(
        title=TITLE,
        facts=facts,
        labels=[(column, LABELS[column].removeprefix(column)) for column in (MEAN, *CRITERIA)],
        standings=standings(scores),
        checks=checks,
        tables=tables,
        charts=charts,
        signatures=signatures,
        absent=absent,
    )
    path.write_text(page, encoding="utf-8")


def standings(scores: pd.DataFrame) -> list[dict]:
    """Rows of the leaderboard, the highest mean of the six percentages first, those without all six last.

    Best, and marked, is the highest of a column (all of a tie), unless a floor of random vectors is higher.
    """
    wide = scores.pivot(index="encoder", columns="criterion", values="value").reindex(columns=list(CRITERIA))
    floors = scores.groupby("encoder", sort=False)["floor"].first()
    wide.insert(0, MEAN, wide.mean(axis=1, skipna=False))
    by_place = {(row.encoder, row.criterion): row for row in scores.itertuples()}
    highest = wide.max()
    rows = []
    for name in wide.sort_values(MEAN, ascending=False, kind="stable").index:
        cells = []
        for column, value in wide.loc[name].items():
            row = by_place.get((name, column))  # the mean has none, and no interval
            best = bool(value == highest[column] and not floors[name])
            bounded = row is not None and not math.isnan(row.low)
            below = f"[{row.low:.2f}, {row.high:.2f}]" if bounded else ""
            known = not math.isnan(value)
            text = f"{value:.2f}" if known else "-"
            cells.append({"text": text, "below": below, "sort": value if known else -1.0, "best": best})
        rows.append({"name": name, "note": "floor" if floors[name] else "", "cells": cells})
    return rows
