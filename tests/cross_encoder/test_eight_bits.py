"""Weights in 8 bits: what is stored comes back, and damage is refused in one line."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder

from semantic_metrics.core.checkpoint_files import WEIGHTS
from semantic_metrics.cross_encoder import eight_bits
from semantic_metrics.cross_encoder.eight_bits import to_half
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from tests.consensus.conftest import both_heads
from training.shrink import shrink

PAIRS = [("A man sleeps.", "A man is asleep."), ("It rained.", "It did not rain."), ("a", "b")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return both_heads(tmp_path / "float")


@pytest.fixture
def shrunk(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(eight_bits, "SHARD_BYTES", 4096)
    shrink(folder, tmp_path / "shrunk")
    return tmp_path / "shrunk"


@pytest.mark.parametrize("columns", [33, 128])
def test_each_value_comes_back_within_half_a_step_of_its_group(columns: int) -> None:
    generator = torch.Generator().manual_seed(0)
    weights = {"a.weight": torch.randn(7, columns, generator=generator), "a.bias": torch.randn(7, generator=generator)}
    weights["a.weight"][3] = 0.0
    weights["a.weight"][4, 0] = 1000.0
    stored = eight_bits.to_eight_bits(weights)
    assert stored["a.weight"].dtype == torch.int8
    back = eight_bits.from_eight_bits(stored)
    steps = stored["a.weight.scales"].float().repeat_interleave(columns // stored["a.weight.scales"].shape[1], dim=1)
    assert bool(((back["a.weight"] - weights["a.weight"]).abs() <= steps * 0.6 + 1e-6).all())
    assert torch.equal(back["a.bias"], weights["a.bias"])
    assert not back["a.weight"][3].any()


def test_a_checkpoint_in_shards_scores_as_the_one_that_it_was_made_of(folder: Path, shrunk: Path) -> None:
    assert len(list(shrunk.glob("model-*.safetensors"))) > 1
    assert not (shrunk / WEIGHTS).exists()
    before, after = (PairScorer(path).logits(PAIRS).values for path in (folder, shrunk))
    assert after == pytest.approx(before, abs=0.2)  # of logits of a tiny model whose weights are random
    assert PairScorer(folder).checkpoint_sha256 != PairScorer(shrunk).checkpoint_sha256


def _damage(shrunk: Path, change: str) -> str:
    """Damage the shard of one matrix; result: its name."""
    index = json.loads((shrunk / eight_bits.INDEX).read_text())["weight_map"]
    name = next(name for name in index if name.endswith("weight.scales"))
    path = shrunk / index[name]
    tensors = load_file(path)
    if change == "missing":
        del tensors[name]
    elif change == "short":
        tensors[name] = tensors[name][1:].contiguous()
    elif change == "twice":
        shutil.copy(path, shrunk / "model-99999-of-99999.safetensors")
    elif change == "flat":
        tensors[name.removesuffix(eight_bits.SCALES)] = torch.zeros(3, dtype=torch.int8)
    else:
        tensors[name][0] = {"zero": 0.0, "negative": -1.0, "nan": torch.nan, "inf": torch.inf}[change]
    save_file(tensors, path, metadata={"format": "pt"})
    return path.name


@pytest.mark.parametrize("change", ["missing", "short", "flat", "twice", "zero", "negative", "nan", "inf"])
def test_damaged_scales_are_refused_by_the_name_of_their_file(shrunk: Path, change: str) -> None:
    place = _damage(shrunk, change)
    file = {"missing": eight_bits.INDEX, "twice": "model-99999-of-99999.safetensors"}.get(change, place)
    with pytest.raises(ValueError, match=rf"^checkpoint {shrunk}: .*{file}.*expected") as caught:
        PairScorer(shrunk)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "file"),
    [("gone", eight_bits.INDEX), ("cut", "model-00001-of"), ("header", "model-00001-of"), ("index", eight_bits.INDEX)],
)
def test_shards_that_are_gone_or_cut_and_a_damaged_index_are_refused(shrunk: Path, change: str, file: str) -> None:
    first, *_, last = sorted(shrunk.glob("model-*.safetensors"))
    if change == "gone":
        last.unlink()
    elif change == "index":
        (shrunk / eight_bits.INDEX).write_text("[]")
    else:
        first.write_bytes(first.read_bytes()[:-100] if change == "cut" else b"\xff" * 7)
    with pytest.raises(ValueError, match=rf"^checkpoint {shrunk}: .*{file}") as caught:
        PairScorer(shrunk)
    assert "\n" not in str(caught.value)


def test_integers_without_any_scales_are_refused(shrunk: Path) -> None:
    for path in shrunk.glob("model-*.safetensors"):
        kept = {name: values for name, values in load_file(path).items() if not name.endswith(eight_bits.SCALES)}
        save_file(kept, path, metadata={"format": "pt"})
    (shrunk / eight_bits.INDEX).unlink()
    with pytest.raises(ValueError, match="expected scales of the shape"):
        PairScorer(shrunk)


def test_pushed_weights_are_in_half_precision_for_sentence_transformers(
    folder: Path, shrunk: Path, tmp_path: Path
) -> None:
    pushed, other = (Path(shutil.copytree(path, tmp_path / name)) for path, name in ((shrunk, "a"), (folder, "b")))
    to_half(pushed)
    assert load_file(pushed / WEIGHTS)["classifier.weight"].dtype == torch.float16
    assert not list(pushed.glob("model-*"))
    after = CrossEncoder(str(pushed), device="cpu").float().predict(PAIRS, activation_fn=torch.nn.Identity())
    assert after == pytest.approx(PairScorer(shrunk).logits(PAIRS).values, abs=0.01)
    to_half(other)
    assert (other / WEIGHTS).read_bytes() == (folder / WEIGHTS).read_bytes()
