"""Checkpoints in the authors' format, built once a session and loaded by both sides, and texts of an exact length."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import evaluate
import numpy as np
import pytest
from matcha_metric import MATCHA
from tokenizers import Tokenizer

from benchmarks.papers.matcha import authors_package as peer

SCRIPT = str(Path(__file__).parents[2] / "metrics" / "matcha")

SENTENCES = [
    "Caffeine keeps most people awake for several hours after the last cup.",
    "The committee approved the budget, although two members voted against it.",
    "A girl in a yellow coat is throwing bread to the ducks on the pond.",
    "Nobody was throwing anything; the pond had been frozen since December.",
    "Water boils at 100 degrees at sea level and at about 93 in La Paz.",
    "The bridge, which opened in 1932, carries trains, cars and bicycles.",
    "Where did the musicians leave their instruments after the rehearsal?",
    "They left them backstage, beside the piano, under a green blanket.",
    "Sales rose by 4.5% in the third quarter; profits fell nevertheless.",
    "The drug lowered blood pressure in 212 of the 340 patients treated.",
    "Farmers in the valley grow olives, almonds and a little wheat.",
    "My brother's old bicycle was stolen from the station yesterday!",
]


@dataclass(frozen=True)
class Authors:
    """A checkpoint in the authors' format, loaded by both sides."""

    folder: Path
    tokenizer: Tokenizer  # neither pads nor truncates
    peer: MATCHA
    metric: evaluate.Metric


def text_of(tokenizer: Tokenizer, length: int, seed: int, palette: int = 4) -> str:
    """A text of exactly `length` tokens, drawn from `palette` random words that are one token each.

    Few distinct words keep long texts apart: the means of many random vectors are all alike.
    """
    words = sorted(token for token in tokenizer.get_vocab() if token.startswith("Ġ") and token[1:].isalpha())
    generator = np.random.default_rng(seed)
    chosen = generator.choice(generator.choice(words, palette, replace=False), length)
    text = "".join(" " + word[1:] for word in chosen)
    assert len(tokenizer.encode(text).ids) == length
    return text


def rewrite_json(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


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
    return Path(shutil.copytree(small.folder, tmp_path / "authors"))
