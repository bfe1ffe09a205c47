"""Ray Data on a local cluster, with two workers that score."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics import load
from tests.hooks.conftest import ROWS

ray = pytest.importorskip("ray", reason="ray is not installed (pip install ray[data])")
pytestmark = pytest.mark.slow

COPIES = 100


@pytest.fixture
def cluster(folder: Path) -> Iterator[Path]:
    """Started in the folder, so that its processes find the files by their names."""
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)  # of Ray's counting: two workers, and readers
    yield folder
    ray.shutdown()


def test_the_scores_of_a_cluster_are_those_of_one_process(cluster: Path, run_example: Callable[[str], dict]) -> None:
    rows = [{**row, "answer": f"{row['answer']} {i}", "row": i} for i in range(COPIES) for row in ROWS]
    frame = pd.DataFrame(rows)
    frame.to_csv("answers.csv", index=False)
    run_example("Ray Data")
    columns = {"predictions": "answer", "references": "gold", "questions": "question"}
    texts = {name: frame[column].tolist() for name, column in columns.items()}
    frame["nli_lex"] = load("nli_lex").compute(**texts)["scores"]
    scored = pd.concat(pd.read_parquet(path) for path in sorted((cluster / "scored").glob("*.parquet")))
    keys = ["row", "question"]
    scored, expected = (each.sort_values(keys).reset_index(drop=True) for each in (scored, frame))
    assert scored["nli_lex"].tolist() == pytest.approx(expected["nli_lex"].tolist(), abs=1e-5)
    assert scored["answer"].tolist() == expected["answer"].tolist()
    assert len(scored) == COPIES * len(ROWS)


def test_files_are_scored_in_turn_and_a_stopped_run_goes_on(cluster: Path, run_example: Callable[[str], dict]) -> None:
    (cluster / "pairs").mkdir()
    frames = {f"{i}.parquet": pd.DataFrame([{**row, "row": i} for row in ROWS] * (i + 1)) for i in range(4)}
    for name, frame in frames.items():
        frame.to_parquet(cluster / "pairs" / name)
    run_example("Ray Data, at scale")
    target = cluster / "scored_pairs"
    written = {name: (target / name).stat().st_mtime_ns for name in frames}
    (target / "2.parquet").rename(target / "2.parquet.partial")  # as a stop leaves it
    run_example("Ray Data, at scale")
    assert {path.name for path in target.iterdir()} == set(frames)
    again = {name: (target / name).stat().st_mtime_ns for name in frames}
    assert [name for name in frames if again[name] != written[name]] == ["2.parquet"]
    for name, frame in frames.items():
        scores = load("matcha").compute(predictions=frame["answer"].tolist(), references=frame["gold"].tolist())
        pd.testing.assert_frame_equal(pd.read_parquet(target / name), frame.assign(matcha=scores["scores"]))
