"""The tabs that check a text against its source and on which people rate pairs blind, without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from semantic_metrics.cli import main
from tests.conftest import ROOT
from tests.demo.conftest import METRICS
from tests.support.conftest import judging

gr = pytest.importorskip("gradio")

from semantic_metrics.demo import rating_page  # noqa: E402
from semantic_metrics.demo.check_page import EXAMPLE, MAX_CHARACTERS, check  # noqa: E402
from semantic_metrics.demo.page import CHECKPOINT_VARIABLE, load_metric  # noqa: E402

SCRIPT = ROOT / "metrics" / "support"


@pytest.fixture
def tiny_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the tab load a tiny checkpoint."""
    monkeypatch.setenv(CHECKPOINT_VARIABLE, f"{judging(tmp_path / 'model')}/")
    load_metric.cache_clear()
    yield
    load_metric.cache_clear()


@pytest.mark.usefixtures("tiny_checkpoint")
def test_the_example_leads_to_places() -> None:
    html = check(SCRIPT, *EXAMPLE)
    assert html.count('href="#') >= 3 * 3
    assert "Signature" in html


@pytest.mark.usefixtures("tiny_checkpoint")
def test_what_is_too_long_for_others_to_wait_is_refused() -> None:
    assert "semantic-metrics check" in check(SCRIPT, "a", "b" * MAX_CHARACTERS)


@pytest.mark.usefixtures("tiny_checkpoint")
def test_a_blank_text_is_a_result() -> None:
    assert "Score 0.000" in check(SCRIPT, " ", "A dog sleeps.")


def test_ratings_are_blind_seeded_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    rows = "".join(f"secret{i},ref {i},pred {i}\n" for i in range(20))
    path.write_text("system,reference,prediction\n" + rows, encoding="utf-8")
    begin = lambda seed: rating_page.begin(str(path), "reference", "prediction", "0 to 100", seed)  # noqa: E731
    session = begin(0)
    assert session.order == begin(0.0).order != begin(1).order
    assert sorted(session.order) == sorted(begin(1).order) == list(range(20))
    rated_rows = sorted(row for i, row in enumerate(session.order) if i % 5 != 4)
    for i in range(20):
        row = session.row
        html = rating_page.show(session)
        assert f"ref {row}" in html
        assert "secret" not in html
        session = session.move(1) if i % 5 == 4 else session.rate(row)
    assert session.rated()["rating"] == rated_rows
    assert session.rated()["system"] == [f"secret{row}" for row in rated_rows]


def test_ratings_are_kept_until_they_are_discarded(file: str) -> None:
    """Issue 22, 13: "Begin" dropped what was rated, with a mistake and without asking."""
    with gr.Blocks():
        tab = rating_page.RatingTab()
    session = rating_page.begin(file, "reference", "prediction", "0 to 100", 0).rate(7)
    place = tab.all.index(tab.session)
    skip = gr.skip()
    mistaken = tab.begin(False, session, None, "reference", "prediction", "0 to 100", 0)
    assert "upload one first" in mistaken[0].value
    assert mistaken[2:] == [skip] * 5
    asked = tab.begin(False, session, file, "reference", "prediction", "0 to 100", 0)
    assert "Rated pairs: 1" in asked[0].value
    assert asked[1].visible
    assert asked[2:] == [skip] * 5
    begun = tab.begin(True, session, file, "reference", "prediction", "0 to 100", 0)
    assert begun[place].ratings == {}
    assert not begun[1].visible
    assert tab.begin(False, begun[place], file, "reference", "prediction", "1 to 5", 0)[place].scale == (1, 5)


@pytest.mark.parametrize("rating", [None, -1, 101])
def test_a_rating_beyond_the_scale_is_refused(file: str, rating: float | None) -> None:
    with pytest.raises(ValueError, match="expected a number from 0 to 100"):
        rating_page.begin(file, "reference", "prediction", "0 to 100", 0).rate(rating)
    with pytest.raises(ValueError, match="seed: expected a whole number"):
        rating_page.begin(file, "reference", "prediction", "0 to 100", None)


def test_the_command_line_reads_the_ratings(checkpoint: Path) -> None:
    source = METRICS / "samples" / "pairs.csv"
    session = rating_page.begin(str(source), "reference", "prediction", "1 to 5", 3)
    for i in range(len(session.order)):
        session = session.rate(1 + i % 5)
    with gr.Blocks():
        tab = rating_page.RatingTab()
    path = tab.show(session)[-1].value["path"]
    arguments = ["--human", "rating", "--predictions", "prediction", "--references", "reference"]
    arguments += ["--metric", "matcha", "--config", str(checkpoint)]
    result = CliRunner().invoke(main, ["validate", path, *arguments])
    assert result.exit_code == 0, result.output
    assert "matcha" in result.output
