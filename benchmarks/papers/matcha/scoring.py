"""Scores of every metric on every set: the only step that runs models; all figures are computed from its vectors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.encoders import NotMeasured, Score
from benchmarks.papers.matcha.sets import EvaluationSet, TripletSet


@dataclass
class Scores:
    """What was measured, and why the rest was not; keys are a metric's name and a set's key.

    `triplets` and `rated` are native scores, 0 where a text has no vector: (2, n), of the correct and of the incorrect
    texts, and (n,). `undefined`, of the same shape, says where that happens.
    """

    triplets: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    rated: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    undefined: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)

    def sides(self, name: str, key: str) -> tuple[np.ndarray, np.ndarray]:
        """Scores of the correct and of the incorrect texts for `separation`: not a number where there is no vector."""
        correct, incorrect = np.where(self.undefined.get((name, key), False), np.nan, self.triplets[name, key])
        return correct, incorrect


def score_sets(
    metrics: list[Metric], sets: dict[str, EvaluationSet], report: Callable[[str], None] = lambda line: None
) -> Scores:
    """Score every set with every metric, one metric after the other, so that one model at a time is in memory."""
    scores = Scores()
    for metric in metrics:
        keys = [key for key in sets if metric.sets is None or key in metric.sets]
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


def _score_set(scores: Scores, metric: Metric, score: Score, dataset: EvaluationSet) -> None:
    if isinstance(dataset, TripletSet):  # in one call, so that an encoder encodes a reference once
        texts = [*dataset.correct, *dataset.incorrect], [*dataset.references, *dataset.references_of_incorrect]
        shape, kept = (2, len(dataset)), scores.triplets
    else:
        texts, shape, kept = (dataset.candidates, dataset.references), (len(dataset),), scores.rated
    values, place = score(*texts), (metric.name, dataset.key)
    native = np.ma.getdata(np.ma.asarray(values, dtype=np.float64))
    if native.shape != (len(texts[0]),) or not np.isfinite(native).all():
        found = f"shape {native.shape}, of which {(~np.isfinite(native)).sum()} are NaN or infinite"
        raise NotMeasured(f"{metric.name}: expected {len(texts[0])} finite scores, got {found}")
    kept[place] = native.reshape(shape)
    if np.ma.is_masked(values):
        scores.undefined[place] = np.ma.getmaskarray(values).reshape(shape)


def undefined_lines(scores: Scores, sets: dict[str, EvaluationSet]) -> list[str]:
    """Lines of the report: how many pairs of a set have a text without a vector, by metric."""
    return [
        f"{name}, {key}: {mask.sum()} of {mask.size} pairs have a text without a vector: 0 in every figure"
        + (", wrong for its class in macro-F1" if isinstance(sets[key], TripletSet) else "")
        for (name, key), mask in scores.undefined.items()
    ]


def write_scores(sets: dict[str, EvaluationSet], scores: Scores, output: Path) -> None:
    """Write `scores_SET.csv`: every row's native scores, one column per metric (two on triplet sets)."""
    for key in sets:
        columns: dict[str, np.ndarray] = {}
        for (name, scored), pair in scores.triplets.items():
            if scored == key:
                columns |= {f"{name} correct": pair[0], f"{name} incorrect": pair[1]}
        columns |= {name: values for (name, scored), values in scores.rated.items() if scored == key}
        if columns:
            pd.DataFrame(columns).to_csv(output / f"scores_{key}.csv", index_label="row")
