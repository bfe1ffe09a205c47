"""The metric with a tiny cross-encoder."""

from pathlib import Path

import evaluate
import pytest

from semantic_metrics.support.decision import FEATURES, Decision, Logistic
from tests.conftest import ROOT
from tests.consensus.conftest import both_heads

COEFFICIENTS = {"entailment": 0.2, "contradiction": -0.2, "share": 4.0}


def judging(folder: Path) -> Path:
    both_heads(folder)
    support = Logistic(-2.0, tuple(COEFFICIENTS.get(name, 0.0) for name in FEATURES))
    contradiction = Logistic(0.5, tuple(float(name == "contradiction") for name in FEATURES))
    Decision(support, contradiction).write(folder)
    return folder


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judging(tmp_path_factory.mktemp("support") / "model")


@pytest.fixture
def metric(model: Path) -> evaluate.Metric:
    return evaluate.load(str(ROOT / "metrics" / "support"), str(model))
