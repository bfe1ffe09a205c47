"""Texts of three sentences, of which one may contradict the reference: three pairs of NLI joined."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.tables import read_table
from benchmarks.suite.texts import TextSet, triplets

TITLE = "one sentence of three"
FILES = ("nli_triplets/mnli_dev_mismatched.parquet", "nli_triplets/lingnli_val.parquet")  # both for development
COLUMNS = ("premise", "correct_answer", "incorrect_answer")
SENTENCES, ITEMS = 3, 200  # of a text, of a file
LENGTHS = (30, 160)  # characters of a premise


def joined_texts(data: Path) -> list[TextSet]:
    """Of each item a text of three premises, one of three sentences that they entail, and that with one contradicted.

    Args:
        data: the folder that the files are below; without them there is no set.

    Raises:
        ValueError: a file is invalid; names it.
    """
    rows = [row for name in FILES if (data / name).is_file() for row in _items(read_table(data / name, *COLUMNS))]
    if not rows:
        return []
    reference, correct, incorrect = map(list, zip(*rows, strict=True))
    return [triplets(TITLE, [reference, reference], [correct, incorrect])]


def _items(frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    premises = frame["premise"].str.strip()
    frame = frame[premises.str.len().between(*LENGTHS) & premises.str.endswith(".")]
    frame = frame.sample(min(SENTENCES * ITEMS, len(frame) // SENTENCES * SENTENCES), random_state=0)
    changed = np.random.default_rng(0)
    items = []
    for begin in range(0, len(frame), SENTENCES):
        reference, correct, incorrect = (list(map(_ended, frame[name][begin : begin + SENTENCES])) for name in COLUMNS)
        place = int(changed.integers(SENTENCES))
        wrong = [*correct[:place], incorrect[place], *correct[place + 1 :]]
        items.append((" ".join(reference), " ".join(correct), " ".join(wrong)))
    return items


def _ended(sentence: str) -> str:
    """A sentence with a stop at its end."""
    sentence = sentence.strip()
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
