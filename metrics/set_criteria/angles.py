"""C2, C5 and C6: where a target's projection falls in the plane of A and B, and the lengths that decide the case."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semantic_metrics.set_criteria.samples import Group

THETAS = np.arange(41) / 20  # values of theta on the curves, in parts of the angle from A to B
UNSIGNED_EDGES = np.arange(61) / 20  # edges of the bins, in the same parts, from B
SIGNED_EDGES = np.arange(-40, 61) / 20
RATIO_EDGES = (np.arange(101) - 0.5) / 50  # 1, the ratio of an encoder that normalises, is in the middle of a bin
CASES = ("near A", "middle", "near B")

Result = dict[str, Any]


@dataclass(frozen=True)
class Placement:
    """Where targets fall, and what the criterion expects; (m,) arrays, NaN or False where there is no plane.

    Attributes:
        defined: whether A and B span a plane and the target has a projection in it.
        signed: angle from B to the projection in parts of the angle from B to A: 0 at B, 1 at A, (0, 1) in between.
        between: whether the projection lies between A and B, within the tolerance.
        off: angle from where the criterion expects the projection to where it is, in the same parts.
        case: index in CASES: what is expected.
    """

    defined: np.ndarray
    signed: np.ndarray
    between: np.ndarray
    off: np.ndarray
    case: np.ndarray

    def holds(self, criterion: str, theta: float) -> np.ndarray:
        """(m,) bool, whether the criterion holds: `between` for C2, nearer than theta for C5 and C6."""
        return self.between if criterion == "C2" else self.off < theta


def locate_targets(group: Group, criterion: str, tolerance: float, norm_ratio: float) -> Placement:
    """Compare where targets fall with what the criterion expects.

    C2 expects the middle of A and B, and C5 expects A. C6 expects the longer of the two, or the middle if their lengths
    are comparable, from 1 / norm_ratio to norm_ratio. The middle is the bisector of their angle. By `tolerance`,
    in rad, angle(target, A) + angle(target, B) may exceed angle(A, B) in "between".
    """
    whole, from_a = group.angles.between, group.angles.target
    from_b = _turn(whole - from_a)
    inside = (from_a >= 0) & (from_b >= 0)
    excess = np.where(inside, 0.0, np.abs(from_a) + np.abs(from_b) - whole)
    if criterion == "C6":
        a, b, _ = group.lengths
        case = np.select([a > norm_ratio * b, b > norm_ratio * a], [0, 2], 1)
    else:
        case = np.full(len(whole), 0 if criterion == "C5" else 1)
    offs = np.stack([from_a, _turn(from_a - whole / 2), from_b])[case, np.arange(len(case))]
    return Placement(~np.isnan(whole), from_b / whole, excess <= tolerance, np.abs(offs) / whole, case)


def describe_places(placement: Placement, criterion: str, theta: float) -> Result:
    """The result of C2, C5 or C6: percentages of the samples that have a plane, curve, histograms and angles."""
    defined = placement.defined
    off, signed, case = placement.off[defined], placement.signed[defined], placement.case[defined]
    holds = placement.holds(criterion, theta)[defined]
    result: Result = {
        "share": percentage(holds),
        "between": percentage(placement.between[defined]),
        "n": int(defined.sum()),
        "curve": {"theta": THETAS.tolist(), "share": [percentage(off < value) for value in THETAS]},
        "histogram": {
            "unsigned": histogram(np.abs(signed), UNSIGNED_EDGES),
            "signed": histogram(signed, SIGNED_EDGES),
        },
        "angle": {"unsigned": spread_of(np.abs(signed)), "signed": spread_of(signed)},
    }
    if criterion == "C6":
        by_case = {name: holds[case == i] for i, name in enumerate(CASES)}
        result["cases"] = {name: {"n": len(flags), "share": percentage(flags)} for name, flags in by_case.items()}
    return result


def length_ratios(groups: list[Group]) -> np.ndarray:
    """(n,) |A| / |B| in the order of the samples; NaN where either is a zero vector."""
    ratios = np.empty(sum(len(group.rows) for group in groups))
    for group in groups:
        a, b, _ = group.lengths
        ratios[group.rows] = np.divide(a, b, out=np.full(len(a), np.nan), where=(a > 0) & (b > 0))
    return ratios


def percentage(flags: np.ndarray) -> float | None:
    """Share of true values, in [0, 100]; None for an empty array."""
    return 100 * int(np.count_nonzero(flags)) / len(flags) if len(flags) else None


def spread_of(values: np.ndarray) -> dict[str, float | None]:
    """Mean, standard deviation (the population's) and median; the same for any order of the values."""
    if not len(values):
        return dict.fromkeys(("mean", "sd", "median"))
    values = np.sort(values)
    return {"mean": float(values.mean()), "sd": float(values.std()), "median": float(np.median(values))}


def histogram(values: np.ndarray, edges: np.ndarray) -> Result:
    """Counts in bins [edge, next edge), the last one closed, and of the values below and above all bins."""
    counts, _ = np.histogram(values, edges)
    below, above = int((values < edges[0]).sum()), int((values > edges[-1]).sum())
    return {"edges": edges.tolist(), "counts": counts.tolist(), "below": below, "above": above}


def _turn(angles: np.ndarray) -> np.ndarray:
    """The same directions in (-pi, pi], from angles at most one turn outside."""
    angles = np.where(angles > np.pi, angles - 2 * np.pi, angles)
    return np.where(angles <= -np.pi, angles + 2 * np.pi, angles)
