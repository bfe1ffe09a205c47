"""The protocol on the real rows: EmbSim's published figures must come out, or no other figure means anything.

Run with SEMANTIC_METRICS_DATA naming the data folder; about two minutes on an idle CPU.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.baselines import ROUGE, Metric, default_embsim, rouge
from benchmarks.common.encoders import sentence_transformer
from benchmarks.common.tables import Published
from benchmarks.papers.matcha import hub_sets
from benchmarks.papers.matcha.report import PUBLISHED
from benchmarks.papers.matcha.scoring import Scores, score_sets
from benchmarks.papers.matcha.sets import EvaluationSet, load_sets, pivot_nli
from semantic_metrics import load
from semantic_metrics.stats.agreement import concordance
from semantic_metrics.stats.separation import COSINE, UNIT, separation

pytestmark = pytest.mark.real_data

SETS = ("snli", "multinli", "truthfulqa", "stsb", "human")
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


@pytest.fixture(scope="module")
def sets(data_folder: Path) -> dict[str, EvaluationSet]:
    return load_sets(data_folder, SETS)


@pytest.fixture(scope="module")
def scores(sets: dict[str, EvaluationSet]) -> Scores:
    metrics = [Metric(name, lambda kind=kind: rouge(kind), UNIT) for name, kind in ROUGE.items()]
    return score_sets([*metrics, Metric("EmbSim", lambda: sentence_transformer(default_embsim()))], sets)


@pytest.mark.parametrize("name", [*ROUGE, "EmbSim"])
@pytest.mark.parametrize(("key", "title"), [("snli", "SNLI"), ("multinli", "MultiNLI")])
def test_baselines_have_the_published_figures(scores: Scores, name: str, key: str, title: str) -> None:
    pair, published = scores.triplets[name, key], Published(PUBLISHED)
    figures = separation(*pair, COSINE if name == "EmbSim" else UNIT, paired=True)
    tables = {"correct": "3", "incorrect": "3", "n_delta": "3", "macro_f1": "4", "wasserstein": "5"}
    for figure, table in tables.items():
        assert figures[figure] == pytest.approx(published.get(table, title, name, figure), abs=0.02), figure


@pytest.mark.parametrize(("key", "rescaled", "unscaled"), [("stsb", 34.37, 77.96), ("human", 18.28, 43.63)])
def test_concordance_depends_on_the_scaling(
    sets: dict[str, EvaluationSet], scores: Scores, key: str, rescaled: float, unscaled: float
) -> None:
    """On all 600 ratings of the human study EmbSim has 19.7 rescaled and 45.0 unscaled."""
    cosines, ratings = scores.rated["EmbSim", key], sets[key].ratings
    assert 100 * concordance((cosines + 1) / 2, ratings) == pytest.approx(rescaled, abs=0.02)
    assert 100 * concordance(cosines, ratings) == pytest.approx(unscaled, abs=0.02)


@pytest.mark.parametrize(("key", "file"), [("snli", "snli/dev.parquet"), ("multinli", "mnli/dev_matched.parquet")])
def test_pivot_gives_the_paper_rows(data_folder: Path, sets: dict[str, EvaluationSet], key: str, file: str) -> None:
    frame = pivot_nli(pd.read_parquet(data_folder / file), file)
    dataset = sets[key]
    ready = set(zip(dataset.references, dataset.correct, dataset.incorrect, strict=True))
    assert set(frame[["reference", "correct", "incorrect"]].itertuples(index=False, name=None)) == ready


def test_truthfulqa_rule_gives_the_ready_rows(data_folder: Path, sets: dict[str, EvaluationSet]) -> None:
    rows = pd.read_parquet(data_folder / "truthfulqa" / "test.parquet").to_dict("records")
    dataset = sets["truthfulqa"]
    ready = list(zip(dataset.references, dataset.correct, dataset.incorrect, strict=True))
    assert list(hub_sets.truthfulqa_rows(rows).itertuples(index=False, name=None)) == ready


def test_sampled_sets_follow_the_rules(data_folder: Path) -> None:
    """The ready rows are another draw, so it is checked that every one of them could have been drawn."""
    dataset = load_sets(data_folder, ("climate_fever", "coco", "newts"))
    evidence = pd.read_parquet(data_folder / "climate_fever" / "test_evidence.parquet")
    pairs = set(evidence[["evidence", "claim", "evidence_label"]].itertuples(index=False, name=None))
    climate = dataset["climate_fever"]
    supported = {(a, b, "SUPPORTS") for a, b in zip(climate.references, climate.correct, strict=True)}
    refuted = {(a, b, "REFUTES") for a, b in zip(climate.references_of_incorrect, climate.incorrect, strict=True)}
    assert len(supported | refuted) == 300
    assert supported | refuted <= pairs
    captions = pd.read_parquet(data_folder / "coco_val2017" / "captions.parquet")
    captions = captions.groupby("image_id")["caption"].agg(list)
    drawn = hub_sets.coco_rows(list(captions), size=len(captions))
    rows = set(zip(drawn["reference"], drawn["correct"], strict=True))
    assert set(zip(dataset["coco"].references, dataset["coco"].correct, strict=True)) <= rows
    newts = hub_sets.newts_rows(pd.read_parquet(data_folder / "newts" / "test.parquet"))
    ready = set(zip(dataset["newts"].references, dataset["newts"].correct, strict=True))
    assert set(zip(newts["reference"], newts["correct"], strict=True)) <= ready  # which has short texts too
    firsts = [summary.split(".")[0] for summary in dataset["newts"].references]
    assert np.isin(dataset["newts"].incorrect, firsts).all()


@pytest.mark.parametrize("name", FLOORS)
def test_shipped_checkpoint_keeps_its_floor(name: str, data_folder: Path) -> None:
    dataset = load_sets(data_folder, (name,))[name]
    columns = ((dataset.correct, dataset.references), (dataset.incorrect, dataset.references_of_incorrect))
    scores = [np.array(load("matcha").compute(predictions=a, references=b)["scores"]) for a, b in columns]
    figures = separation(*scores, COSINE, paired=dataset.paired)
    for figure, floor in zip(FIGURES, FLOORS[name], strict=False):
        assert figures[figure] >= floor, figure
