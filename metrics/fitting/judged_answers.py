"""Answers that people judged, read from files: what `semantic-metrics fit` learns from."""

import math
import random
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from semantic_metrics.core.inputs import quote
from semantic_metrics.core.texts import is_blank
from semantic_metrics.files import FileError
from semantic_metrics.files.references import PRINTED_LIST, ReferenceColumns
from semantic_metrics.files.rows import Cell, convert_rows, has_column, list_names
from semantic_metrics.files.table import Table, read_table

MAX_WEIGHT = 1e6  # of an answer; a larger one is a mistake


@dataclass(frozen=True)
class JudgedColumns:
    """Names of a file's columns, and how it writes their values."""

    # question, answer, reference, label: names of columns
    question: str = "question"
    answer: str = "answer"
    reference: str = "reference"
    label: str = "label"  # its values from 1 on mean a correct answer
    separator: str = ""  # what separates several references in one text; empty for one reference, or a column of lists
    weight: float = 1.0  # weight of each answer in a fit
    json_lists: bool = False  # whether a reference that is a JSON list of texts is read as several
    missing: str | None = None  # what becomes of rows without an answer, one of MISSING; None refuses them

    def __post_init__(self) -> None:
        if not 0 < self.weight <= MAX_WEIGHT:
            raise ValueError(f"weight: expected a number above 0, at most {MAX_WEIGHT:g}, got {self.weight}")

    def read(self, path: Path, warn: Callable[[str], None]) -> Table:
        """A file, after what becomes of rows without an answer, which `warn` is told of."""
        table = read_table(path)
        if self.missing is not None:
            table = table.answered(f"{path}, --predictions", self.answer, self.missing)
        for line in table.notes:
            warn(f"{path}: {line}")
        return table

    @property
    def references(self) -> ReferenceColumns:
        """Where the references are."""
        return ReferenceColumns((self.reference,), self.separator, self.json_lists)


@dataclass(frozen=True)
class JudgedAnswers:
    """Answers that people judged."""

    # questions, answers: n texts each
    questions: list[str]
    answers: list[str]
    references: list[list[str]]  # n lists of texts
    labels: list[bool]  # n labels, whether people found the answer correct
    dropped: list[int]  # n counts of blank references that were left out

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: "JudgedAnswers") -> "JudgedAnswers":
        return JudgedAnswers(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def without(self, questions: set[str]) -> "JudgedAnswers":
        """The answers to other questions than these, which are given as `question_key` writes them."""
        kept = [i for i, question in enumerate(self.questions) if question_key(question) not in questions]
        return self._take(kept)

    def sample(self, rows: int | None, seed: int = 0) -> "JudgedAnswers":
        """At most `rows` answers, drawn at random, in their order; all of them where `rows` is None."""
        if rows is None or rows >= len(self):
            return self
        return self._take(sorted(random.Random(seed).sample(range(len(self)), rows)))

    def _take(self, rows: list[int]) -> "JudgedAnswers":
        return JudgedAnswers(*([column[i] for i in rows] for column in vars(self).values()))


@dataclass(frozen=True)
class JudgedFile:
    """Judged answers of one file; `name` is for people, `weight` is that of each answer in a fit."""

    name: str
    judged: JudgedAnswers
    weight: float = 1.0


def join(files: list[JudgedFile]) -> JudgedAnswers:
    """The answers of all files."""
    return sum((file.judged for file in files), JudgedAnswers([], [], [], [], []))


def question_key(question: str) -> str:
    """A question without case, spaces and punctuation: equal for two writings of the same question.

    EVOUNA's file has "null" for every "nan" ("jnullpith award"), so the two count as one.
    """
    return re.sub(r"[\W_]+", "", question).casefold().replace("null", "nan")


def read_judged_answers(
    path: Path, columns: JudgedColumns, warn: Callable[[str], None] = warnings.warn
) -> JudgedAnswers:
    """Judged answers from a file of any format with several columns; `warn` is told of rows without an answer."""
    table = columns.read(path, warn)
    questions, answers = (table.texts(str(path), name) for name in (columns.question, columns.answer))
    kept, dropped = _references(path, columns, table.column(str(path), columns.reference))
    labels = [number >= 1 for number in table.numbers(str(path), columns.label)]
    return JudgedAnswers(questions, answers, kept, labels, dropped)


def read_questions(path: Path, names: list[str]) -> tuple[set[str], int]:
    """The questions of a file, from all its columns that have one of these names.

    Returns:
        The questions as `question_key` writes them, and how many are missing, blank or punctuation only.
    """
    table, names = read_table(path), list(dict.fromkeys(names))
    keys = []
    for name in (present := [name for name in names if has_column(table.columns, name)]):
        for row, value in enumerate(table.column(str(path), name), 1):
            if not (isinstance(value, str) or _missing(value)):
                raise FileError(f"{path}: expected a text in column {name!r}, got {value!r} in row {row}")
            keys.append("" if _missing(value) else question_key(value))
    if not present:
        known = list_names(table.columns)
        raise FileError(f"{path}: expected a column {' or '.join(map(repr, names))} of questions, there are {known}")
    return set(keys) - {""}, keys.count("")


def _missing(value: Cell) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _references(path: Path, columns: JudgedColumns, cells: list[Cell]) -> tuple[list[list[str]], list[int]]:
    """The references of each row, and the numbers of blank ones that are left out."""
    read = partial(columns.references.of_cell, columns.reference)
    texts = convert_rows(cells, read, lambda i: f"{path}, row {i + 1}")
    kept = [[text.strip() for text in row if not is_blank(text)] for row in texts]
    for i, row in enumerate(kept):
        expected = f"{path}: expected references in column {columns.reference!r}"
        if not row:
            raise FileError(f"{expected}, got {quote(cells[i])} in row {i + 1}")
        if any(map(PRINTED_LIST.fullmatch, row)):
            several = "several are a list (.jsonl, .parquet, or with --json-lists), or a text with a --separator"
            raise FileError(f"{expected}, got the text of a printed list, {cells[i]!r}, in row {i + 1}; {several}")
    dropped = [len(before) - len(after) for before, after in zip(texts, kept, strict=True)]
    return [list(dict.fromkeys(row)) for row in kept], dropped
