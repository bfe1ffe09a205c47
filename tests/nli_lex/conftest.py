"""Tiny NLI models with weights beside them, and the metric with one."""

from collections.abc import Callable
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from semantic_metrics.nli_lex.features import PAPER, RICH, TWO_FEATURES
from semantic_metrics.nli_lex.weights import Weights, write_weights
from tests import tiny_pairs as tiny
from tests.conftest import ROOT

SCRIPT = str(ROOT / "metrics" / "nli_lex")
LABELS = ("contradiction", "entailment", "neutral")
RICH_WEIGHTS = Weights(RICH, -2.6, tuple(np.linspace(2.5, -1.5, len(RICH)).tolist()), "a test")
TWO_WEIGHTS = Weights(TWO_FEATURES, -2.0, (3.0, 2.5), "a test")
PAPER_WEIGHTS = Weights(PAPER, -2.0, (3.0, 2.5), "a test")


def nli(folder: Path, labels: tuple[str, ...] = LABELS, seed: int = 0) -> Path:
    """A tiny BERT with labels, and weights of all forms."""
    tiny.bert(folder, tiny.named(labels), labels=len(labels), seed=seed)
    for weights in (RICH_WEIGHTS, TWO_WEIGHTS, PAPER_WEIGHTS):
        write_weights(folder, weights)
    return folder


def listing(folder: Path, longest: int | None = tiny.POSITIONS) -> Callable[[str, str], np.ndarray]:
    """One pair at a time through plain transformers, none beyond `longest` tokens: the probabilities of the labels."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()

    def opinion(premise: str, hypothesis: str) -> np.ndarray:
        batch = tokenizer([premise], [hypothesis], return_tensors="pt")
        assert longest is None or batch["input_ids"].shape[1] <= longest
        with torch.inference_mode():
            return model(**batch).logits.double().softmax(-1)[0].numpy()

    return opinion


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nli(tmp_path_factory.mktemp("nli_lex") / "model")


@pytest.fixture
def metric(model: Path) -> evaluate.Metric:
    return evaluate.load(SCRIPT, str(model))
