"""The benchmark of set criteria: its intervals, and the command from end to end."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common.options import Bootstrap
from benchmarks.common.plot_style import FORMATS
from benchmarks.papers.set_criteria.command import main
from benchmarks.papers.set_criteria.encoders import FLOOR, RandomBag, RandomVectors, WordVectors
from benchmarks.papers.set_criteria.means import ClusterBootstrap
from semantic_metrics import load
from semantic_metrics.set_criteria.encoders import Encoder, load_encoder
from tests.cli.conftest import run_benchmark
from tests.tiny_table import WORDS

GROUPS = 12


def samples(groups: int = GROUPS, seed: int = 0) -> pd.DataFrame:
    """The forms of the paper in the words of `tests.tiny_table`: a union is the two texts one after the other."""
    rng, rows = np.random.default_rng(seed), []
    for group in range(groups):
        one, two, three = (" ".join(rng.choice(WORDS, 4)) for _ in range(3))
        left, right = f"{one} {two} {group}", f"{two} {three} {group}"
        for operator, a, b, target in [
            ("overlap", left, right, two),
            ("difference", left, two, one),
            ("difference", right, two, three),
            ("union", one, two, left),
        ]:
            rows.append({"operator": operator, "a": a, "b": b, "target": target, "source": "made", "group": group})
    return pd.DataFrame(rows)


def finish(*arguments: object) -> Result:
    result = run_benchmark(main, *arguments, "--resamples", 40)
    return result


def vectors_of(encoder: Encoder, frame: pd.DataFrame) -> tuple[np.ndarray, ...]:
    return tuple(encoder.encode(list(frame[column]))[0] for column in ("a", "b", "target"))


@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 99))
def test_the_bootstrap_is_that_of_drawn_rows(size: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = rng.integers(size, size=m)
    values = np.where(rng.random((3, m)) < 0.2, np.nan, rng.normal(size=(3, m)))
    result = ClusterBootstrap(clusters, Bootstrap(seed, 7))(values, np.arange(m), "difference")
    known = np.unique(clusters)
    drawn = np.random.default_rng([seed, 1])
    for draws in result.draws:
        chosen = drawn.integers(len(known), size=len(known))
        rows = np.concatenate([np.flatnonzero(clusters == known[i]) for i in chosen])
        parts = [row[rows][~np.isnan(row[rows])] for row in values]
        expected = [part.mean() if len(part) else np.nan for part in parts]
        assert np.allclose(draws, expected, atol=1e-12, equal_nan=True)
    means = [row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else np.nan for row in values]
    assert np.allclose(result.means, means, atol=1e-12, equal_nan=True)
    assert result.clusters == len(known)
    assert np.isnan(result.interval(result.draws[:, 0])).all() or result.clusters > 1


VECTORS = "dog 1 0 0.5\ncat 0 1 0.25\nman 1 1 -1\nthe 0.5 0.1 0.2\nruns -0.3 0.7 0.1\nsleeps 0.2 -0.6 0.4\n"
CELLS = ["both", "first", "second", "neither"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("set_criteria") / "samples.parquet"
    samples().to_parquet(path)
    return path


@pytest.fixture(autouse=True)
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run of `output`, which is older than this, draws the figures; they take longer than all the rest."""
    monkeypatch.setattr("benchmarks.papers.set_criteria.report._draw_figures", lambda *_: None)


@pytest.fixture(scope="module")
def encoders(file: Path, checkpoint: Path) -> list[str]:
    vectors = file.parent / "vectors.txt"
    vectors.write_text(VECTORS, encoding="utf-8")
    absent = file.parent / "nothing.txt"
    specs = (f"SBERT-L={checkpoint}/", f"<b>&GloVe=vectors:{vectors}", f"lost=vectors:{absent}")
    return [argument for spec in specs for argument in ("--encoder", spec)]


@pytest.fixture(scope="module")
def output(file: Path, encoders: list[str]) -> Path:
    folder = file.parent / "results"
    result = finish("--samples", file, *encoders, "--output", folder)
    assert result.stdout == (folder / "report.txt").read_text(encoding="utf-8")
    return folder


def test_all_files_are_written(output: Path) -> None:
    tables = {f"table{number}.csv" for number in (1, 2, 3, 12, 13, 14, 15)}
    names = ("figures", "means", "leaderboard", "discrimination")
    others = {*(f"{name}.csv" for name in names), "ranges.json"}
    figures = {f"figure{number}{ending}" for number in (4, 6, 10) for ending in (*FORMATS, ".txt")}
    assert {path.name for path in output.iterdir()} == tables | others | figures | {"report.txt"}


def test_figures_are_those_of_the_metric(output: Path, file: Path, checkpoint: Path) -> None:
    frame = samples()
    given = {
        "SBERT-L": vectors_of(load_encoder(f"{checkpoint}/"), frame),
        "<b>&GloVe": vectors_of(WordVectors(str(file.parent / "vectors.txt"), sorted(set(frame["a"]))), frame),
        "bag of random vectors": vectors_of(RandomBag(0, 384), frame),
        FLOOR: vectors_of(RandomVectors(0, 384), frame),
    }
    metric = load("set_criteria")
    shared = metric.compute(embeddings=given, operator=list(frame["operator"]))
    assert json.loads((output / "ranges.json").read_text()) == shared["ranges"]
    for number, criterion, measure in (("1", "C1", "cosine"), ("2", "C3", "cosine"), ("13", "C1", "ned")):
        table = pd.read_csv(output / f"table{number}.csv").set_index(["encoder", "figure"])["value"]
        for name in given:
            result = shared["encoders"][name]
            for cell in CELLS:
                assert table[name, cell] == pytest.approx(result[criterion][measure][cell], abs=1e-9)
    board = pd.read_csv(output / "leaderboard.csv").set_index(["encoder", "criterion"])
    means = pd.read_csv(output / "means.csv").set_index(["encoder", "criterion", "measure", "condition"])
    for name, result in shared["encoders"].items():
        expected = {criterion: result[criterion]["share"] for criterion in ("C2", "C5", "C6")}
        expected |= {"C1": result["C1"]["cosine"]["both"], "C3": result["C3"]["cosine"]["both"]}
        expected["C4"] = result["C4"]["cosine"]["share"]
        for criterion, share in expected.items():
            row = board.loc[(name, criterion)]
            assert row["value"] == pytest.approx(share, abs=1e-9)
            assert row["low"] <= row["value"] <= row["high"]
        for criterion in ("C1", "C3"):
            for measure in ("cosine", "dot", "l1", "l2", "ned"):
                both = [means.loc[(name, criterion, measure, one), "mean"] for one in ("first", "second")]
                assert both == pytest.approx(result[criterion][measure]["mean"], abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--encoder", "a=random:8", "--encoder", "a=random:9"), "expected names that differ"),
        (("--encoder", "random:one"), "random:WIDTH (2 or more)"),
        (("--encoder", "all-MiniLM"), "expected all-MiniLM-L6-v2, matcha, a folder, ORG/NAME"),
        (("--samples", "{unknown}"), "operator[1]: expected one of 'overlap', 'difference', 'union', got str 'minus'"),
        (("--samples", "{none}"), "b[0]: expected a string, got NoneType None"),
    ],
)
def test_invalid_arguments_are_refused(file: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    frame = samples(2)
    paths = {name: tmp_path / f"{name}.parquet" for name in ("unknown", "none")}
    frame.assign(operator=["overlap", "minus"] * 4).to_parquet(paths["unknown"])
    frame.assign(b=None).to_parquet(paths["none"])
    given = [argument.format(**paths) for argument in arguments]
    result = run_benchmark(main, "--samples", file, *given, "--output", tmp_path / "results", status=2)
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "results").exists()
