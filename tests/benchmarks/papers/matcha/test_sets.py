"""Reading the sets and building them from their sources: the protocol's rules on rows small enough to check by eye."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset

from benchmarks.papers.matcha import hub_sets, sets
from benchmarks.papers.matcha.sets import NAMES
from tests.benchmarks.papers.matcha.synthetic import ROWS, triplets, write_data

PAIRS = [
    ("p1", "n1", "neutral"),
    ("p2", "c2", "contradiction"),
    ("p1", "e1", "entailment"),
    ("p1", "c1", "contradiction"),
    ("p3", "e3", "entailment"),  # no contradiction: left out
    ("p1", "later e", "entailment"),
    ("p2", "e2", "entailment"),
    ("p1", "later c", "contradiction"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def test_every_set_is_read(data: Path) -> None:
    names = tuple(name for name in NAMES if name != "mednli")
    loaded = sets.load_sets(data, names)
    assert list(loaded) == list(names)
    assert {len(one) for one in loaded.values()} == {ROWS}
    for key in sets.TITLES.keys() & loaded.keys():
        assert loaded[key] == triplets(key)
        assert loaded[key].paired == (loaded[key].references_of_incorrect == loaded[key].references)
    assert [key for key in sets.TITLES if key in loaded and not loaded[key].paired] == ["climate_fever"]
    assert loaded["human"].groups[:3] == ["SNLI", "MultiNLI", "TruthfulQA"]
    assert loaded["human"].ratings.max() <= 1
    (data / "matcha_eval" / "coco.parquet").unlink()
    assert list(sets.load_sets(data, ("snli", "coco"))) == ["snli"]


def test_pivot_takes_the_first_of_each_and_needs_both() -> None:
    frame = sets.pivot_nli(pd.DataFrame(PAIRS, columns=["premise", "hypothesis", "label"]), "test")
    assert frame.to_dict("records") == [
        {"reference": "p1", "correct": "e1", "incorrect": "c1"},
        {"reference": "p2", "correct": "e2", "incorrect": "c2"},
    ]


def test_climate_fever_draws_as_many_of_each_label() -> None:
    labels = ["SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO"] * 10
    pairs = pd.DataFrame(
        {"evidence": [f"e{i}" for i in range(30)], "claim": [f"c{i}" for i in range(30)], "evidence_label": labels}
    )
    rows = hub_sets.climate_fever_rows(pairs, size=8)
    assert len(rows) == 8
    for columns, label in ((("reference", "correct"), 0), (("reference_of_incorrect", "incorrect"), 1)):
        places = [int(text[1:]) for text in rows[columns[0]]]
        assert [f"c{i}" for i in places] == list(rows[columns[1]])  # evidence and claim stay together
        assert {i % 3 for i in places} == {label}
        assert len(set(places)) == 8
    pd.testing.assert_frame_equal(rows, hub_sets.climate_fever_rows(pairs, size=8))
    with pytest.raises(ValueError, match="expected at least 11 pairs SUPPORTS, got 10"):
        hub_sets.climate_fever_rows(pairs, size=11)


def test_newts_has_two_rows_per_article() -> None:
    articles = pd.DataFrame(
        {
            "summary1": ["One first. Then more.", "Two first. Then more."],
            "summary2": ["Three first. More.", "Four first. More."],
            "sentences1": ["topic one", "no."],
            "sentences2": ["topic three", "topic four"],
        }
    )
    rows = hub_sets.newts_rows(articles)
    assert list(rows["correct"]) == ["topic one", "topic three", "topic four"], (
        "a text of three characters is too short"
    )
    firsts = [text.split(".")[0] for text in rows["reference"]]
    assert all(text.endswith("first") for text in rows["incorrect"])
    assert not any(own == other for own, other in zip(firsts, rows["incorrect"], strict=True))


LABELS = ("entailment", "neutral", "contradiction", None)
NLI = [{"premise": p, "hypothesis": h, "label": LABELS.index(label)} for p, h, label in [*PAIRS, ("p1", "x", None)]]
HUB_ROWS = {
    "stanfordnlp/snli": NLI,
    "nyu-mll/multi_nli": NLI,
    "truthfulqa/truthful_qa": [{"correct_answers": ["Never", "Nobody"], "incorrect_answers": ["Always", "Often"]}],
    "Jasontth/climate_fever_plus": [
        {"claim": f"claim {i}", "evidence": f"evidence {label}", "evidence_label": label}
        for i in range(75)
        for label in ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO")
    ],
    "lmms-lab/COCO-Caption": [{"answer": [f"{i} a", f"{i} b"]} for i in range(30)],
    "sentence-transformers/stsb": [{"sentence1": "a", "sentence2": "b", "score": 0.5}],
}


def test_hub_sets_have_the_shape_of_the_local_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub is out of reach in tests: rows in its shape stand in for the download, everything after it is real."""
    asked = {}

    def load(repository: str, *arguments: str, split: str, **options: object) -> Dataset:
        asked[repository] = (*arguments, split)
        return Dataset.from_list(HUB_ROWS[repository])

    monkeypatch.setattr(hub_sets, "load_dataset", load)
    built = {name: build() for name, build in hub_sets.BUILDERS.items()}
    assert [asked[name] for name in list(HUB_ROWS)[:3]] == [
        ("validation",),
        ("validation_matched",),
        ("generation", "validation"),
    ]
    assert built["snli"].correct == ["e1", "e2"]
    assert built["truthfulqa"].references == ["Nobody"]
    climate = built["climate_fever"]
    assert set(climate.references) == {"evidence SUPPORTS"}
    assert climate.references_of_incorrect == ["evidence REFUTES"] * 150
    assert len(built["coco"]) == 30
    np.testing.assert_array_equal(built["stsb"].ratings, [0.5])
