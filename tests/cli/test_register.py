"""`semantic-metrics register`: bare names work in any folder without a network, and only its own copies are removed."""

import json
from collections.abc import Callable
from pathlib import Path

import evaluate
import pytest
from click.testing import CliRunner, Result

import semantic_metrics
from semantic_metrics.cli import main
from semantic_metrics.cli.register import MARKER, scripts
from tests.conftest import Run

LOAD = """
import socket
import sys

def refuse(*_, **__):
    raise OSError("the network is away")

socket.socket.connect = socket.getaddrinfo = refuse

import evaluate

for name in sys.argv[1:]:
    metric = evaluate.load(name)
    print(name, metric.name, type(metric).__module__.split(".")[-2])
metric = evaluate.load("matcha")
print(metric.compute(predictions=["The dog sleeps."], references=["The dog sleeps."])["scores"])
print(metric.signature())
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module cache of its own."""
    folder = tmp_path / "modules"
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", folder)
    return folder


@pytest.fixture
def register(cache: Path) -> Callable[..., Result]:
    """Run `semantic-metrics register`."""
    return lambda *arguments: CliRunner().invoke(main, ["register", *arguments])


def home(cache: Path, name: str) -> Path:
    return cache / "evaluate_modules" / "metrics" / f"evaluate-metric--{name}"


def entries(cache: Path, name: str) -> list[Path]:
    return sorted(path for path in home(cache, name).iterdir() if path.is_dir())


@pytest.mark.parametrize("offline", ["1", "0"])
def test_bare_names_work_in_any_folder(
    register: Callable, cache: Path, run_python: Run, tmp_path: Path, offline: str
) -> None:
    """Needs model_cards/."""
    told = register().output.splitlines()
    names = semantic_metrics.available()
    assert [line.split()[0] for line in told[:-1]] == names
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {"HF_HOME": str(tmp_path / "home"), "HF_MODULES_CACHE": str(cache)}
    switches = {"HF_EVALUATE_OFFLINE": offline, "HF_HUB_OFFLINE": offline}
    wanted = names if offline == "1" else ["matcha"]
    done = run_python(LOAD, *wanted, cwd=elsewhere, **environment, **switches)
    assert done.returncode == 0, done.stderr
    *loaded, scores, signature = done.stdout.splitlines()
    assert [line.split()[0] for line in loaded] == wanted
    for line in loaded:
        name, _, digest = line.split()
        assert [path.name for path in entries(cache, name)] == [digest]
    assert scores == "[1.0]"
    assert signature == semantic_metrics.load("matcha").signature(), "the checkpoint of the package"


def test_only_what_the_script_imports_is_copied(register: Callable, cache: Path) -> None:
    line, _ = register("matcha").output.splitlines()
    (entry,) = entries(cache, "matcha")
    assert line == f"matcha {semantic_metrics.__version__}: entered as {entry}"
    assert {path.name for path in entry.iterdir()} == {path.name for path in scripts("matcha")} | {
        "__init__.py",
        MARKER,
    }
    assert len(scripts("matcha")) > 5
    assert {path.name for path in home(cache, "matcha").parent.iterdir()} == {"__init__.py", home(cache, "matcha").name}


def test_it_can_be_repeated_and_undone(register: Callable, cache: Path) -> None:
    first, second = register("matcha").output, register("matcha", "matcha").output
    assert second == first.replace("entered", "replaced")
    assert len(entries(cache, "matcha")) == 1
    (entry,) = entries(cache, "matcha")
    assert register("matcha", "--remove").output == f"matcha: removed {entry}\n"
    assert not home(cache, "matcha").exists()
    assert register("--remove", "matcha").output == "matcha: not registered, nothing removed\n"
    assert register("--remove").exit_code == 0


def test_a_copy_of_another_version_is_replaced(
    register: Callable, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(semantic_metrics, "__version__", "0.0.1")
        assert register("matcha").output.startswith("matcha 0.0.1: entered as ")
    (old,) = entries(cache, "matcha")
    assert json.loads((old / MARKER).read_text())["version"] == "0.0.1"
    assert register("matcha").output.startswith(f"matcha {semantic_metrics.__version__}: replaced as ")
    (new,) = entries(cache, "matcha")
    assert new != old


@pytest.mark.parametrize("marker", [None, "", "[]", '{"owner": "somebody else"}'])
def test_what_others_put_there_stays(register: Callable, cache: Path, marker: str | None) -> None:
    other = home(cache, "matcha") / ("f" * 64)
    other.mkdir(parents=True)
    (other / "matcha.py").write_text("theirs")
    if marker is not None:
        (other / MARKER).write_text(marker)
    assert register("--remove", "matcha").output == "matcha: not registered, nothing removed\n"
    assert "beside 1 that others put there" in register("matcha").output
    mine = next(path for path in entries(cache, "matcha") if path != other)
    assert (mine / "matcha.py").stat().st_mtime >= (other / "matcha.py").stat().st_mtime, "the newest is loaded"
    assert register("--remove", "matcha").output == f"matcha: removed {mine}\n"
    assert (other / "matcha.py").read_text() == "theirs"


def test_an_unknown_name_is_refused(register: Callable, cache: Path) -> None:
    result = register("macha")
    assert result.exit_code == 2
    assert result.output == "Error: NAME: expected one of matcha, nli_lex, set_criteria, stsscore, got 'macha'\n"
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_named(register: Callable, cache: Path) -> None:
    cache.write_text("a file")
    result = register("matcha")
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert "the module cache of evaluate: " in result.output
