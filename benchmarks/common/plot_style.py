"""Look of all figures, and how they are saved: for print, without a title, which belongs below a figure.

Colours, dashes and markers differ from one another without colour too.
"""

from collections.abc import Iterable
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")  # Okabe and Ito's
DASHES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "v", "D", "x", "P", "*", "<", ">")
DPI = 300  # of PNG, and of what is drawn as pixels in PDF and SVG
FORMATS = (".png", ".pdf", ".svg")
STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # letters stay letters
    "svg.hashsalt": "semantic-metrics",  # the same picture is the same file
}
matplotlib.rcParams.update(STYLE)


def shared_legend(figure: Figure, panels: Iterable[Axes], columns: int, place: str = "lower") -> None:
    """One legend outside the panels, above ("upper") or below them, that names what is in any of them once."""
    pairs = [pair for panel in panels for pair in zip(*panel.get_legend_handles_labels(), strict=True)]
    handles = {name: handle for handle, name in pairs}
    figure.legend(handles.values(), handles.keys(), loc=f"outside {place} center", ncols=columns, fontsize=8)


def save_figure(figure: Figure, path: Path, caption: str) -> None:
    """Write a figure as PNG, PDF and SVG, and its caption, what would be its title, as text.

    `path` is one of its files; the others have the same name with the endings of FORMATS, and .txt.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once is enough
    for ending in FORMATS:
        when = {"CreationDate": None} if ending == ".pdf" else {"Date": None} if ending == ".svg" else {}
        figure.savefig(path.with_suffix(ending), dpi=DPI, metadata=when)
    path.with_suffix(".txt").write_text(caption + "\n", encoding="utf-8")
