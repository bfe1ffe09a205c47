"""The page on which people rate pairs blind, without a browser."""

from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from semantic_metrics.cli import main
from tests.demo.conftest import METRICS

gr = pytest.importorskip("gradio")

HOSTILE = "<img src=x onerror=alert(1)> & <b>bold</b>"


@pytest.mark.parametrize("name", ["matcha"])
def test_ratings_are_blind_seeded_and_kept(app: ModuleType, tmp_path: Path) -> None:
    import rating_page as rating

    path = tmp_path / "pairs.csv"
    rows = "".join(f"secret{i},ref {i},pred {i}\n" for i in range(20))
    path.write_text("system,reference,prediction\n" + rows, encoding="utf-8")
    orders = {seed: rating.begin(str(path), "reference", "prediction", "0 to 100", seed).order for seed in (0, 0.0, 1)}
    assert len(orders) == 2  # 0 and 0.0 are one key
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(20))
    session = rating.begin(str(path), "reference", "prediction", "0 to 100", 0)
    for i in range(20):
        row = session.row
        said = rating.show(session)
        assert f"ref {row}" in said
        assert "secret" not in said
        session = session.move(1) if i % 5 == 4 else session.rate(row)
    kept = [row for i, row in enumerate(orders[0]) if i % 5 != 4]
    assert session.rated()["rating"] == sorted(kept)
    assert session.rated()["system"] == [f"secret{row}" for row in sorted(kept)]


@pytest.mark.parametrize("name", ["matcha"])
@pytest.mark.parametrize("given", [None, -1, 101])
def test_a_rating_beyond_the_scale_is_said(app: ModuleType, given: float | None, file: str) -> None:
    import rating_page as rating

    session = rating.begin(file, "reference", "prediction", "0 to 100", 0)
    with pytest.raises(ValueError, match="expected a number from 0 to 100"):
        session.rate(given)
    with pytest.raises(ValueError, match="seed: expected a whole number"):
        rating.begin(file, "reference", "prediction", "0 to 100", None)


@pytest.mark.parametrize("name", ["matcha"])
def test_the_command_line_reads_what_was_rated(app: ModuleType, checkpoint: Path, tmp_path: Path) -> None:
    import rating_page as rating

    source = METRICS / "samples" / "pairs.csv"
    session = rating.begin(str(source), "reference", "prediction", "1 to 5", 3)
    for i in range(len(session.order)):
        session = session.rate(1 + i % 5)
    with gr.Blocks():
        tab = rating.RatingTab()
    path = tab.show(session)[-1].value["path"]
    arguments = ["--human", "rating", "--predictions", "prediction", "--references", "reference"]
    arguments += ["--metric", "matcha", "--config", str(checkpoint)]
    result = CliRunner().invoke(main, ["validate", path, *arguments])
    assert result.exit_code == 0, result.output
    assert "matcha" in result.output
