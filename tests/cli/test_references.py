"""Several references in a file: columns, separators and JSON lists; and headers in one piece."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import semantic_metrics
from semantic_metrics.files import FileError
from semantic_metrics.files.references import ReferenceColumns
from tests.cli.conftest import done, invoke, refused

SAID = ["the dog bites", "a man sleeps", "the cat"]
GOLD = [["a dog", "the dog bites"], ["the cat"], ["no cat", "the cat sleeps"]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    columns = {
        "said": SAID,
        "one": [texts[0] for texts in GOLD],
        "two": [texts[1] if len(texts) > 1 else "" for texts in GOLD],
        "cut": [" / ".join(texts) for texts in GOLD],
        "json": [json.dumps(texts) for texts in GOLD],
        "rating": [3, 1, 2],
    }
    pd.DataFrame(columns).to_csv(tmp_path / "in.csv", index=False)
    return tmp_path / "in.csv"


@pytest.fixture
def run(file: Path, checkpoint: Path) -> Callable:
    def run(command: str, *options: object) -> list[str]:
        return done(
            invoke(command, file, "--metric", "matcha", "--config", checkpoint, "--predictions", "said", *options)
        )

    return run


WRITINGS = [
    ("--references", "one", "--references", "two"),
    ("--references", "cut", "--separator", "/"),
    ("--references", "json", "--json-lists"),
]


@pytest.mark.parametrize("options", WRITINGS)
def test_the_best_of_several_references_counts(run: Callable, file: Path, checkpoint: Path, options: tuple) -> None:
    metric = semantic_metrics.load("matcha", str(checkpoint))
    expected = metric.compute(predictions=SAID, references=GOLD)["scores"]
    assert expected[0] == 1
    run("score", *options, "--output", file.with_name("out.csv"))
    assert pd.read_csv(file.with_name("out.csv"))["matcha"].tolist() == expected
    page = file.with_name("r.html")
    run("report", *options, "--output", page)
    assert "Row 1: 1.0000" in page.read_text()
    mean = f"{sum(expected) / 3:.4f}"
    lines = run("validate", *options, "--human", "rating", "--resamples", 20, "--output", file.with_name("v.csv"))
    assert "3 rows in 3 groups" in lines[0]
    command = ["compare", file, file, file, *options, "--predictions", "said", "--predictions", "one", "--metric"]
    lines = done(invoke(*command, "matcha", "--config", checkpoint, "--resamples", 20))
    assert lines[2].split()[:2] == ["said", mean]


def test_a_printed_list_is_warned_about(run: Callable, file: Path, checkpoint: Path) -> None:
    usual = {"metric": "matcha", "config": checkpoint, "predictions": "said", "references": "json"}
    result = invoke("score", file, options=usual)
    done(result)
    assert result.stderr == (
        f"warning: {file}, line 2: column 'json' has '[\"a dog\", \"the dog bites\"]', read as one text; "
        "--json-lists reads it as several\n"
    )
    assert invoke("score", file, "--json-lists", options=usual).stderr == ""
    for command, more in (("report", {"output": file.with_name("r.html")}), ("validate", {"human": "rating"})):
        result = invoke(command, file, options=usual | more)
        assert f"warning: {file}, row 1: column 'json' has " in result.stderr


@pytest.mark.parametrize("cell", ["['a', 'b']", '["a", 1]', '["a", ["b"]]', "[1912]"])
def test_a_list_that_is_no_json_of_texts_is_refused(file: Path, checkpoint: Path, cell: str) -> None:
    pd.DataFrame({"said": ["x", "y"], "gold": ["a", cell]}).to_csv(file, index=False)
    options = {"metric": "matcha", "config": checkpoint, "predictions": "said", "references": "gold"}
    message = f"{file}, line 3: expected a text or a JSON list of texts in column 'gold', got "
    refused(invoke("score", file, "--json-lists", options=options), message)


def test_references_are_read_by_hand() -> None:
    def join(cells: list, **settings: object) -> list[str]:
        names = tuple(f"c{i}" for i in range(len(cells)))
        return ReferenceColumns(names, **settings).join([[cell] for cell in cells], str)[0]

    assert join(["a;b; ", "c"], separator=";") == ["a", "b", "c"]
    assert join(["", " "]) == [""]
    assert join([["a", ""], None]) == ["a"]
    assert join(['["a", "b"]', "[...] c"], json_lists=True) == ["a", "b", "[...] c"]
    assert join(['["a;b"]', "c;d"], json_lists=True, separator=";") == ["a;b", "c", "d"]
    assert join(["[]"], json_lists=True) == [""]
    with pytest.raises(FileError, match="0: expected a text or a list of texts in column 'c0', got 1"):
        join([1, "a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--references", "one", "--references", "one"), "--references: expected each column once, got 'one', 'one'"),
        (("--references", "one", "--references", "six"), "--references: expected one of the columns "),
        (("--references", "one", "--separator", ""), "--separator: expected a text, got an empty one"),
    ],
)
def test_invalid_columns_are_refused(file: Path, options: tuple, message: str) -> None:
    for command, more in (("score", ()), ("report", ("--output", "r.html")), ("validate", ("--human", "rating"))):
        refused(invoke(command, file, "--predictions", "said", *options, *more), message)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("said;gold\na;b\n", "the header has semicolons: write the file with commas"),
        ("said;gold\na, c;b\n", "expected 1 values as in the header, got 2; the header has semicolons"),
        ("said\tgold\na\tb\n", "the header has tabs: name the file .tsv"),
    ],
)
def test_a_header_in_one_piece_gets_a_hint(tmp_path: Path, text: str, hint: str) -> None:
    (tmp_path / "in.csv").write_text(text)
    refused(invoke("score", tmp_path / "in.csv", options={"predictions": "said", "references": "gold"}), hint)
