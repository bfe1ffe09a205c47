"""Plots of what was fitted, as PNG; they need matplotlib."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import roc_curve

from semantic_metrics.files.output import atomic_write
from semantic_metrics.stats.binary import BINS, Reliability
from semantic_metrics.stats.separation import auc

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.5"  # colour-blind safe (Okabe & Ito)


def draw_reliability(reliabilities: dict[str, Reliability], path: Path, title: str) -> None:
    """Draw predicted against observed shares of correct answers, and the number of answers, a column for each name."""
    figure = Figure(figsize=(1 + 4 * len(reliabilities), 6), layout="constrained")
    panels = figure.subplots(2, len(reliabilities), sharex=True, sharey="row", squeeze=False, height_ratios=(3, 1))
    for (name, bins), curve, bars in zip(reliabilities.items(), *panels, strict=True):
        curve.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="calibrated")
        curve.plot(bins.predicted, bins.observed, color=BLUE, marker="o", label=f"expected error {bins.error:.3f}")
        curve.set(xlim=(0, 1), ylim=(0, 1), title=name)
        curve.legend(loc="upper left")
        bars.bar((np.arange(BINS) + 0.5) / BINS, bins.counts, 0.9 / BINS, color=BLUE)
        bars.set_xlabel("probability of being correct")
        for panel in (curve, bars):
            panel.grid(alpha=0.3)
    panels[0, 0].set_ylabel("share that people found correct")
    panels[1, 0].set_ylabel("answers")
    figure.suptitle(title)
    _save(figure, path)


def draw_roc(scores: np.ndarray, labels: np.ndarray, threshold: float, title: str, path: Path) -> None:
    """Draw the ROC curve of (n,) scores, with a threshold on it."""
    alarms, hits, _ = roc_curve(labels, scores, drop_intermediate=False)
    accepted = scores >= threshold
    figure = Figure(figsize=(5, 5), layout="constrained")
    panel = figure.subplots()
    panel.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="chance")
    panel.plot(alarms, hits, color=BLUE, label=f"AUC {float(auc(scores[labels], scores[~labels])):.3f}")
    panel.plot(accepted[~labels].mean(), accepted[labels].mean(), "o", color=ORANGE, label=f"threshold {threshold:.4f}")
    panel.set(xlabel="incorrect texts that are accepted", ylabel="correct texts that are accepted", title=title)
    panel.set_aspect("equal")
    panel.grid(alpha=0.3)
    panel.legend(loc="lower right")
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    with atomic_write(path) as file:
        figure.savefig(file, dpi=150, format="png")
