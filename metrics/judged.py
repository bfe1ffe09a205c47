"""Answers that people judged, read from CSV and parquet files: what `semantic-metrics fit` learns from."""

from collections.abc import Iterable
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
import math
from numbers import Real
from pathlib import Path
import re
from typing import TYPE_CHECKING

from .errors import InputError
from .tables import read_table

if TYPE_CHECKING:
    import pandas as pd

_TRUTHS = {"true": 1.0, "false": 0.0}
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


def read_frame(path: Path) -> "pd.DataFrame":
    """A CSV or parquet file.

    Raises:
        ValueError: it ends otherwise, cannot be read, has no rows, or two columns of one name; names it.
    """
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: expected a file that ends in {' or '.join(readers)}, got {path.suffix!r}")
    try:
        frame = readers[path.suffix.lower()](path)
    except InputError as error:
        raise ValueError(error.message) from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from error
    if frame.empty:
        raise ValueError(f"{path}: expected rows, got none")
    return frame


def _read_csv(path: Path) -> "pd.DataFrame":
    import pandas as pd

    table = read_table(path, "csv")
    return pd.DataFrame(table.rows, columns=table.columns, dtype=object)


def _read_parquet(path: Path) -> "pd.DataFrame":
    import pandas as pd
    from pyarrow import parquet

    names = parquet.read_schema(path).names
    if len(set(names)) < len(names):
        raise InputError(f"{path}: expected column names that differ, got {', '.join(map(repr, names))}")
    return pd.read_parquet(path)


def read_examples(path: Path, columns: Columns) -> Examples:
    """Judged answers from a CSV or parquet file.

    Raises:
        ValueError: the file lacks a column, a text, a reference or a label; names it, and the row.
    """
    frame = read_frame(path)
    wanted = [columns.question, columns.answer, columns.reference, columns.label]
    if missing := [name for name in wanted if name not in frame]:
        known = ", ".join(map(repr, frame.columns))
        raise ValueError(f"{path}: expected the columns {', '.join(map(repr, missing))}, there are {known}")
    questions, answers = ([_text(path, frame, name, row) for row in range(len(frame))] for name in wanted[:2])
    found = [_references(path, value, columns, row) for row, value in enumerate(frame[columns.reference])]
    numbers = [_label(path, columns.label, value, row) for row, value in enumerate(frame[columns.label].tolist())]
    labels = [number >= columns.correct_from for number in numbers]
    return Examples(questions, answers, [kept for kept, _ in found], labels, [dropped for _, dropped in found])


def read_questions(path: Path, names: list[str]) -> tuple[set[str], int]:
    """What a file asks, in all its columns that have one of these names.

    Returns:
        The questions as `question_key` writes them, and how many are missing, blank or of signs only.

    Raises:
        ValueError: there is no such column, or one holds something else than texts.
    """
    frame = read_frame(path)
    known = ", ".join(map(repr, frame.columns))
    if not (held := [name for name in dict.fromkeys(names) if name in frame]):
        wanted = " or ".join(map(repr, dict.fromkeys(names)))
        raise ValueError(f"{path}: expected a column {wanted} of questions, there are {known}")
    keys = []
    for name in held:
        missing = frame[name].isna()
        keys += ["" if missing.iloc[row] else question_key(_text(path, frame, name, row)) for row in range(len(frame))]
    return set(keys) - {""}, keys.count("")


def _text(path: Path, frame: "pd.DataFrame", name: str, row: int) -> str:
    value = frame[name].iloc[row]
    if not isinstance(value, str):
        raise ValueError(f"{path}: expected a text in column {name!r}, got {value!r} in row {row}")
    return value


def _references(path: Path, value: object, columns: Columns, row: int) -> tuple[list[str], int]:
    """References, and how many blank ones there were beside them."""
    from .nli_lex.windows import is_blank

    parts = value.split(columns.separator) if isinstance(value, str) and columns.separator else value
    texts = list(parts) if isinstance(parts, Iterable) and not isinstance(parts, (str, Mapping)) else [parts]
    kept = [text.strip() for text in texts if isinstance(text, str) and not is_blank(text)]
    if not kept or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{path}: expected references in column {columns.reference!r}, got {value!r} in row {row}")
    if any(map(_PRINTED_LIST.fullmatch, kept)):
        raise ValueError(
            f"{path}: expected references in column {columns.reference!r}, got the text of a printed list, {value!r}, "
            f"in row {row}; several references are a parquet column of lists, or one text with a --separator"
        )
    return list(dict.fromkeys(kept)), len(texts) - len(kept)


def _label(path: Path, name: str, value: object, row: int) -> float:
    """A label as a number: true and false are 1 and 0."""
    number = math.nan
    if isinstance(value, str):
        with suppress(ValueError):
            number = float(_TRUTHS.get(value.strip().casefold(), value))
    elif isinstance(value, (Real, Decimal)):
        number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{path}: expected numbers in column {name!r}, got {value!r} in row {row}")
    return number
