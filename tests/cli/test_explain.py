"""`semantic-metrics explain`: heat maps that are read without colours, in any width, and as a page."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import semantic_metrics
from semantic_metrics.cli.terminal import MIN_WIDTH
from tests.cli.conftest import done, invoke, refused

PAIR = ("the dog bites a man", "no man sleeps")
ESCAPE = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture
def run(checkpoint: Path) -> Callable[..., Result]:

    def call(*arguments: str, width: int = 100, color: bool = False, **changed: str) -> Result:
        options = {"metric": "matcha", "config": checkpoint} | changed
        return invoke("explain", "--", *(arguments or PAIR), options=options, width=width, color=color)

    return call


def marks(lines: list[str], word: str) -> str:
    place = next(i for i, line in enumerate(lines) if re.search(rf"\b{word}\b", line) and not line.startswith("pred"))
    begin = lines[place].index(word)
    return lines[place + 1][begin : begin + len(word)].strip()


def test_signs_are_below_the_tokens(run: Callable, checkpoint: Path) -> None:
    lines = done(run())
    assert not ESCAPE.search("".join(lines))
    explanation = semantic_metrics.load("matcha", str(checkpoint)).explain(*PAIR)
    assert lines[0] == f"matcha {explanation['score']:.4f}  (exact: each token's share of the score)"
    assert lines[-1].startswith("matcha|")
    strongest = max(abs(share) for side in ("prediction", "reference") for share in explanation[side]["contributions"])
    reference = explanation["reference"]
    for token, share in zip(reference["tokens"], reference["contributions"], strict=True):
        sign = marks(lines[lines.index("") :][5:], token) if abs(share) > strongest / 12 else ""
        assert set(sign) <= {"+" if share > 0 else "-"}
    assert f"prediction: its words add up to the score, {explanation['score']:+.4f}" in lines


def test_colours_change_no_character(run: Callable) -> None:
    plain, coloured = run().output, run(color=True).output
    assert ESCAPE.search(coloured)
    assert ESCAPE.sub("", coloured) == plain


@pytest.mark.parametrize("width", [20, 61, 100])
def test_lines_fit_the_terminal(run: Callable, width: int) -> None:
    text = "the dog bites 日本 " * 30 + "x" * 300
    lines = run(text, "\x1b[31mred\nman \u202e", width=width).output.splitlines()
    body = lines[2 : lines.index(next(line for line in lines if line.startswith("+ raises")))]
    assert max(len(line) + sum(sign in "日本" for sign in line) for line in body) < max(width, MIN_WIDTH)
    assert "\x1b" not in "".join(lines)
    assert sum(line.count("日") for line in body if "strongest" not in line) >= 30


def test_the_page_is_written(run: Callable, tmp_path: Path) -> None:
    path = tmp_path / "why.html"
    done(run('the <b>dog</b> & "man"', "a cat", html=str(path)))
    page = path.read_text(encoding="utf-8")
    assert "<b>dog" not in page
    assert "://" not in page
    assert page.count("<sub>") > 1
    assert [one.name for one in tmp_path.iterdir()] == ["why.html"]


def test_the_cross_encoders(run: Callable, sts_model: Path, nli_model: Path) -> None:
    lines = done(run(metric="stsscore", config=sts_model))
    assert lines[0].startswith("stsscore ")
    assert lines[0].endswith("(leave_one_out: what the score loses where a word is left out)")
    lines = done(run("the dog", "a dog", metric="nli_lex", config=nli_model, question="who?"))
    assert "question" in lines
    assert "add up" not in "\n".join(lines), "losses of tokens that are left out do not"


def test_features_are_shown_as_in_the_demo(run: Callable, nli_model: Path) -> None:
    lines = done(run("the dog", "a dog", metric="nli_lex", config=nli_model, question="who?"))
    metric = semantic_metrics.load("nli_lex", str(nli_model))
    texts = {"predictions": ["the dog"], "references": ["a dog"], "questions": ["who?"]}
    (reasons,) = metric.compute(**texts, output="reasons")["reasons"]
    begin = lines.index("What each feature adds to the log odds of being correct:") + 1
    printed = dict(line.split()[:2] for line in lines[begin : begin + len(reasons)])
    assert {name: float(value) for name, value in printed.items()} == pytest.approx(reasons, abs=0.005)
    largest = max(map(abs, reasons.values()))
    for line in lines[begin : begin + len(reasons)]:
        name, _, *signs = line.split()
        assert ("+" if reasons[name] > 0 else "-") * round(20 * abs(reasons[name]) / largest) == "".join(signs)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"metric": "mathca"},
            "expected one of consensus, matcha, nli_lex, stsscore, support, got 'mathca'; did you m",
        ),
        ({"metric": "nli_lex"}, "--question: expected a text, for nli_lex"),
        ({"question": "who?"}, "--question: only nli_lex takes it"),
        ({"html": "no/such/why.html"}, "no/such/why.html: expected an existing folder"),
    ],
)
def test_invalid_input_is_refused(run: Callable, changed: dict, message: str) -> None:
    refused(run(**changed), message)
