"""Figures 1 to 13 of the STSScore paper: scatter plots with the diagonal, densities per class, ROC curves.

Classes and curves differ in dash, so that no figure depends on colour alone. Panels have one scale. What was not
measured is named in the title; a figure of which nothing was measured is not written.

Source: Herbold, TMLR: figures 1 to 5 (the metrics of table 1), 6 to 9 (the weaker backbone), 10 to 13 (the ensemble).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import gaussian_kde
from sklearn.metrics import roc_curve

from benchmarks.common.scoring import Scores
from benchmarks.matcha.figures import DASHES, DPI, PALETTE
from benchmarks.stsscore.sets import CLASSES, TITLES, PairSet
from semantic_metrics.stats import separation as protocol

_PANEL = 3.6  # inches
_COLUMNS = 3  # panels beside one another, at most
_POINTS = 400  # at which a density is drawn
_MARGIN = 0.15  # of a density, beyond the scores: its tails
_CLOUD = 4000.0  # points of a scatter plot at half opacity; more are drawn fainter
_PAD = 0.05  # beyond the scores, above and below a scatter plot
_HEADROOM = 1.25  # of densities, for the legend
_LABELS = {"stsb": "human label", "wmt22": "MQM score (0: no error)"}
_LEGEND = 30  # longest name in a legend's line


@dataclass(frozen=True)
class Plan:
    """One figure of the paper.

    Attributes:
        number: of the figure.
        sets: keys of the sets; several for ROC curves only.
        rows: names of the metrics to draw.
    """

    number: int
    sets: tuple[str, ...]
    rows: tuple[str, ...]


def plans(main: tuple[str, ...], weaker: tuple[str, ...], ensemble: tuple[str, ...]) -> list[Plan]:
    """The paper's figures.

    Args:
        main: names of the metrics of figures 1 to 5.
        weaker: of figures 6 to 9.
        ensemble: of figures 10 to 13.
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
    """Write `figureN.png`.

    Returns:
        None where it is written, else why not.
    """
    held = {key: _measured(plan.rows, key, scores) for key in plan.sets if key in sets}
    held = {key: rows for key, rows in held.items() if rows}
    if not held:
        titles = " or ".join(TITLES[key] for key in plan.sets)
        return f"figure {plan.number}: not drawn, nothing of it was measured on {titles}"
    if plan.sets == CLASSES:
        figure = _roc_figure(plan, sets, held)
    else:
        figure = _panel_figure(plan, sets[plan.sets[0]], held[plan.sets[0]])
    figure.savefig(folder / f"figure{plan.number}.png", dpi=DPI)
    return None


def _measured(rows: tuple[str, ...], key: str, scores: Scores) -> dict[str, np.ndarray]:
    return {name: scores.rated[name, key] for name in rows if (name, key) in scores.rated}


def _title(text: str, absent: list[str]) -> str:
    return f"{text}\nnot measured: {', '.join(absent)}" if absent else text


def _panel_figure(plan: Plan, found: PairSet, held: dict[str, np.ndarray]) -> Figure:
    columns = 2 if len(held) == 4 else min(_COLUMNS, len(held))
    lines = -(-len(held) // columns)
    figure = Figure(figsize=(1.2 * _PANEL * columns, _PANEL * lines + 0.7), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    limits = min(float(values.min()) for values in held.values()), max(float(values.max()) for values in held.values())
    for panel, (name, values) in zip(panels, held.items(), strict=False):
        panel.set_title(name, fontsize=10)
        (draw_densities if found.key in CLASSES else draw_scatter)(panel, values, found, limits)
    for panel in panels[len(held) :]:
        panel.set_axis_off()
    kind = "density of scores, label 1: same meaning" if found.key in CLASSES else "scores against human labels"
    text = f"Figure {plan.number}: {found.title} ({len(found)} pairs)\n{kind}"
    figure.suptitle(_title(text, [name for name in plan.rows if name not in held]), fontsize=11)
    return figure


def draw_scatter(panel: Axes, values: np.ndarray, found: PairSet, limits: tuple[float, float]) -> None:
    """Scores over labels in their own scale, with the diagonal from (lowest label, 0) to (highest, 1).

    Args:
        panel: to draw on.
        values: (n,) scores.
        found: the set.
        limits: lowest and highest score of all panels.
    """
    low, high = found.scale
    labels = low + found.ratings * (high - low)
    opacity = max(0.03, 0.5 * min(1.0, _CLOUD / len(values)))
    panel.scatter(labels, values, s=7, alpha=opacity, color=PALETTE[0], linewidths=0)
    panel.plot((low, high), (0, 1), color="black", linewidth=1.4)
    panel.set_ylim(min(0, limits[0]) - _PAD, max(1, limits[1]) + _PAD)
    panel.set_xlabel(_LABELS[found.key])
    panel.set_ylabel("similarity")
    panel.grid(alpha=0.3)


def draw_densities(panel: Axes, values: np.ndarray, found: PairSet, limits: tuple[float, float]) -> None:
    """A kernel density (Scott's rule) of the scores of each class, each with an area of one; args as `draw_scatter`."""
    grid = np.linspace(limits[0] - _MARGIN, limits[1] + _MARGIN, _POINTS)
    for label, colour, dash in ((0, PALETTE[1], DASHES[1]), (1, PALETTE[0], DASHES[0])):
        held = values[found.ratings == label]
        style = {"color": colour, "linestyle": dash, "label": f"label {label} ({len(held)} pairs)"}
        if np.unique(held).size > 1:  # a constant has no density
            density = gaussian_kde(held)(grid)
            panel.plot(grid, density, **style)
            panel.fill_between(grid, density, color=colour, alpha=0.15)
        else:
            panel.axvline(float(held[0]), **style)
    panel.set_ylim(0, _HEADROOM * panel.get_ylim()[1])
    panel.set_xlabel("similarity")
    panel.set_ylabel("density")
    panel.legend(loc="upper center", ncols=2, fontsize=8)
    panel.grid(alpha=0.3)


def _roc_figure(plan: Plan, sets: dict[str, PairSet], held: dict[str, dict[str, np.ndarray]]) -> Figure:
    figure = Figure(figsize=(1.4 * _PANEL * len(held), 1.2 * _PANEL + 0.7), layout="constrained")
    for panel, (key, values) in zip(figure.subplots(1, len(held), squeeze=False)[0], held.items(), strict=True):
        panel.set_title(f"{TITLES[key]} ({len(sets[key])} pairs)", fontsize=10)
        draw_roc(panel, {name: values.get(name) for name in plan.rows}, sets[key].ratings)
    absent = [TITLES[key] for key in plan.sets if key not in held]
    figure.suptitle(_title(f"Figure {plan.number}: ROC of the score as a classifier", absent), fontsize=11)
    return figure


def draw_roc(panel: Axes, values: dict[str, np.ndarray | None], labels: np.ndarray) -> None:
    """ROC curves, AUC in the legend, which also names what was not measured."""
    for i, (name, held) in enumerate(values.items()):
        short = name if len(name) <= _LEGEND else name[: _LEGEND - 3] + "..."
        if held is None:
            panel.plot([], [], linestyle="none", label=f"{short} (not measured)")
            continue
        false, true, _ = roc_curve(labels, held)
        area = float(protocol.auc(held[labels == 1], held[labels == 0]))
        style = {"color": PALETTE[i % len(PALETTE)], "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.6}
        panel.plot(false, true, label=f"{short} (AUC {area:.2f})", **style)
    panel.plot((0, 1), (0, 1), color="black", linewidth=0.8, linestyle=":")
    panel.set_xlabel("false positive rate")
    panel.set_ylabel("true positive rate")
    panel.legend(loc="lower right", fontsize=8)
    panel.grid(alpha=0.3)
