"""Histogram of scores for the report's SVG: x in percent of its width, y in pixels, so that letters keep their size."""

import math
from typing import Any

import numpy as np

BARS = 30
AXIS_STEP = 0.2  # scores beyond [0, 1] widen the axis in steps of this
# pixels
MAX_BAR_HEIGHT = 120.0
TOP_MARGIN = 12.0
FOOT = 30.0  # room for the numbers below the bars
MAX_TICK_STEPS = 6  # between the numbers below the axis
MAX_COUNT_STEPS = 3  # between the numbers of rows beside the bars
ROUNDING_ERROR = 1e-9  # of a number of steps


def draw(values: np.ndarray, labels: np.ndarray | None = None, threshold: float | None = None) -> dict[str, Any]:
    """Draw the histogram of (n,) scores, split by (n,) bool labels if there are any, and the line of a threshold.

    Returns:
        `bars` of correct rows upwards and of incorrect rows downwards, without labels all upwards, each with its CSS
        class `kind`, `x` and `width` in percent; `ticks`, positions in percent and scores of the numbers below `foot`,
        the lower end of the bars; `counts`, vertical positions and texts of the numbers of rows; `axis`, vertical
        position of the line that the bars start from; `threshold`, position in percent of its line, None without one;
        `height` of the whole chart; `caption`, the chart in words.
    """
    ends = values.min(), values.max()  # which a multiple of a step may miss by a rounding
    low = min(0.0, AXIS_STEP * math.floor(ends[0] / AXIS_STEP), ends[0])
    high = max(1.0, AXIS_STEP * math.ceil(ends[1] / AXIS_STEP), ends[1])
    low = -1.0 if -1.0 <= low < -AXIS_STEP else low  # a cosine's own range
    edges = np.linspace(low, high, BARS + 1)
    parts = {"up": values} if labels is None else {"up": values[labels], "down": values[~labels]}
    counts = {kind: np.histogram(part, edges)[0] for kind, part in parts.items()}
    highest = max(1, *(int(count.max()) for count in counts.values()))
    axis = TOP_MARGIN + MAX_BAR_HEIGHT
    bars = []
    for kind, count in counts.items():
        name = "" if labels is None else " labelled correct" if kind == "up" else " labelled incorrect"
        for i in np.flatnonzero(count):
            height = round(max(MAX_BAR_HEIGHT * int(count[i]) / highest, 1.0), 1)  # a row among many stays visible
            title = f"{edges[i]:.2f} to {edges[i + 1]:.2f}: {_rows(int(count[i]))}{name}"
            y = round(axis - height if kind == "up" else axis, 1)
            bar = {"kind": kind, "x": round(100 * int(i) / BARS, 3), "y": y, "width": round(100 / BARS, 3)}
            bars.append(bar | {"height": height, "title": title})
    foot = axis if labels is None else axis + MAX_BAR_HEIGHT
    ticks = [(round(100 * (at - low) / (high - low), 3), f"{at:g}") for at in _ticks(low, high, MAX_TICK_STEPS)]
    sides = (-1,) if labels is None else (-1, 1)
    whole = [int(at) for at in _ticks(0, highest, MAX_COUNT_STEPS) if at == int(at)]
    beside = {round(axis + side * MAX_BAR_HEIGHT * at / highest, 1): f"{at:,}" for side in sides for at in whole}
    way = "" if labels is None else " Rows labelled correct go up in blue, rows labelled incorrect go down in orange."
    line = None if threshold is None or not low <= threshold <= high else 100 * (threshold - low) / (high - low)
    way += "" if line is None else f" The dashed line is the threshold, {threshold:.4f}."
    caption = f"Number of rows by score, {_rows(len(values))} in all.{way}"
    lines = {"threshold": line, "axis": axis, "foot": foot, "height": foot + FOOT}
    return {"bars": bars, "ticks": ticks, "counts": sorted(beside.items()), **lines, "caption": caption}


def _rows(count: int) -> str:
    return f"{count:,} row" + "s" * (count != 1)


def _ticks(low: float, high: float, steps: int) -> list[float]:
    """Round numbers in the range, with at most `steps` steps between its ends."""
    raw = (high - low) / steps
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= raw)
    return [
        round(i * step, 9)
        for i in range(math.ceil(low / step - ROUNDING_ERROR), math.floor(high / step + ROUNDING_ERROR) + 1)
    ]
