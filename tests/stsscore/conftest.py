"""Tiny cross-encoders, and the metric with each."""

from pathlib import Path

import evaluate
import pytest

from tests import tiny_pairs as tiny
from tests.conftest import ROOT

SCRIPT = str(ROOT / "metrics" / "stsscore")


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT, raw scores up to 5."""
    return tiny.bert(tmp_path_factory.mktemp("stsscore") / "bert")


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny RoBERTa with a sigmoid."""
    return tiny.roberta(tmp_path_factory.mktemp("stsscore") / "roberta", tiny.SIGMOID)


@pytest.fixture(scope="session")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT over sentence pieces."""
    return tiny.unigram(tmp_path_factory.mktemp("stsscore") / "unigram")


@pytest.fixture(params=["bert", "roberta", "unigram"])
def folder(request: pytest.FixtureRequest) -> Path:
    """Each of them."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def metric(bert: Path) -> evaluate.Metric:
    """The metric with the tiny BERT."""
    return evaluate.load(SCRIPT, str(bert))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A tiny BERT to damage."""
    return tiny.bert(tmp_path / "copied")
