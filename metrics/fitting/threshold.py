"""A decision threshold for a metric: which scores count as correct, chosen on texts that people labelled."""

import json
from collections.abc import Hashable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from semantic_metrics.files.table import atomic_write
from semantic_metrics.stats import binary as calibration
from semantic_metrics.stats.bootstrap import RESAMPLES, bootstrap_groups, percentile_interval
from semantic_metrics.stats.separation import auc

FILE = "threshold.json"
CRITERIA = ("youden", "macro_f1")


@dataclass(frozen=True)
class Threshold:
    """A text is correct where its score is `value` or more.

    Attributes:
        metric: its name.
        value: on the metric's own scale.
        criterion: of CRITERIA, by which it was chosen.
        signature: of the metric; scores with another one are of another scale.
        fitted_on: the files it was chosen on.
        rows, correct: how many texts those hold, and how many people found correct.
        figures: what was found by cross-validation.
    """

    metric: str
    value: float
    criterion: str
    signature: str
    fitted_on: str
    rows: int
    correct: int
    figures: dict[str, float]

    def decide(self, scores: np.ndarray, signature: str) -> np.ndarray:
        """(n,) scores -> (n,) bool.

        Raises:
            ValueError: the scores' signature is another one.
        """
        if signature != self.signature:
            raise ValueError(f"signature: expected scores with {self.signature}, got {signature}")
        return np.asarray(scores) >= self.value

    def to_json(self) -> dict:
        """What `read_threshold` reads."""
        return {"rule": "correct where score >= value", **asdict(self)}


def read_threshold(path: Path) -> Threshold:
    """A threshold from a file (or a folder's threshold.json) that `semantic-metrics fit --metric NAME` wrote.

    Raises:
        ValueError: it is no such file.
    """
    path = path / FILE if path.is_dir() else path
    names = [field.name for field in fields(Threshold)]
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return Threshold(**{name: held[name] for name in names} | {"value": float(held["value"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"threshold {path}: expected a JSON file with {', '.join(names)} ({error!r})") from None


def choose(scores: np.ndarray, labels: np.ndarray, criterion: str = CRITERIA[0]) -> float:
    """The threshold that is best by a criterion, half-way between two scores; of equals that of the widest gap.

    Args:
        scores: (n,).
        labels: (n,) bool, whether people found the text correct.
        criterion: `youden`, the true-positive rate minus the false-positive rate (Youden 1950), which does not
            depend on how many texts are correct; or `macro_f1`, the mean F1 of both classes, which does.

    Raises:
        ValueError: one class only, scores that are all the same, or no such criterion.
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion: expected one of {', '.join(CRITERIA)}, got {criterion!r}")
    calibration.check_labels(labels)
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
    scores: np.ndarray, labels: np.ndarray, groups: list[Hashable], criterion: str, folds: int, seed: int
) -> np.ndarray:
    """(n,) bool decisions, each by a threshold that was chosen without any text of the same group.

    Raises:
        ValueError: one class only, or too few groups for so many folds.
    """
    decided = np.empty(len(labels), dtype=bool)
    numbers = {group: str(i) for i, group in enumerate(dict.fromkeys(groups))}
    for kept, left in calibration.folds_by_group(labels, [numbers[group] for group in groups], folds, seed):
        decided[left] = scores[left] >= choose(scores[kept], labels[kept], criterion)
    return decided


def figures(decided: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """How well decisions agree with labels.

    Returns:
        `accuracy` and `macro_f1` in [0, 1], `mcc` (Matthews' correlation) in [-1, 1], higher is better; `majority`,
        the accuracy of always saying what most labels say.
    """
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

    return {
        "accuracy": float(accuracy_score(labels, decided)),
        "macro_f1": float(f1_score(labels, decided, average="macro", zero_division=0)),
        "mcc": float(matthews_corrcoef(labels, decided)),
        "majority": float(max(np.mean(labels), 1 - np.mean(labels))),
    }


def auc_interval(
    scores: np.ndarray,
    labels: np.ndarray,
    groups: list[Hashable],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """Bootstrap interval of the AUC: groups are drawn, and draws with one class only are left out."""

    def statistic(rows: np.ndarray) -> dict[str, float]:
        drawn, correct = scores[rows], labels[rows]
        return {"auc": float(auc(drawn[correct], drawn[~correct]))}

    draws = bootstrap_groups(statistic, groups, resamples, seed)["auc"]
    return percentile_interval(draws[np.isfinite(draws)])


def draw_roc(scores: np.ndarray, labels: np.ndarray, chosen: float, title: str, path: Path) -> None:
    """Write the ROC curve as PNG, with the place of a threshold on it.

    Raises:
        FileError: it cannot be written there.
    """
    from matplotlib.figure import Figure
    from sklearn.metrics import roc_curve

    alarms, hits, _ = roc_curve(labels, scores, drop_intermediate=False)
    found = scores >= chosen
    figure = Figure(figsize=(5, 5), layout="constrained")
    panel = figure.subplots()
    panel.plot([0, 1], [0, 1], color="0.5", linestyle="--", label="chance")
    panel.plot(alarms, hits, color="#0072B2", label=f"AUC {auc(scores[labels], scores[~labels]):.3f}")
    panel.plot(found[~labels].mean(), found[labels].mean(), "o", color="#D55E00", label=f"threshold {chosen:.4f}")
    panel.set(xlabel="incorrect texts that are accepted", ylabel="correct texts that are accepted", title=title)
    panel.set_aspect("equal")
    panel.grid(alpha=0.3)
    panel.legend(loc="lower right")
    with atomic_write(path) as file:
        figure.savefig(file, dpi=150, format="png")
