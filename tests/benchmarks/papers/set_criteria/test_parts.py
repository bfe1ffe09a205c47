"""The parts of the benchmark of set criteria: floors, the bootstrap over documents, checks, specs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common.options import Bootstrap
from benchmarks.papers.set_criteria.encoders import Candidate, RandomBag, RandomVectors, candidate
from benchmarks.papers.set_criteria.means import ClusterBootstrap, means_table
from benchmarks.papers.set_criteria.measure import Measured, SampleSet, measure_all, read_samples
from benchmarks.papers.set_criteria.report import check_table
from semantic_metrics.set_criteria.encoders import Encoder
from tests.benchmarks.papers.set_criteria.data import samples

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


@pytest.mark.parametrize(
    ("given", "name", "paper"),
    [
        ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2", "SBERT-mini"),
        ("sentence-transformers/all-mpnet-base-v2@main", "all-mpnet-base-v2@main", "SBERT-L"),
        ("large=models/all-mpnet-base-v2/", "large", "SBERT-L"),
        ("SimCSE=models/x/", "SimCSE", "SimCSE"),
        ("vectors:glove.6B.300d.txt", "glove.6B.300d", None),
        ("MATCHA=matcha", "MATCHA", None),
        ("unnormalised:models/all-mpnet-base-v2/", "all-mpnet-base-v2 unnormalised", None),
        ("random:12", "random:12", None),
    ],
)
def test_specs(given: str, name: str, paper: str | None) -> None:
    one = candidate(given, seed=0)
    assert (one.name, one.published) == (name, paper)


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
