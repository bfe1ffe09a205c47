"""Scores of whole files for the commands that judge systems, metrics and thresholds by them."""

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semantic_metrics.cli.errors import InputError
from semantic_metrics.cli.scoring import COUNTS, OF_QUESTIONS, run_metric
from semantic_metrics.files.formats import TEXT, Cell
from semantic_metrics.files.table import Table, atomic_write, check_output, write_table
from semantic_metrics.files.writers import encode

JSON = ".json"


@dataclass(frozen=True)
class Scored:
    """What a metric says of n rows.

    Attributes:
        scores: (n,).
        signature: the metric's.
        remarks: how many distinct pairs it scored, and what it counted of them.
    """

    scores: np.ndarray
    signature: str
    remarks: str


def score_rows(
    metric: str, config: str | None, predictions: list[str], references: list, questions: list[str] | None
) -> Scored:
    """Score rows, each distinct one once: equal rows get equal scores to the last bit, whatever stands beside them.

    Args:
        metric: its name.
        config: a checkpoint; None for the shipped one.
        predictions: n texts.
        references: n texts, or n lists of texts.
        questions: n texts; kept from a metric that asks for none.

    Raises:
        InputError: the metric refused its input or its checkpoint.
    """
    columns = {"predictions": predictions, "references": references}
    if metric in OF_QUESTIONS:
        columns["questions"] = questions
    rows = list(zip(*([_key(value) for value in values] for values in columns.values()), strict=True))
    place = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    distinct = zip(*place, strict=True)
    texts = {name: [_value(key) for key in keys] for name, keys in zip(columns, distinct, strict=True)}
    result = run_metric(metric, config, texts)
    scores = np.array(result["scores"], dtype=np.float64)[[place[row] for row in rows]]
    counted = ", ".join(f"{name} {result[name]}" for name in COUNTS if name in result)
    return Scored(scores, result["signature"], f"{len(place)} distinct pairs scored: {counted}")


def texts_of(table: Table, path: Path, option: str, column: str | None, several: bool = False) -> list:
    """A column of texts: the one that is named, or that of a text file, or the only one.

    Args:
        table: of the file.
        path: of the file, for messages.
        option: that names the column.
        column: its name, or None.
        several: whether lists of texts will do.

    Raises:
        InputError: there is no such column, several to choose from, or something else than texts in it.
    """
    if column is None:
        if TEXT not in table.columns and len(table.columns) > 1:
            known = ", ".join(map(repr, table.columns))
            raise InputError(f"{option}: expected which column of {path} to read, one of {known}")
        column = TEXT if TEXT in table.columns else table.columns[0]
    return table.texts(f"{path}, {option}", column, several)


def numbers_of(table: Table, path: Path, option: str, column: str) -> np.ndarray:
    """A column of n numbers; true and false are 1 and 0.

    Raises:
        InputError: there is no such column, or it holds something else; names the row, counted from 1.
    """
    return np.array(table.numbers(f"{path}, {option}", column))


def groups_of(table: Table, option: str, column: str | None, references: list) -> list[str]:
    """What each row belongs to: the values of a column as texts, or by default the references.

    Raises:
        InputError: there is no such column.
    """
    return [repr(value) for value in (references if column is None else table.column(option, column))]


def check_outcome(path: Path | None, inputs: Iterable[Path]) -> None:
    """See that the outcome of a command can be written.

    Args:
        path: of it; None where it is printed only.
        inputs: files that are read, and that it must not take the place of.

    Raises:
        InputError: not to that place, or not in that format.
    """
    if path is None:
        return
    if path.suffix.lower() not in (JSON, ".csv"):
        raise InputError(f"--output: expected a file that ends in {JSON} or .csv, got {path}")
    check_output(path, inputs=inputs)


def write_outcome(path: Path, rows: list[dict]) -> None:
    """Write rows of figures, as a JSON list or as CSV.

    Raises:
        InputError: they cannot be written there.
    """
    if path.suffix.lower() == JSON:
        write_json(path, rows)
    else:
        columns = list(dict.fromkeys(name for row in rows for name in row))
        write_table(path, Table(columns, [[row.get(name) for name in columns] for row in rows]))


def write_json(path: Path, value: dict | list) -> None:
    """Write a JSON file: aside first, and renamed when it is complete.

    Raises:
        InputError: it cannot be written there.
    """
    with atomic_write(path) as file:
        file.write(encode(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"))


def _key(value: Cell) -> Hashable:
    return tuple(value) if isinstance(value, list) else value


def _value(key: Hashable) -> Cell:
    return list(key) if isinstance(key, tuple) else key
