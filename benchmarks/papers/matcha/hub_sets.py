"""The evaluation sets built from their public sources by the protocol's rules, for a machine with a network.

SNLI, MultiNLI and STS-B come out row by row as in the paper. TruthfulQA has been edited since; Climate-FEVER is drawn
as the authors draw it, COCO and NEWTS with a generator of this module's own, so their figures agree with published
ones within sampling error only. NEWTS and the human study are not on the Hub: their files are given by path.

Source of the rules: Li et al., Findings of ACL 2026, section 4.1, and the authors' published preparation code.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from datasets import load_dataset

from benchmarks.common.tables import read_table
from benchmarks.papers.matcha import sets
from benchmarks.papers.matcha.sets import CALIBRATION, EvaluationSet, TripletSet

SEED = 42  # the authors'
CLIMATE_PAIRS = 150  # for each label
CLIMATE_ID = "Jasontth/climate_fever_plus"  # pairs of claims and evidence, the authors' source
COCO_IMAGES = 1000
SHORT_CHARACTERS = 3  # longest text of NEWTS that is left out
_MIN_ANSWER_CHARACTERS = 3  # TruthfulQA answers of length > 2
_NO_ANSWER = "I have no comment"  # later editions append it to many lists of correct answers
_NLI_LABELS = {0: "entailment", 1: "neutral", 2: "contradiction"}  # in SNLI and MultiNLI; -1: not labelled


def truthfulqa_rows(rows: Iterable[dict]) -> pd.DataFrame:
    """TruthfulQA's questions -> reference (last correct answer), correct (first), incorrect (first incorrect).

    Answers of two characters or less and "I have no comment" are left out, then questions that keep fewer than two
    correct or two incorrect answers.
    """
    kept = []
    for row in rows:
        correct, incorrect = (
            [answer for answer in row[column] if len(answer) >= _MIN_ANSWER_CHARACTERS and answer != _NO_ANSWER]
            for column in ("correct_answers", "incorrect_answers")
        )
        if len(correct) > 1 and len(incorrect) > 1:
            kept.append((correct[-1], correct[0], incorrect[0]))
    return pd.DataFrame(kept, columns=["reference", "correct", "incorrect"])


def climate_fever_rows(pairs: pd.DataFrame, size: int = CLIMATE_PAIRS, seed: int = SEED) -> pd.DataFrame:
    """Pairs (evidence, claim, evidence_label) -> `size` supported and as many refuted claims with their evidence.

    Unpaired, and drawn by pandas as the authors do; a ValueError if a label has fewer pairs than `size`.
    """
    parts = []
    for label in ("SUPPORTS", "REFUTES"):
        labelled = pairs[pairs["evidence_label"] == label]
        if len(labelled) < size:
            raise ValueError(f"Climate-FEVER: expected at least {size} pairs {label}, got {len(labelled)}")
        parts.append(labelled.sample(size, random_state=seed).reset_index(drop=True))
    supported, refuted = parts
    texts = {"reference": supported["evidence"], "correct": supported["claim"]}
    return pd.DataFrame(texts | {"reference_of_incorrect": refuted["evidence"], "incorrect": refuted["claim"]})


def coco_rows(captions: list[list[str]], size: int = COCO_IMAGES, seed: int = SEED) -> pd.DataFrame:
    """Captions of each image -> all but the last joined (reference), the last (correct), another image's last."""
    rng = np.random.default_rng(seed)
    several = [group for group in captions if len(group) > 1]
    drawn = [several[i] for i in rng.choice(len(several), min(size, len(several)), replace=False)]
    last = [group[-1] for group in drawn]
    references = [" ".join(group[:-1]) for group in drawn]
    return pd.DataFrame({"reference": references, "correct": last, "incorrect": _others(last, rng)})


def newts_rows(articles: pd.DataFrame, seed: int = SEED) -> pd.DataFrame:
    """Articles with two summaries each -> summary (reference), its topic's sentences, another summary's first one.

    A first sentence ends at the first full stop, so that a few are "Mr"; as the authors do, rows with a text of three
    characters or less are left out.
    """
    summaries = [*articles["summary1"], *articles["summary2"]]
    incorrect = _others([text.split(".")[0] for text in summaries], np.random.default_rng(seed))
    texts = {"reference": summaries, "correct": [*articles["sentences1"], *articles["sentences2"]]}
    rows = pd.DataFrame(texts | {"incorrect": incorrect})
    return rows[(rows.map(len) > SHORT_CHARACTERS).all(axis=1)].reset_index(drop=True)


def _others(items: list[str], rng: np.random.Generator) -> list[str]:
    """For each item another one, drawn from all places but its own."""
    steps = rng.integers(1, len(items), size=len(items))
    return [items[(i + step) % len(items)] for i, step in enumerate(steps)]


def _nli(repository: str, split: str) -> pd.DataFrame:
    frame = load_dataset(repository, split=split).to_pandas()
    return sets.pivot_nli(frame.assign(label=frame["label"].map(_NLI_LABELS)), repository)


def _climate_fever() -> pd.DataFrame:
    parts = [load_dataset(CLIMATE_ID, split=split).to_pandas() for split in ("valid", "test")]
    return climate_fever_rows(pd.concat(parts, ignore_index=True))


def _coco() -> pd.DataFrame:
    # streamed, and this column alone: the rest are images
    rows = load_dataset("lmms-lab/COCO-Caption", split="val", streaming=True, columns=["answer"])
    return coco_rows([row["answer"] for row in rows])


def _stsb(split: str) -> pd.DataFrame:
    columns = {"sentence1": "reference", "sentence2": "candidate", "score": "rating"}
    return load_dataset("sentence-transformers/stsb", split=split).to_pandas().rename(columns=columns)


_ROWS: dict[str, Callable[[], pd.DataFrame]] = {
    "snli": lambda: _nli("stanfordnlp/snli", "validation"),
    "multinli": lambda: _nli("nyu-mll/multi_nli", "validation_matched"),
    "truthfulqa": lambda: truthfulqa_rows(load_dataset("truthfulqa/truthful_qa", "generation", split="validation")),
    "climate_fever": _climate_fever,
    "coco": _coco,
    "stsb": lambda: _stsb("test"),
    CALIBRATION: lambda: _stsb("validation"),
}


def _build(name: str) -> EvaluationSet:
    if name in sets.TITLES:
        return sets.triplet_set(name, _ROWS[name](), f"{name} of the Hub")
    return sets.rated_set(name, _ROWS[name](), f"{name} of the Hub", highest=1)  # its scores are divided by 5 already


BUILDERS: dict[str, Callable[[], EvaluationSet]] = {name: partial(_build, name) for name in _ROWS}


def newts_set(path: Path) -> TripletSet:
    """NEWTS from the file of its test split as published (columns summary1, summary2, sentences1, sentences2)."""
    return sets.triplet_set("newts", newts_rows(read_table(path)), path)
