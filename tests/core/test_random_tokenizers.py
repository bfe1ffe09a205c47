"""A tokeniser with BPE dropout splits a text differently each time: every metric refuses it in one line."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from semantic_metrics.core.checkpoint_files import check_tokenizer
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable, TableConfig
from semantic_metrics.nli_lex.features import load_scorer as load_judge
from semantic_metrics.set_criteria.encoders import load_encoder
from semantic_metrics.stsscore.scoring import load_scorer
from tests import tiny_pairs as tiny

TEXT = "the dog bites the man and the man bites the dog"


def bpe_table(folder: Path) -> Path:
    """A MATCHA table whose tokeniser is a BPE, without dropout."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel()
    trainer = BpeTrainer(initial_alphabet=ByteLevel.alphabet(), vocab_size=330, show_progress=False)
    tokenizer.train_from_iterator([TEXT] * 5, trainer)
    size = tokenizer.get_vocab_size()
    rows = torch.randn(size, 8, generator=torch.Generator().manual_seed(0)).half()
    MatchaTable(rows.numpy(), tokenizer, TableConfig(size, 8, unk_token=None)).save(folder)
    return folder


def with_dropout(folder: Path, dropout: object, copy: Path) -> Path:
    """A copy of a checkpoint whose tokeniser has dropout."""
    shutil.copytree(folder, copy)
    path = copy / "tokenizer.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["model"]["type"] == "BPE"
    stored["model"]["dropout"] = dropout
    path.write_text(json.dumps(stored), encoding="utf-8")
    return copy


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[Callable, Path]:
    """A checkpoint with a BPE for each metric, by the function that loads it."""
    folder = tmp_path_factory.mktemp("bpe")
    table, pairs = bpe_table(folder / "table"), tiny.roberta(folder / "pairs")
    return {load_checkpoint: table, load_encoder: table, load_scorer: pairs, load_judge: pairs}


@pytest.mark.parametrize("load", [load_checkpoint, load_encoder, load_scorer, load_judge])
def test_every_metric_refuses_bpe_dropout(load: Callable, checkpoints: dict[Callable, Path], tmp_path: Path) -> None:
    folder = with_dropout(checkpoints[load], 0.5, tmp_path / "copy")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert len({tuple(tokenizer.encode(TEXT).ids) for _ in range(20)}) > 1, "the reason to refuse it"
    expected = (
        f"checkpoint {folder}: tokenizer.json: expected a tokeniser that splits a text in one way, got BPE dropout"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)} of 0.5; set model.dropout to null$"):
        load(f"{folder}/")


@pytest.mark.parametrize("dropout", [None, 0.0])
def test_a_bpe_without_dropout_is_read(
    dropout: float | None, checkpoints: dict[Callable, Path], tmp_path: Path
) -> None:
    folder = with_dropout(checkpoints[load_checkpoint], dropout, tmp_path / "copy")
    first, again = (load_checkpoint(f"{folder}/").encode([TEXT]).vectors for _ in range(2))
    assert (first == again).all()


def test_the_tokeniser_of_a_module_is_checked_too(checkpoints: dict[Callable, Path], tmp_path: Path) -> None:
    with_dropout(checkpoints[load_checkpoint], 1, tmp_path / "model" / "0_Transformer")
    with pytest.raises(ValueError, match=r"0_Transformer/tokenizer\.json: expected a tokeniser that splits"):
        check_tokenizer(tmp_path / "model")


@pytest.mark.parametrize("text", ["", "[]", '{"model": 3}', '{"model": {"type": "BPE"}}', "[" * 100_000])
def test_a_damaged_tokeniser_is_left_to_its_reader(text: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    check_tokenizer(tmp_path)
