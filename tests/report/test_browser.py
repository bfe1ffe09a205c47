"""The pages of `report`, `check --html` and `annotate` in Chromium: on a screen, a phone and paper, light and dark."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import done, invoke
from tests.conftest import ROOT
from tests.support.conftest import judging

if TYPE_CHECKING:
    from playwright.sync_api import Browser


SAMPLES = ROOT / "metrics" / "samples"
PAPER = 718  # CSS pixels of A4 between Chromium's margins
LONG = "https://example.org/" + "unbroken" * 30
# What a person cannot read: elements beyond the window, cut ones, and texts whose contrast is below AA.
UNREADABLE = """
([printed]) => {
  const found = [], wide = innerWidth + 1;
  const rgba = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = (top, under) => top.slice(0, 3).map((value, i) => value * top[3] + under[i] * (1 - top[3]));
  const light = colour => colour.map(value => value / 255)
    .map(value => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + value * [.2126, .7152, .0722][i], 0);
  const scrolls = style => !printed && ['auto', 'scroll'].includes(style.overflowX);
  if (document.scrollingElement.scrollWidth > wide) found.push('the page is wider than the window');
  for (const node of document.querySelectorAll('body *')) {
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    if (!box.width || !box.height || style.visibility === 'hidden' || node.matches('title, script, style')) continue;
    const name = `${node.tagName} ${node.getAttribute('class') ?? ''} ${node.textContent.trim().slice(0, 40)}`;
    const chain = []; for (let up = node; up; up = up.parentElement) chain.push(up);
    const inside = chain.slice(1).some(up => scrolls(getComputedStyle(up)));
    if (!inside && (box.left < -1 || box.right > wide)) found.push(`beyond the window: ${name}`);
    if (node.clientWidth && node.scrollWidth > node.clientWidth + 1 && style.overflowX !== 'visible' && !scrolls(style)
        && !node.matches('input, select')) found.push(`cut: ${name}`);
    if (![...node.childNodes].some(one => one.nodeType === 3 && one.data.trim())) continue;
    const root = getComputedStyle(document.documentElement), dark = matchMedia('(prefers-color-scheme: dark)').matches;
    let back = dark && root.colorScheme.includes('dark') ? [18, 18, 18] : [255, 255, 255], seen = 1;
    for (const up of chain.reverse()) {
      const own = getComputedStyle(up);
      if (!printed || own.printColorAdjust === 'exact') back = over(rgba(own.backgroundColor), back);
      seen *= Number(own.opacity);
    }
    const ink = rgba(node.closest('svg') ? style.fill : style.color);
    const [high, low] = [light(over([...ink.slice(0, 3), ink[3] * seen], back)), light(back)].sort((a, b) => b - a);
    const ratio = (high + .05) / (low + .05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${name}`);
  }
  return found;
}
"""
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
    options = {"config": judging(folder / "model"), "html": written["check"]}
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
