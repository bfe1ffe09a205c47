"""The cards of checkpoints, from runs' records and the benchmarks' tables."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.transformer.drifts import Drift, write_drifts
from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from training.cards import own_drifts, read_results, render

COLUMNS = ["set", "metric", "figure", "value", "published"]


def record(name: str) -> dict:
    return json.loads((ROOT / "model_cards" / name / "training.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["matcha", "contextual", "pairs"])
def test_shipped_card_is_what_its_record_renders(name: str) -> None:
    shipped = (ROOT / "model_cards" / name / "README.md").read_text(encoding="utf-8")
    before, _, after = shipped.split("\n---\n", 1)[1].partition("## Test results\n")
    drifts = own_drifts(ROOT / "model_cards" / name)
    assert bool(drifts) == (name != "matcha"), "a table runs no model"
    rendered = render(record(name), drifts=drifts)
    if "test_results" in record(name):
        assert rendered == shipped
    else:
        assert rendered.split("\n---\n", 1)[1] == before + after[after.index("## Licence") :]
    assert len(shipped.splitlines()) <= 250


def test_drifts_of_other_weights_are_not_shown(tmp_path: Path) -> None:
    drift = Drift("stsscore", "torch", "int8", "plain", 0.0123, 0.00045, 7.0)
    folder = tiny.bert(tmp_path / "model")
    write_drifts(folder, "0" * 64, [drift], "texts")
    assert own_drifts(folder) == []
    write_drifts(folder, PairScorer(folder).checkpoint_sha256, [drift], "texts")
    assert "| stsscore | torch | int8 | plain | 0.012 | 0.00045 |" in render(record("pairs"), drifts=own_drifts(folder))


def test_test_results_stand_in_the_tables_and_in_the_front_matter(tmp_path: Path) -> None:
    table3 = [
        ("SNLI", "MATCHA", "n_delta", 29.5, 34.95),
        ("SNLI", "MATCHA", "auc", 86.0, None),
        ("SNLI", "EmbSim", "n_delta", 16.17, 16.17),
        ("SNLI", "R1-F1", "n_delta", 12.77, 12.76),
        ("SNLI", "MATCHA", "correct", 70.0, 71.14),
    ]
    table4 = [("SNLI", "MATCHA", "macro_f1", 67.5, 72.59), ("SNLI", "MATCHA", "macro_f1", None, 1.0)]
    for name, rows in (("table3.csv", table3), ("table4.csv", table4)):
        pd.DataFrame(rows, columns=COLUMNS).to_csv(tmp_path / name, index=False)
    card = render(record("matcha"), read_results([tmp_path]))
    assert "| SNLI | MATCHA | 29.50 (34.95) | 67.50 (72.59) | 86.00 |  |" in card
    assert "| SNLI | EmbSim | 16.17 (16.17) |" in card
    assert "R1-F1" not in card
    front = yaml.safe_load(card.split("---")[1])
    assert front["license"] == "cc-by-sa-4.0"
    (entry,) = front["model-index"][0]["results"]
    assert entry["dataset"]["name"] == "SNLI"
    assert {m["type"]: m["value"] for m in entry["metrics"]} == {"n_delta": 29.5, "auc": 86.0, "macro_f1": 67.5}
    with pytest.raises(ValueError, match="--row: expected a row of the tables"):
        read_results([tmp_path], "another")


def test_a_card_has_ten_figures_in_front_and_no_part_of_a_set_whose_whole_it_has() -> None:
    card = render(record("pairs"))
    assert len(yaml.safe_load(card.split("---")[1])["model-index"][0]["results"]) <= 10
    assert "| probe, all (256 pairs) | accuracy 0.906 |" in card
    assert "| DIVER-QA (630 answers), NLI+lex, the paper's | accuracy 0.811 (0.845), F1 0.878 (0.8865)" in card
    assert "probe, number" not in card
    assert "denials, list" not in card
