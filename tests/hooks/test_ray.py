"""Ray Data on a local cluster, with two workers that score."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics import load
from tests.hooks.conftest import ROWS

ray = pytest.importorskip("ray", reason="ray is not installed (pip install ray[data])")
pytestmark = pytest.mark.slow

COPIES = 500


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
    texts = {"predictions": frame["answer"].tolist(), "references": frame["gold"].tolist()}
    frame["matcha"] = load("matcha").compute(**texts)["scores"]
    scored = pd.concat(pd.read_parquet(path) for path in sorted((cluster / "scored").glob("*.parquet")))
    keys = ["row", "question"]
    scored, expected = (each.sort_values(keys).reset_index(drop=True) for each in (scored, frame))
    assert scored["matcha"].tolist() == expected["matcha"].tolist()
    assert scored["answer"].tolist() == expected["answer"].tolist()
    assert len(scored) == COPIES * len(ROWS)
