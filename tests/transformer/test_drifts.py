"""`precision="auto"`: the fastest precision that was measured to move scores little, on this kind of processor."""

import platform
from pathlib import Path

import pytest

from semantic_metrics import load
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.transformer import drifts
from semantic_metrics.transformer.drifts import FILE, Drift, processor, read_drifts, write_drifts
from tests import tiny_pairs as tiny

HERE = processor()


@pytest.fixture
def scorer(tmp_path: Path) -> PairScorer:
    return PairScorer(tiny.bert(tmp_path / "bert"))


def chosen(scorer: PairScorer, backend: str = "torch") -> str:
    return scorer.resolve(RunOptions(precision="auto", backend=backend)).precision


def record(scorer: PairScorer, *drifts: Drift) -> None:
    write_drifts(scorer.folder, scorer.checkpoint_sha256, list(drifts), "texts")


def test_the_fastest_small_drift_of_this_processor_and_backend_is_taken(scorer: PairScorer) -> None:
    record(
        scorer,
        Drift("stsscore", "torch", "bfloat16", HERE, 0.0049, 0.0, 20.0),
        Drift("stsscore", "torch", "int8", HERE, 0.001, 0.005, 90.0),
        Drift("stsscore", "openvino", "int8", HERE, 0.001, 0.0, 90.0),
        Drift("stsscore", "openvino", "float32", HERE, 1e-6, 0.0, 95.0),
    )
    assert chosen(scorer) == "bfloat16", "the texts beside it move a score of int8 by .005"
    assert chosen(scorer, "openvino") == "float32"
    record(scorer, Drift("stsscore", "torch", "int8", HERE, 0.005, 0.0, 90.0))
    assert chosen(scorer) == "bfloat16", "int8 itself moves it by .005"
    signature = load("stsscore", f"{scorer.folder}/").signature(precision="auto")
    assert "|precision:bfloat16|" in signature


def test_other_processors_and_other_weights_do_not_count(scorer: PairScorer) -> None:
    record(scorer, Drift("stsscore", "torch", "bfloat16", "another", 0.001, 0.0, 20.0))
    assert chosen(scorer) == "float32"
    here = Drift("stsscore", "torch", "bfloat16", HERE, 0.001, 0.0, 20.0)
    write_drifts(scorer.folder, "other weights", [here], "texts")
    assert chosen(scorer) == "float32"


def test_a_new_measurement_replaces_the_old_one_alone(scorer: PairScorer) -> None:
    elsewhere = Drift("stsscore", "torch", "int8", "another", 0.02, 0.01, 30.0)
    record(scorer, Drift("stsscore", "torch", "int8", HERE, 0.02, 0.0, 30.0), elsewhere)
    record(scorer, newer := Drift("stsscore", "torch", "int8", HERE, 0.01, 0.0, 40.0))
    assert read_drifts(scorer.folder, scorer.checkpoint_sha256) == [elsewhere, newer]


@pytest.mark.parametrize(
    "damage", ["{", '{"drifts": 3}', '{"checkpoint": "SHA256", "drifts": [{"metric": "stsscore", "backend": "torch"}]}']
)
def test_a_damaged_record_is_named(scorer: PairScorer, damage: str) -> None:
    damage = damage.replace("SHA256", scorer.checkpoint_sha256)
    (scorer.folder / FILE).write_text(damage, encoding="utf-8")
    with pytest.raises(ValueError, match=r"checkpoint .*: expected measured drifts in precision\.json"):
        chosen(scorer)
    assert scorer.logits([("a", "b")]).values.shape == (1, 1), "nothing else reads it"


def test_the_precision_of_all_metrics_is_one_that_was_measured_for_each(scorer: PairScorer) -> None:
    fast, slow = (Drift(name, "torch", "bfloat16", HERE, 0.001, 0.0, 20.0) for name in ("stsscore", "nli_lex"))
    exact = [Drift(name, "torch", "float32", HERE, 0.0, 0.0, 10.0) for name in ("stsscore", "nli_lex")]
    record(scorer, fast, *exact)
    assert chosen(scorer) == "float32", "nobody measured bfloat16 for nli_lex"
    record(scorer, slow)
    assert chosen(scorer) == "bfloat16"


def test_processors_of_other_makers_are_other_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = []
    for maker in ("AuthenticAMD", "GenuineIntel", "another"):
        (tmp_path / maker).write_text(f"processor\t: 0\nvendor_id\t: {maker}\nflags\t\t: fpu\n", encoding="utf-8")
        monkeypatch.setattr(drifts, "CPU_INFO", tmp_path / maker)
        kinds.append(processor().split("+")[0])
    assert kinds == ["amd", "intel", platform.machine().lower()]


def test_a_metric_goes_by_its_own_drifts_alone(tmp_path: Path) -> None:
    folder = tiny.bert(tmp_path / "bert")
    rates, judges, both = PairScorer(folder, "stsscore"), PairScorer(folder, "nli_lex"), PairScorer(folder)
    record(
        rates,
        Drift("stsscore", "torch", "bfloat16", HERE, 0.003, 0.0, 20.0),
        Drift("nli_lex", "torch", "bfloat16", HERE, 0.02, 0.0, 20.0),
        Drift("nli_lex", "torch", "float32", HERE, 0.0, 0.0, 10.0),
    )
    assert [chosen(scorer) for scorer in (rates, judges, both)] == ["bfloat16", "float32", "float32"]
