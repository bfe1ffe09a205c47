"""The card of a checkpoint, from a run's record and the benchmark's tables."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from training.cards import read_results, render

RECORD = {
    "config": {
        "name": "small",
        "init": "gpt2",
        "base_model": "",
        "network": {"num_senses": 2},
        "loss": {"kind": "in_batch", "margin": 1.0},
        "batch_size": 8,
        "accumulate": 1,
        "lr": 1e-3,
        "embedding_lr": 0.1,
        "schedule": {"kind": "one_cycle", "warmup": 0.1},
        "weight_decay": 0.0,
        "average": 0.99,
        "seed": 1,
        "precision": "no",
        "select_by": "auc",
        "licence": "cc-by-sa-4.0",
        "notes": ["A note."],
        "train": [{"name": "bundled", "share": None, "licence": "Apache-2.0", "credit": "us"}],
        "exclude": [{"path": "eval.parquet", "columns": ["premise"]}],
    },
    "counts": {"bundled": {"rows": 9, "kept": 7, "dropped: in an evaluation set": 2}},
    "validation": {"dev": {"n_delta": 12.345, "macro_f1": 60.0, "auc": 70.0, "pairwise": 80.0}},
    "steps": 10,
    "step": 5,
    "processes": 1,
    "tokens": 1234,
    "command": "accelerate launch training/train.py",
}


@pytest.fixture
def results(tmp_path: Path) -> pd.DataFrame:
    columns = ["set", "metric", "figure", "value", "published"]
    table3 = [
        ("SNLI", "MATCHA", "n_delta", 29.5, 34.95),
        ("SNLI", "MATCHA", "auc", 86.0, None),
        ("SNLI", "EmbSim", "n_delta", 16.17, 16.17),
        ("SNLI", "R1-F1", "n_delta", 12.77, 12.76),
        ("SNLI", "MATCHA", "correct", 70.0, 71.14),
    ]
    table4 = [("SNLI", "MATCHA", "macro_f1", 67.5, 72.59), ("SNLI", "MATCHA", "macro_f1", None, 1.0)]
    for name, rows in (("table3.csv", table3), ("table4.csv", table4)):
        pd.DataFrame(rows, columns=columns).to_csv(tmp_path / name, index=False)
    return read_results(tmp_path)


def test_front_matter_holds_licence_and_results(results: pd.DataFrame) -> None:
    front = yaml.safe_load(render(RECORD, results).split("---")[1])
    assert front["license"] == "cc-by-sa-4.0"
    (entry,) = front["model-index"][0]["results"]
    assert entry["dataset"]["name"] == "SNLI"
    assert {m["type"]: m["value"] for m in entry["metrics"]} == {"n_delta": 29.5, "auc": 86.0, "macro_f1": 67.5}


def test_without_test_results_the_validation_sets_stand_in() -> None:
    front = yaml.safe_load(render(RECORD).split("---")[1])
    assert front["model-index"][0]["results"][0]["dataset"]["name"] == "dev"


def test_card_says_what_was_trained_on_and_dropped(results: pd.DataFrame) -> None:
    card = render(RECORD, results)
    assert "| bundled | by size | 7 | 2 in an evaluation set | Apache-2.0 | us |" in card
    assert "| SNLI | MATCHA | 29.50 (34.95) | 67.50 (72.59) | 86.00 |  |" in card
    assert "| SNLI | EmbSim | 16.17 (16.17) |" in card
    assert "| dev | 12.35 |" in card or "| dev | 12.34 |" in card
    assert "A note." in card
    assert "R1-F1" not in card


@pytest.mark.parametrize("name", ["matcha", "contextual", "nli", "stsscore"])
def test_shipped_card_is_what_its_record_renders(name: str) -> None:
    folder = ROOT / "model_cards" / name
    shipped = (folder / "README.md").read_text(encoding="utf-8")
    rendered = render(json.loads((folder / "training.json").read_text(encoding="utf-8")))
    before, _, after = shipped.split("\n---\n", 1)[1].partition("## Test results\n")
    assert rendered.split("\n---\n", 1)[1] == before + after[after.index("## Licence") :]
