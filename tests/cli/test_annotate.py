"""The page on which people judge texts, and what they saved with it, joined."""

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import done, invoke, refused
from tests.html_page import Page
from tests.report.test_report import HOSTILE, check_self_contained

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COLUMNS = ["--predictions", "said", "--references", "gold"]
ROWS = [("A dog.", "a dog", "Who?"), ("A cat,\nblack", "a dog", "Who?"), ("It is 5.", "five", "How many?")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    write(path, ["said", "gold", "asked"], ROWS)
    return path


def run(*arguments: object) -> str:
    return "\n".join(done(invoke("annotate", *arguments)))


def write(path: Path, columns: list[str], rows: list[tuple]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([columns, *rows])
    return path


def saved(folder: Path, name: str, ratings: dict[int, int], rows: list[tuple] = ROWS) -> list[str]:
    """The options for a file that the page saved for a rater, with ratings by row, from 1."""
    lines = [(row, rows[row - 1][0], rating) for row, rating in ratings.items()]
    return ["--ratings", str(write(folder / f"{name}.csv", ["row", "prediction", name], lines))]


def test_a_page_shows_each_row_and_needs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    lines = [json.dumps({"said": text, "gold": ["a dog", text]}) for text in HOSTILE]
    path.write_text("\n".join(lines), encoding="utf-8")
    output = run(path, *COLUMNS, "--scale", 0, 5, "--output", tmp_path / "page.html")
    assert f"{len(HOSTILE)} rows to judge" in output
    page = Page.read(tmp_path / "page.html")
    check_self_contained(page)
    assert page.tags.count("article") == len(HOSTILE)
    assert page.tags.count("button") == 6 * len(HOSTILE) + 3


def test_what_raters_saved_is_joined(file: Path, tmp_path: Path) -> None:
    raters = [*saved(tmp_path, "ann", {1: 1, 2: 0, 3: 1}), *saved(tmp_path, "ben", {1: 1, 2: 1, 3: 1})]
    output = run(file, *COLUMNS, *raters, "--output", tmp_path / "two.csv")
    assert "3 of 3 rows" in output
    assert "ann and ben: 66.7% judged alike, kappa 0.000" in output
    raters += saved(tmp_path, "cleo", {2: 0, 3: 0})
    output = run(file, *COLUMNS, *raters, "--output", tmp_path / "three.csv")
    assert "2 of 3 rows" in output
    assert "ann and cleo: 50.0% judged alike" in output
    with (tmp_path / "three.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [(row["said"], row["ann"], row["cleo"], row["majority"]) for row in rows] == [
        ("A cat,\nblack", "0", "0", "0"),
        ("It is 5.", "1", "0", "1"),
    ]


def test_raters_who_gave_one_label_alone_have_no_kappa(file: Path, tmp_path: Path) -> None:
    raters = [*saved(tmp_path, "ann", {1: 1, 2: 1}), *saved(tmp_path, "ben", {1: 1, 2: 1})]
    output = run(file, *COLUMNS, *raters, "--output", tmp_path / "two.csv")
    assert "100.0% judged alike, kappa undefined, one label alone" in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "page.csv"], "--output: expected a page, such as page.html, got page.csv"),
        (["--ratings", "ann.csv", "--output", "page.html"], "--output: expected a table, such as rated.csv"),
        (["--scale", "5", "5", "--output", "page.html"], "--scale: expected LOW below HIGH, 11 whole numbers at most"),
        (["--scale", "0", "50", "--output", "page.html"], "--scale: expected LOW below HIGH, 11 whole numbers at most"),
        (["--ratings", "ann.csv", "--ratings", "ann.csv", "--output", "a.csv"], "different names, got 'ann' twice"),
        (["--ratings", "high.csv", "--output", "a.csv"], r"high.csv: expected ratings among [0, 1], got 3 in row 1"),
        (["--ratings", "other.csv", "--output", "a.csv"], "other.csv: expected the texts of the rated file, got anoth"),
        (["--ratings", "far.csv", "--output", "a.csv"], "far.csv: expected the texts of the rated file, got another"),
        (
            ["--ratings", "half.csv", "--output", "a.csv"],
            "of the rated file, got another one as row 1.5",
        ),
        (["--ratings", "gold.csv", "--output", "a.csv"], "expected raters with other names than the columns of the f"),
        (["--ratings", "answers.csv", "--output", "a.csv"], "answers.csv: expected the columns row, prediction and a"),
    ],
)
def test_refusals(options: list, message: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, "ann", {1: 1})
    saved(tmp_path, "high", {1: 3})
    saved(tmp_path, "gold", {1: 1})
    saved(tmp_path, "other", {1: 1}, rows=[("Another text", "", "")])
    saved(tmp_path, "far", {4: 1}, rows=[*ROWS, ("A dog.", "", "")])
    write(tmp_path / "half.csv", ["row", "prediction", "half"], [(1.5, ROWS[0][0], 1)])
    refused(invoke("annotate", file.name, *COLUMNS, *options), message)


@pytest.mark.slow
def test_a_rater_judges_with_keys_and_saves(file: Path, tmp_path: Path, browser: "Browser") -> None:
    run(file, *COLUMNS, "--questions", "asked", "--output", tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    faults: list[object] = []
    page.on("pageerror", lambda fault: faults.append(fault))
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    shown = page.locator("article:not([hidden])")
    for _ in range(2):
        page.keyboard.press("0" if "black" in shown.inner_text() else "1")
    page.click("#save")
    assert "Enter your name" in page.inner_text("[role=status]")
    page.reload()
    assert page.inner_text("[role=status]") == "2 of 3 judged"
    shown.get_by_text("incorrect" if "black" in shown.inner_text() else "correct", exact=True).click()
    page.fill("#rater", "ann")
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "ann.csv")
    page.close()
    assert not faults
    ratings = ["--ratings", tmp_path / "ann.csv"]
    assert "3 of 3 rows" in run(file, *COLUMNS, *ratings, "--output", tmp_path / "rated.csv")
    with (tmp_path / "rated.csv").open(encoding="utf-8", newline="") as opened:
        assert [row["majority"] for row in csv.DictReader(opened)] == ["1", "0", "1"]
