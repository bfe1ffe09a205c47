"""SIGKILL at random moments of a training run: continued, it ends in the weights of one that was never interrupted."""

import os
import random
import shutil
import sys
import time
from pathlib import Path

import pytest

from tests.attack.test_kills import in_a_child, kill_after
from training import train

pytestmark = pytest.mark.slow

KILLS = 10
MAX_SECONDS = 1200  # for a run that is not killed, on a busy machine
WEIGHTS = ("checkpoint/model.safetensors", "network/max_diff.pth")


def smoke(output: Path, resume: bool) -> int:
    """Run `train.py` with its smoke config in a child."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads do not survive a fork
    sys.argv = ["train.py", "--output", str(output), *(["--resume"] if resume else [])]
    train.main()
    return 0


def weights(output: Path) -> list[bytes]:
    return [(output / name).read_bytes() for name in WEIGHTS]


def test_a_killed_run_is_resumed_to_the_same_weights(tmp_path: Path) -> None:
    draw, output = random.Random(17), tmp_path / "run"
    begin = time.monotonic()
    assert kill_after(in_a_child(lambda: smoke(tmp_path / "whole", False)), MAX_SECONDS)
    seconds, whole = time.monotonic() - begin, weights(tmp_path / "whole")
    kills = 0
    while kills < KILLS:
        resume = output.exists()
        if not kill_after(in_a_child(lambda resume=resume: smoke(output, resume)), draw.uniform(0, 1.1 * seconds)):
            kills += 1
            continue
        assert weights(output) == whole
        shutil.rmtree(output)
    assert kill_after(in_a_child(lambda: smoke(output, True)), MAX_SECONDS)
    assert weights(output) == whole
    assert sorted(path.name for path in output.iterdir()) == ["checkpoint", "logs", "network", "state"]
    assert [path.name for path in (output / "state").iterdir()] == ["step-8"]
