"""Checkpoints in the authors' format, built once a session and loaded by both sides."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import evaluate
import pytest

from benchmarks.papers.matcha import authors_package as peer
from tests.matcha.authors import SCRIPT, SENTENCES, Authors


def _build(folder: Path, vocab_size: int, width: int, senses: int) -> Authors:
    tokenizer = peer.train_tokenizer(SENTENCES, vocab_size)
    peer.write_random_checkpoint(folder, tokenizer, width, senses)
    return Authors(folder, tokenizer, peer.load_package(folder), evaluate.load(SCRIPT, str(folder)))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Authors:
    """A reduced shape; more rows than are folded at a time."""
    return _build(tmp_path_factory.mktemp("small") / "authors", vocab_size=5000, width=96, senses=4)


@pytest.fixture(scope="session")
def true_shape(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authors]:
    """GPT-2's vocabulary and width, 16 context vectors: the shape of the published checkpoint."""
    folder = tmp_path_factory.mktemp("true") / "authors"
    yield _build(folder, peer.GPT2_VOCABULARY, peer.GPT2_WIDTH, peer.SENSES)
    shutil.rmtree(folder)  # 360 MB


@pytest.fixture
def copy(small: Authors, tmp_path: Path) -> Path:
    """A copy of the reduced checkpoint, to damage."""
    return Path(shutil.copytree(small.folder, tmp_path / "authors"))
