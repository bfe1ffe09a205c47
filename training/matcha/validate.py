"""The figures that a checkpoint is chosen by."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semantic_metrics.core.run_options import DEFAULT_OPTIONS, RunOptions
from semantic_metrics.matcha.contextual import ContextualEncoder
from semantic_metrics.matcha.table import MatchaTable, cosine
from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.separation import COSINE, separation, to_unit
from training.data.sources import Example, Source, load_source

Encoder = MatchaTable | ContextualEncoder
Results = dict[str, dict[str, float]]
SEPARATION, AGREEMENT = ("n_delta", "macro_f1", "auc", "pairwise"), ("ccc", "ccc_unscaled")  # of triplets, of ratings
FIGURES = SEPARATION + AGREEMENT


@dataclass(frozen=True)
class ValidationSet:
    """Two or three columns of n texts; two come with human scores in [0, 1], (n,)."""

    texts: list[list[str]]
    scores: np.ndarray | None


def load_validation(sources: list[Source], data: Path | None) -> dict[str, ValidationSet]:
    """Read the sets of a config's `validate`, by name.

    Raises ValueError: a file or column is missing, or an example has no correct text.
    """
    return {source.name: _validation_set(source, load_source(source, data, frozenset())[0]) for source in sources}


def _validation_set(source: Source, examples: list[Example]) -> ValidationSet:
    references, correct = [e.reference for e in examples], [e.correct for e in examples]
    incorrect, scores = [e.incorrect for e in examples], np.array([e.target for e in examples])
    if None in correct or source.kind == "captions":  # a caption of the row before may fit as well
        raise ValueError(f"{source.name}: expected triplets, positives or graded pairs, got kind {source.kind!r}")
    if np.isfinite(scores).any() and not np.isfinite(scores).all():
        raise ValueError(f"{source.name}: expected a rating in each row, {(~np.isfinite(scores)).sum()} have none")
    if np.isfinite(scores).all():
        return ValidationSet([references, correct], scores)
    if None in incorrect:  # positives: the incorrect text is that of the row before
        incorrect = [correct[-1], *correct[:-1]]
    return ValidationSet([references, correct, incorrect], None)


def validate(table: Encoder, sets: dict[str, ValidationSet], run: RunOptions = DEFAULT_OPTIONS) -> Results:
    """The figures of every set, times 100, higher is better.

    For triplets `n_delta`, `macro_f1`, `auc` and `pairwise` (see `semantic_metrics.stats.separation`); for scored pairs
    `ccc`, the concordance of (cosine + 1) / 2 with the human scores (paper, table 7), and `ccc_unscaled`, the cosine's.
    """
    return {name: _figures(table, one, run) for name, one in sets.items()}


def _figures(table: Encoder, one: ValidationSet, run: RunOptions) -> dict[str, float]:
    reference, *others = (table.encode(texts, run).vectors for texts in one.texts)
    scores = [cosine(other, reference) for other in others]
    if one.scores is not None:
        compared = {"ccc": to_unit(scores[0], COSINE), "ccc_unscaled": scores[0]}
        return {name: 100 * float(concordance(values, one.scores)) for name, values in compared.items()}
    figures = separation(*scores, COSINE, paired=True)
    return {name: float(figures[name]) for name in SEPARATION}


def check_figure(figure: str, sets: dict[str, ValidationSet]) -> None:
    """Check that one of the sets has a figure. Raises ValueError: no set has it; lists the figures there are."""
    figures = {name for one in sets.values() for name in (SEPARATION if one.scores is None else AGREEMENT)}
    if figure not in figures:
        raise ValueError(f"select_by: expected one of {sorted(figures)}, got {figure!r}")


def mean_figure(results: Iterable[dict[str, float]], figure: str) -> float:
    """Mean of one figure over the sets that have it."""
    return float(np.mean([row[figure] for row in results if figure in row]))
