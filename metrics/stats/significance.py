"""Whether a mean of scores, or the difference of two systems on the same texts, is more than chance.

The input is score vectors only: no model, no text. The permutation test is ours: `scipy.stats.permutation_test` sorts
random numbers to swap pairs, and takes 150 times as long as drawing one sign bit for each, which gives the same
distribution.

The paired bootstrap (Koehn, EMNLP 2004) draws rows; its p-value is two-sided: how often the difference of a resample
lies as far from the observed one as that lies from 0 (Efron & Tibshirani 1993, section 16.4). sacrebleu counts one of
the two sides. The permutation test swaps the two systems at random, row by row (approximate randomisation: Riezler &
Maxwell 2005). Both add 1 to the count and to the number of draws, so that no p-value is 0.

Scores are sorted before anything is drawn, and differences get a sign that does not depend on which system is named
first. So the order of rows changes no figure, and swapping the systems changes only signs.
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral

import numpy as np

from semantic_metrics.stats.bootstrap import LEVEL, draw_rows, percentile_interval

RESAMPLES = 9_999  # scipy's default for both tests; with the 1 that p-values add it is a round number
TIE = 0.0  # scores that differ by this or less are a tie
_BATCH = 2**19  # scores drawn at a time: 4 MB, which stay in the cache; changes no figure
_ROUNDING = 1e-12  # share of the mean difference; sums in another order differ by less and count as equal


@dataclass(frozen=True)
class Interval:
    """A mean with its bootstrap interval.

    Attributes:
        mean: mean of the scores.
        low, high: ends of the interval.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Scores a and b of the same n rows.

    Attributes:
        difference: mean of a minus mean of b.
        low, high: bootstrap interval of the difference.
        p_bootstrap: two-sided p-value of the paired bootstrap, in (0, 1].
        p_permutation: two-sided p-value of the paired permutation test, in (0, 1].
        wins, ties, losses: number of rows where a is above b, equal to b, and below b.
    """

    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_permutation: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Pair:
    """Two of several systems.

    Attributes:
        name, other: the two systems; `comparison` is the first minus the second.
        comparison: comparison of their scores.
        p_holm: permutation p-value with Holm's correction for all pairs that are compared.
    """

    name: str
    other: str
    comparison: Comparison
    p_holm: float


def interval(
    scores: Sequence[float] | np.ndarray,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    name: str = "scores",
) -> Interval:
    """Mean of scores with its percentile bootstrap interval.

    Args:
        scores: n numbers, at least 2.
        level: share of samples whose interval contains the true mean, in (0, 1).
        resamples: draws of the bootstrap.
        seed: seed of the random numbers.
        name: name of the scores in messages.

    Raises:
        ValueError: fewer than 2 scores, a score that is not finite, or an option out of its range.

    Examples:
        >>> interval([0.5] * 10)
        Interval(mean=0.5, low=0.5, high=0.5)
    """
    values = np.sort(_checked(name, scores))
    return Interval(float(values.mean()), *percentile_interval(_means(values, level, resamples, seed), level))


def compare(
    a: Sequence[float] | np.ndarray,
    b: Sequence[float] | np.ndarray,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    tie: float = TIE,
) -> Comparison:
    """Compare the scores of two systems on the same rows, with the tests described at the top of this module.

    Args:
        a: n scores, at least 2.
        b: n scores of the same rows.
        level: confidence level of the interval, in (0, 1).
        resamples: draws of each test.
        seed: seed of the random numbers.
        tie: scores that differ by this or less count as a tie; only these counts depend on it.

    Raises:
        ValueError: a and b differ in length, or any reason of `interval`.

    Examples:
        >>> compare([0.2, 0.9, 0.4], [0.2, 0.9, 0.4]).p_permutation
        1.0
    """
    first, second = _checked("a", a), _checked("b", b)
    if len(first) != len(second):
        raise ValueError(f"b: expected {len(first)} scores, as many as a, got {len(second)}")
    if not (np.isfinite(tie) and tie >= 0):
        raise ValueError(f"tie: expected a number from 0 on, got {tie!r}")
    gaps = first - second
    values, sign = _oriented(gaps)
    mean = values.mean()
    drawn = _means(values, level, resamples, seed)
    low, high = sorted(sign * end for end in percentile_interval(drawn, level))
    far = abs(mean) - _ROUNDING * np.abs(values).mean()
    p_bootstrap, p_permutation = (
        p_value(differences, far) for differences in (drawn - mean, _flipped_means(values, resamples, seed))
    )
    wins, losses = int((gaps > tie).sum()), int((gaps < -tie).sum())
    return Comparison(
        float(sign * mean), low, high, p_bootstrap, p_permutation, wins, len(gaps) - wins - losses, losses
    )


def compare_all(
    systems: Mapping[str, Sequence[float]],
    baseline: str | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    tie: float = TIE,
) -> list[Pair]:
    """Compare several systems, scores by name, on the same rows: each later one with each earlier one.

    With a `baseline`, the name of one of them, the others are compared with that one alone. The other arguments are
    those of `compare`. All pairs draw the same random numbers, so that a further system changes only Holm's correction.

    Raises:
        ValueError: fewer than 2 systems, an unknown baseline, or any reason of `compare`; names the systems.
    """
    if len(systems) < 2:
        raise ValueError(f"systems: expected at least two, got {len(systems)}")
    if baseline is not None and baseline not in systems:
        raise ValueError(f"baseline: expected one of {', '.join(map(repr, systems))}, got {baseline!r}")
    chosen = [(later, earlier) for earlier, later in combinations(systems, 2)]
    if baseline is not None:
        chosen = [(name, baseline) for name in systems if name != baseline]
    values = {name: _checked(name, scores) for name, scores in systems.items()}
    if len({len(scores) for scores in values.values()}) > 1:
        counts = ", ".join(f"{len(scores)} of {name}" for name, scores in values.items())
        raise ValueError(f"systems: expected as many scores of each, got {counts}")
    comparisons = [compare(values[name], values[other], level, resamples, seed, tie) for name, other in chosen]
    corrected = holm([one.p_permutation for one in comparisons])
    return [Pair(*names, one, p) for names, one, p in zip(chosen, comparisons, corrected, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for their number (Holm 1979): the k-th smallest of m is multiplied by m - k + 1.

    No corrected value lies below that of a smaller p-value, nor above 1. Rejecting what is below 0.05 here makes one
    or more errors among all m with a probability of at most 0.05.

    Raises:
        ValueError: a p-value is not in [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values: expected numbers in [0, 1], got {p_values!r}")
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1)
    return corrected.tolist()


@dataclass(frozen=True)
class McNemar:
    """Two systems that are right or wrong on the same texts.

    Attributes:
        only_first, only_second: number of texts on which one of them alone is right.
        p: two-sided exact p-value that they are right equally often (McNemar 1947), in [0, 1].
    """

    only_first: int
    only_second: int
    p: float


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """McNemar's exact test on n decisions of each of two systems."""
    from scipy.stats import binomtest  # takes a second to import

    only = [
        sum(one and not other for one, other in zip(*both, strict=True)) for both in ((first, second), (second, first))
    ]
    return McNemar(only[0], only[1], float(binomtest(only[0], sum(only)).pvalue) if sum(only) else 1.0)


def p_value(drawn: np.ndarray, observed: float) -> float:
    """Two-sided p-value: how often a draw lies as far from 0 as the observed difference, in (0, 1].

    Args:
        drawn: (n,) differences drawn where the true one is 0.
        observed: size of the observed difference.
    """
    return float((1 + (np.abs(drawn) >= observed).sum()) / (1 + len(drawn)))


def _checked(name: str, scores: Sequence[float] | np.ndarray) -> np.ndarray:
    try:
        values = np.asarray(scores)
    except ValueError:  # lists of several lengths
        values = np.asarray(None)
    if values.dtype.kind not in "biuf" and values.size:
        raise ValueError(f"{name}: expected a list of numbers, got {reprlib.repr(scores)}")
    values = values.astype(np.float64)
    if values.ndim != 1 or len(values) < 2:
        size = f"shape {values.shape}" if values.ndim != 1 else f"{len(values)}"
        raise ValueError(f"{name}: expected a list of at least 2 scores, got {size}")
    if len(invalid := np.flatnonzero(~np.isfinite(values))):
        raise ValueError(f"{name}: expected finite numbers, got {values[invalid[0]]} in row {invalid[0]}")
    return values


def _oriented(gaps: np.ndarray) -> tuple[np.ndarray, int]:
    """The sorted differences or their sorted opposites, whichever comes first, and the sign that undoes the choice."""
    up, down = np.sort(gaps), np.sort(-gaps)
    apart = np.flatnonzero(up != down)
    return (down, -1) if len(apart) and up[apart[0]] < down[apart[0]] else (up, 1)


def _means(values: np.ndarray, level: float, resamples: int, seed: int) -> np.ndarray:
    """(resamples,) means of rows drawn with replacement."""
    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
    if not isinstance(resamples, Integral) or resamples < 1:
        raise ValueError(f"resamples: expected a whole number from 1 on, got {resamples!r}")
    batch = max(1, _BATCH // len(values))
    return np.concatenate([values[rows].mean(axis=-1) for (rows,) in draw_rows((len(values),), resamples, seed, batch)])


def _flipped_means(values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """(resamples,) means of the values, each with a random sign."""
    rng, total = np.random.default_rng(seed), values.sum()
    width = -(-len(values) // 8)
    parts = []
    step = max(4, _BATCH // len(values) // 4 * 4)  # the generator throws away the rest of its last four bytes
    for begin in range(0, resamples, step):
        rows = min(step, resamples - begin)
        packed = np.frombuffer(rng.bytes(rows * width), np.uint8).reshape(rows, width)
        positive = np.unpackbits(packed, axis=1, count=len(values)).astype(np.float64) @ values
        parts.append((2 * positive - total) / len(values))
    return np.concatenate(parts)
