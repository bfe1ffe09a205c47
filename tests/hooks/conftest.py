"""The examples of docs/recipes.md, run exactly as printed, in a folder with the files that they name."""

import csv
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

import semantic_metrics.nli_lex.scoring
import semantic_metrics.stsscore.scoring
from tests.conftest import ROOT
from tests.tiny_table import UNKNOWN, small_tokenizer

ROWS = [
    {"question": "is the dog awake?", "answer": "The dog is not awake.", "gold": "The dog is awake."},
    {"question": "who bites the man?", "answer": "The dog, it is the dog that bites.", "gold": "The dog bites him."},
    {"question": "who sleeps?", "answer": "", "gold": "The cat sleeps."},
]
TEXTS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def example(title: str) -> str:
    """The code of a section of docs/recipes.md, the first block of it."""
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    (section,) = [part for part in page.split("\n## ")[1:] if part.startswith(f"{title}\n")]
    code, *_ = re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)
    return code


@pytest.fixture(scope="package", autouse=True)
def models_are_loaded_once() -> Iterator[None]:
    """The metrics of one process share the shipped cross-encoders, which take seconds to load."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (semantic_metrics.stsscore.scoring, semantic_metrics.nli_lex.scoring):
            patch.setattr(module, "load_scorer", cache(module.load_scorer))
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the examples run: `answers.csv`, `model` (a tiny language model of random weights), and `consensus`."""
    with (tmp_path / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    tokenizer = small_tokenizer()
    torch.manual_seed(0)
    ids = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), 0)
    config = GPT2Config(vocab_size=tokenizer.get_vocab_size(), n_positions=128, n_embd=16, n_layer=1, n_head=2, **ids)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "model")
    names = {"unk_token": UNKNOWN, "pad_token": "[PAD]", "eos_token": "[PAD]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(tmp_path / "model")
    # what `metric: consensus` finds; `register` puts it in evaluate's cache
    shutil.copytree(ROOT / "metrics" / "consensus", tmp_path / "consensus")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_example(folder: Path) -> Callable[[str], dict]:

    def run(title: str) -> dict:
        assert Path(os.getcwd()) == folder
        names: dict = {}
        exec(example(title), names)
        return names

    return run
