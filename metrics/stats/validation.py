"""How well metrics agree with human ratings of the same texts, and which metric to trust there.

Figures and their scaling follow Li et al., Findings of ACL 2026, section 4.2.4: ratings and scores are mapped to
[0, 1], scores by their metric's native range. Concordance depends on that; the correlations do not.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from semantic_metrics.stats import agreement as agreement_stats
from semantic_metrics.stats.bootstrap import RESAMPLES, SIGNIFICANT, bootstrap_groups, percentile_interval
from semantic_metrics.stats.separation import UNIT, Bounds, auc, to_unit
from semantic_metrics.stats.significance import interval, p_value

BASELINE = "token F1"
RANKED = ("group_r1", "group_dcg")  # how well a metric ranks the candidates of a group
NEAREST = ("nearest_r1", "nearest_dcg")  # how near to the rating a metric comes, compared with the others
HEADS = {
    "ccc": "CCC",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "auc": "AUC",
    "group_r1": "R@1 in groups",
    "group_dcg": "DCG in groups",
    "nearest_r1": "R@1 of metrics",
    "nearest_dcg": "DCG of metrics",
}
EXPLAINED = {  # the figures that are no household names, for people
    "group_r1": "how often the metric's first of a group is one that people rated highest",
    "group_dcg": "how near the metric's order of a group comes to people's; 1 is their order",
    "nearest_r1": "how often this metric, and no other, comes closest to the rating",
    "nearest_dcg": "mean of 1 / log2(rank + 1), metrics ranked by closeness; 1 is always closest",
}
MEAN_DIGITS = 12  # of a mean of ratings in [0, 1]; sums in another order differ behind them
_NAME_WIDTH = 10  # characters of a printed metric's name
_CELL_WIDTH = 23  # characters of a printed figure with its interval


@dataclass(frozen=True)
class Ratings:
    """Human ratings of n texts.

    Attributes:
        raters: (n,) ratings of each rater on [0, 1], by the name of the column.
        groups: n names of the group of each text.
        scale: lowest and highest rating.
    """

    raters: dict[str, np.ndarray]
    groups: list[Hashable]
    scale: tuple[float, float]

    @classmethod
    def on_scale(
        cls, columns: dict[str, np.ndarray], groups: list[Hashable], scale: tuple[float, float] | None
    ) -> "Ratings":
        """Ratings on the scale of a file, which is the range of the ratings where none is given.

        Raises:
            ValueError: fewer than 3 groups, ratings that do not differ, or a rating outside the scale.
        """
        values = np.stack(list(columns.values()))
        if (count := len(set(groups))) < 3:
            raise ValueError(f"group: expected at least 3 groups of rows, which are drawn as a whole, got {count}")
        low, high = scale or (float(values.min()), float(values.max()))
        if not (low < high and np.isfinite(high - low)):
            got = f"only {low:g}" if scale is None else f"{low:g} to {high:g}"
            raise ValueError(f"{'human' if scale is None else 'scale'}: expected ratings that differ, got {got}")
        if values.min() < low or values.max() > high:
            outside = values.min() if values.min() < low else values.max()
            raise ValueError(f"scale: expected ratings from {low:g} to {high:g}, got {outside:g}")
        ratings = cls({name: (one - low) / (high - low) for name, one in columns.items()}, groups, (low, high))
        if np.ptp(ratings.mean) == 0:
            raise ValueError("human: expected ratings that differ, got the same mean for all rows")
        return ratings

    @property
    def mean(self) -> np.ndarray:
        """(n,) means over the raters; equal ones are equal to the last bit, so that none ranks above another."""
        return np.mean(list(self.raters.values()), axis=0).round(MEAN_DIGITS)

    @property
    def are_labels(self) -> bool:
        """Whether all ratings are one of the two ends of the scale."""
        return bool(np.isin(self.mean, (0, 1)).all())

    def between(self) -> dict[str, float]:
        """Agreement of one rater with another, the mean over all pairs, for each of agreement_stats.FIGURES."""
        pairs = [agreement_stats.agreement(a, b) for a, b in combinations(self.raters.values(), 2)]
        return {name: float(np.mean([pair[name] for pair in pairs])) for name in agreement_stats.FIGURES}

    def summary(self) -> str:
        """Number of rows and groups, and the scale, in one line."""
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
    """How well each metric agrees with people.

    Attributes:
        figures: figures by metric and name (those of HEADS); without RANKED where fewer than two groups can be ranked,
            and without "auc" where ratings are not of two kinds.
        ranked: number of groups that can be ranked.
        between: agreement of one rater with another; empty with one rater.
        verdict: a sentence that says which metric to trust.
    """

    figures: dict[str, dict[str, Figure]]
    ranked: int
    between: dict[str, float]
    verdict: str

    def lines(self) -> Iterator[str]:
        """The report, line by line: the verdict stands below the figures that it may follow, above the others."""
        first = next(iter(self.figures.values()))
        yield from self._table(tuple(name for name in (*agreement_stats.FIGURES, "auc") if name in first))
        if self.between:
            yield _line("people", [f"{value:.3f}" for value in self.between.values()]) + "  (one with another)"
        yield f"\n{self.verdict}\n"
        yield "Beside the verdict: which text of a group is best, and which metric is nearest to the rating"
        names = (*(RANKED if self.ranked >= 2 else ()), *NEAREST)
        yield from self._table(names)
        yield from (f"{HEADS[name]}: {EXPLAINED[name]}" for name in names)
        if self.ranked >= 2:
            yield f"{self.ranked} groups have candidates that people rated differently"
        else:
            yield "R@1 and DCG in groups are undefined: fewer than two groups have candidates to rank"

    def rows(self) -> list[dict[str, Any]]:
        """A row for each figure."""
        rows = [
            {"metric": metric, "figure": name, "value": one.value, "low": one.low, "high": one.high}
            for metric, figures in self.figures.items()
            for name, one in figures.items()
        ]
        return rows + [{"metric": "people", "figure": name, "value": value} for name, value in self.between.items()]

    def _table(self, names: tuple[str, ...]) -> Iterator[str]:
        yield _line("", [HEADS[name] for name in names])
        for metric, figures in self.figures.items():
            yield _line(metric, [str(figures[name]) for name in names])


def validate(
    scores: Mapping[str, np.ndarray],
    ratings: Ratings,
    by: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    ranges: Mapping[str, Bounds] | None = None,
) -> Validation:
    """Compare metrics, by their (n,) scores on their native ranges, with ratings of the same rows.

    `by` is the figure that decides which metric to trust, one of agreement_stats.FIGURES, or "auc" for labels 0 and 1;
    None for "auc" where there are labels, else "spearman": no scaling of scores changes them. The bootstrap
    draws groups. `ranges` has the lowest and highest score of a metric; [0, 1] for one that is not named.

    Raises:
        ValueError: ratings are not of two kinds, as "auc" asks for, or so few of one that no draw has both.
    """
    labels = ratings.mean == 1 if ratings.are_labels else None
    by = by or ("spearman" if labels is None else "auc")
    if by == "auc" and labels is None:
        raise ValueError("by: expected ratings of two kinds for auc, such as 0 and 1, got more")
    unit = {name: to_unit(values, (ranges or {}).get(name, UNIT)) for name, values in scores.items()}
    human, names = ratings.mean, list(unit)
    near = agreement_stats.closeness(np.stack(list(unit.values())), human)

    def statistic(rows: np.ndarray) -> dict[tuple[str, str], float]:
        by_metric: dict[tuple[str, str], float] = {}
        for i, name in enumerate(names):
            figures = agreement_stats.agreement(unit[name][rows], human[rows])
            figures |= {f"nearest_{kind}": float(near[kind][i, rows].mean()) for kind in ("r1", "dcg")}
            if labels is not None:
                figures["auc"] = float(auc(unit[name][rows][labels[rows]], unit[name][rows][~labels[rows]]))
            by_metric |= {(name, figure): value for figure, value in figures.items()}
        return by_metric

    observed = statistic(np.arange(len(human)))
    drawn = bootstrap_groups(statistic, ratings.groups, resamples, seed)
    figures: dict[str, dict[str, Figure]] = {name: {} for name in names}
    for (name, figure), value in observed.items():
        draws = drawn[name, figure]
        known = draws[np.isfinite(draws)]  # of both kinds, for auc
        if not len(known):
            raise ValueError(f"resamples: expected more, as none has ratings of both kinds, got {resamples}")
        figures[name][figure] = Figure(value, *percentile_interval(known))
    ranked = agreement_stats.ranked_groups(human, ratings.groups)
    for name in names if len(ranked) >= 2 else ():
        for kind, values in agreement_stats.ranking(unit[name], human, ranked).items():
            mean = interval(values, resamples=resamples, seed=seed)
            figures[name][f"group_{kind}"] = Figure(mean.mean, mean.low, mean.high)
    verdict = _verdict({name: (figures[name][by], drawn[name, by]) for name in names}, by)
    return Validation(figures, len(ranked), ratings.between() if len(ratings.raters) > 1 else {}, verdict)


def token_f1(prediction: str, references: str | list[str]) -> float:
    """Harmonic mean of precision and recall of the words, in [0, 1]; the best of several references. No model."""
    words = re.findall(r"\w+", prediction.casefold())
    references = [references] if isinstance(references, str) else references
    return max((word_f1(words, re.findall(r"\w+", one.casefold())) for one in references), default=0.0)


def word_f1(words: list[str], others: list[str]) -> float:
    """Harmonic mean of precision and recall of words, in [0, 1], repeated words counted as often as they occur."""
    common = (Counter(words) & Counter(others)).total()
    return 2 * common / (len(words) + len(others)) if common else 0.0


def _verdict(figures: dict[str, tuple[Figure, np.ndarray]], by: str) -> str:
    """Which metric leads by a figure, and over which others its lead may be chance."""
    order = sorted(figures, key=lambda name: -figures[name][0].value)
    best, head = order[0], HEADS[by]
    figure, drawn = figures[best]
    chance = 0.5 if by == "auc" else 0.0
    if figure.low <= chance:
        return f"Trust none here: the best {head}, {figure} of {best}, may be chance."
    trust = f"Trust {best} here: it has the highest {head}, {figure}"
    if len(order) == 1:
        return f"{trust}; no other metric was scored."
    leads, level = {}, []
    for name in order[1:]:
        lead, gaps = figure.value - figures[name][0].value, (drawn - figures[name][1])[np.isfinite(drawn)]
        low, high = percentile_interval(gaps)
        p = p_value(gaps - lead, lead)
        leads[name] = f"its lead over {name}, {lead:.3f} [{low:.3f}, {high:.3f}], p = {p:.4f},"
        if p < SIGNIFICANT or figures[name][0].low <= chance:
            break
        level.append(name)
    if not level:
        said = "is unlikely to be chance" if p < SIGNIFICANT else "may be chance"
        return f"{trust}; {leads[order[1]]} {said}."
    names = f"{', '.join([best, *level[:-1]])} or {level[-1]}"
    return f"Trust {names} here: {best} has the highest {head}, {figure}; but {leads[level[-1]]} may be chance."


def _line(name: str, cells: list[str]) -> str:
    return (name.ljust(_NAME_WIDTH) + "".join(f"{cell} ".ljust(_CELL_WIDTH) for cell in cells)).rstrip()
