"""The metric with a tiny cross-encoder."""

from pathlib import Path

import evaluate
import pytest

from tests.conftest import ROOT
from tests.consensus.conftest import both_heads


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny cross-encoder with labels for NLI."""
    return both_heads(tmp_path_factory.mktemp("support") / "model")


@pytest.fixture
def metric(model: Path) -> evaluate.Metric:
    """The metric with it."""
    return evaluate.load(str(ROOT / "metrics" / "support"), str(model))
