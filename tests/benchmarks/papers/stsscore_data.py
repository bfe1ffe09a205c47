"""STSScore's data folder, small: made on the spot."""

from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.papers.matcha_data import ACTIONS, SUBJECTS

ROWS = 24
_SEEDS = {"stsb": 0, "train": 1, "dev": 2, "mrpc": 3, "wmt22": 4}


def texts(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{rng.choice(SUBJECTS)} {rng.choice(ACTIONS)} {'again ' * rng.integers(4)}{seed} {i}" for i in range(ROWS)]


def pairs(name: str) -> pd.DataFrame:
    """A set (`stsb`, `mrpc`, `wmt22`) or one of STS-B's other splits, with the columns of its file.

    Row 0 of MRPC is row 1 of STS-B train with other signs, row 2 is row 3 of STS-B test turned round.
    """
    rng, seed = np.random.default_rng(_SEEDS[name]), 10 * _SEEDS[name]
    first, second = texts(seed), texts(seed + 1)
    if name == "mrpc":
        train, test = pairs("train"), pairs("stsb")
        first[0], second[0] = f"{train['sentence1'][1].upper()}!", train["sentence2"][1]
        first[2], second[2] = test["sentence2"][3], test["sentence1"][3]
        return pd.DataFrame({"sentence1": first, "sentence2": second, "label": [i % 2 for i in range(ROWS)]})
    if name == "wmt22":
        systems = ["refA" if i % 4 == 0 else "Online-A" for i in range(ROWS)]
        second = [a if system == "refA" else b for a, b, system in zip(first, second, systems, strict=True)]
        columns = {"system": systems, "reference": first, "translation": second}
        return pd.DataFrame(columns | {"label": -rng.integers(0, 26, ROWS).astype(float)} | _authors(rng))
    return pd.DataFrame({"sentence1": first, "sentence2": second, "score": rng.integers(0, 26, ROWS) / 5})


def _authors(rng: np.random.Generator) -> dict[str, np.ndarray]:
    columns = ("bertscore_f1", "bleu", "sts_score", "sbertcosine")
    return {column: rng.uniform(0, 1, ROWS) for column in columns}


def qqp() -> pd.DataFrame:
    columns = {"id": range(ROWS), "qid1": range(ROWS), "qid2": range(ROWS), "question1": texts(70)}
    return pd.DataFrame(columns | {"question2": texts(71), "is_duplicate": [i % 2 for i in range(ROWS)]})


def write_data(folder: Path) -> Path:
    """A data folder with ROWS rows in every file that the benchmark reads, but QQP."""
    golden = pairs("stsb").rename(columns={"score": "label"}).assign(**_authors(np.random.default_rng(9)))
    frames = {
        "stsb/train": pairs("train"),
        "stsb/dev": pairs("dev"),
        "stsb/test": pairs("stsb"),
        "mrpc/test": pairs("mrpc"),
        "stsscore_golden/stsb_test": golden,
        "stsscore_golden/wmt22_zh_en_mqm_half": pairs("wmt22"),
    }
    for name, frame in frames.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(path)
    return folder
