"""Scores as columns of data sets and data frames, and the exported encoder."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from semantic_metrics import load
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import cosine
from tests.conftest import ROOT
from tests.hooks.conftest import TEXTS
from tests.tiny_table import small_table


def test_datasets_map(run_example: Callable[[str], dict]) -> None:
    scored = run_example("datasets")["scored"]
    texts = {"predictions": TEXTS["answer"], "references": TEXTS["gold"], "questions": TEXTS["question"]}
    assert scored.to_dict() == {**TEXTS, "nli_lex": load("nli_lex").compute(**texts)["scores"]}


def test_pandas(run_example: Callable[[str], dict]) -> None:
    scored = run_example("pandas")["scored"]
    expected = load("consensus").compute(predictions=TEXTS["answer"], references=TEXTS["gold"])
    assert scored.to_dict("list") == {**TEXTS, "consensus": expected["scores"]}


def test_the_exported_encoder(run_example: Callable[[str], dict]) -> None:
    names = run_example("sentence-transformers")
    expected = load("matcha").compute(predictions=["It rains."], references=["It does not rain."])["scores"]
    assert names["similarity"].item() == pytest.approx(expected[0], abs=1e-5)
    table = load_checkpoint(str(ROOT / "model_cards" / "matcha"))
    texts = [*TEXTS["question"], *TEXTS["answer"], *TEXTS["gold"], "\U0001f995", "known \U0001f995 and unknown", " "]
    check(names["model"], table, texts)


def check(model: SentenceTransformer, table: object, texts: list[str]) -> None:
    """All cosines of all pairs of texts agree; a text without a known token is all zeros in both."""
    theirs, ours = model.encode(texts).astype(np.float64), table.encode(texts)
    left, right = (grid.ravel() for grid in np.meshgrid(range(len(texts)), range(len(texts))))
    difference = cosine(theirs[left], theirs[right]) - cosine(ours.vectors[left], ours.vectors[right])
    assert np.abs(difference).max() < 1e-5
    assert (theirs.any(axis=1) == ours.defined).all()
    assert not ours.defined.all()


def test_an_exported_encoder_passes_over_unknown_tokens(tmp_path: Path) -> None:
    """Also where the unknown token has a row of its own in the table."""
    table = small_table()
    assert table.weights[table.unknown_id].any()
    table.to_sentence_transformer().save(str(tmp_path / "export"))
    texts = ["the dog Ж sleeps", "the dog sleeps", "ЖЖ", "", "a man runs", "日本 Ж"]
    check(SentenceTransformer(str(tmp_path / "export"), device="cpu"), table, texts)
