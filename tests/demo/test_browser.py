"""The demos in a real browser, each served from its bundle, with the package out of reach."""

import csv
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("gradio", reason="gradio is not installed")
pytestmark = pytest.mark.slow

WAIT_MILLISECONDS = 240_000  # a busy machine is no failure
STYLES = [f"one => parseFloat(getComputedStyle(one).{style})" for style in ("lineHeight", "fontSize")]
HOSTILE = "<img src=x onerror=document.title='broken'>"
# -S: no site-packages but those named, so that no editable install is found; None: nor another one
SERVE = "import runpy, sys; sys.modules['semantic_metrics'] = None; runpy.run_path('app.py', run_name='__main__')"


@contextmanager
def serve(folder: Path, checkpoint: str, log_file: Path) -> Iterator[str]:
    """Serve the app of a folder for as long as the block lasts; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    paths = [str(folder), *(path for path in sys.path if path and Path(path) != ROOT)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "SEMANTIC_METRICS_CHECKPOINT": checkpoint,
        "GRADIO_SERVER_PORT": str(port),
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-S", "-c", SERVE]
    with (
        log_file.open("w") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            while not log_file.read_text().count(f":{port}"):  # gradio prints the address when it serves
                assert process.poll() is None, log_file.read_text()
                time.sleep(0.3)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


class Visit:
    """A page of a demo, and the hosts that it asked.

    Args:
        page: page of the browser.
        address: address of the demo.
    """

    def __init__(self, page: "Page", address: str) -> None:
        self.page, self.hosts = page, set()
        page.set_default_timeout(WAIT_MILLISECONDS)
        page.on("request", lambda request: self.hosts.add(re.sub(r"^\w+:/*([^/:]*).*", r"\1", request.url, flags=re.S)))
        page.goto(address)

    def type(self, **texts: str) -> None:
        """Fill boxes, by the beginning of their labels."""
        for label, text in texts.items():
            self.page.get_by_label(f"{label}, one per line").fill(text)

    def click(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def open(self, name: str) -> None:
        """Open a tab."""
        self.page.get_by_role("tab", name=name, exact=True).first.click()

    def text(self, wanted: str) -> str:
        """Wait until the page shows a text; returns all text of the page."""
        self.page.get_by_text(wanted).first.wait_for()
        return self.page.inner_text("body")

    def shoot(self, name: str) -> None:
        """Save a screenshot if SEMANTIC_METRICS_SHOTS names a folder."""
        if os.environ.get("SEMANTIC_METRICS_SHOTS"):
            self.page.screenshot(path=Path(os.environ["SEMANTIC_METRICS_SHOTS"]) / f"{name}.png", full_page=True)

    def download(self, button: str) -> list[list[str]]:
        """Rows of the CSV file behind a button."""
        with self.page.expect_download() as started:
            self.page.get_by_text(re.compile(button)).last.click()
        with started.value.path().open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))


@pytest.fixture
def visit(
    browser: "Browser",
    bundles: Path,
    name: str,
    checkpoints: dict[str, str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[Visit]:
    """The demo of a metric, as a visitor with a phone in dark mode opens it."""
    pairs, matcha = (f"{ROOT / 'model_cards' / one}/" for one in ("pairs", "matcha"))
    both = f"{pairs}+{matcha}"  # MATCHA's table is a part of these two
    shipped = {"consensus": both, "support": both, "stsscore": pairs, "nli_lex": pairs}.get(name, matcha)
    checkpoint = shipped if getattr(request, "param", "small") == "shipped" else checkpoints[name]
    with serve(bundles / name, checkpoint, tmp_path / "log") as address:
        context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
        seen = Visit(context.new_page(), address)
        yield seen
        context.close()
        assert seen.hosts <= {"127.0.0.1", "blob", ""}, "a demo asks nothing of other hosts"


@pytest.mark.parametrize("visit", ["shipped"], indirect=True)
def test_an_example_is_scored_on_a_phone_in_the_dark(visit: Visit, name: str) -> None:
    visit.click("Score")
    visit.text("Download all rows as CSV")
    if name != "set_criteria":
        visit.text("raises the score" if name != "nli_lex" else "adds to the log odds")
        visit.text("How the scores are spread")
        height, size = map(visit.page.locator(".sm-heat .text").first.evaluate, STYLES)
        assert height > 2 * size, "signs below words cover no word of the next line"
    if name == "consensus":
        verdict = visit.page.get_by_text("contradicts", exact=True).last.bounding_box()
        assert verdict
        assert verdict["x"] + verdict["width"] < 390
    visit.shoot(f"{name}_phone_dark")
    assert visit.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    rows = visit.download("Download all rows")
    assert len(rows) > 1
    if name == "matcha":
        scores = [float(row[rows[0].index(name)]) for row in rows[1:]]
        assert scores[0] > 0 > max(scores[1:]), "a paraphrase above 0, contradictions below"


@pytest.mark.parametrize("name", ["matcha"])
def test_texts_are_typed_and_invalid_ones_get_a_message(visit: Visit) -> None:
    visit.type(Predictions=f"the dog barks\n{HOSTILE}", References="the dog")
    visit.click("Score")
    assert "References: expected 2 lines, as many as in the longest box, got 1" in visit.text("That did not work.")
    visit.shoot("matcha_invalid")
    visit.type(Predictions="no cat", References="the dog barks")
    visit.click("Score")
    visit.text("over 1 rows")
    before = visit.page.locator("table.sm-signed").inner_text()
    visit.type(Predictions=f"the dog barks\n{HOSTILE}", References=f"the dog barks\n{HOSTILE}")
    visit.click("Score")
    assert HOSTILE in visit.text("Mean 1.000 over 2 rows")
    assert visit.page.locator("table.sm-signed").inner_text() != before, "bars of its own"
    assert "That did not work" not in visit.page.inner_text("body")
    visit.page.get_by_label("Row to explain").fill("2")
    visit.page.get_by_text("onerror").last.wait_for()
    visit.page.wait_for_function("document.body.innerText.includes('raises the score')")
    assert visit.page.locator("img[src=x]").count() == 0
    assert visit.page.title() != "broken"
    visit.page.get_by_label("Row to explain").fill("7")
    visit.text("expected a number from 1 to 2, got 7")


@pytest.mark.parametrize("name", ["matcha"])
def test_a_file_is_uploaded_and_scored(visit: Visit, tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.csv", tmp_path / "good.csv"
    bad.write_text(f'"{HOSTILE}",b\nx\n', encoding="utf-8")
    good.write_text("system,gold,prediction\nA,the dog,a dog\nB,the cat,no cat\nA,a man,the man\n", encoding="utf-8")
    visit.open("Upload a CSV")
    visit.page.locator("input[type=file]").first.set_input_files(bad)
    visit.text("line 2: expected 2 values, got 1")
    visit.page.get_by_label("Remove this file").or_(visit.page.get_by_label("Clear")).first.click()
    visit.page.locator("input[type=file]").first.set_input_files(good)
    visit.page.wait_for_function("[...document.querySelectorAll('input')].some(box => box.value === 'gold')")
    visit.click("Score the file")
    visit.text("over 3 rows")
    rows = visit.download("Download all rows")
    assert rows[0] == ["system", "gold", "prediction", "matcha"]
    assert [row[:3] for row in rows[1:]] == [row.split(",") for row in good.read_text().splitlines()[1:]]
