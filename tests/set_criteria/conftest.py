"""The metric as a user loads it, folders of small encoders, and samples that several tests use."""

from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, PreTrainedTokenizerFast

from tests.tiny_table import UNKNOWN, small_tokenizer

SCRIPT = str(Path(__file__).parents[2] / "metrics" / "set_criteria")
OPERATORS = ("overlap", "difference", "union")

TEXTS = {
    "a": ["the dog runs and barks", "the man is awake and the cat sleeps", "the dog barks", "a cat runs"],
    "b": ["the dog bites and barks", "the cat sleeps", "the cat sleeps", "a man runs"],
    "target": ["the dog barks", "the man is awake", "the dog barks and the cat sleeps", "a runs"],
    "operator": ["overlap", "difference", "union", "overlap"],
}

Vectors = tuple[np.ndarray, np.ndarray, np.ndarray]


def random_vectors(count: int, width: int = 8, seed: int = 0, shift: float = 0.0) -> Vectors:
    a, b, target = np.random.default_rng(seed).normal(shift, 1, (3, count, width))
    return a, b, target


def operators(count: int) -> list[str]:
    return [OPERATORS[i % 3] for i in range(count)]


LONGEST = 16  # tokens that the small networks take


@pytest.fixture
def criteria() -> evaluate.Metric:
    """The metric with the shipped encoder, which only texts would load."""
    return evaluate.load(SCRIPT, keep_in_memory=True)


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Random networks, one that looks both ways and one that looks back alone, whose tokeniser has no padding."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=small_tokenizer(), unk_token=UNKNOWN)
    size, sizes = tokenizer.vocab_size, {"num_attention_heads": 2, "num_hidden_layers": 2, "hidden_size": 16}
    torch.manual_seed(0)
    bert = BertModel(BertConfig(vocab_size=size, intermediate_size=32, max_position_embeddings=LONGEST, **sizes))
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    gpt2 = GPT2Model(GPT2Config(vocab_size=size, n_embd=16, n_layer=2, n_head=2, n_positions=LONGEST, **ends))
    folders = {}
    for name, model in (("bert", bert), ("gpt2", gpt2)):
        folders[name] = tmp_path_factory.mktemp("networks") / name
        model.save_pretrained(folders[name])
        tokenizer.save_pretrained(folders[name])
    return folders
