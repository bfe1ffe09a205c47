"""The training loop, run for real on the bundled triplets, and what --resume continues from."""

import json
import os
import pickle
import socket
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from accelerate.state import AcceleratorState
from huggingface_hub import constants
from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

from benchmarks.papers.matcha.authors_package import END, train_tokenizer
from semantic_metrics import load
from semantic_metrics.matcha.checkpoint import CONTEXTUAL, load_checkpoint
from semantic_metrics.matcha.table import MatchaTable, cosine
from tests.attack.test_kills import in_a_child
from tests.training.conftest import TRAINING
from training import train
from training.data.states import UnusableState, discard, restore_folder, written_whole
from training.matcha.config import TrainConfig
from training.train import Run, find_state


def weights(run: Run) -> dict[str, torch.Tensor]:
    average = {f"average.{name}": value for name, value in run.average.state_dict().items()}
    return run.accelerator.unwrap_model(run.model).state_dict() | average


class Interrupted(Exception):
    """Stands for whatever ends a run in the middle."""


@pytest.mark.parametrize(("kind", "stop"), [("config", 1), ("contextual", 5)])
def test_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int, request: pytest.FixtureRequest
) -> None:
    config = replace(request.getfixturevalue(kind), save_every=4, average=0.5)
    whole = Run(config, TRAINING, tmp_path / "whole")
    assert any(module.p > 0 for module in whole.model.modules() if isinstance(module, torch.nn.Dropout))
    whole.train()

    after_step = Run._after_step

    def stopping(run: Run, loss: torch.Tensor) -> None:
        after_step(run, loss)
        if run.step == stop:
            raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(Run, "_after_step", stopping)
        with pytest.raises(Interrupted):
            Run(config, TRAINING, tmp_path / "cut").train()
    torch.rand(7)  # another process would not stand where this one does
    resumed = Run(config, TRAINING, tmp_path / "cut")
    resumed.train(resume=True)

    assert resumed.step == config.steps
    for name, value in weights(whole).items():
        assert torch.equal(value, weights(resumed)[name]), name


def test_contextual_run_ends_in_a_checkpoint_that_the_metric_loads(contextual: TrainConfig, tmp_path: Path) -> None:
    Run(replace(contextual, name=CONTEXTUAL), TRAINING, tmp_path / "out").train()
    folder = tmp_path / "out" / "checkpoint"
    metric = load("matcha", f"{folder}/")
    reference, turned = "The shop opens in the morning.", "The morning opens in the shop."
    assert metric.compute(predictions=[turned], references=[reference])["matcha"] < 1 - 1e-6
    card = (folder / "README.md").read_text()
    assert 'evaluate.load("metrics/matcha", "contextual")' in card
    assert "bag of tokens" not in card
    assert f"the first {contextual.network['max_length']} tokens" in card


def test_output_is_a_checkpoint_a_card_a_log_and_the_network(config: TrainConfig, tmp_path: Path) -> None:
    run = Run(config, TRAINING, tmp_path)  # no average: the last weights are kept
    run.train()
    folder = tmp_path / "checkpoint"
    table = MatchaTable.from_folder(folder)
    assert table.weights.dtype == np.float16
    metric = load("matcha", str(folder))
    assert metric.compute(predictions=["The cat sleeps."], references=["the cat sleeps."])["matcha"] == 1.0
    card = (folder / "README.md").read_text()
    front = yaml.safe_load(card.split("---")[1])
    assert front["license"] == "cc-by-sa-4.0"
    assert [metric["type"] for metric in front["model-index"][0]["results"][0]["metrics"]]
    assert "written for this project" in card
    assert list(tmp_path.glob("logs/**/events.out.tfevents*"))

    stored = torch.load(tmp_path / "network" / "max_diff.pth", weights_only=True)["model_state_dict"]
    model = run.average.module
    assert torch.equal(model.transformation_matrix, weights(run)["transformation_matrix"])
    model.load_state_dict(stored)
    assert torch.nn.functional.cosine_similarity(model.fold(), torch.from_numpy(table.weights).float()).min() > 1 - 1e-5
    loaded = load("matcha", f"{tmp_path}/network/").encoder.weights
    assert torch.allclose(torch.from_numpy(loaded), model.fold(), atol=1e-6)


def test_without_a_config_the_smoke_run_is_trained_on_bundled_data(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.delenv("SEMANTIC_METRICS_DATA", raising=False)
    stored = yaml.safe_load(train.SMOKE.read_text())
    stored |= {key: getattr(config, key) for key in ("init", "network", "batch_size")}  # a smaller model
    (tmp_path / "smoke.yaml").write_text(yaml.safe_dump(stored))
    monkeypatch.setattr(train, "SMOKE", tmp_path / "smoke.yaml")
    monkeypatch.setattr(sys, "argv", ["train.py", "--output", str(tmp_path / "out")])
    train.main()
    assert f"no --config: this trains {tmp_path / 'smoke.yaml'}" in capsys.readouterr().err
    assert (tmp_path / "out" / "checkpoint" / "model.safetensors").is_file()


def run_forked(config: TrainConfig, output: Path) -> None:
    """Two processes that have the modules loaded already: seconds less than `torchrun`."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def work(rank: int) -> int:
        os.environ.update(WORLD_SIZE="2", RANK=str(rank), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1")
        os.environ.update(MASTER_PORT=str(port), ACCELERATE_USE_CPU="true", TOKENIZERS_PARALLELISM="false")
        AcceleratorState._reset_state(reset_partial_state=True)
        Run(config, TRAINING, output).train()
        return 0

    children = [in_a_child(partial(work, rank)) for rank in range(2)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]


def test_two_processes_validate_as_one(config: TrainConfig, tmp_path: Path) -> None:
    network = config.network | {"embd_pdrop": 0.0, "resid_pdrop": 0.0}
    config = replace(config, network=network, steps=6, validate_every=6, accumulate=2)
    Run(config, TRAINING, tmp_path / "1").train()
    run_forked(config, tmp_path / "2")
    figures, vectors = [], []
    for processes in (1, 2):
        folder = tmp_path / str(processes) / "checkpoint"
        record = json.loads((folder / "training.json").read_text())
        assert record["processes"] == processes
        figures.append(record["validation"]["bundled"])
        texts = pd.read_csv(TRAINING / "data" / "smoke.csv").reference.tolist()
        vectors.append(load_checkpoint(f"{folder}/").encode(texts).vectors)
    assert figures[0] == pytest.approx(figures[1], abs=0.1)  # in percent: 1e-3 of the unit
    assert cosine(*vectors).min() > 1 - 1e-3


class Planted:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


@pytest.fixture
def output(config: TrainConfig, tmp_path: Path) -> Path:
    """The folder of a run of four steps, which saved its last state after the fourth."""
    Run(replace(config, steps=4), TRAINING, tmp_path / "out").train()
    return tmp_path / "out"


def resume(config: TrainConfig, output: Path) -> Run:
    run = Run(replace(config, steps=4), TRAINING, output)
    run.train(resume=True)
    return run


def test_planted_pickle_is_refused_and_not_run(config: TrainConfig, output: Path, tmp_path: Path) -> None:
    planted = pickle.dumps(Planted(tmp_path / "made"))
    (output / "state" / "custom_checkpoint_0.pkl").write_bytes(planted)
    assert resume(config, output).step == 4
    for name in ("random_0.pt", "run.pt"):
        (output / "state" / "step-4" / name).write_bytes(planted)
        with pytest.raises(UnusableState, match=rf"--resume: .*{name} cannot be read \(UnpicklingError\)"):
            resume(config, output)
    assert not (tmp_path / "made").exists()


def test_state_of_another_config_is_refused(config: TrainConfig, output: Path) -> None:
    with pytest.raises(UnusableState, match=r"the config of the run in .*step-4, got another lr, seed$"):
        resume(replace(config, lr=1e-3, seed=7), output)


def test_new_run_in_an_old_folder_does_not_continue_it(
    config: TrainConfig, output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Run, "_batch_loss", lambda *_: (_ for _ in ()).throw(InterruptedError))  # before its first state
        with pytest.raises(InterruptedError):
            Run(replace(config, lr=1e-3, steps=4), TRAINING, output).train()
    assert find_state(output) is None
    resume(replace(config, lr=1e-3), output)
    assert "no state in" in capsys.readouterr().out
    assert json.loads((output / "checkpoint" / "training.json").read_text())["config"]["lr"] == 1e-3


def test_folder_is_whole_or_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"

    def write(content: str, fails: bool = False) -> None:
        with written_whole(folder) as new:
            (new / "file").write_text(content)
            if fails:
                raise InterruptedError

    write("first")
    with pytest.raises(InterruptedError):
        write("second", fails=True)
    assert (folder / "file").read_text() == "first"
    folder.rename(tmp_path / "checkpoint.old")  # as a kill between the two renames leaves it
    restore_folder(folder)
    assert (folder / "file").read_text() == "first"
    write("third")
    assert (folder / "file").read_text() == "third"
    discard(folder)
    assert not list(tmp_path.iterdir())


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


def test_the_package_loads_a_network_that_began_with_gpt2(config: TrainConfig, gpt2: int, tmp_path: Path) -> None:
    peer_package = pytest.importorskip("matcha_metric")  # for comparison only
    run = Run(replace(config, init="gpt2", steps=3), TRAINING, tmp_path / "run")
    run.train()
    folder = tmp_path / "run" / "network"
    peer = peer_package.MATCHA.from_pretrained(str(folder), device="cpu")
    assert peer.model.word_embeddings.weight.shape == (gpt2, WIDTH)
    assert torch.equal(peer.model.word_embeddings.weight, run.average.module.word_embeddings.weight)
    others = TEXTS[1:] + TEXTS[:1]
    expected = peer.score(TEXTS, others).tolist()
    assert max(expected) - min(expected) > 1e-3
    result = load("matcha", f"{folder}/").compute(predictions=TEXTS, references=others)
    assert result["scores"] == pytest.approx(expected, abs=1e-6)
