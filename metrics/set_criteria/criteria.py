"""From measured samples to the results of the six criteria."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from semantic_metrics.core.inputs import check_whole, invalid_input
from semantic_metrics.set_criteria.angles import (
    RATIO_EDGES,
    Placement,
    Result,
    describe_places,
    histogram,
    length_ratios,
    locate_targets,
    spread_of,
)
from semantic_metrics.set_criteria.epsilon import CELLS, EPSILONS, sample_cells, sample_share
from semantic_metrics.set_criteria.geometry import DISTANCES, MEASURES, REASONS
from semantic_metrics.set_criteria.samples import Group

# differences of each criterion (paper, section 4): likeness of one pair minus likeness of another; x is A - B
DIFFERENCES = {
    "C1": (("at", "ab"), ("bt", "ab")),
    "C3": (("at", "bt"), ("ab", "bt")),
    "C4": (("xt", "xb"),),
}
PLACED = ("C2", "C5", "C6")
OPERATOR = {"C1": "overlap", "C2": "overlap", "C3": "difference", "C4": "difference", "C5": "difference", "C6": "union"}

Samples = dict[str, Group]
Ranges = dict[str, dict[str, list[list[float]] | None]]


@dataclass(frozen=True)
class Settings:
    """Numbers that the definitions of the criteria leave open.

    Attributes:
        epsilons: number of margins of each condition, at least 2; the paper takes 132.
        tolerance: tolerance of "between A and B" (C2), in rad; the paper gives no number.
        theta: margin of C5 and C6, in parts of the angle between A and B; the paper gives no number.
        norm_ratio: lengths of A and B from 1 / norm_ratio to norm_ratio are comparable (C6), at least 1; the paper
            gives no number.
    """

    epsilons: int = EPSILONS
    tolerance: float = 1e-6
    theta: float = 0.5
    norm_ratio: float = 1.1

    def __post_init__(self) -> None:
        check_whole("epsilons", self.epsilons, 2, 10**6)  # counts of pairs fit into 64 bits
        for name, least in (("tolerance", 0), ("theta", 0), ("norm_ratio", 1)):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not least <= value <= sys.float_info.max:  # an int may be too large for a float
                raise invalid_input(name, f"expected a number of at least {least}, got {value!r}")


def differences(samples: Samples, criterion: str, measure: str) -> np.ndarray:
    """Differences that a criterion compares with its margins.

    Returns:
        (2, m) for C1 and C3, (1, m) for C4, over the m samples of its operator; NaN where undefined. They have the
        measure's own sign, as in the paper's tables 12 and 14: distances should give values below 0.
    """
    group, i = samples[OPERATOR[criterion]], MEASURES.index(measure)
    return np.stack([group.pairs[one][i] - group.pairs[other][i] for one, other in DIFFERENCES[criterion]])


def own_ranges(samples: Samples) -> Ranges:
    """[lowest, highest] of each difference, the sign of distances reversed; None where no sample is defined."""
    ranges: Ranges = {}
    for criterion in DIFFERENCES:
        ranges[criterion] = {}
        for measure in MEASURES:
            values = _larger_is_better(samples, criterion, measure)
            bounds = [[float(row.min()), float(row.max())] for row in values] if values.size else None
            ranges[criterion][measure] = bounds
    return ranges


def shared_ranges(several: list[Ranges]) -> Ranges:
    """Ranges that span those of all encoders: the paper samples each margin over all models it compares."""
    shared: Ranges = {criterion: {} for criterion in DIFFERENCES}
    for criterion, by_measure in shared.items():
        for measure in MEASURES:
            known = [bounds for ranges in several if (bounds := ranges[criterion][measure]) is not None]
            spans = [
                [min(low for low, _ in pairs), max(high for _, high in pairs)] for pairs in zip(*known, strict=True)
            ]
            by_measure[measure] = spans or None
    return shared


def check_ranges(ranges: Any) -> Ranges:  # noqa: ANN401  (what a user gave)
    """Check ranges from a user, in the form of `own_ranges`; criteria and measures may be left out.

    Raises:
        InvalidInput: they have another form, or a lower bound is above its upper bound; names the item.
    """
    _check_keys("ranges", ranges, tuple(DIFFERENCES))
    checked: Ranges = {}
    for criterion, by_measure in ranges.items():
        _check_keys(f"ranges[{criterion!r}]", by_measure, MEASURES)
        checked[criterion] = {
            measure: None if bounds is None else _check_bounds(criterion, measure, bounds)
            for measure, bounds in by_measure.items()
        }
    return checked


def fill_ranges(ranges: Ranges | None, own: Ranges) -> Ranges:
    """The given ranges, and the encoder's own where none is given."""
    given = ranges or {}
    return {
        criterion: {measure: given.get(criterion, {}).get(measure) or bounds for measure, bounds in by_measure.items()}
        for criterion, by_measure in own.items()
    }


def report(samples: Samples, settings: Settings, ranges: Ranges | None = None, per_sample: bool = False) -> Result:
    """Results of the six criteria: `C1` to `C6`, `norm_ratio`, `undefined`, `ranges`, `operators`; see the metric.

    The encoder's own ranges replace those that are left out; `per_sample` adds the values of every sample.
    """
    used = fill_ranges(ranges, own_ranges(samples))
    ratios = length_ratios(list(samples.values()))
    places = {
        criterion: locate_targets(samples[OPERATOR[criterion]], criterion, settings.tolerance, settings.norm_ratio)
        for criterion in PLACED
    }
    results: Result = {}
    for criterion in OPERATOR:
        if criterion in PLACED:
            results[criterion] = describe_places(places[criterion], criterion, settings.theta)
        else:
            results[criterion] = {
                measure: _describe(samples, criterion, measure, used[criterion][measure], settings.epsilons)
                for measure in MEASURES
            }
    known = ratios[~np.isnan(ratios)]
    results["norm_ratio"] = {**spread_of(known), "n": len(known), "histogram": histogram(known, RATIO_EDGES)}
    results["undefined"] = _count_undefined(samples, int(np.isnan(ratios).sum()))
    results["ranges"] = used
    results["operators"] = {operator: len(group.rows) for operator, group in samples.items()}
    if per_sample:
        results["per_sample"] = _list_samples(samples, places, ratios, settings.theta)
    return results


def _describe(
    samples: Samples, criterion: str, measure: str, bounds: list[list[float]] | None, epsilons: int
) -> Result:
    values = _larger_is_better(samples, criterion, measure)
    single = len(values) == 1
    if not values.size:
        names = ("share", "mean", "sd") if single else (*CELLS, "mean", "sd", "base")
        return {**dict.fromkeys(names), "n": 0}
    assert bounds is not None, "there are ranges where there are values"
    sign = -1 if measure in DISTANCES else 1
    spreads = [spread_of(sign * row) for row in values]
    means, sds = [spread["mean"] for spread in spreads], [spread["sd"] for spread in spreads]
    if single:
        share = sample_share(values[0], bounds[0], epsilons)
        return {"share": share, "mean": means[0], "sd": sds[0], "n": values.shape[1]}
    defined = _defined(differences(samples, criterion, measure))
    base = samples[OPERATOR[criterion]].pairs[DIFFERENCES[criterion][1][1]][MEASURES.index(measure)][defined]
    cells = sample_cells(values[0], values[1], bounds, epsilons)
    return {**cells, "mean": means, "sd": sds, "base": spread_of(base)["mean"], "n": values.shape[1]}


def _count_undefined(samples: Samples, ratios: int) -> Result:
    counts: Result = {}
    for criterion, operator in OPERATOR.items():
        group = samples[operator]
        if criterion in PLACED:
            codes = group.angles.reason
            counts[criterion] = {text: int((codes == code).sum()) for code, text in REASONS.items() if code in codes}
            continue
        counts[criterion] = {}
        for measure in MEASURES:
            lost = ~_defined(differences(samples, criterion, measure))
            # C4 compares A - B with B and the target: they may be zero vectors, A itself is not compared
            lengths = group.lengths[1:] if criterion == "C4" else group.lengths
            zero = lost & (lengths == 0).any(axis=0)
            other = "A equals B" if measure == "cosine" else "no variance"
            reasons = {other: lost} if measure == "ned" else {"zero vector": zero, other: lost & ~zero}
            counts[criterion][measure] = {text: int(flags.sum()) for text, flags in reasons.items() if flags.any()}
    counts["norm_ratio"] = {"zero vector": ratios} if ratios else {}
    return counts


def _list_samples(samples: Samples, places: dict[str, Placement], ratios: np.ndarray, theta: float) -> Result:
    listed: Result = {}
    for criterion, operator in OPERATOR.items():
        listed[criterion] = {"row": samples[operator].rows.tolist()}
        if criterion in PLACED:
            placement = places[criterion]
            holds = np.where(placement.defined, placement.holds(criterion, theta), np.nan)
            listed[criterion]["holds"] = _listed(holds, bool)
            listed[criterion]["unsigned"] = _listed(abs(placement.signed))
            listed[criterion]["signed"] = _listed(placement.signed)
            continue
        for measure in MEASURES:
            listed[criterion][measure] = [_listed(row) for row in differences(samples, criterion, measure)]
    return {**listed, "norm_ratio": _listed(ratios)}


def _larger_is_better(samples: Samples, criterion: str, measure: str) -> np.ndarray:
    """(conditions, defined samples) differences, the sign of distances reversed."""
    values = differences(samples, criterion, measure)
    values = values[:, _defined(values)]
    return -values if measure in DISTANCES else values


def _defined(values: np.ndarray) -> np.ndarray:
    return ~np.isnan(values).any(axis=0)


def _listed(values: np.ndarray, kind: type = float) -> list[Any]:
    return [None if value != value else kind(value) for value in values.tolist()]


def _check_keys(name: str, given: object, known: tuple[str, ...]) -> None:
    if not isinstance(given, dict) or not set(given) <= set(known):
        got = sorted(map(str, given)) if isinstance(given, dict) else repr(given)
        raise invalid_input(name, f"expected a dict with keys of {', '.join(known)}, got {got}")


def _check_bounds(criterion: str, measure: str, bounds: object) -> list[list[float]]:
    wanted = len(DIFFERENCES[criterion])
    try:
        array = np.array(bounds)
    except ValueError:  # the lists differ in length
        array = np.array([])
    if array.shape == (wanted, 2) and array.dtype.kind in "fiu":
        array = array.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # a range too wide for a float has no evenly spaced margins
            spans = array[:, 1] - array[:, 0]
        if ((spans >= 0) & np.isfinite(spans)).all():
            return array.tolist()
    form = ", ".join(["[low, high]"] * wanted)
    raise invalid_input(f"ranges[{criterion!r}][{measure!r}]", f"expected [{form}] or None, got {bounds!r}")
