"""Training of cross-encoders: real runs of a tiny BERT on a few sentences."""

import json
import pickle
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from sentence_transformers import CrossEncoder
from transformers.trainer_utils import set_seed

from semantic_metrics import load
from semantic_metrics.cross_encoder import eight_bits
from tests import tiny_pairs as tiny
from tests.tiny_table import WORDS
from tests.training.conftest import CONFIGS
from tests.training.test_train import Planted
from training import shrink, train_cross_encoder
from training.cross_encoder.pairs import CrossEncoderConfig, Outputs, PairSource
from training.data.config_files import read_yaml
from training.data.sources import Table
from training.data.states import UnusableState
from training.train_cross_encoder import (
    SimilarLengths,
    build_model,
    find_state,
    start_digest,
    train,
    training_arguments,
)

OTHERS = [word for word in WORDS if word != "not"]
CLASSES = ["entailment", "neutral", "contradiction"]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("start") / "bert", labels=2)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs whose score is how often the second says "not", and a class made from it: a tiny model can learn that."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    for name, count in (("train", 96), ("dev", 40)):
        often = rng.integers(0, 5, count)
        drawn = [rng.permutation(OTHERS) for _ in range(count)]
        first = [" ".join(words[:4]) for words in drawn]
        second = [" ".join([*["not"] * n, *words[4 : 8 - n]]) for words, n in zip(drawn, often, strict=True)]
        labels = [CLASSES[0] if n == 4 else CLASSES[2] if n == 0 else CLASSES[1] for n in often]
        rows = pd.DataFrame({"sentence1": first, "sentence2": second, "score": often * 1.25, "label": labels})
        rows.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def stsb(start: Path) -> CrossEncoderConfig:
    pairs = PairSource("train", Table("train.csv"), columns=["sentence1", "sentence2", "score"], scale=5)
    validate = replace(pairs, name="dev", table=Table("dev.csv"))
    settings = {"max_length": 32, "epochs": 2, "batch_tokens": 128, "lr": 0.003, "validate_every": 12}
    return CrossEncoderConfig("stsscore", str(start), [pairs], [validate], "apache-2.0", **settings)


@pytest.fixture(scope="module")
def nli(stsb: CrossEncoderConfig) -> CrossEncoderConfig:
    train, validate = (
        [replace(source, columns=["sentence1", "sentence2", "label"], scale=None) for source in sources]
        for sources in (stsb.train, stsb.validate)
    )
    return replace(stsb, name="nli", classes=CLASSES, train=train, validate=validate, epochs=1)


@settings(max_examples=30)
@given(
    st.lists(st.integers(3, 60), min_size=1, max_size=300), st.integers(64, 400), st.integers(0, 3), st.integers(1, 3)
)
def test_every_pair_stands_in_one_batch_an_epoch_that_is_no_larger_than_asked_for(
    lengths: list[int], tokens: int, epoch: int, processes: int
) -> None:
    dataset = Dataset.from_dict({"sentence1": ["a"] * len(lengths)})
    sampler = SimilarLengths(np.array(lengths), tokens, dataset, 1, drop_last=False, seed=5)
    sampler.processes = processes
    sampler.set_epoch(epoch)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    assert len(batches) % processes == 0
    rows = sorted(i for batch in batches for i in batch)
    assert rows == sorted(set(rows))
    assert set(rows) <= set(range(len(lengths)))
    if processes == 1:
        assert rows == list(range(len(lengths)))
    assert all(len(batch) * max(sampler.lengths[batch]) <= max(tokens, 64) for batch in batches)
    assert batches == list(sampler)


def test_pairs_that_are_too_long_are_left_out_and_counted(stsb: CrossEncoderConfig, data: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(data / "train.csv")
    rows.loc[:9, "sentence1"] = (rows.loc[:9, "sentence1"] + " ") * 3
    (tmp_path / "data").mkdir()
    rows.to_csv(tmp_path / "data" / "train.csv", index=False)
    shutil.copy(data / "dev.csv", tmp_path / "data")
    train(replace(stsb, max_length=16, epochs=1, validate_every=1000), tmp_path / "data", tmp_path / "out")
    record = json.loads((tmp_path / "out" / "checkpoint" / "training.json").read_text())
    assert (record["pairs_too_long"], record["pairs_per_pass"]) == (10, 86)
    with pytest.raises(train_cross_encoder.InvalidRun, match="max_length: expected tokens for one of 96 pairs or more"):
        train(replace(stsb, max_length=8), data, tmp_path / "none")


def test_a_share_of_the_start_is_kept(stsb: CrossEncoderConfig, start: Path, data: Path, tmp_path: Path) -> None:
    weights = [load_file(start / "model.safetensors")]
    for share in (0.0, 0.5):
        train(replace(stsb, share_of_start=share, validate_every=1000), data, tmp_path / str(share))
        weights.append(load_file(tmp_path / str(share) / "checkpoint" / "model.safetensors"))
    before, trained, mean = (one["bert.encoder.layer.0.output.dense.weight"].float() for one in weights)
    assert not torch.equal(trained, before)
    assert torch.allclose(mean, (before + trained) / 2, atol=1e-3)


def test_frozen_layers_keep_their_weights(stsb: CrossEncoderConfig, start: Path, data: Path, tmp_path: Path) -> None:
    train(replace(stsb, frozen_layers=1, validate_every=1000), data, tmp_path)
    before, after = (load_file(path / "model.safetensors") for path in (start, tmp_path / "checkpoint"))
    frozen = [name for name in after if "embeddings" in name or "layer.0." in name]
    assert frozen
    assert all(torch.equal(after[name], before[name].half()) for name in frozen)
    changed = [name for name in after if name not in frozen and name in before and after[name].ndim == 2]
    assert any(not torch.equal(after[name], before[name].half()) for name in changed)


def test_layers_of_a_checkpoint_in_eight_bits_are_a_start(nli: CrossEncoderConfig, data: Path, tmp_path: Path) -> None:
    start = tiny.bert(tmp_path / "start", labels=3, num_hidden_layers=4)
    weights = load_file(start / "model.safetensors")
    (start / "model.safetensors").unlink()
    eight_bits.write(weights, start)
    config = replace(nli, init=str(start), layers=[0, 3], frozen_layers=0)
    before = build_model(config, config.init).model.state_dict()
    kept = "bert.encoder.layer.1.output.dense.weight"
    original = weights["bert.encoder.layer.3.output.dense.weight"].float()
    assert before[kept] == pytest.approx(original, abs=float(original.abs().max()) / 127)
    train(config, data, tmp_path / "run")
    assert CrossEncoder(str(tmp_path / "run" / "checkpoint")).config.num_hidden_layers == 2
    after = load_file(tmp_path / "run" / "checkpoint" / "model.safetensors")
    assert not torch.equal(after[kept], before[kept].half())
    frozen = "bert.embeddings.word_embeddings.weight"
    assert torch.equal(after[frozen], before[frozen].half())
    with pytest.raises(train_cross_encoder.InvalidRun, match=r"layers: expected numbers from 0 to 3, got \[0, 4\]"):
        train(replace(config, layers=[0, 4]), data, tmp_path / "none")


def test_a_scorer_learns_and_the_metric_reads_its_scale(stsb: CrossEncoderConfig, data: Path, tmp_path: Path) -> None:
    figures = train(replace(stsb, epochs=10, validate_every=60), data, tmp_path / "run")
    assert figures["dev_pearson"] > 0.5
    folder = tmp_path / "run" / "checkpoint"
    rows = pd.read_csv(data / "dev.csv")
    texts = {"predictions": rows["sentence2"].tolist(), "references": rows["sentence1"].tolist()}
    result = load("stsscore", str(folder)).compute(**texts)
    assert np.corrcoef(result["scores"], rows["score"])[0, 1] == pytest.approx(figures["dev_pearson"], abs=1e-3)
    assert np.mean(result["scores"]) == pytest.approx(rows["score"].mean() / 5, abs=0.15)
    assert all(tensor.dtype == torch.float16 for tensor in load_file(folder / "model.safetensors").values())
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "license: apache-2.0" in card
    assert "| train 96 | " in card
    assert str(data) not in card


def test_resume_takes_complete_states_of_the_same_config_alone(
    stsb: CrossEncoderConfig, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    output = tmp_path / "out"
    train(stsb, data, output)
    (first, second), states = (output / "state" / f"checkpoint-{step}" for step in (12, 24)), output / "state"
    set_seed(stsb.seed)
    start = start_digest(build_model(stsb, stsb.init))
    assert find_state(states, stsb, start) == second
    other = str(tiny.bert(tmp_path / "other", labels=1, seed=7))
    with pytest.raises(UnusableState, match=r"the config of the run in .*checkpoint-24, got another init$"):
        train(stsb, data, output, other, resume=True)
    with pytest.raises(UnusableState, match=r"the config of the run in .*checkpoint-24, got another epochs, lr"):
        train(replace(stsb, lr=1e-4, epochs=3), data, output, resume=True)
    optimizer = second / "optimizer.pt"
    planted = pickle.dumps(Planted(tmp_path / "made")).ljust(optimizer.stat().st_size)
    optimizer.write_bytes(planted)
    with pytest.raises(UnusableState, match="checkpoint-24 contains other objects than tensors"):
        train(stsb, data, output, resume=True)
    assert not (tmp_path / "made").exists()
    optimizer.write_bytes(planted[:-1])  # cut off
    assert find_state(states, stsb, start) == first
    (first / "trainer_state.json").unlink()
    assert find_state(states, stsb, start) is None
    train(replace(stsb, epochs=1), data, output, resume=True)
    assert f"--resume: no state in {output}, starting at step 0" in capsys.readouterr().err
    assert [path.name for path in states.glob("checkpoint-*")] == ["checkpoint-12"]


@pytest.mark.parametrize(
    ("change", "init", "message"),
    [
        ({}, "./none", "init: expected a model, got './none' ("),
        ({}, "nobody/none", "got 'nobody/none' ("),  # the message of transformers has two lines and no name
        ({"table": Table("none.csv")}, None, "path: no file "),
        ({"columns": ["sentence1", "sentence2", "rating"]}, None, "train: expected columns ['rating']"),
        ({"scale": 2.0}, None, "train: expected scores from 0 to 2.0, got 0.0 to 5.0"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    change: dict, init: str | None, message: str, stsb: CrossEncoderConfig, data: Path, tmp_path: Path
) -> None:
    config = replace(stsb, train=[replace(stsb.train[0], **change)])
    with pytest.raises(train_cross_encoder.InvalidRun) as error:
        train(config, data, tmp_path / "out", init)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_the_paper_s_recipe_is_as_the_paper_states_it(tmp_path: Path) -> None:
    config = read_yaml(CONFIGS / "cross_encoder" / "stsb.yaml", CrossEncoderConfig)
    stated = training_arguments(config, np.ones(4), tmp_path)
    assert (stated.learning_rate, stated.num_train_epochs, stated.weight_decay) == (2e-5, 10, 0)
    assert (stated.lr_scheduler_type, stated.warmup_steps) == ("linear", 0.06)
    assert (stated.adam_beta1, stated.adam_beta2, stated.adam_epsilon) == (0.9, 0.999, 1e-8)
    assert (config.classes, config.top_score) == (None, 5)  # mean squared error of raw scores


def test_a_config_is_tried_with_new_values_and_few_steps(
    stsb: CrossEncoderConfig,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = CONFIGS / "cross_encoder" / "stsb.yaml"
    config = read_yaml(path, CrossEncoderConfig, ["lr=1e-5", "epochs=3", "classes=[a, b]"])
    assert (config.lr, config.epochs, config.classes) == (1e-5, 3, ["a", "b"])
    refused = {"stepz=3": "stepz: unknown key", "lr=-1": "lr: expected greater than 0", "lr=[": "as YAML writes it"}
    for change, message in refused.items():
        with pytest.raises(ValueError, match=message):
            read_yaml(path, CrossEncoderConfig, [change])
    monkeypatch.setattr(sys, "argv", ["train", "--task", "stsb", "--steps", "0", "--output", str(tmp_path)])
    with pytest.raises(SystemExit):
        train_cross_encoder.main()
    assert "--steps: expected 1 or more, got 0" in capsys.readouterr().err
    train(stsb, data, tmp_path, steps=2)
    assert json.loads((tmp_path / "checkpoint" / "training.json").read_text(encoding="utf-8"))["steps"] == 2
    small = str(tmp_path / "small")
    monkeypatch.setattr(sys, "argv", ["shrink", str(tmp_path / "checkpoint"), "--data", str(data), "--output", small])
    capsys.readouterr()
    shrink.main()
    printed = json.loads(capsys.readouterr().out)  # of a scorer without classes
    assert printed["pairs"] == 40
    assert set(printed["figures"]["dev"]) >= {"pearson", "spearman"}


def test_a_similarity_that_the_start_has_learned_is_not_reset(stsb: CrossEncoderConfig, tmp_path: Path) -> None:
    names = [*CLASSES, "similarity"]
    alone = tiny.bert(tmp_path / "alone")
    beside = tiny.bert(tmp_path / "beside", {**tiny.IDENTITY, **tiny.named(names)}, labels=4)
    for config, trained, other in (
        (stsb, alone, beside),
        (replace(stsb, classes=CLASSES, similarity=True), beside, alone),
    ):
        stored = load_file(trained / "model.safetensors")["classifier.bias"]
        kept, new = (build_model(config, str(folder)).model.classifier.bias for folder in (trained, other))
        torch.testing.assert_close(kept.detach(), stored)
        assert float(new[-1].detach()) == config.top_score / 2


def test_evaluation_texts_are_kept_out(stsb: CrossEncoderConfig, data: Path) -> None:
    held_out = pd.read_csv(data / "train.csv")["sentence1"].iloc[:3].str.lower().tolist()
    pairs, counts = stsb.train[0].load(data, stsb.outputs, frozenset(held_out))
    assert counts["dropped: in an evaluation set"] == 96 - len(pairs) >= 3
    assert not set(pairs["sentence1"]) & set(held_out)


def test_one_model_learns_classes_and_a_similarity_and_both_metrics_read_it(
    stsb: CrossEncoderConfig, nli: CrossEncoderConfig, data: Path, tmp_path: Path
) -> None:
    taught = replace(stsb.train[0], name="taught", scale=None, columns=["sentence1", "sentence2", *CLASSES, "score"])
    rows = pd.read_csv(data / "train.csv")
    rows[CLASSES] = np.stack([rows["label"] == name for name in CLASSES], axis=1) * 0.8 + 0.2 / 3
    (tmp_path / "data").mkdir()
    rows.assign(score=rows["score"] / 5).to_csv(tmp_path / "data" / "train.csv", index=False)
    pd.read_csv(data / "dev.csv").to_csv(tmp_path / "data" / "dev.csv", index=False)
    validate = [nli.validate[0], replace(stsb.validate[0], name="ratings")]
    classes = replace(taught, name="classes", columns=taught.columns[:-1])  # nothing is known of their similarity
    assert np.isnan(
        np.stack(classes.load(tmp_path / "data", Outputs(CLASSES, True), frozenset())[0]["label"])[:, -1]
    ).all()
    config = replace(nli, similarity=True, train=[taught, classes], validate=validate, epochs=5, validate_every=60)
    figures = train(config, tmp_path / "data", tmp_path / "run")
    assert figures["dev_accuracy"] > 0.6
    assert figures["ratings_pearson"] > 0.5
    folder, dev = f"{tmp_path / 'run' / 'checkpoint'}/", pd.read_csv(data / "dev.csv")
    texts = {"predictions": dev["sentence2"].tolist(), "references": dev["sentence1"].tolist()}
    result = load("consensus", folder).compute(**texts)
    assert np.corrcoef(load("stsscore", folder).compute(**texts)["scores"], dev["score"])[0, 1] > 0.5
    label = dict(zip(CLASSES, (1, 0, -1), strict=True))
    nli_part = np.subtract(result["parts"]["entailment"], result["parts"]["contradiction"])
    assert np.corrcoef(nli_part, dev["label"].map(label))[0, 1] > 0
