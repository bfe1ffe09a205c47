"""What the criteria measure on vectors: five measures of likeness, and angles in the plane of two vectors.

Everything is computed row by row in float64, so that a sample's values do not depend on other samples.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

MEASURES = ("cosine", "dot", "l1", "l2", "ned")
DISTANCES = ("l1", "l2", "ned")  # smaller is nearer: the inequalities of the criteria are reversed
MIN_SQUARE, MAX_SQUARE = 1e-150, 1e150  # squared lengths: below is a zero vector, products of those above overflow
MIN_VARIANCE = 1e-12  # share of the squared length: a smaller spread is the rounding error of a constant vector
PARALLEL_RADIANS = 1e-6  # vectors with a smaller angle, or nearer to opposite, span a plane that is only rounding
MIN_PROJECTION = 1e-6  # share of a vector's length: a shorter projection has no direction

ZERO, EQUAL, ALONG, AGAINST, ACROSS = range(1, 6)
REASONS = {
    ZERO: "zero vector",
    EQUAL: "A equals B",
    ALONG: "A and B parallel",
    AGAINST: "A and B opposite",
    ACROSS: "target orthogonal to the plane",
}


class Rows:
    """(n, d) float64 vectors with the sums that every measure needs."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.square = dot(values, values)  # (n,) squared lengths

    @cached_property
    def total(self) -> np.ndarray:
        """(n,) sums over the components."""
        return np.add.reduce(self.values, axis=1)

    @cached_property
    def spread(self) -> np.ndarray:
        """(n,) variances over the components, times d."""
        return _spread(self.square, self.total, self.values.shape[1])

    @property
    def zero(self) -> np.ndarray:
        """(n,) bool, whether a vector counts as zero."""
        return self.square < MIN_SQUARE


@dataclass(frozen=True)
class Angles:
    """Where targets fall in the plane of A and B, in radians; NaN where there is no such plane or place.

    Attributes:
        between: (n,) angle from A to B, in (0, pi).
        target: (n,) angle from A to the target's projection, in (-pi, pi], B's side above 0.
        reason: (n,) uint8, 0 where the two are defined, else a key of REASONS.
    """

    between: np.ndarray
    target: np.ndarray
    reason: np.ndarray


def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n, d), (n, d) -> (n,) inner products, row by row."""
    return np.einsum("ij,ij->i", x, y)


def compare(x: Rows, y: Rows, scratch: np.ndarray) -> np.ndarray:
    """The five measures between the rows of x and those of y.

    NED is 0.5 var(x - y) / (var(x) + var(y)), in [0, 1]: (1 - cosine) / 2 for unit vectors of mean 0. `scratch` is
    (n, d) float64, overwritten.

    Returns:
        (5, n) float64 in the order of MEASURES; NaN is a cosine with a zero vector, or a NED of two constant vectors.
    """
    product = dot(x.values, y.values)
    np.subtract(x.values, y.values, out=scratch)
    square = dot(scratch, scratch)
    np.abs(scratch, out=scratch)
    lengths, spreads = x.square * y.square, x.spread + y.spread
    spread = _spread(square, x.total - y.total, scratch.shape[1])
    nan = np.full((2, len(product)), np.nan)
    # one root of both squares: equal vectors have a cosine of exactly 1
    cosine = np.divide(product, np.sqrt(lengths), out=nan[0], where=~(x.zero | y.zero))
    ned = np.divide(0.5 * spread, spreads, out=nan[1], where=spreads > 0)
    return np.stack([np.clip(cosine, -1, 1), product, np.add.reduce(scratch, axis=1), np.sqrt(square), ned])


def locate(a: Rows, b: Rows, target: Rows, scratch: np.ndarray) -> Angles:
    """Project targets on the planes of A and B, and take their angles (paper, appendix A.2).

    The basis of a plane is b1 = A / |A| and b2 = B - (B.b1) b1, normalised; angles are arctan2 of two coordinates,
    which is exact to rounding at any angle, where the arc cosine loses half of the digits near 0 and pi. `scratch` is
    (n, d) float64, overwritten.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # rows without a plane are set to NaN at the end
        length = np.sqrt(a.square)
        b_along = dot(a.values, b.values) / length
        np.multiply(a.values, (b_along / length)[:, None], out=scratch)
        np.subtract(b.values, scratch, out=scratch)
        b_across = np.sqrt(dot(scratch, scratch))
        between = np.arctan2(b_across, b_along)
        along, across = dot(a.values, target.values) / length, dot(target.values, scratch) / b_across
        place = np.arctan2(across, along)
        shadow = np.hypot(along, across) / np.sqrt(target.square)
    equal = between < PARALLEL_RADIANS
    equal[equal] = (a.values[equal] == b.values[equal]).all(axis=1)
    conditions = [
        a.zero | b.zero | target.zero,
        equal,
        between < PARALLEL_RADIANS,
        between > np.pi - PARALLEL_RADIANS,
        shadow < MIN_PROJECTION,
    ]
    reason = np.select(conditions, [ZERO, EQUAL, ALONG, AGAINST, ACROSS], 0).astype(np.uint8)
    defined = reason == 0
    return Angles(np.where(defined, between, np.nan), np.where(defined, place, np.nan), reason)


def _spread(square: np.ndarray, total: np.ndarray, width: int) -> np.ndarray:
    spread = square - total * total / width
    return np.where(spread > MIN_VARIANCE * square, spread, 0.0)
