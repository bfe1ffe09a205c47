"""Judged answers from files: what is read and what is refused."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from semantic_metrics.files.errors import FileError
from semantic_metrics.files.table import Table, write_table
from semantic_metrics.fitting.judged_answers import JudgedColumns, question_key, read_judged_answers, read_questions
from tests.fitting.test_fit import ROWS, examples


def test_references_may_be_lists(tmp_path: Path) -> None:
    frame = examples().assign(reference=[["the dog", "a dog"]] * ROWS)
    frame.to_parquet(tmp_path / "lists.parquet")
    assert read_judged_answers(tmp_path / "lists.parquet", JudgedColumns()).references[0] == ["the dog", "a dog"]


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.parquet"])
def test_any_format_with_columns_will_do(tmp_path: Path, name: str) -> None:
    frame = examples()
    write_table(tmp_path / name, Table(list(frame), frame.values.tolist()))
    found = read_judged_answers(tmp_path / name, JudgedColumns())
    assert (found.questions, found.answers) == (list(frame["question"]), list(frame["answer"]))
    assert found.labels == [bool(label) for label in frame["label"]]
    assert found.references == [["the dog"]] * ROWS
    assert read_questions(tmp_path / name, ["question"])[0] == set(map(question_key, frame["question"]))


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"ends in .* or \.parquet, got '\.xlsx'"):
        read_judged_answers(tmp_path / "x.xlsx", JudgedColumns())
    (tmp_path / "x.txt").write_text("the dog\n")
    with pytest.raises(FileError, match=r"expected the columns 'question', .*, there are 'text'"):
        read_judged_answers(tmp_path / "x.txt", JudgedColumns())
    (tmp_path / "x.parquet").write_text("no parquet")
    with pytest.raises(FileError, match=r"x\.parquet: expected a parquet file"):
        read_judged_answers(tmp_path / "x.parquet", JudgedColumns())
    (tmp_path / "x.csv").write_text("question,answer\n")
    with pytest.raises(FileError, match="expected rows below the header, got none"):
        read_judged_answers(tmp_path / "x.csv", JudgedColumns())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"question,answer,reference,label\nq,a,r,1\nq,a,r,1,0\n", "line 3: expected 4 values as in the header, got 5"),
        (b"question,answer,reference,label\nq,a,r\n", "line 2: expected 4 values as in the header, got 3"),
        (b"question,answer,reference,label,label\nq,a,r,1,0\n", "expected column names that differ"),
        (b"question,answer,reference,label\nq,caf\xe9,r,1\n", "expected UTF-8 text, got the byte 0xe9"),
        (b"question,answer,reference,label\nq,a,r,inf\n", "expected numbers in column 'label', got 'inf' in row 1"),
        (b"question,answer,reference,label\nq,a,r,\n", "expected numbers in column 'label', got '' in row 1"),
    ],
)
def test_tables_that_do_not_fit_their_header_are_refused(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "x.csv").write_bytes(text)
    with pytest.raises(FileError, match=message):
        read_judged_answers(tmp_path / "x.csv", JudgedColumns())
    if "label'" not in message:
        with pytest.raises(FileError, match=message):
            read_questions(tmp_path / "x.csv", ["question"])


def test_a_mark_of_byte_order_and_capitals_in_the_suffix_do_not_matter(tmp_path: Path) -> None:
    text = "\ufeffquestion,answer,reference,label\nq,a,r,TRUE\nq,b,r,false\n"
    (tmp_path / "x.CSV").write_text(text, encoding="utf-8")
    assert read_judged_answers(tmp_path / "x.CSV", JudgedColumns()).labels == [True, False]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("reference", {"text": "the dog"}, "expected references in column 'reference', got {'text': 'the dog'}"),
        ("reference", '["a", "b"]', "got the text of a printed list"),
        ("label", pd.Timestamp("2020-01-01"), "expected numbers in column 'label', got datetime"),
        ("label", float("inf"), "expected numbers in column 'label', got inf in row 1"),
        ("label", None, "expected numbers in column 'label', got None in row 1"),
    ],
)
def test_parquet_of_other_types_is_refused(tmp_path: Path, column: str, value: object, message: str) -> None:
    examples().assign(**{column: [value] * ROWS}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(FileError, match=message):
        read_judged_answers(tmp_path / "x.parquet", JudgedColumns())


def test_columns_of_one_name_in_parquet_are_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table([pa.array(["q"])] * 2, names=["question"] * 2), tmp_path / "x.parquet")
    with pytest.raises(FileError, match=r"x\.parquet: expected column names that differ, got 'question', 'question'"):
        read_judged_answers(tmp_path / "x.parquet", JudgedColumns())


def test_labels_may_be_true_and_false(tmp_path: Path) -> None:
    frame = examples()
    frame.assign(label=frame["label"] == 1).to_parquet(tmp_path / "x.parquet")
    assert read_judged_answers(tmp_path / "x.parquet", JudgedColumns()).labels == [
        bool(label) for label in frame["label"]
    ]


def test_questions_are_the_same_whatever_their_signs() -> None:
    assert question_key("Who is  it?") == question_key("who is it") != question_key("who was it")
