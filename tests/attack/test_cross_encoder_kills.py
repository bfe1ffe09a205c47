"""SIGKILL at random moments of a cross-encoder's training: continued, it ends in the weights of a whole run."""

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from tests import tiny_pairs as tiny
from tests.attack.test_kills import in_a_child, kill_after
from tests.tiny_table import WORDS
from training.cross_encoder.pairs import CrossEncoderConfig, PairSource
from training.data.sources import Table
from training.train_cross_encoder import train

pytestmark = pytest.mark.slow

KILLS = 10
MAX_SECONDS = 1200  # for a run that is not killed, on a busy machine
WEIGHTS = "checkpoint/model.safetensors"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[[Path, bool], int]]:
    """Train a tiny scorer in this process: 12 steps, a state after every third."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads that start here would be missing in a child
    rng = np.random.default_rng(0)
    for name in ("train", "dev"):
        texts = [[" ".join(rng.permutation(WORDS)[:5]) for _ in range(48)] for _ in range(2)]
        rows = pd.DataFrame({"sentence1": texts[0], "sentence2": texts[1], "score": rng.integers(0, 6, 48)})
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    pairs = PairSource("train", Table("train.csv"), columns=["sentence1", "sentence2", "score"], scale=5)
    config = CrossEncoderConfig(
        name="stsscore",
        init=str(tiny.bert(tmp_path / "start", labels=2)),
        train=[pairs],
        validate=[PairSource("dev", Table("dev.csv"), columns=["sentence1", "sentence2", "score"], scale=5)],
        licence="apache-2.0",
        max_length=24,
        epochs=2,
        batch_size=8,
        lr=3e-3,
        validate_every=3,
    )

    def work(output: Path, resume: bool) -> int:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads do not survive a fork
        train(config, tmp_path, output, resume=resume)
        return 0

    yield work
    torch.set_num_threads(threads)


def test_a_killed_run_is_resumed_to_the_same_weights(run: Callable[[Path, bool], int], tmp_path: Path) -> None:
    draw, whole, output = random.Random(19), tmp_path / "whole", tmp_path / "run"
    begin = time.monotonic()
    assert kill_after(in_a_child(partial(run, whole, False)), MAX_SECONDS)
    seconds, weights = time.monotonic() - begin, (whole / WEIGHTS).read_bytes()
    kills = 0
    while kills < KILLS:
        if not kill_after(in_a_child(partial(run, output, output.exists())), draw.uniform(0, 1.1 * seconds)):
            kills += 1
            continue
        assert (output / WEIGHTS).read_bytes() == weights
        shutil.rmtree(output)
    assert kill_after(in_a_child(partial(run, output, True)), MAX_SECONDS)
    assert (output / WEIGHTS).read_bytes() == weights
    assert sorted(path.name for path in output.iterdir()) == ["checkpoint", "state"]
