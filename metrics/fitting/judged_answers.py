"""Answers that people judged, read from files: what `semantic-metrics fit` learns from."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from semantic_metrics.files.errors import FileError
from semantic_metrics.files.formats import Cell
from semantic_metrics.files.table import read_table

_PRINTED_LIST = re.compile(r"\[\s*(['\"].*['\"])?\s*\]", re.DOTALL)


@dataclass(frozen=True)
class Columns:
    """Names of a file's columns, and how it writes what they hold.

    Attributes:
        question, answer, reference, label: names.
        separator: between several references in one text; empty for one reference, or a column of lists.
        correct_from: labels from this number on mean a correct answer.
    """

    question: str = "question"
    answer: str = "answer"
    reference: str = "reference"
    label: str = "label"
    separator: str = ""
    correct_from: float = 1.0


@dataclass(frozen=True)
class Examples:
    """Judged answers.

    Attributes:
        questions, answers: n texts.
        references: n lists of texts.
        labels: n times whether people found the answer correct.
        dropped: n times how many blank references stood beside these.
    """

    questions: list[str]
    answers: list[str]
    references: list[list[str]]
    labels: list[bool]
    dropped: list[int]

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: "Examples") -> "Examples":
        return Examples(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def without(self, questions: set[str]) -> "Examples":
        """The answers to other questions than these, which are given as `question_key` writes them."""
        kept = [i for i, question in enumerate(self.questions) if question_key(question) not in questions]
        return Examples(*([column[i] for i in kept] for column in vars(self).values()))


def question_key(question: str) -> str:
    """A question without its case, spaces and signs: what the same question is found by.

    EVOUNA's file writes "null" for every "nan" ("jnullpith award"), so the two count as one.
    """
    return re.sub(r"[\W_]+", "", question).casefold().replace("null", "nan")


def read_examples(path: Path, columns: Columns) -> Examples:
    """Judged answers from a file of any format that holds columns.

    Raises:
        FileError: the file cannot be read, or lacks a column, a text, a reference or a label; names it, and the row,
            counted from 1.
    """
    table = read_table(path)
    wanted = [columns.question, columns.answer, columns.reference, columns.label]
    if missing := [name for name in wanted if name not in table.columns]:
        known = ", ".join(map(repr, table.columns))
        raise FileError(f"{path}: expected the columns {', '.join(map(repr, missing))}, there are {known}")
    questions, answers = (table.texts(str(path), name) for name in wanted[:2])
    values = table.column(str(path), columns.reference)
    found = [_references(path, value, columns, row) for row, value in enumerate(values, 1)]
    labels = [number >= columns.correct_from for number in table.numbers(str(path), columns.label)]
    return Examples(questions, answers, [kept for kept, _ in found], labels, [dropped for _, dropped in found])


def read_questions(path: Path, names: list[str]) -> tuple[set[str], int]:
    """What a file asks, in all its columns that have one of these names.

    Returns:
        The questions as `question_key` writes them, and how many are missing, blank or of signs only.

    Raises:
        FileError: there is no such column, or one holds something else than texts.
    """
    table = read_table(path)
    if not (held := [name for name in dict.fromkeys(names) if name in table.columns]):
        wanted = " or ".join(map(repr, dict.fromkeys(names)))
        known = ", ".join(map(repr, table.columns))
        raise FileError(f"{path}: expected a column {wanted} of questions, there are {known}")
    keys = []
    for name in held:
        for row, value in enumerate(table.column(str(path), name), 1):
            if not (isinstance(value, str) or _missing(value)):
                raise FileError(f"{path}: expected a text in column {name!r}, got {value!r} in row {row}")
            keys.append("" if _missing(value) else question_key(value))
    return set(keys) - {""}, keys.count("")


def _missing(value: Cell) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _references(path: Path, value: Cell, columns: Columns, row: int) -> tuple[list[str], int]:
    """References, and how many blank ones there were beside them."""
    from semantic_metrics.nli_lex.windows import is_blank

    parts = value.split(columns.separator) if isinstance(value, str) and columns.separator else value
    texts = parts if isinstance(parts, list) else [parts]
    kept = [text.strip() for text in texts if isinstance(text, str) and not is_blank(text)]
    if not kept or not all(isinstance(text, str) for text in texts):
        raise FileError(f"{path}: expected references in column {columns.reference!r}, got {value!r} in row {row}")
    if any(map(_PRINTED_LIST.fullmatch, kept)):
        raise FileError(
            f"{path}: expected references in column {columns.reference!r}, got the text of a printed list, {value!r}, "
            f"in row {row}; several references are a list (.jsonl, .parquet), or one text with a --separator"
        )
    return list(dict.fromkeys(kept)), len(texts) - len(kept)
