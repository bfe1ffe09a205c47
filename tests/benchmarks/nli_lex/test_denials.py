"""The probes of denials and of changed numbers: their answers, and what is counted of a judge's scores."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pandas.testing import assert_frame_equal

from benchmarks.nli_lex.denials import (
    JUDGES,
    NUMBERS,
    TITLES,
    accuracy_table,
    build_answers,
    denial_checks,
    main,
    probe_answers,
    score,
)
from semantic_metrics import load
from semantic_metrics.fitting.judged_answers import question_key
from semantic_metrics.nli_lex.features import load_scorer
from tests.nli_lex.conftest import nli


def test_answers_are_many_balanced_and_those_of_the_forms() -> None:
    answers = probe_answers()
    assert len(answers) >= 320
    assert answers["question"].nunique() >= 40
    assert answers["form"].nunique() >= 30
    assert (answers.groupby("kind")["label"].mean() == 0.5).all()
    assert not answers.duplicated(["question", "candidate"]).any()
    assert_frame_equal(answers, build_answers(), check_dtype=False)


def test_numbers_are_changed_in_half_of_the_answers() -> None:
    answers = probe_answers(NUMBERS)
    assert len(answers) >= 240
    assert (answers.groupby("kind")["label"].mean() == 0.5).all()
    assert (answers["form"] == "number alone").mean() == 0.5
    assert not answers.duplicated(["question", "candidate"]).any()
    assert_frame_equal(answers, build_answers(NUMBERS), check_dtype=False)
    assert not set(answers["question"]) & set(probe_answers()["question"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nli(tmp_path_factory.mktemp("denials") / "model")


def test_the_judge_is_the_metric_that_users_load(model: Path) -> None:
    answers = probe_answers()[:12]
    scored = score(load_scorer(model), answers)
    texts = {"predictions": "candidate", "references": "reference", "questions": "question"}
    result = load("nli_lex", str(model)).compute(**{name: list(answers[column]) for name, column in texts.items()})
    assert scored["NLI+lex"].tolist() == pytest.approx(result["scores"], abs=1e-6)
    assert scored["NLI alone"].tolist() == pytest.approx(result["entailment"], abs=1e-6)
    assert scored["Token recall"].tolist() == [1] * 12


def test_accuracy_is_by_kind_and_label() -> None:
    scored = pd.DataFrame(
        {"kind": ["deny", "deny", "list", "list"], "label": [0, 1, 0, 1], "NLI alone": [0.5, 0.6, 0.9, 0.1]}
    )
    table = accuracy_table(scored).set_index("kind")
    assert table["accuracy"].to_dict() == {"deny": 100, "list": 0, "all": 50}
    assert table.loc["all", ["correct", "incorrect"]].tolist() == [50, 50]
    assert table.loc["all", "low"] < 50 < table.loc["all", "high"]
    assert set(table["judge"]) == {"NLI alone"}


def test_a_checkpoint_without_weights_is_measured_by_its_model_alone(model: Path, tmp_path: Path) -> None:
    bare = nli(tmp_path / "bare")
    (bare / "nli_lex.json").unlink()
    scored = score(load_scorer(bare), probe_answers()[:4])
    assert [name for name in JUDGES if name in scored] == ["NLI alone", "Token recall"]


def test_the_command_writes_both_tables_and_the_benchmark_takes_its_figures(model: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--checkpoint", str(model), "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    tables = [pd.read_csv(tmp_path / "out" / f"{probe}.csv") for probe in TITLES]
    for probe, table in zip(TITLES, tables, strict=True):
        assert len(pd.read_csv(tmp_path / "out" / f"{probe}_answers.csv")) == len(probe_answers(probe))
        assert list(table["judge"].unique()) == list(JUDGES)
    checks = denial_checks(load_scorer(model))
    assert np.allclose(checks["value"], pd.concat(tables)["accuracy"])
    assert checks["set"][0] == f"denials, correct ({tables[0]['answers'][0]} answers), NLI+lex"
    assert checks["set"].iloc[-1] == f"changed numbers, all ({len(probe_answers(NUMBERS))} answers), Token recall"
    refused = CliRunner().invoke(main, ["--checkpoint", "/nowhere/x", "--output", str(tmp_path / "no")])
    assert refused.exit_code == 2


@pytest.mark.real_data
def test_no_question_is_in_the_data(data_folder: Path) -> None:
    sets = ("evouna/nq", "diver_qa/sample", "openqa_eval/nq301", "sas_answers/nq_open_with_question")
    known = {
        question_key(text) for name in sets for text in pd.read_parquet(data_folder / f"{name}.parquet")["question"]
    }
    for probe in TITLES:
        assert not known & set(probe_answers(probe)["question"].map(question_key))
