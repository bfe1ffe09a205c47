"""Small checkpoints for the four demos, and their folders as Spaces."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.nli_lex.conftest import nli

METRICS = ROOT / "metrics"
FILE = "who,reference,prediction\ns1,the dog,a dog\ns2,the cat,not the cat\ns1,a man,the man is asleep\n"
NAMES = ("matcha", "stsscore", "nli_lex", "set_criteria")
OF_THE_DEMO = ("app", "demo", "demo_parts", "rating_page")


def tiny_checkpoints(table: Path, folder: Path) -> dict[str, str]:
    """A small checkpoint for each metric, the cross-encoders in `folder`."""
    return {
        "matcha": str(table),
        "stsscore": str(tiny.bert(folder / "stsscore")),
        "nli_lex": str(nli(folder / "nli_lex")),
        "set_criteria": str(table),
    }


@pytest.fixture(scope="session")
def checkpoints(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A small checkpoint for each metric."""
    return tiny_checkpoints(checkpoint, tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each metric's."""
    return request.param


@pytest.fixture
def app(name: str, checkpoints: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The app of a metric, as `python app.py` in its folder would import it."""
    pytest.importorskip("gradio")
    monkeypatch.setenv("SEMANTIC_METRICS_CHECKPOINT", checkpoints[name])
    monkeypatch.syspath_prepend(str(METRICS / name))
    try:
        import app

        yield app
    finally:
        for module in OF_THE_DEMO:
            sys.modules.pop(module, None)


@pytest.fixture
def space(name: str, tmp_path: Path) -> Path:
    """A copy of the metric's folder and nothing else, named as on a Space."""
    return Path(shutil.copytree(METRICS / name, tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A small CSV file."""
    path = tmp_path / "pairs.csv"
    path.write_text(FILE, encoding="utf-8")
    return str(path)
