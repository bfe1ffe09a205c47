"""What the shipped checkpoint must keep on the protocol's sets; run by `make test-data`."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.matcha.sets import load_sets
from semantic_metrics import load
from semantic_metrics.stats.separation import COSINE, separation

pytestmark = pytest.mark.real_data

# a release may fall below none of them: N-delta and macro-F1 as the first one had to reach them, AUC and pairwise
# accuracy as it did reach them, so that no release buys a wider gap with a worse order
FIGURES = ("n_delta", "macro_f1", "auc", "pairwise")
FLOORS = {
    "snli": (28.0, 64.0, 86.4, 87.7),
    "multinli": (29.0, 67.0, 83.7, 84.3),
    "coco": (33.0, 62.0, 96.2, 96.0),
    "newts": (13.5, 57.0, 69.8, 71.5),
    "truthfulqa": (12.5, 51.0, 66.9, 65.5),
    "climate_fever": (9.0, 50.0, 71.0),  # unpaired
}


@pytest.mark.parametrize("name", FLOORS)
def test_shipped_checkpoint_keeps_its_floor(name: str, data_folder: Path) -> None:
    dataset = load_sets(data_folder, (name,))[name]
    metric = load("matcha")
    columns = ((dataset.correct, dataset.references), (dataset.incorrect, dataset.references_of_incorrect))
    scores = [np.array(metric.compute(predictions=a, references=b)["scores"]) for a, b in columns]
    figures = separation(*scores, COSINE, paired=dataset.paired)
    for figure, floor in zip(FIGURES, FLOORS[name], strict=False):
        assert figures[figure] >= floor, figure
