"""Judged answers, and a tiny NLI model that all tests of fitting share."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import nli_model as nli_model  # a fixture here too

ROWS = 40
NLI_LEX = ("--metric", "nli_lex")  # options of a fit of its weights


def judged_frame(seed: int = 0) -> pd.DataFrame:
    """Two answers to each question; most that contain the reference are labelled correct."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(ROWS):
        right = bool(rng.random() < 0.5)
        answer = f"it is the dog {i % 7}" if right else f"a man sleeps {i % 5}"
        label = int(right if rng.random() < 0.85 else not right)
        rows.append((f"who is it {seed} {i // 2}?", answer, "the dog", label))
    return pd.DataFrame(rows, columns=["question", "answer", "reference", "label"])


@pytest.fixture(scope="session")
def model(nli_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fit") / "model"
    return shutil.copytree(nli_model, folder, ignore=shutil.ignore_patterns("nli_lex.json"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    judged_frame().to_csv(tmp_path / "judged.csv", index=False)
    return tmp_path / "judged.csv"
