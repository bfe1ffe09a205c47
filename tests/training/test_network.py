"""A run's `network/` in the authors' package, matcha-metric 0.1.8, by its own loader, and in the metric."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

from semantic_metrics import load
from tests.training.conftest import TRAINING
from training.matcha.config import TrainConfig
from training.train import Run

pytest.importorskip("matcha_metric")  # a peer, for comparison only

from matcha_metric import MATCHA

from benchmarks.papers.matcha.authors_package import END, train_tokenizer

TEXTS = [
    "The court accepted the appeal.",
    "The court did not accept the appeal.",
    "",
    "Caf\u00e9 au lait \u2615",
    "dog " * 600,
]
WIDTH = 16


@pytest.fixture
def gpt2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """A tiny GPT-2 under the name "gpt2" in the Hub's cache, where the package looks for it; its vocabulary's size."""
    tokenizer = train_tokenizer(TEXTS, vocab_size=600)
    repository = tmp_path / "hub" / "models--gpt2"
    snapshot = repository / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40, encoding="utf-8")
    torch.manual_seed(0)
    size = tokenizer.token_to_id(END) + 1
    shape = GPT2Config(vocab_size=size, n_embd=WIDTH, n_layer=2, n_head=2, bos_token_id=size - 1, eos_token_id=size - 1)
    GPT2Model(shape).save_pretrained(snapshot)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END).save_pretrained(snapshot)
    model = json.loads(tokenizer.to_str())["model"]
    (snapshot / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    merges = "".join(f"{' '.join(pair)}\n" for pair in model["merges"])
    (snapshot / "merges.txt").write_text(f"#version: 0.2\n{merges}", encoding="utf-8")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return size


def test_the_package_loads_the_network_of_a_run_that_began_with_gpt2(
    config: TrainConfig, gpt2: int, tmp_path: Path
) -> None:
    run = Run(replace(config, init="gpt2", steps=3), TRAINING, tmp_path / "run")
    run.train()
    folder = tmp_path / "run" / "network"
    peer = MATCHA.from_pretrained(str(folder), device="cpu")
    assert peer.model.word_embeddings.weight.shape == (gpt2, WIDTH)
    assert torch.equal(peer.model.word_embeddings.weight, run.average.module.word_embeddings.weight)
    others = TEXTS[1:] + TEXTS[:1]
    expected = peer.score(TEXTS, others).tolist()
    assert max(expected) - min(expected) > 1e-3
    result = load("matcha", f"{folder}/").compute(predictions=TEXTS, references=others)
    assert result["scores"] == pytest.approx(expected, abs=1e-6)


def test_the_network_of_another_run_loads_in_the_metric(config: TrainConfig, tmp_path: Path) -> None:
    run = Run(replace(config, steps=3), TRAINING, tmp_path)
    run.train()
    metric = load("matcha", f"{tmp_path}/network/")
    assert torch.allclose(torch.from_numpy(metric.encoder.weights), run.average.module.fold(), atol=1e-6)
