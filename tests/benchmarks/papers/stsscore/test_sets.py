"""Reading STSScore's sets: labels, halves, and pairs that the training data holds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset

from benchmarks.papers.stsscore import sets as sets
from tests.benchmarks.papers.stsscore.data import ROWS, pairs, qqp, write_data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def load(data: Path, *trained_on: Path) -> dict[str, sets.PairSet]:
    seen = sets.Seen(sets.stsb_splits(data), trained_on)
    return sets.load_pairs(data, ("stsb", "mrpc", "wmt22"), seen)


def test_every_set_is_read(data: Path) -> None:
    """Labels on the unit scale, sentence1 as the reference, reference translations told from systems."""
    loaded = load(data)
    assert list(loaded) == ["stsb", "mrpc", "wmt22"]
    frame = pairs("stsb")
    np.testing.assert_allclose(loaded["stsb"].ratings * 5, frame["score"])
    assert set(loaded["mrpc"].ratings) == {0.0, 1.0}
    assert loaded["mrpc"].source == "mrpc/test.parquet"
    mqm = pairs("wmt22")["label"].to_numpy()
    low, high = loaded["wmt22"].scale
    assert (low, high) == (mqm.min(), 0)
    np.testing.assert_allclose(low + loaded["wmt22"].ratings * (high - low), mqm)
    assert loaded["stsb"].references == list(frame["sentence1"])
    assert loaded["wmt22"].references == list(pairs("wmt22")["reference"])
    assert loaded["wmt22"].candidates == list(pairs("wmt22")["translation"])
    assert loaded["wmt22"].parts[sets.SYSTEMS].tolist() == [name != "refA" for name in pairs("wmt22")["system"]]
    assert sets.SYSTEMS not in loaded["stsb"].parts


def test_a_leak_is_found_whatever_its_case_signs_and_order() -> None:
    seen = sets.normalised_pairs([pd.DataFrame({"sentence1": ["The dog's bone."], "sentence2": ["A  Cat"]})])
    assert sets.normalised("a cat!", "the dog s bone") in seen
    assert sets.normalised("ａ ｃａｔ", "THE DOG'S BONE") in seen  # full-width letters  # noqa: RUF001
    assert sets.normalised("a cat", "the dog's bones") not in seen
    assert sets.normalised("a cat", "a cat") not in seen


def test_leaked_pairs_make_a_part_of_their_own(data: Path) -> None:
    loaded = load(data)
    assert loaded["mrpc"].parts[sets.UNSEEN].sum() == ROWS - 2  # one is in STS-B train, one in its test
    assert sets.UNSEEN not in loaded["stsb"].parts  # its own test pairs are no leak
    assert sets.UNSEEN not in loaded["wmt22"].parts


def test_qqp_is_read_as_quora_publishes_it(tmp_path: Path) -> None:
    frame = qqp()
    frame.loc[3, "question2"] = ""  # three of its questions are empty; they stay
    frame.loc[4, "question1"] = 'What is "null"?'
    frame.loc[5, "question1"] = "null"
    frame.to_csv(tmp_path / "qqp.tsv", sep="\t", index=False)
    seen = sets.Seen({})
    dataset = sets.read_qqp(tmp_path / "qqp.tsv", seen)
    assert dataset.references == list(frame["question1"])
    assert dataset.candidates == list(frame["question2"])
    assert dataset.ratings.tolist() == list(frame["is_duplicate"])
    frame.to_parquet(tmp_path / "qqp.parquet")
    assert sets.read_qqp(tmp_path / "qqp.parquet", seen).references == dataset.references


@pytest.mark.parametrize(
    ("key", "changes", "message"),
    [
        ("mrpc", {"label": [0, 1, 2]}, r"expected ratings in \[0, 1.0\], got 0.0 to 2.0"),
        ("mrpc", {"label": [0, 1, 0.5]}, "expected labels 0 and 1, got"),
        ("mrpc", {"label": [1, 1, 1]}, "expected labels that differ, got 1 only"),
        ("stsb", {"label": [0, 6, 1]}, r"expected ratings in \[0, 5.0\], got 0.0 to 6.0"),
        ("stsb", {"label": [0, "five", 1]}, "expected ratings in"),
        ("stsb", {"sentence2": ["a", None, "b"]}, "expected a text in column 'candidate', got (None|nan) in row 1"),
        ("wmt22", {"label": [0, 1, -1]}, "expected ratings in"),
    ],
)
def test_broken_labels_and_texts_are_named(key: str, changes: dict, message: str) -> None:
    columns = {"sentence1": ["a", "b", "c"], "sentence2": ["d", "e", "f"], "label": [0, 1, 0]} | changes
    with pytest.raises(ValueError, match=f"here.csv: {message}"):
        sets.pair_set(key, pd.DataFrame(columns), "here.csv", set())
    with pytest.raises(ValueError, match=r"here.csv: expected columns .*, missing \['label'\]"):
        sets.pair_set(key, pd.DataFrame(columns).drop(columns="label"), "here.csv", set())


def test_qqp_of_the_hub_is_that_of_glue(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub is out of reach in tests: rows in its shape stand in for the download, everything after it is real."""
    rows = {"question1": ["g", "h"], "question2": ["i", "j"], "label": [0, 1], "idx": [0, 1]}
    asked = []

    def answer(*asked_for: str, split: str) -> Dataset:
        asked.append((*asked_for, split))
        return Dataset.from_dict(rows)

    monkeypatch.setattr(sets, "load_dataset", answer)
    qqp = sets.hub_qqp(sets.Seen({}))
    assert asked == [("nyu-mll/glue", "qqp", "train")]
    assert (qqp.references, qqp.ratings.tolist()) == (["g", "h"], [0, 1])
