"""`semantic-metrics report`: a file is scored and written as a page."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import semantic_metrics
from tests.cli.conftest import done, invoke, refused
from tests.html_page import Page
from tests.report.test_report import check_self_contained


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A CSV file with labels."""
    path = tmp_path / "answers.csv"
    path.write_text("said,gold,ok,asked\nthe dog bites,a dog,1,who?\nthe cat,a man,0,who?\n<b>,the,true,who?\n")
    return path


@pytest.fixture
def run(answers: Path, checkpoint: Path) -> Callable[..., Result]:
    """Run the command with the small checkpoint; it writes `report.html`."""
    usual = {"metric": "matcha", "predictions": "said", "references": "gold", "config": checkpoint}
    usual["output"] = answers.with_name("report.html")
    return lambda **changed: invoke("report", answers, options=usual | changed)


def test_the_command_scores_and_writes(run: Callable, answers: Path, checkpoint: Path) -> None:
    answers.write_text("said,gold,ok\nthe dog bites,a dog, TRUE\nthe cat,a man,0.0\n<b>,the,1e0\n")
    line = done(run(label="ok"))[0]
    page = Page.read(answers.with_name("report.html"))
    check_self_contained(page)
    metric = semantic_metrics.load("matcha", str(checkpoint))
    said = metric.compute(predictions=["the dog bites", "the cat", "<b>"], references=["a dog", "a man", "the"])
    assert said["signature"] in page.text
    assert line == f"matcha: 3 rows, mean {said['matcha']:.4f}, undefined 0"
    assert set(re.findall(r"Row \d+: (-?[\d.]+)", page.text)) == {f"{score:.4f}" for score in said["scores"]}
    assert len(re.findall(r"Row \d+: -?[\d.]+, labelled correct", page.text)) == 2
    assert "answers.csv" in page.text
    assert "strongest:" in page.text


def test_a_row_without_a_score_among_several_references(answers: Path, checkpoint: Path) -> None:
    answers.write_text("said,gold,other\nthe dog bites,a dog,the man\n,the cat,the man\n")
    page = answers.with_name("report.html")
    columns = ["--predictions", "said", "--references", "gold", "--references", "other"]
    lines = done(invoke("report", answers, "--metric", "matcha", *columns, "--config", checkpoint, "--output", page))
    assert lines[0].endswith("undefined 1")
    assert "2 rows, matcha" in Page.read(page).text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": "nli_lex"}, "--questions: expected a column, for nli_lex"),
        ({"label": "gold"}, "--label: expected 1, 0, true or false in column 'gold', got 'a dog' in row 1"),
        ({"output": "no/such/report.html"}, "no/such/report.html: expected an existing folder"),
    ],
)
def test_invalid_input_is_refused(run: Callable, answers: Path, changed: dict, message: str) -> None:
    refused(run(**changed), message)
    assert not answers.with_name("report.html").exists()
