"""Scores of every metric on every set: the only step that runs models; all figures are computed from its vectors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.encoders import NotMeasured, Score
from benchmarks.papers.matcha.sets import EvaluationSet, TripletSet


@dataclass(frozen=True)
class TripletScores:
    """(n,) native scores of one metric on a triplet set each, 0 where a text has no vector."""

    correct: np.ndarray
    incorrect: np.ndarray


@dataclass
class Scores:
    """What was measured, and why the rest was not; keys are a metric's name and a set's key.

    `undefined` says of each pair whether a text has no vector, where that happens: (n,), or (2, n) for a triplet set.
    """

    triplets: dict[tuple[str, str], TripletScores] = field(default_factory=dict)
    rated: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    undefined: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)

    def sides(self, name: str, key: str) -> tuple[np.ndarray, np.ndarray]:
        """Scores of the correct and of the incorrect texts for `separation`: not a number where there is no vector."""
        pair, undefined = self.triplets[name, key], self.undefined.get((name, key), np.zeros((2, 1), dtype=bool))
        return np.where(undefined[0], np.nan, pair.correct), np.where(undefined[1], np.nan, pair.incorrect)


def score_sets(
    metrics: list[Metric], sets: dict[str, EvaluationSet], report: Callable[[str], None] = lambda line: None
) -> Scores:
    """Score every set with every metric, one metric after the other, so that one model at a time is in memory."""
    scores = Scores()
    for metric in metrics:
        keys = [key for key, dataset in sets.items() if _is_for(metric, dataset)]
        try:
            score = metric.load()
        except NotMeasured as reason:
            report(f"{metric.name}: not measured: {reason}")
            scores.reasons.update({(metric.name, key): str(reason) for key in keys})
            continue
        for key in keys:
            report(f"{metric.name}: {key}, {len(sets[key])} rows")
            try:
                _score_set(scores, metric, score, sets[key])
            except NotMeasured as reason:
                report(f"{metric.name}: {key}: not measured: {reason}")
                scores.reasons[metric.name, key] = str(reason)
    return scores


def _is_for(metric: Metric, dataset: EvaluationSet) -> bool:
    return dataset.key in (metric.sets or (dataset.key,))


def _score_set(scores: Scores, metric: Metric, score: Score, dataset: EvaluationSet) -> None:
    place = (metric.name, dataset.key)
    if not isinstance(dataset, TripletSet):
        values, shape = score(dataset.candidates, dataset.references), (len(dataset),)
        scores.rated[place] = _checked(metric, values, len(dataset))
    else:  # in one call, so that an encoder encodes a reference once
        texts = [*dataset.correct, *dataset.incorrect], [*dataset.references, *dataset.references_of_incorrect]
        values, shape = score(*texts), (2, len(dataset))
        scores.triplets[place] = TripletScores(*np.split(_checked(metric, values, 2 * len(dataset)), 2))
    if np.ma.is_masked(values):
        scores.undefined[place] = np.ma.getmaskarray(values).reshape(shape)


def undefined_lines(scores: Scores, sets: dict[str, EvaluationSet]) -> list[str]:
    """Lines of the report: how many pairs of a set have a text without a vector, by metric."""
    return [
        f"{name}, {key}: {mask.sum()} of {mask.size} pairs have a text without a vector: 0 in every figure"
        + (", wrong for its class in macro-F1" if isinstance(sets[key], TripletSet) else "")
        for (name, key), mask in scores.undefined.items()
    ]


def _checked(metric: Metric, scores: np.ndarray, size: int) -> np.ndarray:
    scores = np.ma.getdata(np.ma.asarray(scores, dtype=np.float64))
    if scores.shape != (size,) or not np.isfinite(scores).all():
        bad = int((~np.isfinite(scores)).sum())
        raise NotMeasured(f"{metric.name} gave scores of shape {scores.shape}, {bad} not finite; expected {size}")
    return scores


def write_scores(sets: dict[str, EvaluationSet], scores: Scores, output: Path) -> None:
    """Write `scores_SET.csv`: every row's native scores, one column per metric (two on triplet sets)."""
    for key in sets:
        columns: dict[str, np.ndarray] = {}
        for (name, scored), pair in scores.triplets.items():
            if scored == key and len(pair.correct) == len(sets[key]):
                columns |= {f"{name} correct": pair.correct, f"{name} incorrect": pair.incorrect}
        columns |= {name: values for (name, scored), values in scores.rated.items() if scored == key}
        if columns:
            pd.DataFrame(columns).to_csv(output / f"scores_{key}.csv", index_label="row")
