"""What the demos do with texts and files, without a browser."""

from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import evaluate
import numpy as np
import pandas as pd
import pytest

from tests.conftest import Run
from tests.demo.conftest import METRICS

gr = pytest.importorskip("gradio")

HOSTILE = "<img src=x onerror=alert(1)> & <b>bold</b>"


class Seen(HTMLParser):
    """The tags of some HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        """Note a tag."""
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data


def results_of(app: ModuleType) -> object:
    """The lower half of an app's page, with components that belong to no page."""
    import demo

    with gr.Blocks():
        return demo.Results(app.PAGE)


def run(app: ModuleType, read: str, *values: object) -> dict[str, object]:
    """What the page would show, by the names of the components."""
    import demo_parts

    columns = app.PAGE.columns
    results = results_of(app)
    found = results.run(lambda *given: getattr(demo_parts, read)(columns, *given), *values)
    names = ("message", "panel", "rows", "summary", "table", "row", "plot", "file")
    return dict(zip(names, found, strict=True))


def test_every_example_is_scored(app: ModuleType) -> None:
    for boxes in app.PAGE.examples.values():
        shown = run(app, "read_typed", *boxes)
        assert shown["message"].value == ""
        assert shown["panel"].visible
        assert Path(shown["file"]).is_file()


def test_the_page_is_built_and_asks_nothing_of_other_hosts(app: ModuleType) -> None:
    import demo

    blocks = demo.build(app.PAGE)
    assert not blocks.analytics_enabled
    assert blocks.config["title"] == app.PAGE.title


@pytest.mark.parametrize("name", ["matcha", "stsscore"])
def test_a_file_comes_back_with_the_scores_of_the_metric(app: ModuleType, name: str, file: str) -> None:
    shown = run(app, "read_chosen", file, "prediction", "reference")
    back = pd.read_csv(shown["file"])
    given = pd.read_csv(file)
    metric = evaluate.load(str(METRICS / name), app.load_metric(app.SCRIPT).config_name)
    expected = metric.compute(predictions=list(given["prediction"]), references=list(given["reference"]))
    assert list(back) == [*given, name]
    assert back[list(given)].equals(given)
    assert back[name].tolist() == expected["scores"]
    assert expected["signature"] in Seen(shown["summary"]).text


@pytest.mark.parametrize("name", ["nli_lex"])
def test_answers_are_judged_with_reasons(app: ModuleType) -> None:
    shown = run(app, "read_typed", "who\nwho", "the dog\n", "the dog\na cat")
    back = pd.read_csv(shown["file"])
    assert len(back) == 2
    assert {"nli_lex", "correct", "entailment", "lexical_match"} < set(back)
    assert "1 are blank" in shown["summary"]
    reasons = Seen(app.explain({"questions": "who", "predictions": "the dog", "references": "the dog"})).text
    assert "intercept" in reasons
    assert "entailment" in reasons


@pytest.mark.parametrize("name", ["set_criteria"])
def test_criteria_are_those_of_the_metric(app: ModuleType) -> None:
    texts = {"a": ["the dog", "a man"], "b": ["the cat", "no man"], "target": ["the", "a"]}
    texts["operator"] = ["overlap", "difference"]
    shown = run(app, "read_typed", *["\n".join(column) for column in texts.values()])
    back = pd.read_csv(shown["file"]).set_index(["criterion", "measure"])
    expected = app.load_metric(app.SCRIPT).compute(**texts)
    assert back.loc[("C1", "cosine"), "holds, %"] == expected["C1"]["cosine"]["both"]
    assert back.loc[("C2", "angle"), "holds, %"] == expected["C2"]["share"]
    assert np.isnan(back.loc[("C6", "angle"), "holds, %"])
    assert not shown["plot"].visible


@pytest.mark.parametrize("name", ["matcha"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "header"),
        (b"a,b\n", "rows below"),
        (b"a,a\n1,2\n", "differ"),
        (b"prediction,reference\nx\n", "line 2: expected 2 values, got 1"),
        (b"prediction,reference\n\xff,x\n", "0xff"),
        (b'prediction,reference\n"x,y\n', "CSV"),
        (b"prediction,other\nx,y\n", "expected one of the columns prediction, other, got reference"),
        (b"prediction,reference,matcha\nx,y,1\n", "no column named 'matcha'"),
        (b"prediction,reference\n" + b"x,y\n" * 100_001, "at most 100,000 rows on this page, got 100,001"),
        (None, "upload one first"),
    ],
)
def test_a_bad_file_is_said_in_a_sentence(app: ModuleType, content: bytes | None, said: str, tmp_path: Path) -> None:
    path = None if content is None else tmp_path / "bad.csv"
    if content is not None:
        path.write_bytes(content)
    shown = run(app, "read_chosen", path and str(path), "prediction", "reference")
    assert said in Seen(shown["message"].value).text
    assert shown["message"].visible
    assert not shown["panel"].visible
    assert shown["rows"] == {}


@pytest.mark.parametrize("name", ["matcha"])
@pytest.mark.parametrize(
    ("boxes", "said"),
    [
        (("", None), "they are empty"),
        (("a\nb", "a"), "References: expected 2 lines, as many as in the other box, got 1"),
        (("a\ud800", "a"), "lone surrogate"),
    ],
)
def test_bad_boxes_are_said_in_a_sentence(app: ModuleType, boxes: tuple, said: str) -> None:
    assert said in Seen(run(app, "read_typed", *boxes)["message"].value).text


@pytest.mark.parametrize("name", ["matcha"])
def test_lines_are_rows_and_an_empty_one_counts(app: ModuleType) -> None:
    import demo_parts

    assert demo_parts.read_boxes(["A", "B"], ("a\n\n\n", "x\ny\n")) == [["a", ""], ["x", "y"]]
    assert demo_parts.read_boxes(["A", "B"], ("a", "x\n\n")) == [["a"], ["x"]]


@pytest.mark.parametrize("name", ["nli_lex"])
def test_what_the_metric_refuses_is_said_with_html_as_text(app: ModuleType, tmp_path: Path) -> None:
    shown = run(app, "read_typed", "who", "the dog", " ")
    assert "references[0]: expected a text" in Seen(shown["message"].value).text
    path = tmp_path / "hostile.csv"
    path.write_text(f'"{HOSTILE}",b\n1,2\n', encoding="utf-8")
    said = run(app, "read_chosen", str(path), "x", "y", "z")["message"].value
    assert Seen(said).tags == {"div", "b"}
    assert HOSTILE in Seen(said).text


@pytest.mark.parametrize("name", ["matcha", "stsscore"])
def test_html_in_a_text_stays_text(app: ModuleType) -> None:
    shown = run(app, "read_typed", HOSTILE, HOSTILE)
    reasons = Seen(app.explain({"predictions": HOSTILE, "references": HOSTILE}))
    assert reasons.tags <= {"p", "b", "div", "span", "small"}
    assert "<img" not in shown["summary"]
    assert set(shown["table"].datatype) == {"number", "str"}


@pytest.mark.parametrize("name", ["matcha"])
def test_the_heat_map_shows_every_token_with_its_share(app: ModuleType) -> None:
    found = app.load_metric(app.SCRIPT).explain("the dog barks", "a dog")
    said = Seen(app.explain({"predictions": "the dog barks", "references": "a dog"})).text
    for side in ("prediction", "reference"):
        for token, share in zip(found[side]["tokens"], found[side]["contributions"], strict=True):
            assert f"{token}{share:+.3f}" in said or abs(share) < 0.0005


@pytest.mark.parametrize("name", ["matcha"])
def test_a_row_beyond_the_last_is_said(app: ModuleType) -> None:
    results = results_of(app)
    rows = {"predictions": ["a"], "references": ["b"]}
    assert "from 1 to 1, got 2" in results.explain(rows, 2)
    assert "role=" in results.explain(rows, None)
    assert results.explain({}, 1) == ""


@pytest.mark.parametrize("name", ["matcha"])
def test_a_checkpoint_that_is_none_is_said(app: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_METRICS_CHECKPOINT", "./nowhere/")
    assert "./nowhere/" in Seen(run(app, "read_typed", "a", "b")["message"].value).text


@pytest.mark.parametrize("name", ["matcha"])
def test_the_histogram_counts_every_score(app: ModuleType) -> None:
    import demo_parts

    bins = demo_parts.count_bins([-1.0, 0.0, 1.0, 1.5], (-1.0, 1.0))
    assert bins["% of rows"].sum() == pytest.approx(100)
    assert bins["score, from"].is_unique
    assert bins["score, from"].tolist() == sorted(bins["score, from"], key=float)


@pytest.mark.parametrize("name", ["matcha"])
def test_columns_are_guessed_from_their_names(app: ModuleType, file: str) -> None:
    import demo

    message, *chosen = demo.choose(app.PAGE.columns, file)
    assert [dropdown.value for dropdown in chosen] == ["prediction", "reference"]
    assert not message.visible


COPIED = """
import sys
sys.modules["semantic_metrics"] = None  # as where it is not installed
sys.path.insert(0, ".")
import app
import demo
demo.build(app.PAGE)
print(app.score({"predictions": ["the dog"], "references": ["the dog"]}).added["matcha"])
"""


@pytest.mark.parametrize("name", ["matcha"])
def test_the_folder_alone_is_a_working_space(space: Path, checkpoints: dict, name: str, run_python: Run) -> None:
    done = run_python(COPIED, cwd=space, SEMANTIC_METRICS_CHECKPOINT=checkpoints[name])
    assert done.stdout.splitlines()[-1:] == ["[1.0]"], done.stderr


def test_the_card_names_the_app(name: str) -> None:
    card = (METRICS / name / "README.md").read_text(encoding="utf-8").split("---")[1]
    needed = (METRICS / name / "requirements.txt").read_text(encoding="utf-8")
    assert "sdk: gradio\n" in card
    assert "app_file: app.py\n" in card
    version = card.split("sdk_version: ")[1].split()[0]
    assert f"gradio>={'.'.join(version.split('.')[:2])}\n" in needed
