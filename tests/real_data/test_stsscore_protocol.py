"""STSScore's protocol on the real rows: the published figures of S-BERT and of the authors' own scores must come out.

Run with SEMANTIC_METRICS_DATA naming the data folder; about two minutes on an idle CPU.
"""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import Score, sentence_transformer
from benchmarks.common.published import Published
from benchmarks.stsscore.scorers import PUBLISHED_COLUMNS, PublishedScores, bleu, stsscore
from benchmarks.stsscore.sets import (
    ALL,
    HALVES,
    LONGER,
    SHORTER,
    SYSTEMS,
    UNSEEN,
    PairSet,
    Seen,
    load_pairs,
    normalised,
    normalised_pairs,
    stsb_splits,
)
from benchmarks.stsscore.tables import PUBLISHED, classes, correlations, printed

pytestmark = pytest.mark.real_data

NEAR = 0.5  # of figures times 100: what two printed digits leave open
SAMPLE = 500  # rows of WMT22 that S-BERT is checked on


@pytest.fixture(scope="module")
def sets(data_folder: Path) -> dict[str, PairSet]:
    return load_pairs(data_folder, ("stsb", "mrpc", "wmt22"), Seen(stsb_splits(data_folder)))


@pytest.fixture(scope="module")
def published(data_folder: Path) -> PublishedScores:
    return PublishedScores(data_folder)


@pytest.fixture(scope="module")
def sbert() -> Score:
    return sentence_transformer(default_embsim())


def figures(found: PairSet, scores: np.ndarray, part: str = ALL) -> dict[str, float]:
    kept, labels = scores[found.parts[part]], found.ratings[found.parts[part]]
    if found.key == "mrpc":
        return classes(kept[labels == 0], kept[labels == 1])
    return correlations(kept, labels)


def of_paper(name: str, key: str, part: str, figure: str) -> float:
    return printed(Published(PUBLISHED), name, key, part, figure)


def test_rows_and_parts(sets: dict[str, PairSet]) -> None:
    counts = {key: {part: int(rows.sum()) for part, rows in found.parts.items()} for key, found in sets.items()}
    assert counts["stsb"] == {ALL: 1379, SHORTER: 681, LONGER: 698, UNSEEN: 1364}
    assert counts["mrpc"] == {ALL: 1725, SHORTER: 852, LONGER: 873, UNSEEN: 974}
    assert counts["wmt22"] == {ALL: 15000, SHORTER: 7464, LONGER: 7536, SYSTEMS: 13125}
    assert [found.median for found in sets.values()] == [44, 113, 123]  # MRPC: 116 in GLUE's edition


def test_mrpc_pairs_in_stsb(data_folder: Path, sets: dict[str, PairSet]) -> None:
    """752 matches; one pair is in train and in dev, so that they are 751 rows."""
    rows = [normalised(*pair) for pair in zip(sets["mrpc"].references, sets["mrpc"].candidates, strict=True)]
    splits = {split: normalised_pairs([frame]) for split, frame in stsb_splits(data_folder).items()}
    shared = {split: sum(pair in held for pair in rows) for split, held in splits.items()}
    assert shared == {"train": 499, "dev": 130, "test": 123}


def test_sbert_on_stsb(sets: dict[str, PairSet], published: PublishedScores, sbert: Score) -> None:
    found = sets["stsb"]
    scores = sbert(found.candidates, found.references)
    theirs = published.score("S-BERT")(found.candidates, found.references)
    np.testing.assert_allclose(scores, theirs, rtol=0, atol=1e-5)
    for figure, value in figures(found, scores).items():
        assert value == pytest.approx(of_paper("S-BERT", "stsb", ALL, figure), abs=NEAR), figure


def test_sbert_on_mrpc(sets: dict[str, PairSet], sbert: Score) -> None:
    found = sets["mrpc"]
    scores = sbert(found.candidates, found.references)
    for figure, value in figures(found, scores).items():
        assert value == pytest.approx(of_paper("S-BERT", "mrpc", ALL, figure), abs=NEAR), figure
    assert figures(found, scores, UNSEEN)["auc"] == pytest.approx(81.7, abs=0.1)  # those in STS-B are harder


def test_sbert_on_wmt22(sets: dict[str, PairSet], published: PublishedScores, sbert: Score) -> None:
    rows = np.random.default_rng(0).choice(len(sets["wmt22"]), SAMPLE, replace=False)
    texts = [[side[i] for i in rows] for side in (sets["wmt22"].candidates, sets["wmt22"].references)]
    np.testing.assert_allclose(sbert(*texts), published.score("S-BERT")(*texts), rtol=0, atol=1e-5)


@pytest.mark.parametrize("key", ["stsb", "wmt22"])
def test_bleu_is_evaluates(sets: dict[str, PairSet], published: PublishedScores, key: str) -> None:
    found = sets[key]
    scores = bleu(found.candidates, found.references)
    theirs = published.score("BLEU")(found.candidates, found.references)
    np.testing.assert_allclose(scores, theirs, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(scores == 0, theirs == 0)
    if key == "stsb":
        assert (scores == 0).mean() == pytest.approx(0.64, abs=0.005)


@pytest.mark.parametrize("name", PUBLISHED_COLUMNS)
def test_published_scores_give_the_published_figures(
    sets: dict[str, PairSet], published: PublishedScores, name: str
) -> None:
    found = sets["stsb"]
    held = published.score(name)(found.candidates, found.references)
    for figure, value in figures(found, held).items():
        assert value == pytest.approx(of_paper(name, "stsb", ALL, figure), abs=NEAR), figure


@pytest.mark.parametrize("part", HALVES)
def test_halves_give_the_published_figures(sets: dict[str, PairSet], published: PublishedScores, part: str) -> None:
    found = sets["stsb"]
    held = published.score("STSScore")(found.candidates, found.references)
    for figure, value in figures(found, held, part).items():
        assert value == pytest.approx(of_paper("STSScore", "stsb", part, figure), abs=NEAR), figure


@pytest.mark.parametrize("name", PUBLISHED_COLUMNS)
def test_half_of_wmt22_is_near_the_whole(sets: dict[str, PairSet], published: PublishedScores, name: str) -> None:
    found = sets["wmt22"]
    held = published.score(name)(found.candidates, found.references)
    for figure, value in figures(found, held).items():
        assert value == pytest.approx(of_paper(name, "wmt22", ALL, figure), abs=3), figure


def test_shipped_checkpoint_keeps_its_bars(sets: dict[str, PairSet]) -> None:
    """Issue 3: r on STS-B test, AUC on the MRPC pairs that are not in STS-B, r on half of WMT22."""
    score = stsscore(None).metric.load()
    held = {key: score(found.candidates, found.references) for key, found in sets.items()}
    assert figures(sets["stsb"], held["stsb"])["r"] >= 85
    assert figures(sets["mrpc"], held["mrpc"], UNSEEN)["auc"] >= 80
    assert figures(sets["wmt22"], held["wmt22"])["r"] >= 20
