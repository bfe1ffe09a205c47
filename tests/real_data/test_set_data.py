"""Samples of the real sources: how many, and that they are what the card says of them.

Run with SEMANTIC_METRICS_DATA naming the data folder.
"""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.common.baselines import default_embsim
from benchmarks.common.encoders import sentence_transformer
from benchmarks.set_data.build import Plan, build
from benchmarks.set_data.chains import GIVEN, OPERATORS, THRESHOLD, Dropped, chain_samples, fuse_chains
from benchmarks.set_data.fusion import CONCATENATION, concatenate
from benchmarks.set_data.sources import MAX_WORDS, MIN_WORDS, SOURCES, Lengths, read_source, split_chains

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def unfiltered(data_folder: Path) -> tuple[pd.DataFrame, Dropped]:
    """All sources, without the filter, which alone needs an encoder."""
    return build(Plan(), data_folder, tuple(SOURCES))


def test_every_source_is_read_whole(data_folder: Path) -> None:
    rows = {name: {file: len(frame) for file, frame in read_source(name, data_folder).items()} for name in SOURCES}
    assert rows == {
        "wikisplit": {"test": 5000},
        "bisect": {"test": 583, "valid": 9079, "challenge_test": 1797},
        "sentence_union": {"train": 1087, "dev": 349},
        "newts": {"test": 600},
    }


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


def test_documents_give_what_concatenation_makes_plain(unfiltered: tuple[pd.DataFrame, Dropped]) -> None:
    table = unfiltered[0]
    samples = table[table["source"] == "newts"]
    assert set(samples["fusion"]) == {CONCATENATION}
    overlap = samples[samples["operator"] == "overlap"]
    assert all(a.endswith(f" {o}") and b.startswith(f"{o} ") for a, b, o in _texts(overlap))
    union = samples[samples["operator"] == "union"]
    assert all(u == f"{a} {b}" for a, b, u in _texts(union))
    difference = samples[samples["operator"] == "difference"]
    assert all(d in a and d not in b for a, b, d in _texts(difference))
    sentences = pd.concat([union["a"], union["b"]])
    words = sentences.map(lambda text: sum(any(map(str.isalnum, word)) for word in text.split()))
    assert (words.min(), words.max()) == (MIN_WORDS, MAX_WORDS)


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


def test_the_filter_leaves_unlike_neighbours(data_folder: Path) -> None:
    """On 300 rows: the differences whose simple sentences are both in the sample, encoded once more."""
    rows = read_source("wikisplit", data_folder)["test"].head(300)
    rows = rows.assign(n_parts=2)
    score = sentence_transformer(default_embsim())
    dropped = Dropped()
    chains = fuse_chains(split_chains(rows, "s", "f", 0, Lengths(), dropped), concatenate, CONCATENATION, dropped)
    samples = pd.DataFrame(chain_samples(chains, (score,), THRESHOLD, dropped))
    kept = set(samples[samples["operator"] == "difference"]["group"])
    cosines = {chain.group: score([chain.prev, chain.curr], [chain.curr, chain.next]).max() for chain in chains}
    assert all(
        (cosines[group] < THRESHOLD) == (group in kept) for group in cosines if abs(cosines[group] - THRESHOLD) > 1e-4
    )
    assert 0.1 < len(kept) / len(chains) < 0.3  # a fifth: simple sentences of one row have much in common
    assert Counter(samples["operator"]) == {"overlap": 300, "union": 300, "difference": 4 * len(kept)}


def _texts(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(table[["a", "b", "target"]].itertuples(index=False, name=None))
