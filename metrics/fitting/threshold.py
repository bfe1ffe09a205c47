"""A decision threshold for a metric: which scores count as correct, chosen on texts that people labelled."""

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semantic_metrics.core.inputs import References
from semantic_metrics.core.progress import with_progress
from semantic_metrics.core.threshold import Threshold
from semantic_metrics.fitting import CRITERIA
from semantic_metrics.fitting.judged_answers import JudgedColumns, question_key
from semantic_metrics.stats import binary
from semantic_metrics.stats.binary import check_labels, folds_by_group
from semantic_metrics.stats.bootstrap import RESAMPLES, bootstrap_groups, percentile_interval
from semantic_metrics.stats.separation import auc


@dataclass(frozen=True)
class LabelledTexts:
    """Texts that people labelled."""

    predictions: list[str]  # n texts
    references: References  # n texts, or n lists of texts
    questions: list[str] | None  # n texts; None for a metric that takes none
    labels: np.ndarray  # (n,) bool, whether people found the prediction correct
    groups: list[str]  # n names; texts of one group are on the same side of every split


def read_labelled_texts(
    path: Path, columns: JudgedColumns, asks: bool, warn: Callable[[str], None] = warnings.warn
) -> LabelledTexts:
    """Labelled texts from a file; their groups are the questions or, without questions, the references.

    `asks` says whether the metric takes questions; `warn` takes a sentence about references that look like a list and
    are read as one text, or about rows without an answer.
    """
    table = columns.read(path, warn)
    predictions = table.texts(f"{path}, --predictions", columns.answer)
    references = table.references(f"{path}, --references", columns.references)
    questions = table.texts(f"{path}, --questions", columns.question) if asks else None
    labels = np.array(table.numbers(f"{path}, --label", columns.label)) >= 1
    alone = [[value] if isinstance(value, str) else value for value in references]  # as another file may have them
    stripped = ([text.strip() for text in texts] for texts in alone)
    groups = list(map(repr, stripped if questions is None else map(question_key, questions)))
    for line in table.warnings(path, columns.references):
        warn(line)
    return LabelledTexts(predictions, references, questions, labels, groups)


def join_texts(parts: list[LabelledTexts]) -> LabelledTexts:
    """Labelled texts of several files; where some of them have lists of references, all get lists."""
    predictions, references, questions, groups = (
        [value for part in parts for value in (getattr(part, name) or ())]
        for name in ("predictions", "references", "questions", "groups")
    )
    if len({isinstance(value, list) for value in references}) > 1:
        references = [value if isinstance(value, list) else [value] for value in references]
    labels = np.concatenate([part.labels for part in parts])
    return LabelledTexts(predictions, references, questions or None, labels, groups)


def fit_threshold(
    metric: str,
    scores: np.ndarray,
    signature: str,
    texts: LabelledTexts,
    criterion: str,
    folds: int,
    seed: int,
    fitted_on: str,
) -> Threshold:
    """Choose a threshold on all texts, and judge by cross-validation how well such thresholds decide.

    `seed` assigns groups to `folds` parts that are left out in turn, and draws the bootstrap.
    """
    labels, groups = texts.labels, texts.groups
    decided = cross_validated(scores, labels, groups, criterion, folds, seed)
    low, high = auc_interval(scores, labels, groups, seed=seed)
    area = float(auc(scores[labels], scores[~labels]))
    measured = {"auc": area, "auc_low": low, "auc_high": high, "folds": folds, "seed": seed}
    counts = len(labels), int(labels.sum())
    value = choose(scores, labels, criterion)
    return Threshold(metric, value, criterion, signature, fitted_on, *counts, figures(decided, labels) | measured)


def choose(scores: np.ndarray, labels: np.ndarray, criterion: str = CRITERIA[0]) -> float:
    """The threshold that is best by a criterion, half-way between two scores; among equals the one in the widest gap.

    Args:
        scores: (n,) scores of the texts.
        labels: (n,) bool, whether people found the text correct.
        criterion: `youden`, the true-positive rate minus the false-positive rate (Youden 1950), which does not
            depend on how many texts are correct; or `macro_f1`, the mean F1 of both classes, which does.
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion: expected one of {', '.join(CRITERIA)}, got {criterion!r}")
    check_labels(labels)
    levels, place = np.unique(scores, return_inverse=True)
    if len(levels) < 2:
        raise ValueError(f"scores: expected some that differ, got {levels[0]} only")
    correct = np.bincount(place, weights=labels, minlength=len(levels))
    counts = np.bincount(place, minlength=len(levels))
    missed = np.cumsum(correct)[:-1]  # correct texts below each cut
    rejected = np.cumsum(counts - correct)[:-1]
    hits, alarms = correct.sum() - missed, (counts - correct).sum() - rejected
    if criterion == "youden":
        worth = hits / correct.sum() - alarms / (counts - correct).sum()
    else:
        worth = hits / (2 * hits + missed + alarms) + rejected / (2 * rejected + missed + alarms)
    best = np.flatnonzero(worth >= worth.max() - 1e-12)  # sums in another order differ by less
    widest = best[np.argmax(np.diff(levels)[best])]
    low, high = levels[widest], levels[widest + 1]
    middle = low + (high - low) / 2
    return float(middle if middle > low else high)


def cross_validated(
    scores: np.ndarray, labels: np.ndarray, groups: Sequence[Hashable], criterion: str, folds: int, seed: int
) -> np.ndarray:
    """(n,) bool decisions, each by a threshold that was chosen without any text of the same group."""
    decided = np.empty(len(labels), dtype=bool)
    numbers = {group: str(i) for i, group in enumerate(dict.fromkeys(groups))}
    parts = folds_by_group(labels, [numbers[group] for group in groups], folds, seed)
    for kept, left in with_progress(parts, "fold", folds, "cross-validation"):
        decided[left] = scores[left] >= choose(scores[kept], labels[kept], criterion)
    return decided


def figures(decided: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """How well decisions agree with labels.

    Returns:
        `accuracy` and `macro_f1` in [0, 1], `mcc` (Matthews' correlation) in [-1, 1], higher is better; `majority`,
        the accuracy of always giving the more frequent label.
    """
    judged, inverse = binary.figures(decided, labels), binary.figures(~decided, ~labels)
    return {
        "accuracy": judged["accuracy"],
        "macro_f1": (judged["f1"] + inverse["f1"]) / 2,
        "mcc": judged["mcc"],
        "majority": float(max(np.mean(labels), 1 - np.mean(labels))),
    }


def auc_interval(
    scores: np.ndarray, labels: np.ndarray, groups: Sequence[Hashable], resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """Bootstrap interval of the AUC: groups are drawn, and draws with one class only are left out."""

    def statistic(rows: np.ndarray) -> dict[str, float]:
        drawn, correct = scores[rows], labels[rows]
        return {"auc": float(auc(drawn[correct], drawn[~correct]))}

    draws = bootstrap_groups(statistic, groups, resamples, seed)["auc"]
    return percentile_interval(draws[np.isfinite(draws)])
