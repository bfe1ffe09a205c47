"""The paper's figures from the benchmark's tables: threshold curves (2, 6), gaps (3, 5), concordance (4).

No figure depends on colour alone: curves also differ in dash and marker, bars in hatching. A figure for which
nothing was measured is not written.
"""

from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.common.plot_style import DASHES, MARKERS, PALETTE, save_figure, shared_legend
from benchmarks.papers.matcha.agreement import HUMAN

MATCHA_COLOUR = "black"
_PANEL_INCHES = 3.2
_LEGEND_WIDTH_INCHES, _LEGEND_HEIGHT_INCHES = 2.4, 0.22  # one entry of a legend
_DARK_CONCORDANCE = 60  # beyond it a cell is too dark for black digits
_MARKER_STEP = 12  # thresholds between two markers of a curve
_MIDPOINT_TITLES = {True: "gap > t, correct > 0.5 > incorrect", False: "gap > t alone"}


def draw_curves(curves: pd.DataFrame, metrics: list[str], sets: list[str], path: Path, title: str) -> None:
    """Threshold curves: one column of panels per set; above with the two midpoint conditions, below without.

    `curves` is from `separation.curve_table`; `metrics` are in the legend's order.
    """
    sets = [name for name in sets if (curves["set"] == name).any()]
    chosen = curves[curves["metric"].isin(metrics)]
    if not sets or chosen.empty:
        return
    styles = _styles(chosen, metrics)
    width = max(_PANEL_INCHES * len(sets), 2 * _PANEL_INCHES)
    columns = int(width // _LEGEND_WIDTH_INCHES)
    height = 2 * _PANEL_INCHES + _LEGEND_HEIGHT_INCHES * -(-len(styles) // columns)
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(2, len(sets), sharex=True, sharey=True, squeeze=False)
    for i, midpoint in enumerate(_MIDPOINT_TITLES):
        for panel, name in zip(panels[i], sets, strict=True):
            part = chosen[(chosen["set"] == name) & (chosen["midpoint"] == midpoint)]
            for metric, style in styles.items():
                panel.plot("threshold", "share", data=part[part["metric"] == metric], label=metric, **style)
            panel.set(xlim=(0, 1), ylim=(0, 100))
            panel.grid(alpha=0.3)
            panel.set_title(name if midpoint else "", fontsize=11)
        panels[i, 0].set_ylabel(f"rows (%)\n{_MIDPOINT_TITLES[midpoint]}")
    for panel in panels[1]:
        panel.set_xlabel("threshold t on the [0, 1] scale")
    shared_legend(figure, panels.flat, min(len(styles), columns))
    save_figure(figure, path, title)


def _styles(curves: pd.DataFrame, metrics: list[str]) -> dict[str, dict[str, object]]:
    groups = dict(zip(curves["metric"], curves["group"], strict=True))
    looks = zip(cycle(PALETTE), cycle(DASHES), cycle(MARKERS), strict=False)
    styles: dict[str, dict[str, object]] = {}
    checkpoints = 0
    for i, name in enumerate(name for name in metrics if name in groups):
        colour, dash, marker = next(looks)
        styles[name] = {"color": colour, "linestyle": dash, "linewidth": 1.4, "marker": marker, "markersize": 4.5}
        if groups[name] == "matcha":
            dash = DASHES[checkpoints % len(DASHES)]
            styles[name] |= {"color": MATCHA_COLOUR, "linewidth": 2.2, "linestyle": dash}
            checkpoints += 1
        styles[name]["markevery"] = (i % _MARKER_STEP, _MARKER_STEP)  # staggered, so that markers do not overlap
    return styles


def draw_gaps(table: pd.DataFrame, metrics: list[str], sets: list[str], path: Path, title: str) -> None:
    """Mean scores as bars, N-delta beside them; `table` is from `separation.separation_table`, the rest as above."""
    chosen = table[table["metric"].isin(metrics) & table["value"].notna()]
    sets = [name for name in sets if (chosen["set"] == name).any()]
    metrics = [name for name in metrics if (chosen["metric"] == name).any()]
    if not sets or not metrics:
        return
    height = 1.6 + 0.55 * len(metrics)
    figure = Figure(figsize=(1.5 + 1.25 * _PANEL_INCHES * len(sets), height), layout="constrained")
    panels = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for panel, name in zip(panels, sets, strict=True):
        wide = chosen[chosen["set"] == name].pivot(index="metric", columns="figure", values="value").reindex(metrics)
        _draw_bars(panel, wide.astype(float))
        panel.set_title(name, fontsize=11)
        panel.set_xlabel("mean cosine (x 100)")
    panels[0].set_yticks(range(len(metrics)), metrics)
    panels[0].set_ylim(len(metrics) - 0.4, -0.6)  # from the top
    shared_legend(figure, panels, 2)
    save_figure(figure, path, title)


def _draw_bars(panel: Axes, wide: pd.DataFrame) -> None:
    places = np.arange(len(wide))
    panel.barh(places - 0.2, wide["correct"], 0.38, label="correct", color=PALETTE[0], edgecolor="black")
    look = {"color": "white", "edgecolor": PALETTE[1], "hatch": "////"}
    panel.barh(places + 0.2, wide["incorrect"], 0.38, label="incorrect", **look)
    panel.axvline(0, color="black", linewidth=0.8)
    lowest = min(0.0, float(np.nanmin(wide[["correct", "incorrect"]])))
    panel.set_xlim(lowest * 1.1, 145)  # N-delta is written beyond 100
    ticks = range(20 * int(lowest // 20), 101, 20)
    panel.set_xticks(ticks)
    panel.spines["bottom"].set_bounds(ticks[0], ticks[-1])
    for place, row in zip(places, wide.itertuples(), strict=True):
        if np.isfinite(row.n_delta):
            panel.text(142, place, f"N-delta {row.n_delta:.1f}", ha="right", va="center", fontsize=8)
    panel.grid(axis="x", alpha=0.3)


def draw_concordance(matrix: pd.DataFrame, scalings: list[str], path: Path, title: str) -> None:
    """Figure 4: a heat map per scaling with its numbers; `matrix` is that of `agreement.concordance_matrix`."""
    scalings = [name for name in scalings if (matrix["scaling"] == name).any()]
    if not scalings:
        return
    names = sorted(dict.fromkeys(matrix["metric"]), key=lambda name: name == HUMAN)
    side = 1.6 + 0.55 * len(names)
    labels = 0.13 * max(map(len, names))  # inches of the names below
    figure = Figure(figsize=(side * len(scalings) + 1.5, side + labels), layout="constrained")
    panels = figure.subplots(1, len(scalings), sharey=True, squeeze=False)[0]
    for panel, scaling in zip(panels, scalings, strict=True):
        chosen = matrix[matrix["scaling"] == scaling]
        wide = chosen.pivot(index="metric", columns="other", values="ccc").reindex(index=names, columns=names)
        image = panel.imshow(wide, vmin=-100, vmax=100, cmap="PuOr")
        panel.set_xticks(range(len(names)), names, rotation=90)
        panel.set_yticks(range(len(names)), names)
        panel.set_title(scaling, fontsize=11)
        if HUMAN in names:
            panel.axhline(names.index(HUMAN) - 0.5, color="black")
            panel.axvline(names.index(HUMAN) - 0.5, color="black")
        for (i, j), value in np.ndenumerate(wide.to_numpy()):
            if np.isfinite(value):  # no paper prints FActScore's concordance with other metrics
                colour = "white" if abs(value) > _DARK_CONCORDANCE else "black"
                panel.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=8, color=colour)
    figure.colorbar(image, ax=list(panels), label="concordance (x 100)", shrink=0.7)
    save_figure(figure, path, title)
