"""Histograms of figures 4, 6 and 10.

Nothing depends on colour alone: unsigned angles are filled bars, signed ones a dashed outline.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.common.plot_style import PALETTE, save_figure

OPERATORS = {"C2": "TextOverlap (C2)", "C5": "TextDifference (C5)", "C6": "TextUnion (C6)"}
EXPECTED = {"C2": "expected between 0 and 1", "C5": "expected near 1 (A)", "C6": "expected between 0 and 1"}
_ANGLES = (-0.5, 2.5)  # range of the axis, in parts of the angle between A and B; the caption counts the rest
_RATIOS = (0.49, 1.51)  # range of the axis: whole bins, 1 in the middle of one
_CORNER = {"ha": "right", "va": "top", "fontsize": 8, "bbox": {"color": "white", "alpha": 0.7, "pad": 1}}
_PANEL_INCHES, _ROW_INCHES = 3.2, 2.0
_HEADROOM = 0.2  # share of the axis above the bars, for the text in the corner


def draw_angles(results: dict[str, dict], path: Path, title: str) -> None:
    """Figure 4 (one encoder) or 6 (several) as PNG: a row for each encoder's `report`, a column for each operator."""
    figure = Figure(figsize=(3 * _PANEL_INCHES, 1.2 + _ROW_INCHES * len(results)), layout="constrained")
    panels = figure.subplots(len(results), len(OPERATORS), sharex=True, squeeze=False)
    for row, (name, result) in zip(panels, results.items(), strict=True):
        for panel, criterion in zip(row, OPERATORS, strict=True):
            _draw_angle(panel, result[criterion])
        row[0].set_ylabel(f"{_plain(name)}\nsamples (%)")
    for panel, criterion in zip(panels[0], OPERATORS, strict=True):
        panel.set_title(f"{OPERATORS[criterion]}\n{EXPECTED[criterion]}", fontsize=10)
    for panel in panels[-1]:
        panel.set_xlabel("angle(B, target) / angle(A, B)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    save_figure(figure, path, title)


def _draw_angle(panel: Axes, result: dict) -> None:
    unsigned, signed = result["histogram"]["unsigned"], result["histogram"]["signed"]
    panel.stairs(
        _shares(unsigned), unsigned["edges"], fill=True, color=PALETTE[0], alpha=0.55, label="unsigned (paper)"
    )
    panel.stairs(_shares(signed), signed["edges"], color=PALETTE[1], linestyle="--", label="signed")
    for place in (0, 1):
        panel.axvline(place, color="black", linewidth=0.8)
    panel.set_xlim(*_ANGLES)
    panel.margins(y=_HEADROOM)
    beyond = _beyond(signed, _ANGLES)
    text = "no samples" if not result["n"] else f"{beyond:.1f}% of signed beyond" if beyond >= 0.05 else ""
    panel.text(0.98, 0.95, text, transform=panel.transAxes, **_CORNER)


def draw_ratios(results: dict[str, dict], path: Path, title: str) -> None:
    """Figure 10 as PNG: |A| / |B| of the unions, of every encoder's `report`."""
    columns = min(4, len(results))
    rows = -(-len(results) // columns)
    figure = Figure(figsize=(max(2, columns) * _PANEL_INCHES, 1 + _ROW_INCHES * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for panel in panels.flat[len(results) :]:
        panel.set_visible(False)
    for panel, (name, result) in zip(panels.flat, results.items(), strict=False):
        histogram = result["norm_ratio"]["histogram"]
        panel.stairs(_shares(histogram), histogram["edges"], fill=True, color=PALETTE[0])
        panel.axvline(1, color="black", linewidth=0.8, linestyle=":")
        panel.set_xlim(*_RATIOS)
        panel.margins(y=_HEADROOM)
        panel.tick_params(labelbottom=True)
        panel.set_title(_plain(name), fontsize=10)
        panel.set_xlabel("|A| / |B| of unions")
        panel.text(0.98, 0.95, f"{_beyond(histogram, _RATIOS):.1f}% beyond", transform=panel.transAxes, **_CORNER)
    for row in panels:
        row[0].set_ylabel("samples (%)")
    save_figure(figure, path, title)


def _plain(name: str) -> str:
    """A user's name without formulas: matplotlib reads one between dollar signs, and may fail."""
    return name.replace("$", r"\$")


def _shares(histogram: dict) -> np.ndarray:
    return 100 * np.array(histogram["counts"], dtype=np.float64) / max(1, _total(histogram))


def _total(histogram: dict) -> int:
    return sum(histogram["counts"]) + histogram["below"] + histogram["above"]


def _beyond(histogram: dict, shown: tuple[float, float]) -> float:
    """Percentage of samples outside the range of the axis."""
    edges, counts = np.array(histogram["edges"]), np.array(histogram["counts"])
    inside = (edges[:-1] >= shown[0] - 1e-9) & (edges[1:] <= shown[1] + 1e-9)
    return 100 * (1 - counts[inside].sum() / max(1, _total(histogram)))
