"""Figures 1 to 13 of the STSScore paper: scatter plots with the diagonal, densities per class, ROC curves.

Classes and curves differ in dash, so that no figure depends on colour alone. Panels have one scale. What was not
measured is named in the caption; a figure for which nothing was measured is not written.

Source: Herbold, TMLR: figures 1 to 5 (the metrics of table 1), 6 to 9 (the weaker backbone), 10 to 13 (the ensemble).
"""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Plan:
    """One figure of the paper.

    Attributes:
        number: number of the figure.
        sets: keys of the sets; several for ROC curves only.
        rows: names of the metrics to draw.
    """

    number: int
    sets: tuple[str, ...]
    rows: tuple[str, ...]


def plans(main: tuple[str, ...], weaker: tuple[str, ...], ensemble: tuple[str, ...]) -> list[Plan]:
    """The paper's figures.

    Args:
        main: names of the metrics in figures 1 to 5.
        weaker: names of those in figures 6 to 9.
        ensemble: names of those in figures 10 to 13.
    """
    first = [Plan(1, ("stsb",), main), Plan(2, ("mrpc",), main), Plan(3, ("qqp",), main), Plan(4, CLASSES, main)]
    first.append(Plan(5, ("wmt22",), main))
    rest = [
        Plan(begin + i, sets, rows)
        for begin, rows in ((6, weaker), (10, ensemble))
        for i, sets in enumerate((("stsb",), ("mrpc",), ("qqp",), CLASSES))
    ]
    return [plan for plan in [*first, *rest] if plan.rows]


def draw(plan: Plan, sets: dict[str, PairSet], scores: Scores, folder: Path) -> str | None:
    """Write `figureN.png` and its other files (`save_figure`).

    Returns:
        The reason why it was not written; None where it was.
    """
    measured = {key: _measured(plan.rows, key, scores) for key in plan.sets if key in sets}
    measured = {key: rows for key, rows in measured.items() if rows}
    if not measured:
        titles = " or ".join(TITLES[key] for key in plan.sets)
        return f"figure {plan.number}: not drawn, nothing of it was measured on {titles}"
    if plan.sets == CLASSES:
        figure, caption = _roc_figure(plan, sets, measured)
    else:
        figure, caption = _panel_figure(plan, sets[plan.sets[0]], measured[plan.sets[0]])
    save_figure(figure, folder / f"figure{plan.number}.png", caption)
    return None


def _measured(rows: tuple[str, ...], key: str, scores: Scores) -> dict[str, np.ndarray]:
    return {name: scores.rated[name, key] for name in rows if (name, key) in scores.rated}


def _caption(text: str, absent: list[str]) -> str:
    return f"{text}\nnot measured: {', '.join(absent)}" if absent else text


def _panel_figure(plan: Plan, dataset: PairSet, measured: dict[str, np.ndarray]) -> tuple[Figure, str]:
    columns = 2 if len(measured) == 4 else min(_MAX_COLUMNS, len(measured))
    lines = -(-len(measured) // columns)
    figure = Figure(figsize=(1.2 * _PANEL_INCHES * columns, _PANEL_INCHES * lines + 0.7), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    everything = np.concatenate(list(measured.values()))
    limits = float(everything.min()), float(everything.max())
    for panel, (name, values) in zip(panels, measured.items(), strict=False):
        panel.set_title(name, fontsize=10)
        (draw_densities if dataset.key in CLASSES else draw_scatter)(panel, values, dataset, limits)
    for panel in panels[len(measured) :]:
        panel.set_axis_off()
    kind = "density of scores, label 1: same meaning" if dataset.key in CLASSES else "scores against human labels"
    text = f"Figure {plan.number}: {dataset.title} ({len(dataset)} pairs)\n{kind}"
    return figure, _caption(text, [name for name in plan.rows if name not in measured])


def draw_scatter(panel: Axes, values: np.ndarray, dataset: PairSet, limits: tuple[float, float]) -> None:
    """Scores over labels in their own scale, with the diagonal from (lowest label, 0) to (highest, 1).

    Args:
        panel: axes to draw on.
        values: (n,) scores.
        dataset: the set.
        limits: lowest and highest score of all panels.
    """
    low, high = dataset.scale
    labels = low + dataset.ratings * (high - low)
    opacity = max(0.03, 0.5 * min(1.0, _HALF_OPAQUE_POINTS / len(values)))
    panel.scatter(labels, values, s=7, alpha=opacity, color=PALETTE[0], linewidths=0, rasterized=True)
    panel.plot((low, high), (0, 1), color="black", linewidth=1.4)
    panel.set_ylim(min(0, limits[0]) - _SCATTER_MARGIN, max(1, limits[1]) + _SCATTER_MARGIN)
    panel.set_xlabel(_LABELS[dataset.key])
    panel.set_ylabel("similarity")
    panel.grid(alpha=0.3)


def draw_densities(panel: Axes, values: np.ndarray, dataset: PairSet, limits: tuple[float, float]) -> None:
    """A kernel density (Scott's rule) of the scores of each class, each with an area of one; args as `draw_scatter`."""
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
    panel.set_xlim(*limits)
    panel.set_ylim(0, _HEADROOM_FACTOR * panel.get_ylim()[1])
    panel.set_xlabel("similarity")
    panel.set_ylabel("density")
    panel.legend(loc="upper center", ncols=2, fontsize=8)
    panel.grid(alpha=0.3)


def _roc_figure(plan: Plan, sets: dict[str, PairSet], measured: dict[str, dict[str, np.ndarray]]) -> tuple[Figure, str]:
    figure = Figure(figsize=(1.4 * _PANEL_INCHES * len(measured), 1.2 * _PANEL_INCHES + 0.7), layout="constrained")
    for panel, (key, values) in zip(figure.subplots(1, len(measured), squeeze=False)[0], measured.items(), strict=True):
        panel.set_title(f"{TITLES[key]} ({len(sets[key])} pairs)", fontsize=10)
        draw_roc(panel, {name: values.get(name) for name in plan.rows}, sets[key].ratings)
    absent = [TITLES[key] for key in plan.sets if key not in measured]
    return figure, _caption(f"Figure {plan.number}: ROC of the score as a classifier", absent)


def draw_roc(panel: Axes, scores: dict[str, np.ndarray | None], labels: np.ndarray) -> None:
    """ROC curves, with AUC in the legend, which also names what was not measured.

    Args:
        panel: axes to draw on.
        scores: (n,) scores by name; None where not measured.
        labels: (n,) 0 or 1.
    """
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
    panel.set(xlim=(0, 1), ylim=(0, 1))
    panel.set_xlabel("false positive rate")
    panel.set_ylabel("true positive rate")
    panel.legend(loc="lower right", fontsize=8)
    panel.grid(alpha=0.3)
