"""Sets and scores made on the spot, for tests of what is computed from them."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.papers.matcha.sets import CALIBRATION, TITLES, RatedSet, TripletSet

ROWS = 12
SUBJECTS = ("the dog", "a cat", "the man", "a dog", "the cat", "a man")
ACTIONS = ("sleeps", "bites a man", "runs", "is awake", "barks", "keeps a cat")


def sentences(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{rng.choice(SUBJECTS)} {rng.choice(ACTIONS)} {i}" for i in range(ROWS)]


def triplets(key: str = "snli") -> TripletSet:
    references, negations = sentences(0), [f"no {text}" for text in sentences(2)]
    others = references if key != "climate_fever" else sentences(3)
    return TripletSet(key, references, sentences(1), others, negations)


def ratings(key: str = "human") -> RatedSet:
    """A small rated set; the human study has its three groups."""
    groups = [("SNLI", "MultiNLI", "TruthfulQA")[i % 3] for i in range(ROWS)] if key == "human" else []
    values = np.random.default_rng(4).integers(0, 6, ROWS) / 5
    return RatedSet(key, sentences(0), sentences(1), values, groups)


def write_data(folder: Path) -> Path:
    """A data folder with ROWS rows in every file that the benchmark reads."""
    for key in TITLES:
        dataset = triplets(key)
        columns = {"reference": dataset.references, "correct": dataset.correct, "incorrect": dataset.incorrect}
        columns["reference_of_incorrect"] = dataset.references_of_incorrect
        path = {"snli": "nli_triplets/snli_dev", "multinli": "nli_triplets/mnli_dev_matched"}.get(
            key, f"matcha_eval/{key}"
        )
        if key != "mednli":
            _write(folder / f"{path}.parquet", columns, nli=path.startswith("nli"))
    for key, path in (("stsb", "stsb/test"), (CALIBRATION, "stsb/dev"), ("human", "matcha_human/half")):
        dataset = ratings(key)
        if key == "human":
            columns = {"dataset": dataset.groups, "reference": dataset.references, "sentence": dataset.candidates}
            columns["HumanScore"] = (dataset.ratings * 5).round().astype(int)
        else:
            columns = {"sentence1": dataset.references, "sentence2": dataset.candidates, "score": dataset.ratings * 5}
        _write(folder / f"{path}.parquet", columns)
    return folder


def _write(path: Path, columns: dict[str, object], nli: bool = False) -> None:
    names = {"reference": "premise", "correct": "correct_answer", "incorrect": "incorrect_answer"} if nli else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(columns).rename(columns=names).to_parquet(path)
