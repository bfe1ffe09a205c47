"""The sets of the STSScore protocol: labelled pairs, and parts of them that are also reported alone.

Read from a data folder (parquet): `stsb/{train,dev,test}`, `mrpc/test`, `stsscore_golden/wmt22_zh_en_mqm_half`, the
last with columns reference, translation, system and label; QQP from a file that the user has, or from the Hub.

Source: Herbold, TMLR ("Semantic similarity prediction is better than other semantic similarity measures"), sections
2.3 to 2.5 and A.3.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from datasets import load_dataset

from benchmarks.common.tables import check_columns, read_table
from benchmarks.papers.matcha.sets import RatedSet, rated_set

TITLES = {"stsb": "STS-B test", "mrpc": "MRPC test", "qqp": "QQP train", "wmt22": "WMT22 zh-en"}
CLASSES = ("mrpc", "qqp")  # label 1: the same meaning; the others are rated
ALL, UNSEEN, SHORTER, LONGER, SYSTEMS = "all", "unseen", "shorter", "longer", "systems"
HALVES = (SHORTER, LONGER)

FILES = {"stsb": "stsb/test.parquet", "mrpc": "mrpc/test.parquet"}
FILES["wmt22"] = "stsscore_golden/wmt22_zh_en_mqm_half.parquet"
_SPLITS = ("train", "dev", "test")  # STS-B's
_SCALES = {"stsb": (0.0, 5.0), "mrpc": (0.0, 1.0), "qqp": (0.0, 1.0)}
_COLUMNS = {"question1": "sentence1", "question2": "sentence2", "is_duplicate": "label", "score": "label"}
_COLUMNS |= {"reference": "sentence1", "translation": "sentence2"}
_HUMAN_PREFIX = "ref"  # of WMT's "systems" that are reference translations
HUB, HUB_ID = "hub", "nyu-mll/glue"  # the paper's QQP are its 363,846 pairs, not Quora's 404,290

Pair = frozenset[str]


@dataclass(frozen=True)
class PairSet(RatedSet):
    """Pairs with labels: `references` is sentence1, `candidates` sentence2 (WMT22: reference A and the translation).

    Attributes:
        ratings: (n,) labels on [0, 1], higher is closer; 0 or 1 in a set of CLASSES.
        scale: labels that became 0 and 1.
        parts: (n,) rows of each part: ALL; SHORTER and LONGER, the halves by the length of sentence1; UNSEEN, the rows
            whose pair is in no known training data, unless that is all; SYSTEMS, those of WMT22 that are no references.
        lines: (n,) numbers of its rows among the lines of the authors' file of scores; None where it has all of them.
        median: length of sentence1 in characters that separates the halves.
        source: file in the data folder, or Hub id.
    """

    scale: tuple[float, float] = (0.0, 1.0)
    parts: dict[str, np.ndarray] = field(default_factory=dict)
    median: float = 0.0
    source: str = ""
    lines: np.ndarray | None = None

    @property
    def title(self) -> str:
        """Name of the set."""
        return TITLES[self.key]


def normalised(first: str, second: str) -> Pair:
    """A pair without its order, case, spaces and signs, to detect leaks from training data."""
    return frozenset(re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold() for text in (first, second))


def normalised_pairs(frames: Iterable[pd.DataFrame]) -> set[Pair]:
    """The pairs of tables with columns sentence1 and sentence2."""
    return {normalised(*row) for frame in frames for row in zip(frame["sentence1"], frame["sentence2"], strict=True)}


def pair_set(key: str, frame: pd.DataFrame, source: str, seen: set[Pair]) -> PairSet:
    """Columns sentence1, sentence2, label[, system, row], or the names of QQP, STS-B and WMT22 -> the set, its parts.

    `row` is the number of a row in the authors' file of scores, `source` is named in errors, `seen` are pairs of
    training data.

    Raises ValueError: a column or a text is missing, there are no rows, a label is not on the scale of the set, or all
    labels are equal.
    """
    frame = frame.rename(columns=_COLUMNS)
    check_columns(frame, ("sentence1", "sentence2", "label"), source)
    labels = pd.to_numeric(frame["label"], errors="coerce")
    if labels.nunique() == 1:
        raise ValueError(f"{source}: expected labels that differ, got {labels.iloc[0]} only")
    low, high = _SCALES.get(key, (float(labels.min()), 0.0))  # MQM counts errors: 0 is the best
    named = {"reference": frame["sentence1"], "candidate": frame["sentence2"], "rating": labels - low}
    rated = rated_set(key, pd.DataFrame(named), source, highest=high - low)
    if key in CLASSES and not set(rated.ratings) <= {0.0, 1.0}:
        raise ValueError(f"{source}: expected labels 0 and 1, got {sorted(set(labels))[:5]}")
    lengths = np.array([len(text) for text in rated.references])
    median = float(np.median(lengths))
    parts = {ALL: np.ones(len(rated), dtype=bool), SHORTER: lengths < median, LONGER: lengths >= median}
    pairs = zip(rated.references, rated.candidates, strict=True)
    unseen = np.array([normalised(*pair) not in seen for pair in pairs])
    if not unseen.all():
        parts[UNSEEN] = unseen
    if "system" in frame and (human := frame["system"].str.startswith(_HUMAN_PREFIX).to_numpy(dtype=bool)).any():
        parts[SYSTEMS] = ~human
    texts, lines = (rated.references, rated.candidates), frame["row"].to_numpy() if "row" in frame else None
    return PairSet(key, *texts, rated.ratings, [], (low, high), parts, median, source, lines)


class Seen:
    """Pairs that a scorer has seen in training on STS-B (its splits by name) and files of further pairs."""

    def __init__(self, stsb: dict[str, pd.DataFrame], trained_on: Iterable[Path] = ()) -> None:
        frames = [read_table(path, "sentence1", "sentence2") for path in trained_on]
        rest = [frame for split, frame in stsb.items() if split != "test"]
        self._training = normalised_pairs([*frames, *rest])
        self._all = self._training | normalised_pairs(stsb.values())

    def by(self, key: str) -> set[Pair]:
        """The pairs that count as seen in a set: STS-B's own test pairs are not seen in STS-B test."""
        return self._training if key == "stsb" else self._all


def load_pairs(data: Path, keys: Iterable[str], seen: Seen) -> dict[str, PairSet]:
    """The sets whose file exists in a data folder, by key; a ValueError names one that is invalid."""
    present = [key for key in keys if key in FILES and (data / FILES[key]).is_file()]
    return {key: pair_set(key, read_table(data / FILES[key]), FILES[key], seen.by(key)) for key in present}


def stsb_splits(data: Path) -> dict[str, pd.DataFrame]:
    """STS-B's splits in a data folder by name, those that exist."""
    paths = {split: data / "stsb" / f"{split}.parquet" for split in _SPLITS}
    return {split: read_table(path) for split, path in paths.items() if path.is_file()}


def read_qqp(source: str, seen: Seen) -> PairSet:
    """QQP from HUB, GLUE's training split as the authors take it, or from a file: .tsv, .parquet, .csv or .jsonl.

    A file, such as Quora's, which has more pairs, has the columns sentence1, sentence2, label, or Quora's names of
    them; an empty question stays an empty text. A ValueError says why it cannot be read.
    """
    if source != HUB:
        if not Path(source).is_file():
            raise ValueError(f"--qqp: expected a file or `{HUB}`, got {source!r}")
        return pair_set("qqp", read_table(Path(source)), Path(source).name, seen.by("qqp"))
    try:
        frame = load_dataset(HUB_ID, "qqp", split="train").to_pandas()
    except (OSError, RuntimeError, ValueError) as error:  # what datasets and the Hub raise
        raise ValueError(f"qqp: the Hub did not give it ({error})") from error
    return pair_set("qqp", frame, HUB_ID, seen.by("qqp"))
