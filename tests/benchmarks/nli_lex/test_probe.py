"""The probe: its pairs, and what is counted of a model's logits."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.nli_lex.probe import ROLES, accuracy_table, answer, main, probe_pairs, role_pairs, role_table
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


def test_role_swaps_are_read_from_the_one_file_and_judged_in_both_ways(model: Path) -> None:
    items = pd.read_csv(ROLES)
    pairs = role_pairs()
    assert pairs["hypothesis"][::2].tolist() == items["paraphrase"].tolist()
    assert pairs["hypothesis"][1::2].tolist() == items["swap"].tolist()
    scorer = load_scorer(model)
    answers = answer(scorer, pairs)
    logits = scorer.logits(list(zip(pairs["premise"], pairs["hypothesis"], strict=True))).values
    assert answers["entailed"].tolist() == (logits.argmax(axis=1) == 1).tolist()
    table = role_table(answers).set_index("kind")
    assert table.loc["all", "items"] == len(items) == table.drop("all")["items"].sum()
    margins = answers["margin"].to_numpy()
    above = (margins[::2, None] > margins[None, 1::2]).mean() + (margins[::2, None] == margins[None, 1::2]).mean() / 2
    assert table.loc["all", "auc"] == pytest.approx(100 * above)
    assert table.loc["all", "pairwise"] == pytest.approx(100 * (margins[::2] > margins[1::2]).mean())
    swapped = ~answers["entailed"][1::2]
    assert table.loc["all", "swaps_not_entailed"] == pytest.approx(100 * swapped.mean())


def test_the_command_writes_both_tables(model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--checkpoint", str(model), "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert len(pd.read_csv(tmp_path / "out" / "nli_probe_pairs.csv")) == len(probe_pairs())
    assert list(pd.read_csv(tmp_path / "out" / "nli_probe.csv")["kind"]) == [*KINDS, "all"]
    assert len(pd.read_csv(tmp_path / "out" / "nli_roles_pairs.csv")) == len(role_pairs())
    assert pd.read_csv(tmp_path / "out" / "nli_roles.csv")["kind"][0] == "all"
    refused = CliRunner().invoke(main, ["--checkpoint", "/nowhere/x", "--output", str(tmp_path / "no")])
    assert refused.exit_code == 2
    assert not (tmp_path / "no").exists()
