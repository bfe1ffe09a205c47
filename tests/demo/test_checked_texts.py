"""Checked texts as HTML: links that lead somewhere, texts that are shown as they are, and hostile ones escaped."""

import re
from pathlib import Path

import pytest

from semantic_metrics.html.checked_texts import CheckedText, render_check
from semantic_metrics.report import write_check
from tests.html_page import Page

SOURCE = 'The <b>dog</b> bites & barks.\nA cat "sleeps". </script><script>alert(1)</script> Nobody ran 3 miles.'
TEXT = "The dog bites. {{ 7 * 7 }}<img src=x onerror=alert(1)> ran. No cat sleeps."
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
    checked = CheckedText(
        "one", TEXT, [SOURCE, "A dog."], 0.5, 0.25, places, 0.75, ({"text": "<gone>", "support": 0.1},)
    )
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
