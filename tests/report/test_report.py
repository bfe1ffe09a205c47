"""The pages of `report`, of one pair and of checked texts: what they show and need, and hostile texts."""

import re
import resource
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from sklearn.metrics import roc_auc_score

import semantic_metrics
from semantic_metrics.cli import main
from semantic_metrics.cli.report import _deciding
from semantic_metrics.html.checked_texts import CheckedText, render_check
from semantic_metrics.html.explained import group_by_word
from semantic_metrics.html.heat_map import MAX_WORD_CHARACTERS, heat_maps
from semantic_metrics.report import Scores, write_check, write_explanation, write_report
from semantic_metrics.report.chart import BARS, draw
from semantic_metrics.report.page import MAX_PLAIN_CHARACTERS, MAX_WORDS
from tests.cli.conftest import done, invoke, refused
from tests.html_page import Page

HOSTILE = [
    "</script><script>alert(1)</script>",
    "</style></title><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" \' & &amp; <b>bold</b>',
    "{{ 7 * 7 }} {% raw %} {# gone #}",
    "שלום the dog \u202e مرحبا",
    "🎉👩\u200d👩\u200d👧 日本",
    "a\x00b\x1b[31m\u2028c",
    "dog " * 25_000,
    "x" * 100_000,
    "",
]
ALL = '<option value="">all</option>'


def check_self_contained(page: Page) -> None:
    """Check that the page requests nothing and runs nothing but its own script, which its policy names by its hash."""
    scripts = re.findall("<script>(.*?)</script>", page.source, re.DOTALL)
    allowed = "".join(f"; script-src 'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in scripts)
    assert page.tags.count("script") == len(scripts) <= 1
    assert not {"link", "img", "iframe", "object", "form", "a", "base"}.intersection(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on") or name in ("src", "href", "srcset", "style")}
    (style,) = re.findall("<style>.*?</style>", page.source, re.DOTALL)
    assert not re.search("url|@import", style)
    assert ("content", f"default-src 'none'; style-src 'unsafe-inline'{allowed}") in page.attributes


def explain(row: dict[str, str]) -> dict:
    """Explanation in which the k-th word adds k, with alternating signs."""
    explanation: dict = {"score": 1.0, "method": "exact"}
    for name in ("prediction", "reference"):
        spans = [match.span() for match in re.finditer(r"\S+", row[name])]
        shares = [(i + 1.0) * (-1) ** i for i in range(len(spans))]
        tokens = [row[name][begin:end] for begin, end in spans]
        explanation[name] = {"tokens": tokens, "spans": spans, "contributions": shares, "total": sum(shares)}
    return explanation


def rows(count: int) -> dict[str, list[str]]:
    return {"prediction": [f"said {i}" for i in range(count)], "reference": [f"meant {i}" for i in range(count)]}


def test_a_report_has_its_parts(tmp_path: Path) -> None:
    """The golden structure: headings in their order, one article for each row shown."""
    values = np.linspace(-0.9, 0.9, 40)
    scores = [Scores("matcha", values, "matcha|a:b", {"undefined": 2}, explain), Scores("other", values**2, "other|c")]
    write_report(tmp_path / "report.html", "My answers", scores, rows(40), rows=3)
    page = Page.read(tmp_path / "report.html")
    check_self_contained(page)
    assert "://" not in page.source
    headings = ["My answers"]
    for one in scores:
        rising = np.argsort(one.values, kind="stable")
        headings += [one.name, "Lowest scores", *(f"Row {i + 1}: {one.values[i]:.4f}" for i in rising[:3])]
        headings += ["Highest scores", *(f"Row {i + 1}: {one.values[i]:.4f}" for i in rising[:-4:-1])]
    assert re.findall(r"<h[1-4]>(.*?)</h[1-4]>", page.source) == headings
    assert page.tags.count("svg") == 2
    assert page.tags.count("table") == 3, "one table across metrics, and all rows of each"
    assert re.findall(r'<th scope="col">(.*?)</th>', page.source)[:3] == ["scores", "matcha", "other"]
    for text in ("40 rows, matcha, other", "matcha|a:b", "other|c", "undefined", "95% interval"):
        assert text in page.text
    assert page.source.count('class="t ') == 4 * 6, "two tokens with a mark in each of two texts of six rows"


def test_labels_split_the_scores(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.uniform(size=60), rng.uniform(size=60) < 0.4
    write_report(tmp_path / "report.html", "x", [Scores("matcha", values, "s")], rows(60), labels, rows=2)
    page = Page.read(tmp_path / "report.html")
    lowest = np.flatnonzero(labels)[np.argsort(values[labels])[:2]]
    highest = np.flatnonzero(~labels)[np.argsort(-values[~labels])[:2]]
    assert re.findall(r"<h4>Row (\d+): [\d.]+, labelled (\w+)</h4>", page.source) == [
        *((str(i + 1), "correct") for i in lowest),
        *((str(i + 1), "incorrect") for i in highest),
    ]
    assert f"{roc_auc_score(labels, values):.4f}" in page.text
    assert f"{values[labels].mean():.4f}" in page.text
    assert f"mean of {(~labels).sum()} incorrect rows" in page.text
    write_report(tmp_path / "report.html", "x", [Scores("matcha", [0.1, 0.2], "s")], rows(2), [True, True])
    text = Page.read(tmp_path / "report.html").text
    assert "none" in text
    assert "area" not in text


@pytest.mark.parametrize("count", [1, 2, 3, 9, 10, 11])
def test_no_row_is_shown_twice(tmp_path: Path, count: int) -> None:
    write_report(tmp_path / "report.html", "x", [Scores("matcha", [0.5] * count, "s")], rows(count))
    numbers = re.findall(r"<h4>Row (\d+)", (tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(set(numbers)) == len(numbers) == min(count, 10)


@pytest.mark.parametrize("with_maps", [True, False])
def test_hostile_texts_stay_texts(tmp_path: Path, with_maps: bool) -> None:
    texts = {"prediction": HOSTILE, "reference": HOSTILE[::-1]}
    scores = Scores("<matcha>", np.linspace(0, 1, len(HOSTILE)), "s<b>", {}, explain if with_maps else None)
    write_report(tmp_path / "report.html", HOSTILE[0], [scores], texts)
    page = Page.read(tmp_path / "report.html")
    check_self_contained(page)
    assert "\x00" not in page.source
    assert all(page.paragraphs.count(text) == 2 for text in HOSTILE[:6]), "once in either column"
    if with_maps:
        assert page.text.count(f"and {25_000 - MAX_WORDS} more words that are not shown") == 2
        assert page.paragraphs.count("dog " * (MAX_WORDS - 1) + "dog") == 2
        cut = f"{'x' * MAX_WORD_CHARACTERS}… {100_000 - MAX_WORD_CHARACTERS} more characters"
        assert page.paragraphs.count(cut) == 2
    else:
        assert page.text.count(f"and {100_000 - MAX_PLAIN_CHARACTERS} more characters that are not shown") == 4
        assert page.paragraphs.count("x" * MAX_PLAIN_CHARACTERS) == 2, "in an article; the list has them in cells"
    assert page.text.count('dir="auto"') == 0
    assert page.source.count('dir="auto"') == 4 * len(HOSTILE), "in an article and in the list of all rows"


def test_a_row_that_cannot_be_explained_says_why(tmp_path: Path) -> None:
    def refuse(row: dict[str, str]) -> dict:
        raise ValueError(f"method: expected less, got {row['prediction']}")

    write_report(tmp_path / "report.html", "x", [Scores("m", [0.1], "s", {}, refuse)], rows(1))
    text = Page.read(tmp_path / "report.html").text
    assert "No heat map: method: expected less, got said 0" in text
    assert "meant 0" in text


def test_a_full_disk_fails_in_one_line_and_leaves_no_half_page(tmp_path: Path, checkpoint: Path) -> None:
    """Issue 22, 13: `report` said "written"."""
    texts, page = tmp_path / "texts.csv", tmp_path / "page.html"
    texts.write_text("prediction,reference\na,b\n")
    page.write_text("kept")
    metric = ["--metric", "matcha", "--config", str(checkpoint), "--overwrite"]
    columns = ["--predictions", "prediction", "--references", "reference"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # a disk that takes no file of more bytes
    try:
        reported = CliRunner().invoke(main, ["report", str(texts), *metric, *columns, "--output", str(page)])
        explained = CliRunner().invoke(main, ["explain", "a", "b", *metric, "--html", str(page)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for result in (reported, explained):
        assert (result.exit_code, result.stderr) == (2, f"Error: {page}: File too large\n")
    assert sorted(tmp_path.iterdir()) == [page, texts]
    assert page.read_text() == "kept"


@pytest.mark.parametrize(
    ("scores", "changed", "message"),
    [
        ([], {}, "scores: expected those of at least one metric, got none"),
        ([[]], {"texts": rows(0)}, "scores: expected rows, got none of m"),
        ([[0.1, 0.2], [0.1]], {}, "scores: of m expected 2, as many as scores of m, got 1"),
        ([[0.1, float("nan")]], {}, "scores: of m expected finite numbers, got nan"),
        ([[0.1, None]], {}, "scores: of m expected finite numbers, got None"),
        ([[0.1, 0.2]], {"texts": {"prediction": ["a", None]}}, "texts: of 'prediction' expected texts, got None"),
        ([[0.1, 0.2]], {"labels": [True]}, "labels: expected 2, as many as scores of m, got 1"),
        ([[0.1, 0.2]], {"labels": [True, "false"]}, "labels: expected true or false, got 'false'"),
        ([[0.1, 0.2]], {"rows": -1}, "rows: expected 0 or more, got -1"),
    ],
)
def test_invalid_arguments_are_refused(tmp_path: Path, scores: list, changed: dict, message: str) -> None:
    given = {"texts": rows(2), **changed}
    with pytest.raises(ValueError, match=re.escape(message)):
        write_report(tmp_path / "report.html", "x", [Scores("m", values, "s") for values in scores], **given)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("column", ["references", "words", "reasons"])
def test_what_is_said_of_rows_is_said_of_each(tmp_path: Path, column: str) -> None:
    short = Scores("m", [0.1, 0.2], "s", **{column: ["a"]})
    with pytest.raises(ValueError, match=f"scores: {column} of m expected 2, as many as scores of m, got 1"):
        write_report(tmp_path / "report.html", "x", [short], rows(2))


def test_the_pieces_of_a_heat_map_are_the_text() -> None:
    texts = {"prediction": "  a b\n\tc  d ", "reference": "e"}
    maps = heat_maps(explain(texts), texts, most=100)
    assert ["".join(piece.text for piece in one.pieces) for one in maps] == list(texts.values())
    assert [piece.level for piece in maps[0].pieces if piece.share is not None] == [1, -2, 3, -3]
    assert [piece.text for piece in maps[0].strongest] == ["d", "c", "b", "a"]
    assert maps[1].pieces[0].level == 1, "the strongest token of all texts sets the scale"
    (cut, _) = heat_maps(explain(texts), texts, most=2)
    assert ("".join(piece.text for piece in cut.pieces), cut.hidden, cut.sums) == ("  a b", 2, "")


def test_the_bars_count_all_scores() -> None:
    values = np.r_[np.random.default_rng(1).normal(0.3, 0.5, 500).clip(-1, 1), -1.0, 1.0]
    labels = values > 0.1
    for chart in (draw(values), draw(values, labels)):
        counts = [int(re.search(r": ([\d,]+) row", bar["title"])[1].replace(",", "")) for bar in chart["bars"]]
        assert sum(counts) == len(values)
        assert all(bar["height"] >= 1 and 0 < bar["y"] < chart["height"] for bar in chart["bars"])
        assert [text for _, text in chart["ticks"]] == ["-1", "-0.5", "0", "0.5", "1"]
    up, down = ([bar for bar in chart["bars"] if bar["kind"] == kind] for kind in ("up", "down"))
    assert all(bar["y"] + bar["height"] == pytest.approx(chart["axis"], abs=0.2) for bar in up)
    assert all(bar["y"] == pytest.approx(chart["axis"], abs=0.2) for bar in down)


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([0.2, 0.9], (0, 1)),
        ([-0.05, 1.07], (0, 1)),
        ([-0.5], (-1, 1)),
        ([3.0, 4.5], (0, 4)),
        ([0.5], (0, 1)),
        ([-1.8000000000000003], (-1.5, 1)),
    ],
)
def test_the_axis_covers_the_scores(values: list[float], ends: tuple[float, float]) -> None:
    chart = draw(np.array(values))
    assert (float(chart["ticks"][0][1]), float(chart["ticks"][-1][1])) == ends
    assert 1 <= len(chart["bars"]) <= BARS
    assert all(bar["x"] >= 0 and bar["x"] + bar["width"] <= 100.01 for bar in chart["bars"])
    assert 3 <= len(chart["ticks"]) <= 8


def test_all_rows_are_listed_with_decisions_and_reasons(tmp_path: Path) -> None:
    texts = {"prediction": [f"said {i}" for i in range(6)], "reference": ["gold"] * 6}
    labels = [True, True, False, False, True, False]
    words, reasons = ["same", "same", "contradicts"] * 2, [f"because {i}" for i in range(6)]
    values = [0.9, 0.2, 0.1, 0.8, 0.7, 0.3]
    scores = Scores("consensus", values, "s", threshold=0.5, words=words, reasons=reasons)
    write_report(tmp_path / "r.html", "title", [scores], texts, labels, rows=1)
    source = (tmp_path / "r.html").read_text()
    Page.read(tmp_path / "r.html")
    assert re.findall(r'data-column="(\d)">(.*?)</select>', source) == [
        ("2", f"{ALL}<option>correct</option><option>incorrect</option>"),
        ("3", f"{ALL}<option>same</option><option>contradicts</option>"),
        ("4", f"{ALL}<option>correct</option><option>incorrect</option>"),
    ]
    assert "<td>0.2000</td><td>incorrect</td><td>same</td><td>correct</td>" in source
    assert re.search(r"labelled correct: decided so, not so</th>\s*<td>2, 1</td>", source)
    assert re.search(r"labelled incorrect: decided so, not so</th>\s*<td>2, 1</td>", source)
    assert "Row 2: 0.2000, same, labelled correct" in source
    assert "because 1" in source
    assert 'class="line" x1="50.0%"' in source
    write_report(tmp_path / "r.html", "title", [replace(scores, threshold=None)], texts, rows=0)
    assert re.findall(r'<label>(\w+) <select data-column="2">', (tmp_path / "r.html").read_text()) == ["verdict"]


def test_an_explanation_shows_whole_words_without_markup(tmp_path: Path) -> None:
    pieces = {"tokens": ["un", "##happ", "##y", "<b>"], "spans": [(0, 2), (2, 6), (6, 7), (7, 10)]}
    explanation = {"score": 0.4, "method": "exact"}
    explanation["prediction"] = pieces | {"contributions": [0.5, -0.2, 0.1, 0.0], "total": 0.4, "text": "unhappy<b>"}
    (shown,) = heat_maps(explanation, {"prediction": "**unhappy<b>**"}, most=5)
    assert [(piece.text, piece.share) for piece in shown.pieces] == [("unhappy", pytest.approx(0.4)), ("<b>", 0.0)]
    write_explanation(tmp_path / "why.html", "m", "exact", [shown], "m|s")
    page = Page.read(tmp_path / "why.html")
    check_self_contained(page)
    assert "its words add up to the score, +0.4000" in page.text
    assert {"unhappy<b>", "m|s"} <= {*page.paragraphs, *page.texts}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He didn\u2019t pay 3.50.", ["He", "didn\u2019t", "pay", "3.50", "."]),
        ("Cafe\u0301s", ["Cafe\u0301s"]),
        ("re-run a_b 日本", ["re", "-", "run", "a", "_", "b", "日", "本"]),
    ],
)
def test_a_word_is_what_people_call_one(text: str, words: list[str]) -> None:
    spans = [(i, i + 1) for i, sign in enumerate(text) if not sign.isspace()]
    groups = group_by_word(text, spans)
    assert [text[spans[group[0]][0] : spans[group[-1]][1]] for group in groups] == words


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("said,gold,ok,asked\nthe dog bites,a dog,1,who?\nthe cat,a man,0,who?\n<b>,the,true,who?\n")
    return path


@pytest.fixture
def run(answers: Path, checkpoint: Path) -> Callable[..., Result]:
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


SOURCE = 'The <b>dog</b> bites & barks.\nA cat "sleeps". </script><script>alert(1)</script> Nobody ran 3 miles.'
TEXT = "The dog bites. {{ 7 * 7 }}<img src=x onerror=alert(1)> ran. No cat sleeps."


def test_all_sources_are_explained_where_none_decides_alone() -> None:
    several = [["a dog", "a cat"], ["no dog"]]
    assert _deciding(several, None) == ["a dog\n\na cat", "no dog"]
    assert _deciding(several, [1, None]) == ["a cat", "no dog"]
    assert _deciding(["a dog"], None) is None


SIGNATURE = "support|<sig>"


def named(page: Page, name: str) -> list[str]:
    """Values of an attribute on a page."""
    return [value for key, value in page.attributes if key == name]


def sentence(text: str, verdict: str, *places: str, source: str = SOURCE, reference: int = 0) -> dict:
    begin = TEXT.index(text)
    spans = [(source.index(place), source.index(place) + len(place), place) for place in places]
    shown = [
        {"reference": reference, "begin": a, "end": b, "text": place, "support": 0.25, "contradiction": 0.5}
        for a, b, place in spans
    ]
    numbers = {"support": 0.25, "contradiction": 0.5}
    return {"text": text, "begin": begin, "end": begin + len(text), **numbers, "verdict": verdict, "places": shown}


SENTENCES = [
    sentence("The dog bites.", "supported", "The <b>dog</b> bites & barks."),
    sentence("{{ 7 * 7 }}<img src=x onerror=alert(1)> ran.", "not found"),
    sentence("No cat sleeps.", "contradicted", 'bites & barks.\nA cat "sleeps".'),
]
CHECKED = CheckedText("<one>", TEXT, [SOURCE], 0.5, 0.25, SENTENCES)


def test_every_link_leads_to_a_place_and_back() -> None:
    page = Page(render_check([CHECKED, CHECKED], SIGNATURE))
    ids, links = named(page, "id"), named(page, "href")
    assert len(set(ids)) == len(ids)
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert len(links) == 2 * 2 * 3  # two sentences with a place: in the text, in the list, and back
    assert set(ids).isdisjoint(named(Page(render_check([CHECKED], SIGNATURE, "other")), "id"))


def test_text_and_source_are_shown_as_they_are() -> None:
    page = Page(render_check([CHECKED], SIGNATURE))
    assert page.paragraphs == [TEXT, SOURCE]


def test_nothing_of_a_text_becomes_a_tag(tmp_path: Path) -> None:
    write_check(tmp_path / "page.html", "<i>title</i>\0", [CHECKED], SIGNATURE)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(html.partition("<body>")[2].partition("</body>")[0])
    assert {"script", "img", "b", "i"} & set(page.tags) <= {"b"}  # the verdicts' own
    assert "<script" not in html
    assert "{{ 7 * 7 }}" in html
    assert "\0" not in html
    assert not re.search(r"(src|href)=.http", html)


def test_several_sources_and_what_is_missing_are_named() -> None:
    places = [sentence("The dog bites.", "supported", "A dog.", source="A dog.", reference=1)]
    checked = CheckedText("one", TEXT, [SOURCE, "A dog."], 0.5, 0.25, places, 0.75, ({"text": "<gone>", "support": 0},))
    html = render_check([checked], SIGNATURE)
    assert "source 2, characters 0 to 6" in html
    assert "coverage of the reference 0.750" in html
    assert "&lt;gone&gt;" in html


@pytest.mark.parametrize("verdict", ["supported", "contradicted", "not found"])
def test_a_verdict_shows_without_colours(verdict: str) -> None:
    checked = CheckedText("one", TEXT, [SOURCE], 0.5, 0.25, [sentence("The dog bites.", verdict, "barks")])
    mark = {"supported": "✓", "contradicted": "✗", "not found": "?"}[verdict]
    assert f"<b>{mark} {verdict}</b>" in render_check([checked], SIGNATURE)


def test_each_verdict_can_be_left_out_of_the_list_and_a_skipped_sentence_has_no_numbers() -> None:
    skipped = sentence("No cat sleeps.", "skipped") | {"support": None, "contradiction": None}
    html = render_check([CheckedText("one", TEXT, [SOURCE], 0.5, 0.25, [*SENTENCES[:2], skipped])], SIGNATURE)
    for kind in ("supported", "contradicted", "not-found", "skipped"):
        assert f'id="check-show-{kind}"' in html
        assert f".show-{kind}:not(:checked) ~ section li.{kind}" in html
    (item,) = re.findall(r'<li class="skipped">.*?</li>', html, flags=re.DOTALL)
    assert "It claims nothing." in item
    assert "support" not in item
    assert "1 supported, 0 contradicted, 1 not found, 1 skipped." in html


def test_nothing_is_cut_when_the_page_is_printed() -> None:
    html = render_check([CHECKED], SIGNATURE)
    on_screen = re.search(r"@media screen and \(min-width: 50.01rem\) \{.*?\n\}", html, flags=re.DOTALL)[0]
    assert "max-height" in on_screen
    assert "max-height" not in html.replace(on_screen, "")
