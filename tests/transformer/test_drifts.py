"""`precision="auto"`: the fastest precision that was measured to move scores little, on this kind of processor."""

import json
from pathlib import Path

import pytest

from semantic_metrics import load
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.transformer.drifts import FILE, Drift, processor, read_drifts, write_drifts
from tests import tiny_pairs as tiny

HERE = processor()


@pytest.fixture
def scorer(tmp_path: Path) -> PairScorer:
    """A cross-encoder of its own, without measured drifts."""
    return PairScorer(tiny.bert(tmp_path / "bert"))


def chosen(scorer: PairScorer, backend: str = "torch") -> str:
    return scorer.resolve(RunOptions(precision="auto", backend=backend)).precision


def record(scorer: PairScorer, *drifts: Drift) -> None:
    write_drifts(scorer.folder, scorer.checkpoint_sha256, list(drifts), "texts")


def test_without_a_measurement_it_is_float32(scorer: PairScorer) -> None:
    assert chosen(scorer) == "float32"


def test_the_fastest_small_drift_of_this_processor_and_backend_is_taken(scorer: PairScorer) -> None:
    record(
        scorer,
        Drift("torch", "bfloat16", HERE, 0.0049, 0.0, 20.0),
        Drift("torch", "int8", HERE, 0.001, 0.005, 90.0),
        Drift("openvino", "int8", HERE, 0.001, 0.0, 90.0),
        Drift("openvino", "float32", HERE, 1e-6, 0.0, 95.0),
    )
    assert chosen(scorer) == "bfloat16", "the texts beside it move a score of int8 by .005"
    assert chosen(scorer, "openvino") == "float32"
    record(scorer, Drift("torch", "int8", HERE, 0.005, 0.0, 90.0))
    assert chosen(scorer) == "bfloat16", "int8 itself moves it by .005"
    signature = load("stsscore", f"{scorer.folder}/").signature(precision="auto")
    assert "|precision:bfloat16|" in signature


def test_other_processors_and_other_weights_do_not_count(scorer: PairScorer) -> None:
    record(scorer, Drift("torch", "bfloat16", "another", 0.001, 0.0, 20.0))
    assert chosen(scorer) == "float32"
    write_drifts(scorer.folder, "other weights", [Drift("torch", "bfloat16", HERE, 0.001, 0.0, 20.0)], "texts")
    assert chosen(scorer) == "float32"


def test_a_new_measurement_replaces_the_old_one_alone(scorer: PairScorer) -> None:
    elsewhere = Drift("torch", "int8", "another", 0.02, 0.01, 30.0)
    record(scorer, Drift("torch", "int8", HERE, 0.02, 0.0, 30.0), elsewhere)
    record(scorer, newer := Drift("torch", "int8", HERE, 0.01, 0.0, 40.0))
    assert read_drifts(scorer.folder, scorer.checkpoint_sha256) == [elsewhere, newer]


@pytest.mark.parametrize("damage", ["{", '{"drifts": 3}', '{"checkpoint": "", "drifts": [{"backend": "torch"}]}'])
def test_a_damaged_record_is_named(scorer: PairScorer, damage: str) -> None:
    (scorer.folder / FILE).write_text(damage, encoding="utf-8")
    with pytest.raises(ValueError, match=r"checkpoint .*: expected measured drifts in precision\.json"):
        chosen(scorer)
    assert scorer.logits([("a", "b")]).values.shape == (1, 1), "nothing else reads it"


def test_the_record_is_plain_json(scorer: PairScorer) -> None:
    record(scorer, Drift("torch", "int8", HERE, 0.01, 0.002, 40.0))
    stored = json.loads((scorer.folder / FILE).read_text(encoding="utf-8"))
    assert stored["data"] == "texts"
    assert stored["drifts"][0]["neighbours"] == 0.002
