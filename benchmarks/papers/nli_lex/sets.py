"""The sets of the NLI+lex protocol: answers to questions, each judged correct or incorrect by people.

Read from a data folder (parquet): `diver_qa/sample`, `openqa_eval/nq301`, `evouna/nq`, all with columns question,
reference, candidate, human_label, source and model; or from a file with these columns, or with those of diver_qa.csv as
it is published (`read_judged`).

Source: Balamurali & Cheng 2025 ("Revisiting NLI"), section 4.2; Kamalloo et al., ACL 2023 (NQ-open 301); Wang et al.,
NeurIPS 2023 (EVOUNA).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.tables import check_columns, column_texts, read_table
from semantic_metrics.fitting.judged_answers import question_key

TITLES = {"diver_qa": "DIVER-QA", "nq301": "NQ-open 301", "evouna": "EVOUNA NQ"}
BEM, GPT4 = "BEM (published per pair)", "GPT-4 (published per pair)"
JUDGED_BEFORE = {BEM: "bem_prob_max", GPT4: "gpt4_label"}  # columns with Kamalloo et al.'s own judgements

_FILES = {"diver_qa": "diver_qa/sample.parquet", "nq301": "openqa_eval/nq301.parquet", "evouna": "evouna/nq.parquet"}
_SEPARATORS = {"nq301": " | ", "evouna": "/"}  # between the gold answers of a row
_AS_PUBLISHED = {"questions": "question", "answers": "reference", "prediction": "candidate", "eval": "human_label"}
_AS_PUBLISHED |= {"dataset": "source", "model": "model"}  # columns of diver_qa.csv
_TEXTS = ("question", "reference", "candidate", "questions", "answers", "prediction")  # columns of a user's file
_DATASETS = {"aqa": "AdversarialQA", "squad": "SQuAD", "medqa": "MedQA", "hotpotqa": "HotpotQA", "triviaqa": "TriviaQA"}
MODELS = {"claude": "Claude-3.5-Sonnet", "mixtral": "Mixtral-8x7B", "ll70b": "Llama-3-70b", "ll8b": "Llama-3-8b"}
MODELS["phi"] = "Phi-3-mini"  # in the paper's spelling


@dataclass(frozen=True)
class JudgedSet:
    """n answers to questions with human judgements.

    Attributes:
        references: lists of gold answers, each with at least one.
        candidates: the answers; some may be empty.
        labels: bool, whether people found the answer correct.
        datasets, models: the dataset of the question, and the model that gave the answer.
        before: published judgements in [0, 1], by name of the judge; NaN where there is none.
        source: name of the file.
    """

    title: str
    questions: list[str]
    references: list[list[str]]
    candidates: list[str]
    labels: np.ndarray
    datasets: list[str]
    models: list[str]
    before: dict[str, np.ndarray] = field(default_factory=dict)
    source: str = ""

    def __len__(self) -> int:
        return len(self.questions)

    def take(self, rows: Sequence[int]) -> "JudgedSet":
        """The answers with these numbers."""
        rows = list(rows)
        texts = ("questions", "references", "candidates", "datasets", "models")
        kept = {name: [getattr(self, name)[i] for i in rows] for name in texts}
        kept["before"] = {key: values[rows] for key, values in self.before.items()}
        return replace(self, labels=self.labels[rows], **kept)


def load_judged(data: Path, keys: Iterable[str]) -> tuple[dict[str, JudgedSet], dict[str, str]]:
    """The sets of a data folder by key of TITLES, and why others are missing; a ValueError names an invalid file."""
    sets, absent = {}, {}
    for key in keys:
        path = data / _FILES[key]
        if path.is_file():
            sets[key] = judged_set(read_table(path), TITLES[key], _FILES[key], _SEPARATORS.get(key))
        else:
            absent[key] = f"no file {_FILES[key]} in the data folder"
    return sets, absent


def leave_out(sets: dict[str, JudgedSet], files: tuple[Path, ...]) -> dict[str, JudgedSet]:
    """The sets without the answers to the questions (column `question`) of some files.

    Raises ValueError: a file lacks the column, or nothing is left of a set; names it.
    """
    questions = {question_key(text) for path in files for text in read_table(path, "question")["question"]}

    def others(answers: JudgedSet) -> list[int]:
        return [row for row, text in enumerate(answers.questions) if question_key(text) not in questions]

    kept = {key: answers.take(others(answers)) for key, answers in sets.items()} if questions else sets
    if empty := [key for key, answers in kept.items() if not len(answers)]:
        raise ValueError(f"--trained-on: expected answers to other questions, {', '.join(empty)} has none")
    return kept


def read_judged(path: Path) -> JudgedSet:
    """A user's file (.parquet, .csv, .jsonl), titled by its name; `reference` may contain lists.

    A file with the columns of DIVER-QA as it is published is titled DIVER-QA, so that the paper's figures stand beside.

    Raises ValueError: a column, a question, a gold answer, a judgement, or all rows are missing; names the file.
    """
    frame, title = read_table(path, texts=_TEXTS), path.stem
    if set(_AS_PUBLISHED) <= set(frame.columns):
        frame, title = frame.rename(columns=_AS_PUBLISHED), TITLES["diver_qa"]
    return judged_set(frame, title, path.name)


def judged_set(frame: pd.DataFrame, title: str, source: str, separator: str | None = None) -> JudgedSet:
    """Columns question, reference, candidate, human_label[, source, model] -> the set.

    `separator` stands between the gold answers in a text of column `reference`; None for one gold answer, or lists.
    `source` is named in errors.

    Raises ValueError: any reason of `read_judged`.
    """
    check_columns(frame, ("question", "reference", "candidate", "human_label"), source)
    if frame.empty:
        raise ValueError(f"{source}: expected rows, got none")
    labels = pd.to_numeric(frame["human_label"], errors="coerce").to_numpy(dtype=np.float64)
    if (unknown := np.flatnonzero(~np.isin(labels, (0.0, 1.0)))).size:
        value, row = frame["human_label"].tolist()[unknown[0]], unknown[0]
        raise ValueError(f"{source}: expected 0 or 1 in column 'human_label', got {value!r} in row {row}")
    return JudgedSet(
        title,
        column_texts(frame, "question", source, empty=False),
        _references(frame, source, separator),
        column_texts(frame.fillna({"candidate": ""}), "candidate", source),  # empty in a CSV file: an answer too
        labels > 0,
        _named(frame, "source", _DATASETS, title),
        _named(frame, "model", MODELS, "all models"),
        {name: frame[c].to_numpy(dtype=np.float64) for name, c in JUDGED_BEFORE.items() if c in frame},
        source,
    )


def _references(frame: pd.DataFrame, source: str, separator: str | None) -> list[list[str]]:
    groups = []
    for row, value in enumerate(frame["reference"]):
        parts = ([value] if separator is None else value.split(separator)) if isinstance(value, str) else value
        listed = isinstance(parts, Iterable) and all(isinstance(part, str) for part in parts)
        kept = list(dict.fromkeys(part.strip() for part in parts if part.strip())) if listed else []
        if not kept:
            raise ValueError(f"{source}: expected gold answers in column 'reference', got {value!r} in row {row}")
        groups.append(kept)
    return groups


def _named(frame: pd.DataFrame, column: str, names: dict[str, str], otherwise: str) -> list[str]:
    if column not in frame:
        return [otherwise] * len(frame)
    return [names.get(value, str(value)) for value in frame[column]]
