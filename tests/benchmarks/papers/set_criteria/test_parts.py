"""The parts of the benchmark of set criteria: floors, the bootstrap over documents, checks, specs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.common.encoders import NotMeasured
from benchmarks.common.options import Bootstrap
from benchmarks.papers.set_criteria.encoders import MINI, UNNORMALISED, Candidate, RandomBag, RandomVectors, candidate
from benchmarks.papers.set_criteria.figures import draw_angles, draw_ratios
from benchmarks.papers.set_criteria.means import ClusterBootstrap, means_table
from benchmarks.papers.set_criteria.measure import Measured, SampleSet, measure_all, read_samples
from benchmarks.papers.set_criteria.report import check_table, report_unions
from semantic_metrics.set_criteria.criteria import Settings, own_ranges, report
from semantic_metrics.set_criteria.encoders import Encoder
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.set_criteria.data import samples
from training.matcha.contextual import ContextualModel

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    path = tmp_path_factory.mktemp("parts") / "samples.parquet"
    samples(20).to_parquet(path)
    return read_samples(path)


def measured(made: SampleSet, *chosen: Candidate) -> list[Measured]:
    results, absent = measure_all(list(chosen), made, None, 64, lambda line: None)
    assert not absent
    return results


@given(TEXTS, st.integers(0, 5))
@settings(max_examples=30)
def test_random_vectors_are_of_the_text_alone(texts: list[str], seed: int) -> None:
    encoder = RandomVectors(seed, 32)
    vectors, _ = encoder.encode(texts)
    assert np.array_equal(vectors, np.concatenate([RandomVectors(seed, 32).encode([text])[0] for text in texts]))
    assert not np.array_equal(vectors, RandomVectors(seed + 1, 32).encode(texts)[0])


def test_a_random_bag_knows_words_alone() -> None:
    vectors, _ = RandomBag(0, 64).encode(["The dog bites a man", "a man bites the dog!", "the dog", "!?", ""])
    assert np.allclose(vectors[0], vectors[1], atol=1e-6)
    assert not np.allclose(vectors[0], vectors[2], atol=1e-2)
    assert not vectors[3:].any()


@pytest.mark.parametrize(
    ("given", "name", "paper"),
    [
        ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2", "SBERT-mini"),
        ("sentence-transformers/all-mpnet-base-v2@main", "all-mpnet-base-v2@main", "SBERT-L"),
        ("large=models/all-mpnet-base-v2/", "large", "SBERT-L"),
        ("SimCSE=models/x/", "SimCSE", "SimCSE"),
        ("endpoint:text-embedding-ada-002@https://host/v1?x=1", "text-embedding-ada-002", "GPT3"),
        ("vectors:glove.6B.300d.txt", "glove.6B.300d", None),
        ("MATCHA=matcha", "MATCHA", None),
        ("unnormalised:models/all-mpnet-base-v2/", "all-mpnet-base-v2 unnormalised", None),
        ("random:12", "random:12", None),
    ],
)
def test_specs(given: str, name: str, paper: str | None) -> None:
    one = candidate(given, seed=0)
    assert (one.name, one.published) == (name, paper)


def test_only_a_contextual_checkpoint_takes_a_precision(tmp_path: Path, checkpoint: Path) -> None:
    ContextualModel(str(tiny.bert(tmp_path / "start")), max_length=16).save(tmp_path / "contextual")
    run = {"device": "cpu", "precision": "int8"}
    given = (f"{tmp_path / 'contextual'}/", f"{checkpoint}/")
    (whole, table), (fewer, same) = ([candidate(one, 0, how).load([]) for one in given] for how in ({}, run))
    assert fewer.sha256 == f"{whole.sha256}-int8"
    assert same.sha256 == table.sha256
    texts = ["the dog bites", "a cat"]
    assert np.abs(fewer.encode(texts)[0] - whole.encode(texts)[0]).max() > 0


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


def test_samples_that_share_a_text_are_one_document(tmp_path: Path) -> None:
    frame = samples(5)[["operator", "a", "b", "target"]]
    chain = pd.DataFrame([["union", "x", "y", "z"], ["union", "p", "q", "z"], ["union", "p", "r", "s"]])
    frame = pd.concat([frame, chain.set_axis(frame.columns, axis=1)])
    frame.to_csv(tmp_path / "samples.csv", index=False)
    clusters = read_samples(tmp_path / "samples.csv").clusters()
    assert clusters[-3:].tolist() == [clusters[-1]] * 3
    assert sorted(set(clusters)) == list(range(6))


def checks_of(made: SampleSet, *chosen: Candidate) -> pd.DataFrame:
    results = measured(made, *chosen)
    means = means_table(results, ClusterBootstrap(made.clusters(), Bootstrap(0, 200)))
    return check_table(means)


class Swapped(RandomVectors):
    """Swaps near and far: A and B are alike, overlaps apart."""

    def encode(self, texts: list[str], batch_size: int = 64) -> tuple[np.ndarray, np.ndarray]:
        """Move all texts but overlaps, which have four words, to one place."""
        vectors, cut = super().encode(texts, batch_size)
        inputs = np.array([len(text.split()) > 4 for text in texts])
        vectors[inputs] = 0.1 * vectors[inputs] + np.linspace(-1, 1, 64)
        return vectors, cut


@pytest.mark.parametrize("vectors", [RandomBag(0, 64), RandomVectors(8, 64), Swapped(0, 64)])
def test_words_but_not_random_or_worse_vectors_pass_the_checks(made: SampleSet, vectors: Encoder) -> None:
    checks = checks_of(made, Candidate("other", "", lambda texts: vectors), candidate("floor=random:64", seed=0))
    above = checks[checks["check"].str.startswith("mean")].set_index(["criterion", "condition", "measure"])
    assert len(above) == 10
    if isinstance(vectors, RandomBag):
        assert above["holds"]["C1", "first", "cosine"]
        assert above["holds"]["C3"].all()
    else:
        assert not above["holds"]["C1"].any()
    if isinstance(vectors, Swapped):  # the sign of a distance is turned: below the floor in both measures
        assert (above["high"]["C1"] < 0).all()


def test_an_encoder_without_its_normalisation(made: SampleSet) -> None:
    plain, pooled = (candidate(f"{kind}{MINI}", 0).load([]) for kind in ("", f"{UNNORMALISED}:"))
    texts = ["The dog barks.", "A cat sleeps on the old sofa while it rains."]
    units, vectors = (encoder.encode(texts)[0] for encoder in (plain, pooled))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    assert abs(lengths[0] - lengths[1]) > 0.1
    assert np.allclose(vectors / lengths, units, atol=1e-5)
    assert plain.sha256 != pooled.sha256
    with pytest.raises(NotMeasured, match="that normalises its vectors"):
        candidate(f"{UNNORMALISED}:matcha", 0).load([])


def test_figure_10_is_of_unions_alone(made: SampleSet) -> None:
    frame = made.frame.assign(a=made.frame["a"].where(made.frame["operator"] != "union", ""))  # without a word
    odd = SampleSet(made.path, made.sha256, pd.concat([made.frame, frame[frame["operator"] == "union"]]))
    (one,) = measured(odd, candidate("random-bag:24", seed=3))
    result = report_unions(one, Settings(), own_ranges(one.samples))
    unions = made.frame[made.frame["operator"] == "union"]
    a, b = (np.linalg.norm(RandomBag(3, 24).encode(list(unions[side]))[0], axis=1) for side in "ab")
    assert result["norm_ratio"]["median"] == pytest.approx(np.median(a / b), rel=1e-6)
    assert result["norm_ratio"]["n"] == sum(result["norm_ratio"]["histogram"]["counts"]) == len(unions)
    assert result["undefined"]["norm_ratio"] == {"zero vector": len(unions)}
    assert report(one.samples, Settings())["norm_ratio"]["median"] != result["norm_ratio"]["median"]


def test_a_name_is_not_read_as_a_formula(made: SampleSet, tmp_path: Path) -> None:
    """Matplotlib reads what is between dollar signs as a formula, and fails at this one."""
    (one,) = measured(made, candidate("$^{$=random:8", 0))
    results = {one.candidate.name: report(one.samples, Settings())}
    draw_angles(results, tmp_path / "angles.png", f"angles of {one.candidate.name}")
    draw_ratios(results, tmp_path / "ratios.png", one.candidate.name)
    assert min((tmp_path / name).stat().st_size for name in ("angles.png", "ratios.png")) > 0
