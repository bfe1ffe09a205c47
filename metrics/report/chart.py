"""Histogram of scores in the coordinates of the report's SVG, which is 400 units wide."""

import math

import numpy as np

BARS = 30
AXIS_STEP = 0.2  # scores beyond [0, 1] widen the axis in steps of this
# units of the SVG: a phone shows about one per pixel, so that letters keep their size
LEFT, RIGHT = 16.0, 384.0  # ends of the axis
MAX_BAR_HEIGHT = 100.0
TOP_MARGIN = 24.0  # room for a name above the bars
BAR_GAP = 1.0
MAX_TICK_STEPS = 6  # between the numbers below the axis
ROUNDING_ERROR = 1e-9  # of a number of steps


def draw(values: np.ndarray, labels: np.ndarray | None = None) -> dict[str, object]:
    """Draw the histogram of (n,) scores, split by (n,) bool labels if there are any.

    Returns:
        `bars` of correct rows upwards and of incorrect rows downwards, without labels all upwards, each with its CSS
        class `kind`; `ticks`, positions and scores of the numbers below `foot`, the lower end of the bars; `names`,
        vertical positions and texts of the names of the two halves; `axis`, vertical position of the line that the
        bars start from; `height` of the whole chart; `caption`, the chart in words.
    """
    low = min(0.0, AXIS_STEP * math.floor(values.min() / AXIS_STEP))
    high = max(1.0, AXIS_STEP * math.ceil(values.max() / AXIS_STEP))
    low = -1.0 if -1.0 <= low < -AXIS_STEP else low  # a cosine's own range
    edges = np.linspace(low, high, BARS + 1)
    parts = {"up": values} if labels is None else {"up": values[labels], "down": values[~labels]}
    counts = {kind: np.histogram(part, edges)[0] for kind, part in parts.items()}
    highest = max(1, *(int(count.max()) for count in counts.values()))
    axis, width = TOP_MARGIN + MAX_BAR_HEIGHT, (RIGHT - LEFT) / BARS
    bars = []
    for kind, count in counts.items():
        name = "" if labels is None else " labelled correct" if kind == "up" else " labelled incorrect"
        for i in np.flatnonzero(count):
            height = round(max(MAX_BAR_HEIGHT * int(count[i]) / highest, 1.0), 1)  # a row among many stays visible
            title = f"{edges[i]:.2f} to {edges[i + 1]:.2f}: {_rows(int(count[i]))}{name}"
            y = round(axis - height if kind == "up" else axis, 1)
            x = round(LEFT + width * int(i) + BAR_GAP / 2, 1)
            bar = {"kind": kind, "x": x, "y": y, "width": round(width - BAR_GAP, 1), "height": height, "title": title}
            bars.append(bar)
    foot = axis if labels is None else axis + MAX_BAR_HEIGHT
    names = [] if labels is None else [(TOP_MARGIN - 8, "correct ↑"), (foot - 8, "incorrect ↓")]
    ticks = [(round(LEFT + (RIGHT - LEFT) * (at - low) / (high - low), 1), f"{at:g}") for at in _ticks(low, high)]
    way = "" if labels is None else " Bars of correct rows go up in blue, bars of incorrect rows go down in orange."
    caption = f"Distribution of {len(values):,} scores; the highest bar stands for {_rows(highest)}.{way}"
    ends = {"axis": axis, "foot": foot, "height": foot + 30}
    return {"bars": bars, "ticks": ticks, "names": names, **ends, "caption": caption}


def _rows(count: int) -> str:
    return f"{count:,} row" + "s" * (count != 1)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers in the range, four to seven of them."""
    raw = (high - low) / MAX_TICK_STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= raw)
    return [
        round(i * step, 9)
        for i in range(math.ceil(low / step - ROUNDING_ERROR), math.floor(high / step + ROUNDING_ERROR) + 1)
    ]
