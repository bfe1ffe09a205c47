"""How far a metric separates correct from incorrect texts: the figures of the MATCHA protocol, from scores alone.

Source: Li et al., Findings of ACL 2026, section 4 ("Evaluation Methods"); the settings that the paper leaves open
(the 100 thresholds, the midpoint, ties) are those of the authors' published evaluation code. Every function works
along the last axis, so that a bootstrap runs the same code on resampled rows.
"""

import numpy as np
from scipy.stats import rankdata, ttest_rel

from semantic_metrics.stats.bootstrap import Figures

Bounds = tuple[float, float]

COSINE: Bounds = (-1.0, 1.0)
UNIT: Bounds = (0.0, 1.0)
MIDPOINT = 0.5  # fixed decision boundary on the [0, 1] scale (table 4, figure 2)
THRESHOLDS = np.linspace(0, 1, 100)  # points of the curves, as in the authors' code


def to_unit(scores: np.ndarray, bounds: Bounds) -> np.ndarray:
    """Scores on a metric's native range -> the [0, 1] scale; (s + 1) / 2 for a cosine."""
    low, high = bounds
    return (np.asarray(scores, dtype=np.float64) - low) / (high - low)


def macro_f1(correct: np.ndarray, incorrect: np.ndarray) -> np.ndarray:
    """Macro-F1 at the midpoint (table 4), in [0, 1], higher is better.

    Args:
        correct: (..., n) scores of correct texts on the [0, 1] scale; class 1.
        incorrect: (..., m) scores of incorrect texts; class 0. A score of exactly 0.5 counts as class 1; one that is
            not a number, of a text without a vector, is in neither class and wrong for its own.
    """
    hit = (correct >= MIDPOINT).sum(axis=-1)
    false_alarm = (~(incorrect < MIDPOINT)).sum(axis=-1)
    missed, rejected = correct.shape[-1] - hit, incorrect.shape[-1] - false_alarm
    errors = missed + false_alarm
    return hit / (2 * hit + errors) + rejected / (2 * rejected + errors)


def wasserstein(correct: np.ndarray, incorrect: np.ndarray) -> np.ndarray:
    """1-d Wasserstein distance between two samples of the same size (table 5): the mean gap of the sorted scores.

    Raises:
        ValueError: the sizes differ; every set of the protocol has as many correct texts as incorrect ones.
    """
    if correct.shape[-1] != incorrect.shape[-1]:
        raise ValueError(
            f"incorrect: expected {correct.shape[-1]} scores, as many as correct, got {incorrect.shape[-1]}"
        )
    return np.abs(np.sort(correct, axis=-1) - np.sort(incorrect, axis=-1)).mean(axis=-1)


def auc(correct: np.ndarray, incorrect: np.ndarray) -> np.ndarray:
    """Area under the ROC curve, in [0, 1]: how often a correct text scores above an incorrect one; a tie counts half.

    No monotone change of the scores moves it, unlike N-delta and macro-F1. NaN where there is one class only.
    """
    # sklearn's roc_auc_score gives the same but takes one sample at a time: a bootstrap calls this on 50 at once
    n, m = correct.shape[-1], incorrect.shape[-1]
    if not (n and m):
        return np.full(correct.shape[:-1], np.nan)
    ranks = rankdata(np.concatenate([correct, incorrect], axis=-1), axis=-1)
    return (ranks[..., :n].sum(axis=-1) - n * (n + 1) / 2) / (n * m)


def pairwise_accuracy(correct: np.ndarray, incorrect: np.ndarray) -> np.ndarray:
    """Share of rows whose correct text scores above the incorrect one; a tie does not count. Paired sets only."""
    return (correct > incorrect).mean(axis=-1)


def separation(correct: np.ndarray, incorrect: np.ndarray, bounds: Bounds, paired: bool) -> Figures:
    """Every figure of tables 3, 4 and 5 for one metric on one set, times 100.

    Args:
        correct: (..., n) native scores of the correct texts; not a number where a text has no vector, which counts as
            a native score of 0 in every figure but `macro_f1`.
        incorrect: (..., n) native scores of the incorrect texts.
        bounds: the metric's native range, which decides how scores reach the [0, 1] scale.
        paired: whether row i of both has the same reference; without it `pairwise` is left out (Climate-FEVER).

    Returns:
        `correct`, `incorrect` (native means), `n_delta` (gap of the means on the [0, 1] scale), `macro_f1`,
        `wasserstein`, `auc` and `pairwise`, each of the leading shape.
    """
    f1 = macro_f1(to_unit(correct, bounds), to_unit(incorrect, bounds))
    correct, incorrect = np.nan_to_num(correct), np.nan_to_num(incorrect)
    high, low = to_unit(correct, bounds), to_unit(incorrect, bounds)
    figures = {
        "correct": np.mean(correct, axis=-1),
        "incorrect": np.mean(incorrect, axis=-1),
        "n_delta": high.mean(axis=-1) - low.mean(axis=-1),
        "macro_f1": f1,
        "wasserstein": wasserstein(high, low),
        "auc": auc(high, low),
    }
    if paired:
        figures["pairwise"] = pairwise_accuracy(high, low)
    return {name: 100 * value for name, value in figures.items()}


def threshold_curve(correct: np.ndarray, incorrect: np.ndarray, midpoint: bool = True) -> np.ndarray:
    """Share of rows with sim_C - sim_I > t for each t of THRESHOLDS (figures 2 and 6), falling, times 100.

    Args:
        correct: (n,) scores on the [0, 1] scale.
        incorrect: (n,) scores of the same rows.
        midpoint: also require sim_C > 0.5 and sim_I < 0.5, as the paper's figures do.
    """
    counted = (correct > MIDPOINT) & (incorrect < MIDPOINT) if midpoint else np.ones(len(correct), dtype=bool)
    gaps = np.where(counted, correct - incorrect, -np.inf)
    return 100 * (gaps > THRESHOLDS[:, None]).mean(axis=-1)


def paired_t_test(gaps: np.ndarray, other_gaps: np.ndarray) -> float:
    """Two-sided p-value of a paired t-test between two metrics' gaps on the same rows; 1 where all are equal."""
    if np.array_equal(gaps, other_gaps):
        return 1.0
    return float(ttest_rel(gaps, other_gaps).pvalue)


def matching_line(scores: np.ndarray, ratings: np.ndarray) -> tuple[float, float]:
    """(slope, intercept) of the line that gives scores the mean and the spread of the ratings.

    Of all lines whose slope has the correlation's sign, it has the highest concordance on the data it is fitted on.

    Raises:
        ValueError: the scores are all the same.
    """
    if np.ptp(scores) == 0 or np.std(scores) == 0:  # a mean of equal numbers may differ from them
        raise ValueError("scores: expected some that differ, got one value only")
    sign = -1.0 if np.mean((scores - np.mean(scores)) * (ratings - np.mean(ratings))) < 0 else 1.0
    slope = sign * float(np.std(ratings) / np.std(scores))
    return slope, float(np.mean(ratings) - slope * np.mean(scores))
