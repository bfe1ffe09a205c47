"""The evaluation sets of the MATCHA protocol, read from a data folder: nothing here touches a network.

The folder's layout (parquet): `nli_triplets/{snli_dev,mnli_dev_matched}`, `matcha_eval/{truthfulqa,climate_fever,coco,
newts}`, `stsb/{dev,test}`, `matcha_human/half`. `hub_sets` builds the same from Hub ids. MedNLI needs a licence and
is read from the files of those who have one.

Source: Li et al., Findings of ACL 2026, sections 4.1 and 4.2.4.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.tables import check_columns, column_texts, read_table

TITLES = {  # in the paper's order and spelling
    "snli": "SNLI",
    "multinli": "MultiNLI",
    "truthfulqa": "TruthfulQA",
    "climate_fever": "Climate-Fever",
    "coco": "COCO-Caption",
    "newts": "NEWTS",
    "mednli": "MedNLI",
}
UNSEEN_COCO = "coco_unseen"  # the authors' rows of COCO without the captions of a training source
UNPAIRED = ("climate_fever",)  # its incorrect pairs have references of their own
# rows of the paper's own set; the other sets were sampled, or edited since, so that their rows differ
PAPER_ROWS = {"snli": 2943, "multinli": 2932, "stsb": 1379, "human": 600}
RATED_TITLES = {"stsb": "STS-B test", "human": "human study"}
CALIBRATION = "stsb_dev"  # fits the line from score to rating; neither measured nor trained on
NAMES = (*TITLES, *RATED_TITLES)

FILES = {name: f"matcha_eval/{name}.parquet" for name in ("truthfulqa", "climate_fever", "coco", "newts")}
FILES |= {"snli": "nli_triplets/snli_dev.parquet", "multinli": "nli_triplets/mnli_dev_matched.parquet"}
FILES |= {"stsb": "stsb/test.parquet", CALIBRATION: "stsb/dev.parquet", "human": "matcha_human/half.parquet"}
_COLUMNS = {"premise": "reference", "correct_answer": "correct", "incorrect_answer": "incorrect"}
_NLI_COLUMNS = {"sentence1": "premise", "sentence2": "hypothesis", "gold_label": "label"}  # MedNLI's own names
_HIGHEST_RATING = 5  # in STS-B and in the human study; both are divided by it


@dataclass(frozen=True)
class TripletSet:
    """Correct candidates, which their reference supports, and incorrect ones, which contradict or are unrelated to it.

    `key` is one of TITLES; `references_of_incorrect` are `references` again in a paired set; `paper` says whether the
    rows are the authors' own.
    """

    key: str
    references: list[str]
    correct: list[str]
    references_of_incorrect: list[str]
    incorrect: list[str]
    paper: bool = False

    def __len__(self) -> int:
        return len(self.references)

    @property
    def title(self) -> str:
        """The paper's name of the set."""
        return TITLES.get(self.key, f"{TITLES['coco']}, captions not trained on")

    @property
    def texts(self) -> list[str]:
        """All texts of the set."""
        return [*self.references, *self.correct, *self.references_of_incorrect, *self.incorrect]

    @property
    def paired(self) -> bool:
        """Whether row i of the correct and of the incorrect candidates has the same reference."""
        return self.key not in UNPAIRED

    def curve_rows(self) -> tuple[list[int], int]:
        """The incorrect row beside each correct one in a threshold curve, and how many of them belong together.

        In an unpaired set a supported and a refuted claim with the same evidence are paired, then two rows of the same
        claim, then the rest in the order of the rows.
        """
        if self.paired:
            return list(range(len(self))), len(self)
        rows: dict[int, int] = {}
        for left, right in ((self.references, self.references_of_incorrect), (self.correct, self.incorrect)):
            for i, text in enumerate(left):
                free = (j for j, other in enumerate(right) if other == text and j not in rows.values())
                if i not in rows and (match := next(free, None)) is not None:
                    rows[i] = match
        together, rest = len(rows), iter(sorted(set(range(len(self))) - set(rows.values())))
        return [rows[i] if i in rows else next(rest) for i in range(len(self))], together

    @property
    def paper_rows(self) -> bool:
        """Whether the rows are those of the paper, so that figures can be compared digit by digit."""
        return self.paper or PAPER_ROWS.get(self.key) == len(self)


@dataclass(frozen=True)
class RatedSet:
    """Pairs with human ratings: (n,) on [0, 1], higher is closer; and n names of parts that are also reported alone."""

    key: str
    references: list[str]
    candidates: list[str]
    ratings: np.ndarray
    groups: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.references)

    @property
    def texts(self) -> list[str]:
        """All texts of the set."""
        return [*self.references, *self.candidates]

    @property
    def paper_rows(self) -> bool:
        """Whether the rows are those of the paper."""
        return PAPER_ROWS.get(self.key) == len(self)


EvaluationSet = TripletSet | RatedSet


def load_sets(data: Path, names: tuple[str, ...]) -> dict[str, EvaluationSet]:
    """The sets of a data folder (layout: the module's docstring) whose file exists, by name, but not `mednli`."""
    paths = {name: data / FILES[name] for name in names}
    return {name: read_set(name, path) for name, path in paths.items() if path.is_file()}


def read_set(name: str, path: Path) -> EvaluationSet:
    """One set from a file as in the data folder; `mednli` from labelled pairs; a ValueError names the file."""
    frame = read_table(path)
    if name == "mednli":
        return triplet_set(name, pivot_nli(frame.rename(columns=_NLI_COLUMNS), path), path)
    if name in TITLES:
        return triplet_set(name, frame.rename(columns=_COLUMNS), path)
    if name == "human":
        frame = frame.rename(columns={"sentence": "candidate", "HumanScore": "rating", "dataset": "group"})
    else:
        frame = frame.rename(columns={"sentence1": "reference", "sentence2": "candidate", "score": "rating"})
    return rated_set(name, frame, path)


def triplet_set(name: str, frame: pd.DataFrame, source: object, paper: bool = False) -> TripletSet:
    """Columns reference, correct, incorrect[, reference_of_incorrect] -> the set; a ValueError names the source."""
    if name not in UNPAIRED:
        frame = frame.assign(reference_of_incorrect=frame.get("reference"))
    columns = ("reference", "correct", "reference_of_incorrect", "incorrect")
    return TripletSet(name, *(_texts(frame, column, source) for column in columns), paper=paper)


def rated_set(name: str, frame: pd.DataFrame, source: object, highest: float = _HIGHEST_RATING) -> RatedSet:
    """Columns reference, candidate, rating[, group] -> the set, its ratings divided by the highest possible one.

    Raises ValueError: a column or a text is missing, there are no rows, or a rating is not in [0, highest].
    """
    references, candidates = _texts(frame, "reference", source), _texts(frame, "candidate", source)
    if "rating" not in frame:
        raise ValueError(f"{source}: expected a column of ratings, got {sorted(frame.columns)}")
    ratings = frame["rating"].to_numpy(dtype=np.float64)
    if not bool(((ratings >= 0) & (ratings <= highest)).all()):
        raise ValueError(f"{source}: expected ratings in [0, {highest}], got {ratings.min()} to {ratings.max()}")
    groups = list(frame["group"]) if "group" in frame else []
    return RatedSet(name, references, candidates, ratings / highest, groups)


def pivot_nli(frame: pd.DataFrame, source: object) -> pd.DataFrame:
    """Labelled pairs -> one row per premise that has both: its first entailed and its first contradicting hypothesis.

    Takes columns premise, hypothesis and label (`entailment`, `contradiction`; others are left out), or raises a
    ValueError; returns columns reference, correct, incorrect, in the order in which the premises first occur.
    """
    check_columns(frame, ("premise", "hypothesis", "label"), source)
    roles = {"entailment": "correct", "contradiction": "incorrect"}
    kept = frame.assign(role=frame["label"].map(roles)).dropna(subset=["role"])
    first = kept.drop_duplicates(["premise", "role"]).pivot(index="premise", columns="role", values="hypothesis")
    both = first.reindex(columns=list(roles.values())).dropna()
    order = frame["premise"].drop_duplicates()
    both = both.reindex(order[order.isin(both.index)])
    return both.rename_axis("reference").reset_index().rename_axis(columns=None)


def _texts(frame: pd.DataFrame, column: str, source: object) -> list[str]:
    check_columns(frame, (column,), source)
    if frame.empty:
        raise ValueError(f"{source}: expected rows, got none")
    return column_texts(frame, column, source)
