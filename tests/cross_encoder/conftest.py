"""Tiny cross-encoders, and STSScore with each: most of what a pair model does shows in its scores."""

from pathlib import Path

import evaluate
import pytest

from tests import tiny_pairs as tiny
from tests.conftest import ROOT

SCRIPT = str(ROOT / "metrics" / "stsscore")


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("pairs") / "bert")


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.roberta(tmp_path_factory.mktemp("pairs") / "roberta", tiny.SIGMOID)


@pytest.fixture(scope="session")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.unigram(tmp_path_factory.mktemp("pairs") / "unigram")


@pytest.fixture(scope="session", params=["bert", "roberta", "unigram"])
def folder(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def one_metric(folder: Path) -> evaluate.Metric:
    """One metric with each for many tests: what one of them leaves behind would show in the next."""
    return evaluate.load(SCRIPT, str(folder), keep_in_memory=True)


@pytest.fixture
def metric(bert: Path) -> evaluate.Metric:
    return evaluate.load(SCRIPT, str(bert))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return tiny.bert(tmp_path / "copied")
