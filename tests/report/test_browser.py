"""The pages of `report`, `check --html` and `annotate` in Chromium: on a screen, a phone and paper, light and dark."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import tiny_pairs as tiny
from tests.cli.conftest import done, invoke
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser


SAMPLES = ROOT / "metrics" / "samples"
PAPER = 718  # CSS pixels of A4 between Chromium's margins
LONG = "https://example.org/" + "unbroken" * 30
# What a person cannot read: elements beyond the window, cut ones, and texts whose contrast is below AA.
UNREADABLE = Path(__file__).with_name("unreadable.js").read_text(encoding="utf-8")
LOOKS = {
    f"{name} {scheme}": {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    for name, width in {"screen": 1280, "phone": 390}.items()
    for scheme in ("light", "dark")
} | {"printed": {"viewport": {"width": PAPER, "height": 1000}, "color_scheme": "light"}}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The three pages, with a text that has no place to break."""
    folder = tmp_path_factory.mktemp("pages")
    written = {name: folder / f"{name}.html" for name in ("report", "check", "annotate")}
    with (SAMPLES / "rated.csv").open(newline="") as file:
        rows = [*csv.reader(file)]
    rows.append([LONG, f"{LONG} says so", *rows[1][2:]])
    with (folder / "rated.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    texts = {"predictions": "said", "references": "reference"}
    options = texts | {"metric": "matcha", "label": "right", "threshold": 0.9, "output": written["report"]}
    done(invoke("report", folder / "rated.csv", options=options))
    done(invoke("annotate", folder / "rated.csv", options=texts | {"output": written["annotate"]}))
    for name in ("summary", "article"):
        text = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")
        (folder / f"{name}.txt").write_text(f"{text}\n{LONG}\n", encoding="utf-8")
    options = {"config": tiny.judging(folder / "model"), "html": written["check"]}
    done(invoke("check", folder / "summary.txt", folder / "article.txt", "--coverage", options=options))
    return written


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", ["report", "check", "annotate"])
def test_a_page_can_be_read(name: str, look: str, browser: "Browser", pages: dict[str, Path]) -> None:
    context = browser.new_context(**LOOKS[look])
    page = context.new_page()
    page.goto(pages[name].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    if name == "annotate":
        page.locator("article:not([hidden]) button").first.click()
    if look == "printed":
        page.emulate_media(media="print")
    problems = page.evaluate(UNREADABLE, [look == "printed"])
    context.close()
    assert not problems, "\n".join(dict.fromkeys(problems))
