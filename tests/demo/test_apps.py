"""The demos with texts and files, without a browser."""

import csv
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import httpx
import numpy as np
import pandas as pd
import pytest

from tests.demo.conftest import HOSTILE
from tests.html_page import Page

gr = pytest.importorskip("gradio")

from semantic_metrics.demo import page, reading  # noqa: E402
from semantic_metrics.demo.quota import Quota  # noqa: E402
from semantic_metrics.html import drawing  # noqa: E402

OF_MATCHA = pytest.mark.parametrize("name", ["matcha"])


@cache
def results_of(app: ModuleType) -> page.Results:
    """The lower half of an app's page, with components that belong to no page."""
    with gr.Blocks():
        return page.Results(app.PAGE)


def run(app: ModuleType, read: str, *values: object) -> dict[str, object]:
    """Components of the page, by the names of the components."""
    shown = results_of(app).run(lambda *inputs: getattr(reading, read)(app.PAGE.columns, *inputs), *values)
    names = ("message", "panel", "rows", "summary", "table", "row", "plot", "file")
    return dict(zip(names, shown, strict=True))


def reasons_of(app: ModuleType, **row: str) -> Page:
    return Page(results_of(app).explain({name: [text] for name, text in row.items()}, 1))


def test_every_example_is_scored_on_a_page_that_asks_no_other_host(app: ModuleType) -> None:
    for boxes in app.PAGE.examples.values():
        shown = run(app, "read_typed", *boxes)
        assert (shown["message"].value, shown["panel"].visible) == ("", True)
        assert Path(shown["file"]).is_file()
    blocks = page.build(app.PAGE)
    assert not blocks.analytics_enabled
    assert blocks.config["title"] == app.PAGE.title


@pytest.mark.parametrize("name", ["consensus", "matcha", "stsscore", "support"])
def test_a_file_comes_back_with_the_scores_of_the_metric(app: ModuleType, name: str, file: str) -> None:
    shown = run(app, "read_chosen", file, "prediction", "reference")
    written, given = pd.read_csv(shown["file"]), pd.read_csv(file)
    metric = page.load_metric(app.PAGE.script)
    expected = metric.compute(predictions=list(given["prediction"]), references=list(given["reference"]))
    assert list(written) == [*given, *(app.PAGE.added_columns or (name,))]
    assert written[list(given)].equals(given)
    assert written[name].tolist() == expected["scores"]
    assert expected["signature"] in Page(shown["summary"]).text


def test_a_box_is_one_text_of_several_lines_where_asked() -> None:
    columns = (reading.PREDICTIONS, reading.REFERENCES)
    texts, table = reading.read_typed(columns, "A title\n\nand more\n", "the reference", whole=True)
    assert texts == table == {"predictions": ["A title\n\nand more"], "references": ["the reference"]}
    with pytest.raises(ValueError, match="they are empty"):
        reading.read_typed(columns, "\n", None, whole=True)


@pytest.mark.parametrize("name", ["support"])
def test_a_text_has_the_worst_verdict_of_its_sentences(app: ModuleType) -> None:
    verdicts = ["supported", "contradicted", "not found", "not found"], ["supported", "skipped"], ["not found"], []
    result = {"support": 0.5, "scores": [0.5] * 4, "sentences": [[{"verdict": one} for one in row] for row in verdicts]}
    assert app.judge(result).added["verdict"] == ["contradicted (1 of 4)", "supported", "not found", "skipped"]


@pytest.mark.parametrize("name", ["nli_lex"])
def test_answers_are_judged_with_reasons(app: ModuleType) -> None:
    shown = run(app, "read_typed", "who\nwho\n", "the dog\n\n\n", "the dog\na cat")
    written = pd.read_csv(shown["file"])
    assert len(written) == 2, "lines are rows, and an empty one counts unless it is the last of all boxes"
    assert {"nli_lex", "correct", "entailment", "lexical_match"} < set(written)
    assert "1 are blank" in shown["summary"]
    reasons = reasons_of(app, questions="who", predictions="the dog", references="the dog").text
    assert all(part in reasons for part in ("intercept", "entailment", "By how much p falls without each word"))


@pytest.mark.parametrize("name", ["set_criteria"])
def test_criteria_are_those_of_the_metric(app: ModuleType) -> None:
    texts = {"a": ["the dog", "a man"], "b": ["the cat", "no man"], "target": ["the", "a"]}
    texts["operator"] = ["overlap", "difference"]
    shown = run(app, "read_typed", *["\n".join(column) for column in texts.values()])
    written = pd.read_csv(shown["file"]).set_index(["criterion", "measure"])
    expected = page.load_metric(app.PAGE.script).compute(**texts)
    assert written.loc[("C1", "cosine"), "holds, %"] == expected["C1"]["cosine"]["both"]
    assert written.loc[("C2", "angle"), "holds, %"] == expected["C2"]["share"]
    assert np.isnan(written.loc[("C6", "angle"), "holds, %"])
    assert shown["plot"] == ""


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        ("reference,said", ["said", "reference"]),
        ("source,summary", ["summary", "source"]),
        ("gold,x", ["x", "gold"]),
        ("one,two,three", ["one", "two"]),
        ("answer,Output,Reference", ["Output", "Reference"]),
        ("text,prediction,reference", ["prediction", "reference"]),
        ("source,reference,prediction", ["prediction", "reference"]),
        ("context,question,answer,prediction,gold", ["prediction", "gold"]),
        ("text,summary", ["summary", "text"]),
    ],
)
def test_columns_of_a_file_go_where_their_names_fit(tmp_path: Path, header: str, chosen: list[str]) -> None:
    (tmp_path / "in.csv").write_text(f"{header}\n{',' * header.count(',')}\n", encoding="utf-8")
    _, *menus = page.choose((reading.PREDICTIONS, reading.REFERENCES), str(tmp_path / "in.csv"))
    assert [menu.value for menu in menus] == chosen


@OF_MATCHA
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (b"", "header"),
        (b"prediction,reference\n\xff,x\n", "0xff"),
        (b"prediction,other\nx,y\n", "expected one of the columns prediction, other, got reference"),
        (b"prediction,reference,matcha\nx,y,1\n", "no column named 'matcha'"),
        (b"prediction,reference\n" + b"x,y\n" * 100_001, "at most 100,000 rows on this page, got 100,001"),
        (None, "upload one first"),
        (b"prediction,reference\n" + b"%s,y\n" % (b"x" * 1_000_000) * 20, "at most 20,000,000 characters at a time"),
        (("", None), "they are empty"),
        (("a\nb", "a"), "References: expected 2 lines, as many as in the longest box, got 1"),
        (("a\ud800", "a"), "lone surrogate"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_input_gets_a_message(
    app: ModuleType, given: bytes | tuple | None, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.csv"
    if isinstance(given, tuple):
        shown = run(app, "read_typed", *given)
    else:
        path.write_bytes(given or b"")
        shown = run(app, "read_chosen", None if given is None else str(path), "prediction", "reference")
    assert expected in Page(shown["message"].value).text
    assert shown["message"].visible
    assert not shown["panel"].visible
    assert shown["rows"] == {}


@pytest.mark.parametrize("name", ["nli_lex"])
def test_errors_of_the_metric_are_shown_and_html_in_them_stays_text(app: ModuleType, tmp_path: Path) -> None:
    assert "references[0]: expected a text" in run(app, "read_typed", "who", "the dog", " ")["message"].value
    path = tmp_path / "hostile.csv"
    path.write_text(f'"{HOSTILE}",b\n1,2\n', encoding="utf-8")
    shown = Page(run(app, "read_chosen", str(path), "x", "y", "z")["message"].value)
    assert set(shown.tags) == {"div", "b"}
    assert HOSTILE in shown.text
    scored = run(app, "read_typed", "<i>who</i>", HOSTILE, "<b>a</b>")
    assert scored["message"].value == ""
    assert "<img" not in scored["summary"]
    assert set(scored["table"].datatype) == {"number", "str"}
    reasons = reasons_of(app, questions="<i>who</i>", predictions=HOSTILE, references="<b>a</b>")
    assert set(reasons.tags) <= {"p", "b", "bdi", "div", "span", "style", "sub", "table", "tr", "td"}


def test_a_row_that_takes_long_to_explain_gets_a_message(app: ModuleType) -> None:
    if app.PAGE.explain is not None:
        longest = "a" * app.PAGE.max_explained
        shown = reasons_of(app, predictions=longest, references="b").text
        most = f"{app.PAGE.max_explained:,} characters to explain on this page"
        assert f"at most {most}, got {len(longest) + 1:,}" in shown
        other = results_of(app).explain({"predictions": ["a"], "references": ["b"]}, 7)
        assert "expected a number from 1 to 1, got 7" in Page(other).text


def test_cells_that_a_spreadsheet_would_run_are_escaped_and_read_back(tmp_path: Path) -> None:
    texts = ["=1+1", "+x", "-x", "@x", "\tx", "\r=x", "'=x", "-", "+1-1", "-1\n", "=HYPERLINK(1)"]
    others = ["-0.5", "+3", "-1e-5", "'x", "x=1", "", " -x", "1"]
    table = {"=a": [*texts, *others], "score": [-0.25] * 19}
    path = reading.write_csv(str(tmp_path), "scores.csv", table)
    with Path(path).open(encoding="utf-8", newline="") as file:
        (head, *_), *rows = csv.reader(file)
    assert head == "'=a"
    assert [row[0] for row in rows] == [*(f"'{text}" for text in texts), *others]
    assert {row[1] for row in rows} == {"-0.25"}
    assert reading.read_csv(path)["=a"] == table["=a"]
    Path(path).write_text("a\n=x\n'=x\n", encoding="utf-8")
    assert reading.read_csv(path)["a"] == ["=x", "'=x"], "the demo did not write this file"


@OF_MATCHA
def test_a_missing_checkpoint_gets_a_message(app: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    page.load_metric.cache_clear()
    monkeypatch.setenv("SEMANTIC_METRICS_CHECKPOINT", "./nowhere/")
    assert "./nowhere/" in run(app, "read_typed", "a", "b")["message"].value


def test_the_histogram_counts_every_score() -> None:
    bars = read_bars(drawing.histogram([-1.0, 0.0, 1.0, 1.5], (-1.0, 1.0)))
    assert len(bars) == drawing.HISTOGRAM_BARS + 3, "beyond the scale there are bars of the same width"
    assert sum(bars.values()) == pytest.approx(100)
    assert list(bars) == sorted(bars), "from the lowest score to the highest"
    assert {low: share for low, share in bars.items() if share} == {-1.0: 25, 0.0: 25, 1.0: 25, 1.4: 25}


@OF_MATCHA
def test_each_press_gets_its_own_bars_and_charges_the_visitor(app: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    quota = Quota(seconds=1e9)
    monkeypatch.setattr(page, "QUOTA", quota)
    blocks = page.build(app.PAGE).queue()
    _, address, _ = blocks.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True)
    try:
        (button,) = (one["id"] for one in blocks.config["components"] if one["props"].get("value") == "Score")
        events = blocks.config["dependencies"]
        score = next(event["id"] for event in events if [button, "click"] in map(list, event["targets"]))
        answers = []
        proxied = {"X-Forwarded-For": "198.51.100.7"}
        for number, (text, headers) in enumerate((("the dog barks", proxied), ("no cat sleeps", {}))):
            asked = {"data": [False, text, "the dog barks"], "fn_index": score, "session_hash": f"s{number}"}
            httpx.post(f"{address}gradio_api/queue/join", json=asked, headers=headers).raise_for_status()
            stream = httpx.get(f"{address}gradio_api/queue/data?session_hash=s{number}", timeout=120)
            answers.append(stream.text)
        assert [answer.count("How the scores are spread") for answer in answers] == [1, 1]
        bars = [answer[answer.index("How the scores are spread") :].partition("</table>")[0] for answer in answers]
        assert bars[0] != bars[1]
        jobs = {visitor: len(jobs) for visitor, jobs in quota._jobs.items()}
        assert jobs == {"198.51.100.7": 1}, "the second press came from the machine itself"
    finally:
        blocks.close()


def read_bars(html: str) -> dict[float, float]:
    """Percent of the rows by the score from which a bar counts."""
    rows = re.findall(r"<td>([-.\d]+) to [-.\d]+</td><td>([.\d]+)%</td>", html)
    return {float(low): float(percent) for low, percent in rows}
