"""`semantic-metrics register`: bare names work in any folder without a network, and only its own copies are removed."""

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import evaluate
import pytest
from click.testing import CliRunner, Result
from evaluate.loading import init_dynamic_modules

import semantic_metrics
from semantic_metrics.cli import main
from semantic_metrics.core.registration import MARKER_FILE
from semantic_metrics.matcha.matcha import Matcha


def register(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["register", *arguments])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module cache of its own, of which nothing stays imported for other tests."""
    folder = tmp_path / "modules"
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield folder
    package = sys.modules.get("evaluate_modules")
    if package is not None and str(folder) in str(package.__path__):
        for name in [name for name in sys.modules if name.partition(".")[0] == "evaluate_modules"]:
            del sys.modules[name]


def home(cache: Path) -> Path:
    return cache / "evaluate_modules" / "metrics" / "evaluate-metric--matcha"


def entries(cache: Path) -> list[Path]:
    return sorted(home(cache).glob("*/"))


@pytest.fixture(scope="module")
def registered() -> Iterator[list[str]]:
    """Lines that registering all metrics in the cache of the tests prints."""
    yield register().output.splitlines()
    assert register("--remove").exit_code == 0
    assert not list(Path(init_dynamic_modules()).glob("metrics/evaluate-metric--*"))


@pytest.mark.parametrize("offline", [True, False])
def test_bare_names_work(registered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: bool) -> None:
    network_error = Mock(side_effect=OSError("the network is away"))
    monkeypatch.setattr(socket.socket, "connect", network_error)
    monkeypatch.setattr(socket, "getaddrinfo", network_error)
    monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", offline)
    monkeypatch.chdir(tmp_path)
    metric = evaluate.load("matcha")
    assert type(metric) is Matcha, "the class of the package, not a copy"
    assert metric.compute(predictions=["The dog sleeps."], references=["The dog sleeps."])["scores"] == [1]
    assert metric.signature() == semantic_metrics.load("matcha").signature(), "the checkpoint of the package"


def test_every_metric_is_registered(registered: list[str]) -> None:
    names = semantic_metrics.available()
    assert [line.split()[0] for line in registered[:-1]] == list(names)
    for name in names:
        loaded = evaluate.loading.import_main_class(evaluate.loading.evaluation_module_factory(name).module_path)
        assert loaded.__module__ == f"semantic_metrics.{name}.{name}"


def test_it_can_be_repeated_and_undone(cache: Path) -> None:
    first = register("matcha").output
    (entry,) = entries(cache)
    assert first.splitlines()[0] == f"matcha {semantic_metrics.__version__}: entered as {entry}"
    assert {path.name for path in entry.iterdir()} == {"__init__.py", "matcha.py", MARKER_FILE}
    assert {path.name for path in home(cache).parent.iterdir()} == {"__init__.py", home(cache).name}
    old = entry.rename(home(cache) / ("0" * 64))
    (old / MARKER_FILE).write_text(json.dumps({"owner": "semantic-metrics", "version": "0.0.1"}))
    assert register("matcha", "matcha").output == first.replace("entered", "replaced")
    assert entries(cache) == [entry], "in place of the copy of an earlier version"
    assert register("matcha", "--remove").output == f"matcha: removed {entry}\n"
    assert not home(cache).exists()
    assert register("--remove", "matcha").output == "matcha: not registered, nothing removed\n"


@pytest.mark.parametrize("marker", [None, "", "[]", '{"owner": "somebody else"}'])
def test_what_others_put_there_stays(cache: Path, marker: str | None) -> None:
    other = home(cache) / ("f" * 64)
    other.mkdir(parents=True)
    (other / "matcha.py").write_text("theirs")
    if marker is not None:
        (other / MARKER_FILE).write_text(marker)
    assert register("--remove", "matcha").output == "matcha: not registered, nothing removed\n"
    assert "beside 1 that others put there" in register("matcha").output
    mine = next(path for path in entries(cache) if path != other)
    assert (mine / "matcha.py").stat().st_mtime >= (other / "matcha.py").stat().st_mtime, "the newest is loaded"
    assert register("--remove", "matcha").output == f"matcha: removed {mine}\n"
    assert (other / "matcha.py").read_text() == "theirs"


def test_an_unknown_name_is_refused(cache: Path) -> None:
    result = register("macha")
    message = f"Error: name: expected one of {semantic_metrics.available()}, got 'macha'\n"
    assert (result.exit_code, result.output, cache.exists()) == (2, message, False)
    with pytest.raises(ValueError, match="name: expected one of"):
        semantic_metrics.register("matcha", "macha")
    assert not cache.exists(), "nothing is written if a name is wrong"


def test_a_cache_that_cannot_be_written_is_named(cache: Path) -> None:
    cache.write_text("a file")
    result = register("matcha")
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert "the module cache of evaluate: " in result.output
