"""A run small enough for a test: the bundled triplets, a tiny table of their words to start from."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordLevelTrainer

from semantic_metrics.matcha.table import MatchaTable, TableConfig
from tests import tiny_pairs as tiny
from training.data.config_files import read_yaml
from training.matcha.config import TrainConfig

TRAINING = Path(__file__).parents[2] / "training"
CONFIGS = TRAINING / "configs"
WIDTH = 16


@pytest.fixture(scope="session")
def words() -> Tokenizer:
    tokenizer = Tokenizer(WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    texts = pd.read_csv(TRAINING / "data" / "smoke.csv").to_numpy().ravel().tolist()
    tokenizer.train_from_iterator(texts, WordLevelTrainer(special_tokens=["[UNK]"]))
    return tokenizer


@pytest.fixture(scope="session")
def start_folder(words: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    rows = torch.randn(words.get_vocab_size(), WIDTH, generator=torch.Generator().manual_seed(0))
    MatchaTable(rows.half().numpy(), words, TableConfig(*rows.shape, unk_token="[UNK]")).save(folder)
    return folder


@pytest.fixture
def config(start_folder: Path) -> TrainConfig:
    smoke = read_yaml(CONFIGS / "smoke.yaml", TrainConfig)
    return replace(
        smoke, init=f"checkpoint:{start_folder}", network={"num_senses": 2}, batch_size=8, lr=1e-2, validate_every=3
    )


@pytest.fixture
def contextual(config: TrainConfig, tmp_path: Path) -> TrainConfig:
    """The same with a transformer of two layers, and dropout."""
    folder = tiny.bert(tmp_path / "bert")
    return replace(config, init=str(folder), network={"kind": "transformer", "dropout": 0.2, "max_length": 20}, lr=1e-3)
