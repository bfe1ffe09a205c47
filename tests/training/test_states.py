"""What --resume continues from: whole states of the same config, and no pickle."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tests.training.conftest import TRAINING
from training.data.states import UnusableState, discard, restore_folder, written_whole
from training.matcha.config import TrainConfig
from training.train import Run, find_state


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
