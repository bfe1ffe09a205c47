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
LABELS = {
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
        labels=[LABELS[criterion] for criterion in CRITERIA],
        standings=standings(scores),
        checks=checks,
        tables=tables,
        charts=charts,
        signatures=signatures,
        absent=absent,
    )
    path.write_text(page, encoding="utf-8")


def standings(scores: pd.DataFrame) -> list[dict]:
    """Rows of the leaderboard, the highest mean of the six percentages first, floors last; all of a tie are best."""
    wide = scores.pivot(index="encoder", columns="criterion", values="value").reindex(columns=list(CRITERIA))
    floors = scores.groupby("encoder", sort=False)["floor"].first()
    by_place = {(row.encoder, row.criterion): row for row in scores.itertuples()}
    order = sorted(floors.index, key=lambda name: (floors[name], -wide.loc[name].mean()))
    highest = wide[~floors.reindex(wide.index)].max()  # a floor does not compete
    rows = []
    for name in order:
        cells = []
        for criterion in CRITERIA:
            row = by_place[name, criterion]
            known = not math.isnan(row.value)
            text = f"{row.value:.2f}" if known else "-"
            below = "" if math.isnan(row.low) else f"[{row.low:.2f}, {row.high:.2f}]"
            best = bool(known and not floors[name] and row.value == highest[criterion])
            cells.append({"text": text, "below": below, "sort": row.value if known else -1.0, "best": best})
        rows.append({"name": name, "note": "floor" if floors[name] else "", "cells": cells})
    return rows
