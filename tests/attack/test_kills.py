"""SIGKILL at random moments, and two processes that write one file: what has the file's name is always whole."""

import gzip
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from tqdm import tqdm

from semantic_metrics.cli import main
from semantic_metrics.files.output import NAMELESS
from tests import tiny_pairs as tiny
from tests.tiny_table import WORDS
from training import train, train_cross_encoder
from training.cross_encoder.pairs import CrossEncoderConfig, PairSource
from training.data.sources import Table

pytestmark = pytest.mark.slow

KILLS = 17  # for each format of `score`: 102 together
WRITER_KILLS = 8  # for each of WRITERS: 40 together; the runs that train have 20
RACES = 5  # of two processes, for each of WRITERS and `score`
ROWS = 6_000
BATCH_ROWS = 100
FEW_ROWS = 60  # for commands that write once, at their end
FILES = {"csv": "csv", "tsv": "tsv", "jsonl": "jsonl", "json": "json", "parquet": "parquet", "jsonl.gz": "csv"}
WRITERS = {  # commands that write a file at their end, with its ending
    "check": ("check", "--output", "jsonl"),
    "check json": ("check", "--output", "json"),
    "check html": ("check", "--html", "html"),
    "report": ("report", "--output", "html"),
    "annotate": ("annotate", "--output", "html"),
}
TEXTS = ["--predictions", "said", "--references", "gold"]
COLUMNS = ["--metric", "matcha", *TEXTS, "--batch-rows", str(BATCH_ROWS)]


def command(*line: object) -> int:
    """Exit status of a command, which replaces files: a process that is killed at its very end has written its own."""
    return CliRunner().invoke(main, [*map(str, line), "--overwrite"]).exit_code


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
    frame.to_csv(folder / "rows.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "rows.parquet", row_group_size=BATCH_ROWS)
    frame.to_json(folder / "rows.json", orient="records")
    lines = [json.dumps(row) + "\n" for row in frame.to_dict("records")]
    (folder / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "rows.jsonl.gz").write_bytes(gzip.compress((folder / "rows.jsonl").read_bytes()))
    (folder / "first.jsonl").write_text("".join(lines[:FEW_ROWS]), encoding="utf-8")
    (folder / "last.jsonl").write_text("".join(lines[-FEW_ROWS:]), encoding="utf-8")
    return folder


@pytest.mark.parametrize("ending", FILES)
def test_a_killed_run_is_continued(ending: str, rows: Path, checkpoint: Path, tmp_path: Path) -> None:
    draw, file, resumed = random.Random(ending), rows / f"rows.{ending}", ending in ("csv", "tsv", "jsonl")
    whole, output = tmp_path / f"whole.{FILES[ending]}", tmp_path / f"out.{FILES[ending]}"
    line = ["score", file, *COLUMNS, "--config", checkpoint, "--output"]
    begin = time.monotonic()
    # in a child too: threads that tokenizers starts here would be missing in every child that is forked later
    assert kill_after(in_a_child(partial(command, *line, whole)), 600)
    seconds = time.monotonic() - begin
    kills, fresh, runs = 0, 0, 0
    while kills < KILLS:
        runs += 1
        # drawn before the fork, and apart: with and without --resume a run is killed at any of its moments
        resume, moment = resumed and draw.random() < 0.7, draw.uniform(0, 1.2 * seconds)
        if not kill_after(in_a_child(partial(command, *line, output, *["--resume"] * resume)), moment):
            kills, fresh = kills + 1, fresh + (not resume)
            continue
        assert output.read_bytes() == whole.read_bytes()
        output.unlink()
        assert not list(tmp_path.glob(".*partial*")), "nothing is left beside a finished file"
    assert kill_after(in_a_child(partial(command, *line, output, *["--resume"] * resumed)), 600)
    assert output.read_bytes() == whole.read_bytes()
    assert 0 < fresh < KILLS or not resumed, "runs with and without --resume were killed"
    assert runs > KILLS, "some runs came to their end between the kills"


def writer(name: str, file: Path, output: Path, checkpoints: dict[str, Path]) -> Callable[[], int]:
    """One of WRITERS, or `score`, which reads a file and writes another."""
    called, option, _ = WRITERS.get(name, ("score", "--output", ""))
    metric = {"check": "support", "annotate": None}.get(called, "consensus")
    model = [] if metric is None else ["--config", checkpoints[metric]]
    return partial(command, called, file, *TEXTS, *model, option, output)


@pytest.mark.parametrize("name", WRITERS)
def test_a_killed_command_leaves_no_half(name: str, rows: Path, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    draw, file, output = random.Random(name), rows / "first.jsonl", tmp_path / f"out.{WRITERS[name][-1]}"
    run, content = writer(name, file, output, checkpoints), file.read_bytes()
    begin = time.monotonic()
    assert kill_after(in_a_child(run), 600)
    seconds, whole = time.monotonic() - begin, output.read_bytes()
    output.unlink()
    kills = 0
    while kills < WRITER_KILLS:
        kills += not kill_after(in_a_child(run), draw.uniform(0, 1.1 * seconds))
        assert not output.exists() or output.read_bytes() == whole
        output.unlink(missing_ok=True)
        assert not (NAMELESS and list(tmp_path.iterdir())), "a kill leaves nothing behind"
    assert kill_after(in_a_child(run), 600)
    assert output.read_bytes() == whole
    assert file.read_bytes() == content


@pytest.mark.parametrize("name", [*WRITERS, "score"])
def test_two_writers_leave_the_file_of_one(name: str, rows: Path, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    output, wholes = tmp_path / f"out.{WRITERS.get(name, ('jsonl',))[-1]}", set()
    runs = [writer(name, rows / f"{part}.jsonl", output, checkpoints) for part in ("first", "last")]
    for run in runs:
        assert kill_after(in_a_child(run), 600)
        wholes.add(output.read_bytes())
    assert len(wholes) == len(runs)
    for _ in range(RACES):
        output.unlink()
        ended = [os.waitpid(child, 0)[1] for child in list(map(in_a_child, runs))]
        statuses = sorted(map(os.waitstatus_to_exitcode, ended))
        assert statuses == [0, 0] or (name == "score" and statuses == [0, 2]), "one may find the other's lock"
        assert output.read_bytes() in wholes
        assert list(tmp_path.iterdir()) == [output]


TRAINING_KILLS = 10
MAX_SECONDS = 1200  # for a run that is not killed, on a busy machine
WEIGHT_FILES = ("checkpoint/model.safetensors", "network/max_diff.pth")  # a cross-encoder has the first alone
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
    settings = {"max_length": 24, "epochs": 2, "batch_tokens": 192, "lr": 3e-3, "validate_every": 3}
    init = str(tiny.bert(tmp_path / "start", labels=2))
    config = CrossEncoderConfig("stsscore", init, [pairs], [dev], "apache-2.0", **settings)

    def work(output: Path, resume: bool) -> int:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        train_cross_encoder.train(config, tmp_path, output, resume=resume)
        return 0

    yield work
    torch.set_num_threads(threads)


def weights(output: Path) -> list[bytes]:
    return [path.read_bytes() for path in (output / name for name in WEIGHT_FILES) if path.exists()]


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
    while kills < TRAINING_KILLS:
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
