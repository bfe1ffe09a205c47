"""The criteria once more, sample by sample and in the words of the paper: slow, and independent of the metric."""

import math

import numpy as np


def likeness(x: np.ndarray, y: np.ndarray, measure: str) -> float:
    """One measure of two vectors; plain formulas in float64."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if measure == "cosine":
        return float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))
    if measure == "dot":
        return float(x @ y)
    if measure == "l1":
        return float(np.abs(x - y).sum())
    if measure == "l2":
        return float(np.linalg.norm(x - y))
    return float(0.5 * np.var(x - y) / (np.var(x) + np.var(y)))


def differences(a: np.ndarray, b: np.ndarray, target: np.ndarray, criterion: str, measure: str) -> list[float]:
    """The differences of C1, C3 or C4 for one sample."""

    def sim(x: np.ndarray, y: np.ndarray) -> float:
        return likeness(x, y, measure)

    if criterion == "C1":
        return [sim(a, target) - sim(a, b), sim(b, target) - sim(a, b)]
    if criterion == "C3":
        return [sim(a, target) - sim(b, target), sim(a, b) - sim(b, target)]
    x = np.asarray(a, dtype=np.float64) - b
    return [sim(x, target) - sim(x, b)]


def margins(low: float, high: float, number: int) -> np.ndarray:
    """Evenly spaced, ends included."""
    return np.linspace(low, high, number)


def grid_cells(first: np.ndarray, second: np.ndarray, ranges: list[list[float]], number: int) -> dict[str, float]:
    """Percentages over the whole grid, every combination of margins tried."""
    counts = np.zeros(4, dtype=np.int64)
    for one in margins(*ranges[0], number):
        for two in margins(*ranges[1], number):
            a, b = first >= one, second >= two
            counts += np.count_nonzero([a & b, a & ~b, ~a & b, ~a & ~b], axis=1)
    shares = [100 * int(count) / (len(first) * number**2) for count in counts]
    return dict(zip(("both", "first", "second", "neither"), shares, strict=True))


def plane_angles(a: np.ndarray, b: np.ndarray, target: np.ndarray) -> tuple[float, float, float]:
    """Angles (A, B), (A, target's projection), (B, projection), unsigned, by least squares and arc cosines."""
    basis = np.stack([a, b], axis=1).astype(np.float64)
    projected = basis @ np.linalg.lstsq(basis, np.asarray(target, dtype=np.float64), rcond=None)[0]
    return _angle(a, b), _angle(a, projected), _angle(b, projected)


def _angle(x: np.ndarray, y: np.ndarray) -> float:
    return math.acos(min(1.0, max(-1.0, likeness(x, y, "cosine"))))
