"""The evaluation rows of the MATCHA paper's authors with their own score of every pair, and how ours compare with it.

FOLDER is a checkout of their repository (Siran-Li/MATCHA, branch lm-embedding), whose
`lm-embedding/precomputed/matcha/SET_matcha_scores.csv` have the columns premise, correct, incorrect, pos_sim and
neg_sim; or it holds parquet files with reference, correct, [reference_of_incorrect,] incorrect, matcha_correct and
matcha_incorrect. The scores are cosines. `precomputed/snpmi/SET_snpmi_scores.csv` have those of SNPMI, row by row. No
licence is stated: for measuring only.
"""

import ast
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.baselines import Metric
from benchmarks.common.encoders import NotMeasured
from benchmarks.common.options import Bootstrap, Cell
from benchmarks.common.tables import check_columns, read_table
from benchmarks.papers.matcha.agreement import SCALINGS, Scaler, scaled_scores
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.matcha.separation import measure_sides
from benchmarks.papers.matcha.sets import RATED_TITLES, TITLES, UNPAIRED, UNSEEN_COCO, RatedSet, TripletSet, triplet_set
from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.bootstrap import Figures
from semantic_metrics.stats.separation import COSINE, separation

ROW, SNPMI_ROW = "MATCHA (authors, pair by pair)", "SNPMI (authors, pair by pair)"
OWN_GROUPS = ("matcha", "own")  # groups of this package's metrics
FIGURES = ("n_delta", "macro_f1", "auc")
CAPTIONS = "coco_val2017/captions.parquet"  # in the data folder; trains the shipped MATCHA table
_FOLDERS = (Path("lm-embedding/precomputed"), Path("precomputed"))
_FILES = {"snli": "snli_dev", "multinli": "mnli_dev_matched"}  # parquet files that are not called like their set
_THEIRS = {"multinli": "multi_nli", "coco": "coco-caption"}  # the authors' names of sets
_DIFFERENCES = ["set", "metric", "figure", "value", "low", "high", "verdict"]
_COLUMNS = {"premise": "reference", "pos_sim": "matcha_correct", "neg_sim": "matcha_incorrect"}


class Authors:
    """The rows and scores of a folder (see the module), a ValueError if it holds none or an invalid one.

    Attributes:
        sets: their rows, by key of the set; UNSEEN_COCO is COCO without the captions of a training source, if `data`
            holds these.
        scores: their cosines by row of a table and (candidate, reference).
    """

    def __init__(self, folder: Path, data: Path | None = None) -> None:
        self.sets: dict[str, TripletSet] = {}
        self.scores: dict[str, dict[tuple[str, str], float]] = {ROW: {}, SNPMI_ROW: {}}
        for key in TITLES:
            theirs = _THEIRS.get(key, key)
            if (frame := _read(folder, key, _FILES.get(key, key), theirs)) is None:
                continue
            one = triplet_set(key, frame, f"{folder}, {key}", paper=True)
            self.sets[key] = one
            self._keep(ROW, one, frame["matcha_correct"], frame["matcha_incorrect"])
            if (path := _found(folder, f"snpmi/{theirs}_snpmi_scores.csv")) is not None:
                rows = read_table(path)
                self._keep(SNPMI_ROW, one, rows["pos_sim"].dropna(), rows["neg_sim"].dropna())
            if key == "coco" and data is not None and (data / CAPTIONS).is_file():
                seen = set(read_table(data / CAPTIONS)["caption"].str.strip())
                rest = frame[~frame["correct"].str.strip().isin(seen)]
                self.sets[UNSEEN_COCO] = triplet_set(UNSEEN_COCO, rest, f"{folder}, {key}")
        if not self.sets:
            raise ValueError(f"--authors: expected files (benchmarks/papers/matcha/authors.py), got {folder}")

    def _keep(self, row: str, one: TripletSet, *scores: pd.Series) -> None:
        sides = (one.correct, one.references), (one.incorrect, one.references_of_incorrect)
        for (texts, references), values in zip(sides, scores, strict=True):
            if len(values) != len(one):
                raise ValueError(f"--authors: expected {len(one)} scores of {row} on {one.title}, got {len(values)}")
            self.scores[row].update(zip(zip(texts, references, strict=True), values.astype(float), strict=True))

    def metrics(self) -> list[Metric]:
        """The rows of their scores; other pairs than theirs are not measured."""

        def score(row: str, candidates: list[str], references: list[str]) -> np.ndarray:
            found = [self.scores[row].get(pair) for pair in zip(candidates, references, strict=True)]
            if None in found:
                raise NotMeasured(f"the authors published no score of {found.count(None)} of {len(found)} pairs")
            return np.array(found)

        rows = [Metric(ROW, lambda: partial(score, ROW), group="matcha", published="MATCHA")]
        if self.scores[SNPMI_ROW]:
            rows.append(Metric(SNPMI_ROW, lambda: partial(score, SNPMI_ROW), group="encoder"))
        return rows


def _found(folder: Path, *names: str) -> Path | None:
    paths = [folder / name for name in names] + [folder / one / names[-1] for one in _FOLDERS]
    return next((path for path in paths if path.is_file()), None)


def _read(folder: Path, key: str, parquet: str, name: str) -> pd.DataFrame | None:
    """The rows of a set; a row of an unpaired set whose one side is empty is that of the other side."""
    if (path := _found(folder, f"{parquet}.parquet", f"matcha/{name}_matcha_scores.csv")) is None:
        return None
    frame = read_table(path).rename(columns=_COLUMNS)
    check_columns(frame, ("reference", "correct", "incorrect", "matcha_correct", "matcha_incorrect"), path)
    for column in ("reference", "correct", "incorrect"):
        frame[column] = frame[column].map(_text)
    if key not in UNPAIRED or "reference_of_incorrect" in frame:
        return frame
    correct, incorrect = (frame[frame[side] != ""].reset_index(drop=True) for side in ("correct", "incorrect"))
    texts = {"reference": correct["reference"], "correct": correct["correct"]}
    texts |= {"reference_of_incorrect": incorrect["reference"], "incorrect": incorrect["incorrect"]}
    scores = {"matcha_correct": correct["matcha_correct"], "matcha_incorrect": incorrect["matcha_incorrect"]}
    return pd.DataFrame(texts | scores)


def _text(value: object) -> str:
    """A text, or the first of a list that is written as text; empty for what is missing."""
    if not isinstance(value, str):
        return ""
    try:
        listed = ast.literal_eval(value) if value.startswith("[") and value.endswith("]") else [value]
    except (SyntaxError, ValueError):
        return value
    return str(listed[0]) if listed else ""


def difference_table(
    metrics: list[Metric], sets: list[TripletSet], scores: Scores, bootstrap: Bootstrap
) -> pd.DataFrame:
    """Each of our metrics against the authors' scores on the same pairs.

    Columns set, metric, figure (FIGURES), value (ours minus theirs, times 100), low, high (paired bootstrap: both on
    the same draws) and verdict: above, level or below.
    """
    rows = []
    for one in (one for one in sets if (ROW, one.key) in scores.triplets):
        for metric in _ours(metrics):
            if (metric.name, one.key) not in scores.triplets:
                continue
            sides = zip(scores.sides(metric.name, one.key), scores.sides(ROW, one.key), strict=True)
            correct, incorrect = (np.stack(side, axis=-1) for side in sides)  # (n, 2)

            def gap(
                correct: np.ndarray, incorrect: np.ndarray, bounds: tuple = metric.bounds, paired: bool = one.paired
            ) -> Figures:
                ours = separation(correct[..., 0], incorrect[..., 0], bounds, paired)
                theirs = separation(correct[..., 1], incorrect[..., 1], COSINE, paired)
                return {name: ours[name] - theirs[name] for name in FIGURES}

            for figure, cell in measure_sides(gap, correct, incorrect, one.paired, bootstrap).items():
                rows.append(_row(one.title, metric, figure, cell))
    return pd.DataFrame(rows, columns=_DIFFERENCES)


def rating_difference_table(
    metrics: list[Metric], dataset: RatedSet, scores: Scores, scaler: Scaler, bootstrap: Bootstrap
) -> pd.DataFrame:
    """The same for the concordance with ratings: figure `ccc, SCALING` where the authors' scores have it."""
    rows = []
    for scaling in SCALINGS:
        scaled = scaled_scores(metrics, dataset, scores, scaler, scaling)
        for metric in _ours(metrics) if ROW in scaled else ():
            if metric.name not in scaled:
                continue
            sides = np.stack([scaled[metric.name], scaled[ROW]])

            def gap(rows: np.ndarray, sides: np.ndarray = sides) -> Figures:
                ours, theirs = (concordance(side[rows], dataset.ratings[rows]) for side in sides)
                return {"ccc": 100 * (ours - theirs)}

            cell = bootstrap.measure(gap, (len(dataset),))["ccc"]
            rows.append(_row(RATED_TITLES[dataset.key], metric, f"ccc, {scaling}", cell))
    return pd.DataFrame(rows, columns=_DIFFERENCES)


def _ours(metrics: list[Metric]) -> list[Metric]:
    return [metric for metric in metrics if metric.group in OWN_GROUPS and metric.name != ROW]


def _row(title: str, metric: Metric, figure: str, cell: Cell) -> dict[str, object]:
    value, low, high = cell
    verdict = "above" if low > 0 else "below" if high < 0 else "level"
    return dict(zip(_DIFFERENCES, (title, metric.name, figure, value, low, high, verdict), strict=True))
