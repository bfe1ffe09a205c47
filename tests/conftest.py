"""Fixtures for every test: caches of their own, no network, and a small checkpoint made on the spot."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

_CACHES = tempfile.TemporaryDirectory(prefix="semantic-metrics-tests-")
# set before anything imports the Hugging Face libraries, which read them once
os.environ["HF_HOME"] = _CACHES.name
os.environ["SEMANTIC_METRICS_CACHE"] = str(Path(_CACHES.name) / "semantic_metrics")
os.environ["HF_HUB_OFFLINE"] = os.environ["HF_EVALUATE_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "true"
os.environ["OMP_NUM_THREADS"] = "1"  # tests run in parallel: threads inside an operation would wait for one another

import evaluate  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from hypothesis.internal.conjecture import providers  # noqa: E402

from semantic_metrics.matcha.checkpoint import DEFAULT_CHECKPOINT, embedded_checkpoints  # noqa: E402
from semantic_metrics.matcha.table import MatchaTable  # noqa: E402
from tests.tiny_table import small_table  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
METRIC = str(ROOT / "metrics" / "matcha")

settings.register_profile(
    "project",
    deadline=None,  # a busy machine is no failure
    derandomize=True,  # the same examples in every run
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("project")
if hasattr(providers, "_get_local_constants"):  # else what is drawn depends on the modules that other tests have loaded
    providers._get_local_constants = lambda: providers._local_constants

Run = Callable[..., subprocess.CompletedProcess]
OPENVINO = {"backend": "openvino"}


def card_figures(name: str) -> dict[tuple[str, str], float]:
    """The test results that a checkpoint's card prints, in [0, 1], by set and figure."""
    record = json.loads((ROOT / "model_cards" / name / "training.json").read_text(encoding="utf-8"))
    return {(row["set"], row["figure"]): row["value"] for row in record["test_results"]}


def pytest_unconfigure() -> None:
    _CACHES.cleanup()


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("real_data")


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small deterministic checkpoint: a random float16 table and a WordPiece tokeniser."""
    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    small_table().save(folder)
    return folder


@pytest.fixture(scope="session")
def table(checkpoint: Path) -> MatchaTable:
    return MatchaTable.from_folder(checkpoint)


@pytest.fixture
def metric(checkpoint: Path) -> evaluate.Metric:
    return evaluate.load(METRIC, str(checkpoint))


@pytest.fixture
def shipped() -> evaluate.Metric:
    assert DEFAULT_CHECKPOINT in embedded_checkpoints(), f"model_cards/{DEFAULT_CHECKPOINT} holds no checkpoint"
    return evaluate.load(METRIC)


@pytest.fixture(scope="session")
def checkpoints(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    from tests.demo.conftest import tiny_checkpoints  # its networks take seconds to import, which few tests need

    return tiny_checkpoints(checkpoint, tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture
def contextual(tmp_path: Path) -> Path:
    """A tiny contextual checkpoint of MATCHA, which a test may change."""
    from tests import tiny_pairs as tiny
    from training.matcha.contextual import ContextualModel

    ContextualModel(str(tiny.bert(tmp_path / "start")), max_length=20).save(tmp_path / "contextual")
    return tmp_path / "contextual"


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no chromium on this machine")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    if not os.environ.get("SEMANTIC_METRICS_DATA"):
        pytest.skip("SEMANTIC_METRICS_DATA does not name the folder of the evaluation data")
    return Path(os.environ["SEMANTIC_METRICS_DATA"])


@pytest.fixture(scope="session")
def run_python() -> Run:
    """Run Python code in a process of its own: `run_python(code, *arguments, cwd=..., **environment)`."""

    def run(code: str, *arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(
            command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
        )

    return run
