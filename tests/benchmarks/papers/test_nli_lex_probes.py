"""The probes of one word, of denials and of changed numbers: their texts, and what is counted of a model's scores."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.papers.nli_lex.nli_checks import (
    JUDGES,
    NUMBERS,
    TITLES,
    answer,
    checks,
    denial_checks,
    main,
    one_word_pairs,
    probe_answers,
)
from semantic_metrics.fitting.judged_answers import question_key
from semantic_metrics.nli_lex.features import load_scorer
from tests.nli_lex.conftest import nli


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nli(tmp_path_factory.mktemp("denials") / "model")


def test_the_two_logits_are_compared(model: Path, tmp_path: Path) -> None:
    scorer = load_scorer(model)  # labels: contradiction, entailment, neutral
    answers = answer(scorer, one_word_pairs())
    logits = scorer.logits(list(zip(answers["premise"], answers["hypothesis"], strict=True))).values
    right = np.where(answers["label"] == "entailment", logits[:, 1] > logits[:, 0], logits[:, 0] > logits[:, 1])
    assert answers["passed"].tolist() == right.tolist()
    table = checks(scorer, None).set_index("set")["value"]
    assert table["probe, all (256 pairs)"] == pytest.approx(100 * right.mean())
    two = answer(load_scorer(nli(tmp_path / "two", ("entailment", "not_entailment"))), one_word_pairs()[:32])
    assert (two["passed"] == ((two["margin"] > 0) == (two["label"] == "entailment"))).all()


@pytest.mark.parametrize(("probe", "least"), [("denials", 320), (NUMBERS, 240)])
def test_answers_are_many_and_half_of_each_kind_correct(probe: str, least: int) -> None:
    answers = probe_answers(probe)
    assert len(answers) >= least
    assert (answers.groupby("kind")["label"].mean() == 0.5).all()
    assert not answers.duplicated(["question", "candidate"]).any()
    other = probe_answers(NUMBERS if probe != NUMBERS else "denials")
    assert not set(answers["question"]) & set(other["question"])


def test_the_command_writes_both_tables_and_the_benchmark_takes_its_figures(model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--checkpoint", str(model), "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    tables = [pd.read_csv(tmp_path / "out" / f"{probe}.csv") for probe in TITLES]
    for probe, table in zip(TITLES, tables, strict=True):
        assert len(pd.read_csv(tmp_path / "out" / f"{probe}_answers.csv")) == len(probe_answers(probe))
        assert list(table["judge"].unique()) == list(JUDGES)
    checked = denial_checks(load_scorer(model))
    assert np.allclose(checked["value"], pd.concat(tables)["accuracy"])
    assert checked["set"][0] == f"denials, correct ({tables[0]['answers'][0]} answers), NLI+lex"
    refused = CliRunner().invoke(main, ["--checkpoint", "/nowhere/x", "--output", str(tmp_path / "no")])
    assert refused.exit_code == 2


@pytest.mark.real_data
def test_no_question_is_in_the_data(data_folder: Path) -> None:
    sets = ("evouna/nq", "diver_qa/sample", "openqa_eval/nq301", "sas_answers/nq_open_with_question")
    known = {question_key(one) for name in sets for one in pd.read_parquet(data_folder / f"{name}.parquet")["question"]}
    for probe in TITLES:
        assert not known & set(probe_answers(probe)["question"].map(question_key))
