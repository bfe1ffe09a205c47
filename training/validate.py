"""How well a table separates correct from incorrect texts, on the sets that a checkpoint is chosen by."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from semantic_metrics.matcha.table import MatchaTable
from semantic_metrics.matcha.table import cosine
from sklearn.metrics import f1_score
from sklearn.metrics import roc_auc_score

from training.config import ValidationSet
from training.data.sources import check_columns

Results = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Triplets:
    """A validation set: n texts a column."""

    reference: list[str]
    correct: list[str]
    incorrect: list[str]


def load_validation(sets: list[ValidationSet], data: Path | None) -> dict[str, Triplets]:
    """Read the sets of a config's `validate`, by name.

    Raises:
        ValueError: a missing file or column.
    """
    loaded = {}
    for entry in sets:
        rows = entry.table.read(data)
        check_columns(rows, entry.columns, entry.name)
        loaded[entry.name] = Triplets(*(rows[column].tolist() for column in entry.columns))
    return loaded


def validate(table: MatchaTable, sets: dict[str, Triplets]) -> Results:
    """The figures of every set; see `separation`."""
    results = {}
    for name, texts in sets.items():
        reference = table.encode(texts.reference).vectors
        scores = (cosine(table.encode(side).vectors, reference) for side in (texts.correct, texts.incorrect))
        results[name] = separation(*scores)
    return results


def separation(correct: np.ndarray, incorrect: np.ndarray) -> dict[str, float]:
    """What two columns of n cosines tell apart; all in percent, higher is better.

    Returns:
        `n_delta`: half the difference of the means (paper, table 3); `macro_f1` at the midpoint 0 (table 4); `auc`
        over all scores; `pairwise`: share of rows whose correct text scores higher, ties counting half.
    """
    labels = np.repeat([1, 0], [len(correct), len(incorrect)])
    scores = np.concatenate([correct, incorrect])
    figures = {
        "n_delta": (correct.mean() - incorrect.mean()) / 2,
        "macro_f1": f1_score(labels, scores > 0, average="macro"),
        "auc": roc_auc_score(labels, scores),
        "pairwise": ((correct > incorrect) + (correct == incorrect) / 2).mean(),
    }
    return {name: round(100 * float(value), 2) for name, value in figures.items()}


def mean_figure(results: Results, figure: str) -> float:
    """Mean of one figure over the sets.

    Raises:
        ValueError: no such figure; lists those there are.
    """
    for row in results.values():
        if figure not in row:
            raise ValueError(f"select_by: expected one of {sorted(row)}, got {figure!r}")
    return float(np.mean([row[figure] for row in results.values()]))
