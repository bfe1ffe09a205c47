"""A tiny cross-encoder with both heads, and the metric with it."""

from pathlib import Path

import evaluate
import pytest

from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.nli_lex.conftest import named

SCRIPT = str(ROOT / "metrics" / "consensus")
LABELS = ("contradiction", "similarity", "entailment", "neutral")  # any order will do


def both_heads(folder: Path, labels: tuple[str, ...] = LABELS) -> Path:
    return tiny.bert(folder, {**tiny.IDENTITY, **named(labels)}, labels=len(labels))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return both_heads(tmp_path_factory.mktemp("consensus") / "model")


@pytest.fixture
def metric(model: Path) -> evaluate.Metric:
    return evaluate.load(SCRIPT, str(model))
