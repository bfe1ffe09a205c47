"""One run of `semantic-metrics fit --metric NAME`: read, score, cross-validate, choose a threshold, write it."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from semantic_metrics.cli.fit_report import short
from semantic_metrics.cli.scoring import OF_QUESTIONS, check_run
from semantic_metrics.cli.whole import Scored, groups_of, numbers_of, score_rows, write_json
from semantic_metrics.files.errors import FileError
from semantic_metrics.files.table import check_output, read_table
from semantic_metrics.fitting import threshold
from semantic_metrics.fitting.judged_answers import Columns, question_key
from semantic_metrics.stats import binary as calibration
from semantic_metrics.stats.separation import auc


@dataclass(frozen=True)
class Labelled:
    """Texts that people labelled.

    Attributes:
        predictions: n texts.
        references: n texts, or n lists of texts.
        questions: n texts, or None.
        labels: (n,) bool, whether people found the prediction correct.
        groups: n names; texts of one group stand on one side of a split.
    """

    predictions: list[str]
    references: list
    questions: list[str] | None
    labels: np.ndarray
    groups: list[Hashable]


def run(
    files: tuple[Path, ...],
    columns: list[Columns],
    metric: str,
    config: str | None,
    criterion: str,
    folds: tuple[int, int],
    output: Path,
    plot: Path | None,
) -> Iterator[str]:
    """Choose a threshold and write it; everything that is known to be wrong is said before the metric runs.

    `folds` are how many, and their seed; the others as `fit_report.run` takes them. Yields the lines of the report.

    Raises:
        ValueError: a file or an option is not what it should be.
        InputError: the metric refused its input or its checkpoint.
    """
    asks = metric in OF_QUESTIONS
    checkpoint = check_run((metric,), () if config is None else (config,), "question" if asks else None)[metric]
    output = _check_places(output, plot, files)
    parts = [_read(path, names, asks) for path, names in zip(files, columns, strict=True)]
    held = _joined(parts)
    calibration.check_labels(held.labels)
    calibration.folds_by_group(held.labels, list(map(str, held.groups)), *folds)  # too few are found before it runs
    scored = score_rows(metric, checkpoint, held.predictions, held.references, held.questions)
    kind = "question" if asks else "reference"
    yield f"{len(held.labels)} texts, {held.labels.mean():.3f} of them correct, {len(set(held.groups))} {kind}s"
    chosen = _choose(metric, scored, held, criterion, folds)
    chosen = replace(chosen, fitted_on="; ".join(f"{short(path)}: {len(part.labels)} texts"
                                                 for path, part in zip(files, parts, strict=True)))  # fmt: skip
    yield from _lines(chosen, kind)
    write_json(output, chosen.to_json())
    if plot is not None:
        threshold.draw_roc(scored.scores, held.labels, chosen.value, f"{metric}, {len(held.labels)} texts", plot)
    yield f"{scored.remarks}\n{scored.signature}"
    yield f"written to {', '.join(str(path) for path in (output, plot) if path is not None)}"


def _choose(metric: str, scored: Scored, held: Labelled, criterion: str, folds: tuple[int, int]) -> threshold.Threshold:
    data = (scored.scores, held.labels, held.groups)
    figures = threshold.figures(threshold.cross_validated(*data, criterion, *folds), held.labels)
    low, high = threshold.auc_interval(*data, seed=folds[1])
    area = float(auc(scored.scores[held.labels], scored.scores[~held.labels]))
    figures |= {"auc": area, "auc_low": low, "auc_high": high, "folds": folds[0], "seed": folds[1]}
    value, counts = threshold.choose(*data[:2], criterion), (len(held.labels), int(held.labels.sum()))
    return threshold.Threshold(metric, value, criterion, scored.signature, "", *counts, figures)


def _lines(chosen: threshold.Threshold, kind: str) -> Iterator[str]:
    found = chosen.figures
    yield f"threshold by {chosen.criterion}: correct where {chosen.metric} is {chosen.value:.4f} or more"
    told = ", ".join(f"{name} {found[name]:.4f}" for name in ("accuracy", "macro_f1", "mcc"))
    yield f"{found['folds']} folds by {kind}: {told}; always the same answer: accuracy {found['majority']:.4f}"
    warning = "; the scores may tell nothing here" if found["auc_low"] <= 0.5 else ""
    yield f"AUC {found['auc']:.4f} [{found['auc_low']:.4f}, {found['auc_high']:.4f}]{warning}"


def _check_places(output: Path, plot: Path | None, inputs: tuple[Path, ...]) -> Path:
    """See that both can be written; the file of the threshold, where `output` is a folder too."""
    output = output / threshold.FILE if output.is_dir() else output
    if output.suffix.lower() != ".json":
        raise ValueError(f"--output: expected a folder or a file that ends in .json, got {output}")
    check_output(output, "--output")
    if plot is None:
        return output
    if find_spec("matplotlib") is None:
        raise ValueError("--plot: expected matplotlib to be installed, as `semantic-metrics[benchmark]` does")
    check_output(plot, "--plot")
    if plot.suffix.lower() != ".png":
        raise ValueError(f"--plot: expected a file that ends in .png, got {plot}")
    if plot.resolve() in {path.resolve() for path in inputs}:
        raise ValueError(f"--plot: expected another file than those that are read, got {plot}")
    return output


def _read(path: Path, columns: Columns, asks: bool) -> Labelled:
    table = read_table(path)
    try:
        predictions = table.texts("--predictions", columns.answer)
        references = table.texts("--references", columns.reference, several=not columns.separator)
        if columns.separator:
            references = [_split(text, columns.separator) for text in references]
        questions = table.texts("--questions", columns.question) if asks else None
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    labels = numbers_of(table, path, "--label", columns.label) >= columns.correct_from
    groups = groups_of(table, "", None, list(map(question_key, questions)) if asks else references)
    return Labelled(predictions, references, questions, labels, groups)


def _split(text: str, separator: str) -> list[str]:
    """Several references in one text; a text of separators alone is one blank reference."""
    return [part.strip() for part in text.split(separator) if part.strip()] or [""]


def _joined(parts: list[Labelled]) -> Labelled:
    lists = [[row for part in parts for row in (getattr(part, name) or ())]
             for name in ("predictions", "references", "questions")]  # fmt: skip
    if len({isinstance(references, list) for references in lists[1]}) > 1:  # files of both kinds
        lists[1] = [one if isinstance(one, list) else [one] for one in lists[1]]
    labels = np.concatenate([part.labels for part in parts])
    return Labelled(lists[0], lists[1], lists[2] or None, labels, [name for part in parts for name in part.groups])
