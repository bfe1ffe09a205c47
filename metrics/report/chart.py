"""The distribution of scores as bars, in the coordinates of the report's SVG."""

import math
from dataclasses import dataclass

import numpy as np

BINS = 30
STEP = 0.2  # scores beyond [0, 1] widen the axis in steps of this
WIDTH = 400.0  # in units of the SVG: a phone shows about one in a pixel, so that letters stay as large as they are
LEFT, RIGHT = 16.0, 384.0  # of the axis
TALL = 100.0  # the highest bar
TOP = 24.0  # room for a name above the bars
GAP = 1.0  # between bars
MOST_STEPS = 6  # between the numbers below the axis
ROUNDING = 1e-9  # of steps


@dataclass(frozen=True)
class Bar:
    """A rectangle; `kind` is its class."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Chart:
    """A histogram.

    Attributes:
        bars: correct rows upwards and incorrect ones downwards; without labels all upwards.
        ticks: place and score, below `foot`.
        names: height and text of what the two halves are.
        axis, foot: heights of the line that the bars stand on and of the lower end.
        height: of all.
        caption: what is to be seen, in words.
    """

    bars: list[Bar]
    ticks: list[tuple[float, str]]
    names: list[tuple[float, str]]
    axis: float
    foot: float
    height: float
    caption: str


def draw(values: np.ndarray, labels: np.ndarray | None = None) -> Chart:
    """Bars of (n,) scores, split by (n,) bool labels if there are any."""
    low = min(0.0, STEP * math.floor(values.min() / STEP))
    high = max(1.0, STEP * math.ceil(values.max() / STEP))
    low = -1.0 if -1.0 <= low < -STEP else low  # a cosine's own range
    edges = np.linspace(low, high, BINS + 1)
    parts = {"up": values} if labels is None else {"up": values[labels], "down": values[~labels]}
    counts = {kind: np.histogram(held, edges)[0] for kind, held in parts.items()}
    most = max(1, *(int(held.max()) for held in counts.values()))
    axis, width = TOP + TALL, (RIGHT - LEFT) / BINS
    bars = []
    for kind, held in counts.items():
        name = "" if labels is None else " labelled correct" if kind == "up" else " labelled incorrect"
        for i in np.flatnonzero(held):
            height = round(max(TALL * int(held[i]) / most, 1.0), 1)  # one row among many is still seen
            title = f"{edges[i]:.2f} to {edges[i + 1]:.2f}: {_rows(int(held[i]))}{name}"
            y = round(axis - height if kind == "up" else axis, 1)
            bars.append(Bar(kind, round(LEFT + width * int(i) + GAP / 2, 1), y, round(width - GAP, 1), height, title))
    foot = axis if labels is None else axis + TALL
    names = [] if labels is None else [(TOP - 8, "correct ↑"), (foot - 8, "incorrect ↓")]
    ticks = [(round(LEFT + (RIGHT - LEFT) * (at - low) / (high - low), 1), f"{at:g}") for at in _ticks(low, high)]
    way = "" if labels is None else " Correct rows stand upwards in blue, incorrect ones hang downwards in orange."
    caption = f"Distribution of {len(values):,} scores; the highest bar stands for {_rows(most)}.{way}"
    return Chart(bars, ticks, names, axis, foot, foot + 30, caption)


def _rows(count: int) -> str:
    return f"{count:,} row" + "s" * (count != 1)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers in the range, four to seven of them."""
    raw = (high - low) / MOST_STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= raw)
    return [round(i * step, 9) for i in range(math.ceil(low / step - ROUNDING), math.floor(high / step + ROUNDING) + 1)]
