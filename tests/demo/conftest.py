"""Small checkpoints for the demos, their apps and their bundles."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.nli_lex.conftest import nli
from training.bundle import write_bundle

METRICS = ROOT / "metrics"
FILE = "who,reference,prediction\ns1,the dog,a dog\ns2,the cat,not the cat\ns1,a man,the man is asleep\n"
NAMES = ("consensus", "matcha", "stsscore", "nli_lex", "support", "set_criteria")
HOSTILE = "<img src=x onerror=alert(1)> & <b>bold</b>"


def tiny_checkpoints(table: Path, folder: Path) -> dict[str, str]:
    """A small checkpoint for each metric, the cross-encoders in `folder`."""
    return {
        "consensus": f"{tiny.both_heads(folder / 'consensus')}+{table}",
        "matcha": str(table),
        "stsscore": str(tiny.bert(folder / "stsscore")),
        "nli_lex": str(nli(folder / "nli_lex")),
        "support": f"{tiny.judging(folder / 'support')}+{table}",
        "set_criteria": str(table),
    }


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def app(name: str, checkpoints: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("gradio")
    monkeypatch.setenv("SEMANTIC_METRICS_CHECKPOINT", checkpoints[name])
    return import_module(f"semantic_metrics.{name}.app")


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    for name in NAMES:
        write_bundle(name, folder / name)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "pairs.csv"
    path.write_text(FILE, encoding="utf-8")
    return str(path)
