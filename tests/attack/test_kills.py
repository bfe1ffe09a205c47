"""SIGKILL at random moments: a run that is continued ends in the bytes of one that was never interrupted."""

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from tqdm import tqdm

from semantic_metrics.cli import main
from tests.tiny_table import WORDS

pytestmark = pytest.mark.slow

KILLS = 34  # for each format: 102 together
ROWS = 6_000
BATCH_ROWS = 100
COLUMNS = ["--metric", "matcha", "--predictions", "said", "--references", "gold", "--batch-rows", str(BATCH_ROWS)]


def in_a_child(work: Callable[[], int]) -> int:
    """Start `work` in a process of its own, which has the modules already; returns its id."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 1)
            os.dup2(devnull, 2)
            tqdm.set_lock(threading.RLock())  # tqdm's own is shared with the parent, and a killed child never frees it
            status = work()
        finally:
            os._exit(status)
    return child


def kill_after(child: int, seconds: float) -> bool:
    """Kill a process unless it ends before; returns whether it ended well."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, "a run that is not killed ends well"
            return True
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same rows in every format."""
    folder, draw = tmp_path_factory.mktemp("rows"), random.Random(0)
    text = [[" ".join(draw.choices(WORDS, k=6)) for _ in range(ROWS)] for _ in range(2)]
    frame = pd.DataFrame({"said": text[0], "gold": text[1], "id": range(ROWS)})
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", row_group_size=BATCH_ROWS)
    lines = (json.dumps(row) + "\n" for row in frame.to_dict("records"))
    (folder / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_killed_run_is_continued(ending: str, rows: Path, checkpoint: Path, tmp_path: Path) -> None:
    draw, file = random.Random(ending), rows / f"rows.{ending}"
    whole, output = tmp_path / f"whole.{ending}", tmp_path / f"out.{ending}"
    line = ["score", str(file), *COLUMNS, "--config", str(checkpoint)]
    begin = time.monotonic()
    # in a child too: threads that tokenizers starts here would be missing in every child that is forked later
    assert kill_after(in_a_child(lambda: CliRunner().invoke(main, [*line, "--output", str(whole)]).exit_code), 600)
    seconds = time.monotonic() - begin

    def run(resume: bool) -> int:
        return CliRunner().invoke(main, [*line, "--output", str(output), *(["--resume"] * resume)]).exit_code

    kills, fresh, runs = 0, 0, 0
    while kills < KILLS:
        runs += 1
        # drawn before the fork, and apart: with and without --resume a run is killed at any of its moments
        resume, moment = ending != "parquet" and draw.random() < 0.7, draw.uniform(0, 1.2 * seconds)
        if not kill_after(in_a_child(partial(run, resume)), moment):
            kills, fresh = kills + 1, fresh + (not resume)
            continue
        assert output.read_bytes() == whole.read_bytes()
        output.unlink()
        assert not list(tmp_path.glob(".*partial*")), "nothing is left beside a finished file"
    assert kill_after(in_a_child(partial(run, ending != "parquet")), 600)
    assert output.read_bytes() == whole.read_bytes()
    assert 0 < fresh < KILLS or ending == "parquet", "runs with and without --resume were killed"
    assert runs > KILLS, "some runs came to their end between the kills"
