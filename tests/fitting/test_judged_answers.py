"""Judged answers from files: what is read, counted and refused."""

from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics.files.errors import FileError
from semantic_metrics.files.table import Table, write_table
from semantic_metrics.fitting.judged_answers import JudgedColumns, question_key, read_judged_answers, read_questions
from tests.cli.conftest import invoke
from tests.fitting.conftest import NLI_LEX, ROWS, judged_frame


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.parquet"])
def test_any_format_with_several_columns_is_read(tmp_path: Path, name: str) -> None:
    frame = judged_frame()
    write_table(tmp_path / name, Table(list(frame), frame.values.tolist()))
    judged = read_judged_answers(tmp_path / name, JudgedColumns())
    assert (judged.questions, judged.answers) == (list(frame["question"]), list(frame["answer"]))
    assert judged.labels == [bool(label) for label in frame["label"]]
    assert judged.references == [["the dog"]] * ROWS
    assert read_questions(tmp_path / name, ["question"])[0] == set(map(question_key, frame["question"]))


def test_questions_are_equal_whatever_their_punctuation() -> None:
    assert question_key("Who is  it?") == question_key("who is it") != question_key("who was it")


def test_blank_references_are_dropped_and_counted(tmp_path: Path, file: Path) -> None:
    judged_frame().assign(reference=[["the dog", "", " "]] * ROWS).to_parquet(tmp_path / "x.parquet")
    judged_frame().assign(reference="the dog//a dog").to_csv(file, index=False)
    lists = read_judged_answers(tmp_path / "x.parquet", JudgedColumns())
    texts = read_judged_answers(file, JudgedColumns(separator="/"))
    assert (lists.references[0], texts.references[0]) == (["the dog"], ["the dog", "a dog"])
    assert (sum(lists.dropped), sum(texts.dropped)) == (2 * ROWS, ROWS)
    result = invoke(
        "fit", *NLI_LEX, file, "--separator", "/", "--config", "/nowhere/unread", "--output", tmp_path / "w.json"
    )
    assert f"{file}: {ROWS} blank references dropped" in result.output


def test_all_columns_of_questions_are_left_out_and_blank_ones_ignored(tmp_path: Path, file: Path) -> None:
    frame, other, test = judged_frame(), tmp_path / "other.csv", tmp_path / "test.parquet"
    frame.loc[4:5, "question"] = "?!"
    frame.to_csv(file, index=False)
    frame.rename(columns={"question": "asked"}).to_csv(other, index=False)
    asked = {"question": [frame["question"][0], None, " "], "asked": ["?", "none", frame["question"][2]]}
    pd.DataFrame(asked).to_parquet(test)
    assert read_questions(test, ["question"])[1] == 2
    names = ("--question", "question", "--question", "asked", "--exclude", test)
    result = invoke(
        "fit", *NLI_LEX, file, other, *names, "--config", "/nowhere/unread", "--output", tmp_path / "w.json"
    )
    assert f"{test}: 3 blank questions, which leave nothing out" in result.output
    for path in (file, other):
        assert f"{path}: {ROWS} answers, 4 left out by --exclude" in result.output
    pd.DataFrame({"question": [1]}).to_parquet(tmp_path / "numbers.parquet")
    with pytest.raises(FileError, match="expected a text in column 'question', got 1 in row 1"):
        read_questions(tmp_path / "numbers.parquet", ["question"])
    with pytest.raises(FileError, match="expected a column 'asked' of questions, there are 'question'"):
        read_questions(tmp_path / "numbers.parquet", ["asked"])
