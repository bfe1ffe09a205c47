"""Decisions and probabilities against labels: figures, reliability, folds by group, and a logistic regression.

Needs scikit-learn, which sentence-transformers brings.
"""

from dataclasses import dataclass

import numpy as np

BINS = 10  # bins of equal width, for the expected calibration error and the reliability plot
CORRECT_ABOVE = 0.5  # Balamurali & Cheng 2025, section 3.2


@dataclass(frozen=True)
class Reliability:
    """Predicted probabilities in BINS bins of equal width and the labels of each bin; NaN where a bin is empty.

    Attributes:
        counts: (BINS,) number of answers in a bin.
        predicted: (BINS,) their mean probability.
        observed: (BINS,) share of them that people found correct.
    """

    counts: np.ndarray
    predicted: np.ndarray
    observed: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error, in [0, 1], lower is better: the mean distance of `predicted` and `observed`."""
        gaps = np.abs(self.predicted - self.observed)[self.counts > 0]
        return float(np.average(gaps, weights=self.counts[self.counts > 0]))


def check_labels(labels: np.ndarray, name: str = "labels") -> None:
    """Check that (n,) bool labels, which messages call `name`, are those of correct and of incorrect answers.

    Raises:
        ValueError: there are no answers, or those of one class only.
    """
    if len(np.unique(labels)) < 2:
        only = "no answers" if len(labels) == 0 else f"{'correct' if labels[0] else 'incorrect'} ones only"
        raise ValueError(f"{name}: expected correct and incorrect answers, got {only}")


def fit(features: np.ndarray, labels: np.ndarray, sample_weight: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """Logistic regression with scikit-learn's defaults (L2 penalty, C = 1).

    Args:
        features: (n, d), each about [0, 1], so that the penalty is the same for all.
        labels: (n,) bool, whether the answer is correct.
        sample_weight: (n,) weight of each answer; None for 1.

    Returns:
        The intercept, and (d,) weights.

    Raises:
        ValueError: there is one class only.
    """
    from sklearn.linear_model import LogisticRegression

    check_labels(labels)
    model = LogisticRegression(max_iter=1000).fit(features, labels, sample_weight)
    return float(model.intercept_[0]), model.coef_[0]


def folds_by_group(
    labels: np.ndarray, groups: list[str], folds: int = 5, seed: int = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split n answers for cross-validation: no group is on both sides of a split.

    Args:
        labels: (n,) bool.
        groups: n names; all answers to a question belong to one group.
        folds: number of parts that are left out in turn, each with about the same share of correct answers.
        seed: seed of the assignment of groups to parts.

    Returns:
        For each part, indices of the answers that are kept and of those that are left out.

    Raises:
        ValueError: there is one class only, or there are fewer groups than parts.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    check_labels(labels)
    for correct in (True, False):
        count = len({group for group, label in zip(groups, labels, strict=True) if bool(label) == correct})
        if count < folds:
            kind = "correct" if correct else "incorrect"
            raise ValueError(f"folds: expected at most {count}, as many groups as have {kind} answers, got {folds}")
    split = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    return list(split.split(np.zeros(len(labels)), labels, groups))


def reliability(probabilities: np.ndarray, labels: np.ndarray) -> Reliability:
    """Sort (n,) probabilities and their labels into bins; a probability of 1 belongs to the last one."""
    place = np.minimum((np.asarray(probabilities) * BINS).astype(int), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    empty = np.where(counts > 0, counts, np.nan)
    predicted = np.bincount(place, weights=probabilities, minlength=BINS) / empty
    return Reliability(counts, predicted, np.bincount(place, weights=labels, minlength=BINS) / empty)


def figures(probabilities: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """How well probabilities of correctness agree with (n,) labels.

    Returns:
        `accuracy`, `f1` of the correct answers (0 where none is predicted), `mcc` (Matthews' correlation in [-1, 1],
        0 where either does not vary), higher is better; `ece`, the expected calibration error, lower is better.
    """
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

    decisions = np.asarray(probabilities) > CORRECT_ABOVE
    return {
        "accuracy": float(accuracy_score(labels, decisions)),
        "f1": float(f1_score(labels, decisions, zero_division=0)),
        "mcc": float(matthews_corrcoef(labels, decisions)),
        "ece": reliability(probabilities, labels).error,
    }
