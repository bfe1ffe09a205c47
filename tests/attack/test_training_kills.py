"""SIGKILL at random moments of a training run: continued, it ends in the weights of one that was never interrupted."""

import os
import random
import shutil
import sys
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
from training import train, train_cross_encoder
from training.cross_encoder.pairs import CrossEncoderConfig, PairSource
from training.data.sources import Table

pytestmark = pytest.mark.slow

KILLS = 10
MAX_SECONDS = 1200  # for a run that is not killed, on a busy machine
WEIGHTS = ("checkpoint/model.safetensors", "network/max_diff.pth")  # a cross-encoder has the first alone
LEFT = {"matcha": ["checkpoint", "logs", "network", "state"], "cross_encoder": ["checkpoint", "state"]}
Work = Callable[[Path, bool], int]


def smoke(output: Path, resume: bool) -> int:
    """Run `train.py` with its smoke config in a child."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads do not survive a fork
    sys.argv = ["train.py", "--output", str(output), *(["--resume"] if resume else [])]
    train.main()
    return 0


@pytest.fixture
def cross_encoder(tmp_path: Path) -> Iterator[Work]:
    """Train a tiny scorer in this process: 12 steps, a state after every third."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads that start here would be missing in a child
    rng, columns = np.random.default_rng(0), ["sentence1", "sentence2", "score"]
    for name in ("train", "dev"):
        texts = [[" ".join(rng.permutation(WORDS)[:5]) for _ in range(48)] for _ in range(2)]
        rows = pd.DataFrame(dict(zip(columns, [*texts, rng.integers(0, 6, 48)], strict=True)))
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    pairs, dev = (PairSource(name, Table(f"{name}.csv"), columns=columns, scale=5) for name in ("train", "dev"))
    settings = {"max_length": 24, "epochs": 2, "batch_size": 8, "lr": 3e-3, "validate_every": 3}
    init = str(tiny.bert(tmp_path / "start", labels=2))
    config = CrossEncoderConfig("stsscore", init, [pairs], [dev], "apache-2.0", **settings)

    def work(output: Path, resume: bool) -> int:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        train_cross_encoder.train(config, tmp_path, output, resume=resume)
        return 0

    yield work
    torch.set_num_threads(threads)


def weights(output: Path) -> list[bytes]:
    return [path.read_bytes() for path in (output / name for name in WEIGHTS) if path.exists()]


@pytest.mark.parametrize(("kind", "seed"), [("matcha", 17), ("cross_encoder", 19)])
def test_a_killed_run_is_resumed_to_the_same_weights(
    kind: str, seed: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run: Work = smoke if kind == "matcha" else request.getfixturevalue(kind)
    draw, output = random.Random(seed), tmp_path / "run"
    begin = time.monotonic()
    assert kill_after(in_a_child(partial(run, tmp_path / "whole", False)), MAX_SECONDS)
    seconds, whole = time.monotonic() - begin, weights(tmp_path / "whole")
    kills = 0
    while kills < KILLS:
        if not kill_after(in_a_child(partial(run, output, output.exists())), draw.uniform(0, 1.1 * seconds)):
            kills += 1
            continue
        assert weights(output) == whole
        shutil.rmtree(output)
    assert kill_after(in_a_child(partial(run, output, True)), MAX_SECONDS)
    assert weights(output) == whole
    assert sorted(path.name for path in output.iterdir()) == LEFT[kind]
    if kind == "matcha":
        assert [path.name for path in (output / "state").iterdir()] == ["step-8"]
