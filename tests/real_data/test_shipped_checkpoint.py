"""What the shipped checkpoint must keep on the protocol's sets; run by `make test-data`."""

from pathlib import Path

import numpy as np
import pytest
from semantic_metrics import load

from benchmarks.protocol import COSINE
from benchmarks.protocol import separation
from benchmarks.sets import load_sets

pytestmark = pytest.mark.real_data

FLOORS = {  # N-delta and macro-F1 that a release may not fall below
    "snli": (28.0, 64.0),
    "multinli": (29.0, 67.0),
    "coco": (33.0, 62.0),
    "newts": (13.5, 57.0),
    "truthfulqa": (12.5, 51.0),
    "climate_fever": (9.0, 50.0),
}


@pytest.mark.parametrize("name", FLOORS)
def test_shipped_checkpoint_keeps_its_floor(name: str, data_folder: Path) -> None:
    found = load_sets(data_folder, (name,))[name]
    metric = load("matcha")
    columns = ((found.correct, found.references), (found.incorrect, found.references_of_incorrect))
    scores = [np.array(metric.compute(predictions=a, references=b)["scores"]) for a, b in columns]
    figures = separation(*scores, COSINE, paired=found.paired)
    n_delta, macro_f1 = FLOORS[name]
    assert figures["n_delta"] >= n_delta
    assert figures["macro_f1"] >= macro_f1
