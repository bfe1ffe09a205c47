"""Scores of every metric on every set, kept in a file: a second run scores only what it has not seen."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.encoders import NotMeasured
from benchmarks.suite.columns import Column
from benchmarks.suite.texts import TextSet

FILE = "scores.parquet"
_COLUMNS = ["metric", "set", "ran_with", "texts", "score", "seconds"]
Place = tuple[str, str]  # name of a metric, title of a set


@dataclass
class Scores:
    """By metric and set: (n,) scores on the native range, the time that scoring took, or why there are none."""

    native: dict[Place, np.ndarray] = field(default_factory=dict)
    seconds: dict[Place, float] = field(default_factory=dict)
    reasons: dict[Place, str] = field(default_factory=dict)


class ScoreFile:
    """The scores of earlier runs in a parquet file, made where there is none; None keeps nothing."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        known = path is not None and path.is_file()
        self._rows = pd.read_parquet(path) if known else pd.DataFrame(columns=_COLUMNS)

    def known(self, place: Place, ran_with: str) -> dict[str, tuple[float, float]]:
        """Score and seconds by the hash of the texts, of a metric that ran with the same on a set."""
        rows = self._rows
        rows = rows[(rows["metric"] == place[0]) & (rows["set"] == place[1]) & (rows["ran_with"] == ran_with)]
        return dict(zip(rows["texts"], zip(rows["score"], rows["seconds"], strict=True), strict=True))

    def keep(self, place: Place, ran_with: str, known: dict[str, tuple[float, float]]) -> None:
        """Replace what is kept of a metric on a set, and write the file."""
        if self._path is None:
            return
        rows = [(*place, ran_with, texts, *both) for texts, both in known.items()]
        others = self._rows[(self._rows["metric"] != place[0]) | (self._rows["set"] != place[1])]
        added = pd.DataFrame(rows, columns=_COLUMNS)
        self._rows = added if others.empty else pd.concat([others, added], ignore_index=True)
        self._rows.to_parquet(self._path)


def score_all(columns: list[Column], sets: list[TextSet], file: ScoreFile, report: Callable[[str], None]) -> Scores:
    """Score every set with every metric, one metric after the other, so that one model at a time is in memory.

    `file` has scores of earlier runs, and gets the new ones; `report` is called with each line of progress.
    """
    scores = Scores()
    for column in columns:
        try:
            loaded = column.load()
        except NotMeasured as reason:
            scores.reasons |= {(column.name, texts.title): str(reason) for texts in sets}
            continue
        for texts in sets:
            place = (column.name, texts.title)
            known, keys = file.known(place, loaded.ran_with), _keys(texts)
            if missing := [row for row, key in enumerate(keys) if key not in known]:
                report(f"{place[0]}: {place[1]}, {len(missing)} texts")
                begin = time.perf_counter()
                try:
                    new = loaded.ask(texts.take(missing))
                except NotMeasured as reason:
                    scores.reasons[place] = str(reason)
                    continue
                each = (time.perf_counter() - begin) / len(missing)
                known |= {keys[row]: (float(score), each) for row, score in zip(missing, new, strict=True)}
                file.keep(place, loaded.ran_with, known)
            both = np.array([known[key] for key in keys])
            scores.native[place], scores.seconds[place] = both[:, 0], float(both[:, 1].sum())
    return scores


def _keys(texts: TextSet) -> list[str]:
    """A hash of each text with all that it is compared with."""
    questions = texts.questions or [None] * len(texts)
    rows = zip(questions, texts.candidates, texts.references, strict=True)
    return [hashlib.sha256(json.dumps(row).encode()).hexdigest()[:16] for row in rows]
