"""How figures are saved: three formats for print, and the title beside them."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.image import imread

from benchmarks.common.plot_style import DPI, FORMATS, save_figure


def test_a_figure_is_saved_for_print_with_its_caption_beside_it(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        figure = Figure(figsize=(2, 1), layout="constrained")
        figure.subplots().plot([0, 1], label="a line")
        (tmp_path / folder).mkdir()
        save_figure(figure, tmp_path / folder / "figure1.png", "Figure 1: a title")
    files = {path.suffix: path for path in (tmp_path / "first").iterdir()}
    assert set(files) == {*FORMATS, ".txt"}
    assert imread(files[".png"]).shape[:2] == (DPI, 2 * DPI)
    assert files[".pdf"].read_bytes().startswith(b"%PDF")
    assert "<svg" in files[".svg"].read_text(encoding="utf-8")
    assert files[".txt"].read_text(encoding="utf-8") == "Figure 1: a title\n"
    same = [path.read_bytes() == (tmp_path / "second" / path.name).read_bytes() for path in files.values()]
    assert all(same), "a second run writes the same files"
