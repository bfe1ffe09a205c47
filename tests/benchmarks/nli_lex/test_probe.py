"""The probe: its pairs, and what is counted of a model's logits."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.nli_lex.probe import accuracy_table, answer, main, probe_pairs
from semantic_metrics.nli_lex.features import load_scorer
from tests.nli_lex.conftest import nli

KINDS = ["hypernym", "antonym", "number", "negation"]


def test_pairs_are_many_balanced_and_differ() -> None:
    pairs = probe_pairs()
    assert len(pairs) >= 200
    assert pairs.groupby(["kind", "label"]).size().tolist() == [len(pairs) // 8] * 8
    assert list(pairs["kind"].unique()) == KINDS
    assert not pairs.duplicated(["premise", "hypothesis"]).any()
    assert (pairs["premise"] != pairs["hypothesis"]).all()
    assert all(not text[0].islower() and text.endswith(".") for text in [*pairs["premise"], *pairs["hypothesis"]])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nli(tmp_path_factory.mktemp("probe") / "model")


def test_the_two_logits_are_compared(model: Path) -> None:
    scorer = load_scorer(model)  # labels: contradiction, entailment, neutral
    answers = answer(scorer, probe_pairs())
    logits = scorer.logits(list(zip(answers["premise"], answers["hypothesis"], strict=True))).values
    right = np.where(answers["label"] == "entailment", logits[:, 1] > logits[:, 0], logits[:, 0] > logits[:, 1])
    assert answers["passed"].tolist() == right.tolist()
    table = accuracy_table(answers).set_index("kind")
    assert table.loc["all", "accuracy"] == pytest.approx(100 * right.mean())
    assert table.loc["all", "low"] < table.loc["all", "accuracy"] < table.loc["all", "high"]
    assert table.loc["number", "pairs"] == 64


def test_a_model_with_two_labels_is_probed_too(tmp_path: Path) -> None:
    answers = answer(load_scorer(nli(tmp_path / "two", ("entailment", "not_entailment"))), probe_pairs()[:32])
    assert (
        answers["passed"] == (answers.eval("entailment > contradiction") == (answers["label"] == "entailment"))
    ).all()


def test_the_command_writes_both_tables(model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--checkpoint", str(model), "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert len(pd.read_csv(tmp_path / "out" / "nli_probe_pairs.csv")) == len(probe_pairs())
    assert list(pd.read_csv(tmp_path / "out" / "nli_probe.csv")["kind"]) == [*KINDS, "all"]
    refused = CliRunner().invoke(main, ["--checkpoint", "/nowhere/x", "--output", str(tmp_path / "no")])
    assert refused.exit_code == 2
    assert not (tmp_path / "no").exists()
