"""Tiny cross-encoders and a contextual encoder, for how a transformer runs."""

from pathlib import Path

import pytest

from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.matcha.contextual import ContextualEncoder
from tests import tiny_pairs as tiny
from training.matcha.contextual import ContextualModel


@pytest.fixture(scope="session")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> PairScorer:
    return PairScorer(tiny.bert(tmp_path_factory.mktemp("run") / "bert"))


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> PairScorer:
    return PairScorer(tiny.roberta(tmp_path_factory.mktemp("run") / "roberta"))


@pytest.fixture(scope="session")
def encoder(scorer: PairScorer, tmp_path_factory: pytest.TempPathFactory) -> ContextualEncoder:
    folder: Path = tmp_path_factory.mktemp("run") / "contextual"
    ContextualModel(str(scorer.folder), max_length=20).save(folder)
    return ContextualEncoder.from_folder(folder)
