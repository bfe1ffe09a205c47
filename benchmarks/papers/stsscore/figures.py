"""Figures 1 to 13 of the STSScore paper: scatter plots with the diagonal, densities per class, ROC curves.

Classes and curves differ in dash, so that no figure depends on colour alone. Panels have one scale. What was not
measured is named in the caption; a figure for which nothing was measured is not written.

Source: Herbold, TMLR: figures 1 to 5 (the metrics of table 1), 6 to 9 (the weaker backbone), 10 to 13 (the ensemble).
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import gaussian_kde
from sklearn.metrics import roc_curve

from benchmarks.common.plot_style import DASHES, PALETTE, save_figure
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.stsscore.sets import CLASSES, TITLES, PairSet
from semantic_metrics.stats.separation import auc

_PANEL_INCHES = 3.6
_MAX_COLUMNS = 3  # panels beside one another
_DENSITY_POINTS = 400  # scores at which a density is computed
_HALF_OPAQUE_POINTS = 4000.0  # points of a scatter plot that are drawn at half opacity; more are drawn fainter
_SCATTER_MARGIN = 0.05  # space above and below the scores
_HEADROOM_FACTOR = 1.25  # space above densities for the legend
_LABELS = {"stsb": "human label", "wmt22": "MQM score (0: no error)"}
_LEGEND_CHARACTERS = 30  # longest name in a legend

Plan = tuple[int, tuple[str, ...], tuple[str, ...]]  # number of a figure, keys of its sets, and names of its metrics


def plans(main: tuple[str, ...], weaker: tuple[str, ...], ensemble: tuple[str, ...]) -> list[Plan]:
    """The paper's figures: names of the metrics in figures 1 to 5, in 6 to 9, and in 10 to 13."""
    kinds = (("stsb",), ("mrpc",), ("qqp",), CLASSES)
    groups = (1, main), (6, weaker), (10, ensemble)
    found = [(first + i, keys, rows) for first, rows in groups for i, keys in enumerate(kinds)]
    return [plan for plan in [*found[:4], (5, ("wmt22",), main), *found[4:]] if plan[2]]


def draw(plan: Plan, sets: dict[str, PairSet], scores: Scores, folder: Path) -> str | None:
    """Write `figureN.png` and its other files (`save_figure`); returns the reason where it cannot be drawn."""
    number, keys, rows = plan
    known = {key: {name: scores.rated[name, key] for name in rows if (name, key) in scores.rated} for key in keys}
    measured = {key: values for key, values in known.items() if key in sets and values}
    if not measured:
        return f"figure {number}: not drawn, nothing of it was measured on {' or '.join(TITLES[key] for key in keys)}"
    if keys == CLASSES:
        figure, absent = _roc_figure(rows, sets, measured), [TITLES[key] for key in keys if key not in measured]
        caption = f"Figure {number}: ROC of the score as a classifier"
    else:
        ((key, values),) = measured.items()
        figure, absent = _panel_figure(sets[key], values), [name for name in rows if name not in values]
        kind = "density of scores, label 1: same meaning" if key in CLASSES else "scores against human labels"
        caption = f"Figure {number}: {TITLES[key]} ({len(sets[key])} pairs)\n{kind}"
    caption += f"\nnot measured: {', '.join(absent)}" if absent else ""
    save_figure(figure, folder / f"figure{number}.png", caption)
    return None


def _panel_figure(dataset: PairSet, measured: dict[str, np.ndarray]) -> Figure:
    columns = 2 if len(measured) == 4 else min(_MAX_COLUMNS, len(measured))
    lines = -(-len(measured) // columns)
    figure = Figure(figsize=(1.2 * _PANEL_INCHES * columns, _PANEL_INCHES * lines + 0.7), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    everything = np.concatenate(list(measured.values()))
    limits = float(everything.min()), float(everything.max())
    for panel, (name, values) in zip(panels, measured.items(), strict=False):
        panel.set_title(name, fontsize=10)
        (_draw_densities if dataset.key in CLASSES else _draw_scatter)(panel, values, dataset, limits)
    for panel in panels[len(measured) :]:
        panel.set_axis_off()
    return figure


def _draw_scatter(panel: Axes, values: np.ndarray, dataset: PairSet, limits: tuple[float, float]) -> None:
    """Scores over labels in their own scale, with the diagonal from (lowest label, 0) to (highest, 1)."""
    low, high = dataset.scale
    labels = low + dataset.ratings * (high - low)
    opacity = max(0.03, 0.5 * min(1.0, _HALF_OPAQUE_POINTS / len(values)))
    panel.scatter(labels, values, s=7, alpha=opacity, color=PALETTE[0], linewidths=0, rasterized=True)
    panel.plot((low, high), (0, 1), color="black", linewidth=1.4)
    panel.set_ylim(min(0, limits[0]) - _SCATTER_MARGIN, max(1, limits[1]) + _SCATTER_MARGIN)
    panel.set(xlabel=_LABELS[dataset.key], ylabel="similarity")
    panel.grid(alpha=0.3)


def _draw_densities(panel: Axes, values: np.ndarray, dataset: PairSet, limits: tuple[float, float]) -> None:
    """A kernel density (Scott's rule) of the scores of each class, each with an area of one."""
    grid = np.linspace(*limits, _DENSITY_POINTS)
    for label, colour, dash in ((0, PALETTE[1], DASHES[1]), (1, PALETTE[0], DASHES[0])):
        scores = values[dataset.ratings == label]
        style = {"color": colour, "linestyle": dash, "label": f"label {label} ({len(scores)} pairs)"}
        if np.unique(scores).size > 1:  # a constant has no density
            density = gaussian_kde(scores)(grid)
            panel.plot(grid, density, **style)
            panel.fill_between(grid, density, color=colour, alpha=0.15)
        else:
            panel.axvline(float(scores[0]), **style)
    panel.set(xlim=limits, ylim=(0, _HEADROOM_FACTOR * panel.get_ylim()[1]), xlabel="similarity", ylabel="density")
    panel.legend(loc="upper center", ncols=2, fontsize=8)
    panel.grid(alpha=0.3)


def _roc_figure(rows: tuple[str, ...], sets: dict[str, PairSet], measured: dict[str, dict[str, np.ndarray]]) -> Figure:
    figure = Figure(figsize=(1.4 * _PANEL_INCHES * len(measured), 1.2 * _PANEL_INCHES + 0.7), layout="constrained")
    for panel, (key, values) in zip(figure.subplots(1, len(measured), squeeze=False)[0], measured.items(), strict=True):
        panel.set_title(f"{TITLES[key]} ({len(sets[key])} pairs)", fontsize=10)
        _draw_roc(panel, {name: values.get(name) for name in rows}, sets[key].ratings)
    return figure


def _draw_roc(panel: Axes, scores: dict[str, np.ndarray | None], labels: np.ndarray) -> None:
    """ROC curves of scores and 0-1 labels, with AUC in the legend, which also names what was not measured."""
    for i, (name, values) in enumerate(scores.items()):
        short = name if len(name) <= _LEGEND_CHARACTERS else name[: _LEGEND_CHARACTERS - 3] + "..."
        if values is None:
            panel.plot([], [], linestyle="none", label=f"{short} (not measured)")
            continue
        false, true, _ = roc_curve(labels, values)
        area = float(auc(values[labels == 1], values[labels == 0]))
        style = {"color": PALETTE[i % len(PALETTE)], "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.6}
        panel.plot(false, true, label=f"{short} (AUC {area:.2f})", **style)
    panel.plot((0, 1), (0, 1), color="black", linewidth=0.8, linestyle=":")
    panel.set(xlim=(0, 1), ylim=(0, 1), xlabel="false positive rate", ylabel="true positive rate")
    panel.legend(loc="lower right", fontsize=8)
    panel.grid(alpha=0.3)
