"""The sets of the NLI+lex protocol: answers to questions, each with a person's yes or no.

Read from a data folder (parquet): `diver_qa/sample`, `openqa_eval/nq301`, `evouna/nq`, all with columns question,
reference, candidate, human_label, source and model; or from a file of that form (`read_judged`), which may have a
column of judgements for each rater.

Source: Balamurali & Cheng 2025 ("Revisiting NLI"), section 4.2; Kamalloo et al., ACL 2023 (NQ-open 301); Wang et al.,
NeurIPS 2023 (EVOUNA).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.matcha.sets import read_table
from semantic_metrics.cli.fit import question_key

TITLES = {"diver_qa": "DIVER-QA", "nq301": "NQ-open 301", "evouna": "EVOUNA NQ"}
RATER = "rater"  # begins the names of columns that hold one person's judgements
BEM, GPT4 = "BEM (published per pair)", "GPT-4 (published per pair)"
JUDGED_BEFORE = {BEM: "bem_prob_max", GPT4: "gpt4_label"}  # columns with Kamalloo et al.'s own judgements

_FILES = {"diver_qa": "diver_qa/sample.parquet", "nq301": "openqa_eval/nq301.parquet", "evouna": "evouna/nq.parquet"}
_SEPARATORS = {"nq301": " | ", "evouna": "/"}  # between the gold answers of a row
_DATASETS = {"aqa": "AdversarialQA", "squad": "SQuAD", "medqa": "MedQA", "hotpotqa": "HotpotQA", "triviaqa": "TriviaQA"}
MODELS = {
    "claude": "Claude-3.5-Sonnet",
    "mixtral": "Mixtral-8x7B",
    "ll70b": "Llama-3-70b",
    "ll8b": "Llama-3-8b",
    "phi": "Phi-3-mini",
}  # in the paper's spelling
_TEXTS = ("question", "reference", "candidate")


@dataclass(frozen=True)
class JudgedSet:
    """Answers and what people said of them.

    Attributes:
        title: of the set.
        questions: n questions.
        references: n lists of gold answers, one at least.
        candidates: n answers; some may be empty.
        labels: (n,) bool, whether people found the answer correct.
        datasets: n names of where the question is from.
        models: n names of who gave the answer.
        raters: (n,) each, by rater's name: 0, 1, or not a number where that person did not judge.
        before: (n,) each, by row's name: published judgements in [0, 1], not a number where there is none.
        source: file.
    """

    title: str
    questions: list[str]
    references: list[list[str]]
    candidates: list[str]
    labels: np.ndarray
    datasets: list[str]
    models: list[str]
    raters: dict[str, np.ndarray] = field(default_factory=dict)
    before: dict[str, np.ndarray] = field(default_factory=dict)
    source: str = ""

    def __len__(self) -> int:
        return len(self.questions)

    def without(self, questions: set[str]) -> "JudgedSet":
        """The answers to other questions than these, which are given as `fit.question_key` writes them."""
        rows = [i for i, question in enumerate(self.questions) if question_key(question) not in questions]
        texts = ("questions", "references", "candidates", "datasets", "models")
        kept = {name: [getattr(self, name)[i] for i in rows] for name in texts}
        arrays = {name: {key: held[rows] for key, held in getattr(self, name).items()} for name in ("raters", "before")}
        return replace(self, labels=self.labels[rows], **kept, **arrays)


def load_judged(data: Path, keys: Iterable[str]) -> tuple[dict[str, JudgedSet], dict[str, str]]:
    """Read sets from a data folder.

    Args:
        data: the folder, laid out as the module's docstring says.
        keys: of TITLES.

    Returns:
        The sets whose file is there, by key, and of the others why they are not.

    Raises:
        ValueError: a file is not what it should be; names it.
    """
    found, absent = {}, {}
    for key in keys:
        path = data / _FILES[key]
        if path.is_file():
            found[key] = judged_set(read_table(path), TITLES[key], _FILES[key], _SEPARATORS.get(key))
        else:
            absent[key] = f"no file {_FILES[key]} in the data folder"
    return found, absent


def read_judged(path: Path) -> JudgedSet:
    """A file of one's own (.parquet, .csv, .jsonl), titled by its name; `reference` may hold lists.

    Raises:
        ValueError: it lacks a column, a question, a gold answer, a judgement, or rows; names it.
    """
    return judged_set(read_table(path), path.stem, path.name)


def judged_set(frame: pd.DataFrame, title: str, source: str, separator: str | None = None) -> JudgedSet:
    """Columns question, reference, candidate, human_label[, source, model, rater...] -> the set.

    Without raters' columns `human_label` is what people said; without it, the raters' majority is.

    Args:
        frame: its rows.
        title: of the set.
        source: where it is from; named in errors.
        separator: of the gold answers within a text of column `reference`; None for one gold answer, or for lists.

    Raises:
        ValueError: as `read_judged`.
    """
    missing = [column for column in _TEXTS if column not in frame]
    raters = {c: _judgements(frame, c, source, absent=True) for c in frame if str(c).startswith(RATER)}
    if "human_label" not in frame and not raters:
        missing.append("human_label")
    if missing:
        raise ValueError(f"{source}: expected columns {', '.join(_TEXTS)} and human_label, missing {missing}")
    if frame.empty:
        raise ValueError(f"{source}: expected rows, got none")
    if "human_label" in frame:
        labels = _judgements(frame, "human_label", source) > 0
    else:
        labels = majority(list(raters.values()), source)
    before = {name: frame[c].to_numpy(dtype=np.float64) for name, c in JUDGED_BEFORE.items() if c in frame}
    return JudgedSet(
        title,
        _texts(frame, "question", source),
        _references(frame, source, separator),
        _texts(frame, "candidate", source, empty=True),
        labels,
        _named(frame, "source", _DATASETS, title),
        _named(frame, "model", MODELS, "all models"),
        raters,
        before,
        source,
    )


def majority(raters: list[np.ndarray], source: str) -> np.ndarray:
    """(n,) bool: what more than half of those who judged a row say (the paper's section 4.2).

    Raises:
        ValueError: a row that nobody judged, or with as many yes as no; names it.
    """
    stacked = np.stack(raters)
    votes, yes = (~np.isnan(stacked)).sum(axis=0), np.nansum(stacked, axis=0)
    if (even := np.flatnonzero(2 * yes == votes)).size:
        raise ValueError(f"{source}: expected a majority of the raters in every row, got none in row {even[0]}")
    return 2 * yes > votes


def _judgements(frame: pd.DataFrame, column: str, source: str, absent: bool = False) -> np.ndarray:
    values = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=np.float64)
    known = np.isin(values, (0.0, 1.0)) | (absent & frame[column].isna().to_numpy())
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise ValueError(
            f"{source}: expected 0 or 1 in column {column!r}, got {frame[column].tolist()[row]!r} in row {row}"
        )
    return values


def _texts(frame: pd.DataFrame, column: str, source: str, empty: bool = False) -> list[str]:
    texts = ["" if empty and pd.isna(text) else text for text in frame[column]]  # a CSV has no other empty text
    for row, text in enumerate(texts):
        if not isinstance(text, str) or not (empty or text.strip()):
            raise ValueError(f"{source}: expected a text in column {column!r}, got {text!r} in row {row}")
    return texts


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
