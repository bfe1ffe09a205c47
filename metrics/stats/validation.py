"""How well metrics agree with the ratings of people on one file, and which of them to trust there.

Figures and their scaling are those of Li et al., Findings of ACL 2026, section 4.2.4: ratings and scores are put on
[0, 1], scores by their metric's native range. Concordance depends on that; the correlations do not.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from semantic_metrics.stats import agreement as agreement_stats
from semantic_metrics.stats import significance

BOUNDS = {"matcha": (-1.0, 1.0)}  # native range of a metric; [0, 1] where it is not named
BASELINE = "token F1"
RANKED = ("group_r1", "group_dcg")  # of candidates within a group
NEAREST = ("nearest_r1", "nearest_dcg")  # of metrics, by how near to the rating they come
HEADS = {"ccc": "CCC", "pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall",
         "group_r1": "R@1 in groups", "group_dcg": "DCG in groups",
         "nearest_r1": "R@1 of metrics", "nearest_dcg": "DCG of metrics"}  # fmt: skip
LEVEL = significance.LEVEL
_NAME = 10
_CELL = 23


@dataclass(frozen=True)
class Ratings:
    """What people said of n texts.

    Attributes:
        raters: (n,) ratings of each, on [0, 1], by the name of the column.
        groups: n names of what a text belongs to.
        scale: lowest and highest rating.
    """

    raters: dict[str, np.ndarray]
    groups: list[Hashable]
    scale: tuple[float, float]

    @classmethod
    def on_scale(
        cls, columns: dict[str, np.ndarray], groups: list[Hashable], scale: tuple[float, float] | None
    ) -> "Ratings":
        """Ratings as they stand in a file.

        Raises:
            ValueError: fewer than 3 groups, ratings that do not differ, or one outside of the scale.
        """
        values = np.stack(list(columns.values()))
        if (count := len(set(groups))) < 3:
            raise ValueError(f"--group: expected 3 groups of rows at least, which are drawn as a whole, got {count}")
        low, high = scale or (float(values.min()), float(values.max()))
        if not (low < high and np.isfinite(high - low)):
            got = f"only {low:g}" if scale is None else f"{low:g} to {high:g}"
            raise ValueError(f"{'--human' if scale is None else '--scale'}: expected ratings that differ, got {got}")
        if values.min() < low or values.max() > high:
            odd = values.min() if values.min() < low else values.max()
            raise ValueError(f"--scale: expected ratings from {low:g} to {high:g}, got {odd:g}")
        held = cls({name: (one - low) / (high - low) for name, one in columns.items()}, groups, (low, high))
        if np.ptp(held.mean) == 0:
            raise ValueError("--human: expected ratings that differ, got the same mean for all rows")
        return held

    @property
    def mean(self) -> np.ndarray:
        """(n,) means over the raters."""
        return np.mean(list(self.raters.values()), axis=0)

    def between(self) -> dict[str, float]:
        """Each of agreement_stats.FIGURES, of one rater with another: the mean over all pairs."""
        pairs = [agreement_stats.agreement(a, b) for a, b in combinations(self.raters.values(), 2)]
        return {name: float(np.mean([pair[name] for pair in pairs])) for name in agreement_stats.FIGURES}

    def about(self) -> str:
        """What was read."""
        kind = "ratings" if len(self.raters) == 1 else f"means of {len(self.raters)} ratings"
        low, high = self.scale
        return f"{len(self.groups)} rows in {len(set(self.groups))} groups, {kind} from {low:g} to {high:g}"


@dataclass(frozen=True)
class Figure:
    """A figure with its bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Validation:
    """What was found.

    Attributes:
        figures: by metric and name (those of HEADS; the names of RANKED are missing where no group can be ranked).
        ranked: how many groups can be ranked.
        between: figures of one rater with another; empty with one rater.
        verdict: which metric to trust, in plain words.
    """

    figures: dict[str, dict[str, Figure]]
    ranked: int
    between: dict[str, float]
    verdict: str

    def lines(self) -> Iterator[str]:
        """The report."""
        yield from self._table(tuple(agreement_stats.FIGURES))
        if self.between:
            yield _line("people", [f"{value:.3f}" for value in self.between.values()]) + "  (one with another)"
        yield ""
        if self.ranked >= 2:
            yield from self._table((*RANKED, *NEAREST))
            yield f"{self.ranked} groups have candidates that people rated differently"
        else:
            yield from self._table(NEAREST)
            yield "R@1 and DCG in groups are undefined: fewer than two groups have candidates to rank"
        yield f"\n{self.verdict}"

    def rows(self) -> list[dict]:
        """A row for each figure."""
        rows = [
            {"metric": metric, "figure": name, "value": one.value, "low": one.low, "high": one.high}
            for metric, held in self.figures.items()
            for name, one in held.items()
        ]
        return rows + [{"metric": "people", "figure": name, "value": value} for name, value in self.between.items()]

    def _table(self, names: tuple[str, ...]) -> Iterator[str]:
        yield _line("", [HEADS[name] for name in names])
        for metric, held in self.figures.items():
            yield _line(metric, [str(held[name]) for name in names])


def validate(
    scores: Mapping[str, np.ndarray],
    ratings: Ratings,
    by: str = "spearman",
    resamples: int = agreement_stats.RESAMPLES,
    seed: int = 0,
) -> Validation:
    """Hold metrics against ratings.

    Args:
        scores: (n,) native scores of each metric.
        ratings: of the same rows.
        by: figure that decides which metric to trust, of agreement_stats.FIGURES.
        resamples: of the bootstrap, which draws groups.
        seed: of its random numbers.
    """
    unit = {name: _to_unit(name, values) for name, values in scores.items()}
    human, names = ratings.mean, list(unit)
    near = agreement_stats.closeness(np.stack(list(unit.values())), human)

    def statistic(rows: np.ndarray) -> dict[tuple[str, str], float]:
        found = {}
        for i, name in enumerate(names):
            figures = agreement_stats.agreement(unit[name][rows], human[rows])
            figures |= {f"nearest_{kind}": float(near[kind][i, rows].mean()) for kind in ("r1", "dcg")}
            found |= {(name, figure): value for figure, value in figures.items()}
        return found

    observed = statistic(np.arange(len(human)))
    drawn = agreement_stats.bootstrap(statistic, ratings.groups, resamples, seed)
    figures: dict[str, dict[str, Figure]] = {name: {} for name in names}
    for (name, figure), value in observed.items():
        figures[name][figure] = Figure(value, *significance.ends(drawn[name, figure]))
    ranked = agreement_stats.ranked_groups(human, ratings.groups)
    for name in names if len(ranked) >= 2 else ():
        for kind, values in agreement_stats.ranking(unit[name], human, ranked).items():
            found = significance.interval(values, resamples=resamples, seed=seed)
            figures[name][f"group_{kind}"] = Figure(found.mean, found.low, found.high)
    verdict = _verdict({name: (figures[name][by], drawn[name, by]) for name in names}, by)
    return Validation(figures, len(ranked), ratings.between() if len(ratings.raters) > 1 else {}, verdict)


def token_f1(prediction: str, references: str | list[str]) -> float:
    """Harmonic mean of precision and recall of the words, in [0, 1]; the best of several references. No model."""
    said = Counter(re.findall(r"\w+", prediction.casefold()))
    best = 0.0
    for reference in [references] if isinstance(references, str) else references:
        wanted = Counter(re.findall(r"\w+", reference.casefold()))
        total = said.total() + wanted.total()
        best = max(best, 2 * (said & wanted).total() / total if total else 0.0)
    return best


def _verdict(held: dict[str, tuple[Figure, np.ndarray]], by: str) -> str:
    """Which metric leads by a figure, and whether its lead over the next is beyond chance."""
    order = sorted(held, key=lambda name: -held[name][0].value)
    best, head = order[0], HEADS[by]
    figure, drawn = held[best]
    if figure.low <= 0:
        return f"Trust none here: the best {head}, {figure} of {best}, may be chance."
    said = f"Trust {best} here: it has the highest {head}, {figure}"
    if len(order) == 1:
        return f"{said}; no other metric was asked."
    other, others = held[order[1]]
    lead, gaps = figure.value - other.value, drawn - others
    low, high = significance.ends(gaps)
    p = significance.p_value(gaps - lead, lead)
    shown = f"its lead over {order[1]}, {lead:.3f} [{low:.3f}, {high:.3f}], p = {p:.4f},"
    if p < 1 - LEVEL:
        return f"{said}; {shown} is unlikely to be chance."
    return f"{said}; but {shown} may be chance."


def _to_unit(metric: str, scores: np.ndarray) -> np.ndarray:
    low, high = BOUNDS.get(metric, (0.0, 1.0))
    return (np.asarray(scores, dtype=np.float64) - low) / (high - low)


def _line(name: str, cells: list[str]) -> str:
    return (name.ljust(_NAME) + "".join(f"{cell} ".ljust(_CELL) for cell in cells)).rstrip()
