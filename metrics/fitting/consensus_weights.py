"""Weights of consensus from texts that people rated."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from semantic_metrics.consensus.parts import Parts
from semantic_metrics.consensus.weights import DEFAULT, MIN_RATED, Weights
from semantic_metrics.core.inputs import invalid_input
from semantic_metrics.core.progress import with_progress
from semantic_metrics.stats.agreement import concordance, pearson

FILE = "consensus_weights.json"


@dataclass(frozen=True)
class FittedWeights:
    """Weights, and how well they do on texts that they were not fitted on."""

    weights: Weights  # fitted on all rows
    # default, fitted: figures of the default weights, and of fitted ones by cross-validation: `ccc` (Lin's concordance,
    # in [-1, 1]) and `pearson`, higher is better
    default: dict[str, float]
    fitted: dict[str, float]
    # rows, groups, folds, seed: numbers of rated texts, of groups that no fold cuts, of folds, and their seed
    rows: int
    groups: int
    folds: int
    seed: int
    fitted_on: str = ""  # the files
    # beginning of the sha256 of the cross-encoder that gave the parts; `Weights.read` refuses others
    checkpoint: str = ""
    signature: str = ""  # of the metric that gave the parts

    def lines(self) -> Iterator[str]:
        """The report, for people."""
        yield f"weights, as shares of 1: {self.weights}"
        for name, figures in (("default weights", self.default), (f"fitted, {self.folds} folds", self.fitted)):
            yield f"{name}: CCC {figures['ccc']:.4f}, Pearson {figures['pearson']:.4f}"
        if self.fitted["ccc"] <= self.default["ccc"]:
            yield "the default weights agree with these ratings as well: there is no reason to use the fitted ones"

    def to_json(self) -> dict[str, Any]:
        """The content of the file that `Weights.read` reads."""
        return asdict(self)


def fit_consensus(parts: Parts, ratings: np.ndarray, groups: Sequence[str], folds: int, seed: int) -> FittedWeights:
    """Fit weights on (n,) ratings in [0, 1], and measure them by cross-validation, in whose folds no group is cut."""
    check_enough(groups, folds, seed)
    rows_fold = _folds(groups, folds, seed)
    held_out = np.empty(len(ratings))
    for fold in with_progress(range(folds), "fold", title="cross-validation"):
        train, test = np.flatnonzero(rows_fold != fold), np.flatnonzero(rows_fold == fold)
        held_out[test] = Weights.fit(parts.take(train), ratings[train]).score(parts.take(test))
    default, fitted = (_figures(scores, ratings) for scores in (DEFAULT.score(parts), held_out))
    return FittedWeights(Weights.fit(parts, ratings), default, fitted, len(ratings), len(set(groups)), folds, seed)


def check_enough(groups: Sequence[str], folds: int, seed: int) -> None:
    """Check that n rated texts, in groups, are enough for cross-validation, before a model reads them."""
    count, rows = len(set(groups)), np.bincount(_folds(groups, folds, seed), minlength=folds)
    if count < folds or len(groups) - rows.max() < MIN_RATED:
        problem = f"expected {folds} groups or more and {MIN_RATED} rows to fit in each fold, "
        got = f"{len(groups)} rows in {count} groups, {rows.max()} of them in one fold"
        raise invalid_input("ratings", f"{problem}got {got}")


def _folds(groups: Sequence[str], folds: int, seed: int) -> np.ndarray:
    """(n,) the fold of each row."""
    names = sorted(set(groups))
    fold_of = dict(zip(names, np.random.default_rng(seed).permutation(len(names)) % folds, strict=True))
    return np.array([fold_of[name] for name in groups], dtype=np.int64)


def _figures(scores: np.ndarray, ratings: np.ndarray) -> dict[str, float]:
    return {"ccc": float(concordance(scores, ratings)), "pearson": pearson(scores, ratings)}
