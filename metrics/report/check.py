"""A page of checked long texts as one HTML file, which needs no other file, no script and no network."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from semantic_metrics.files.output import atomic_write
from semantic_metrics.html.checked_texts import CheckedText, render_check

TEMPLATE = "check.html"


def write_check(path: Path, title: str, texts: list[CheckedText], signature: str) -> None:
    """Write the page.

    Args:
        path: file to write; it is replaced only when the new one is complete.
        title: title of the page.
        texts: the checked texts.
        signature: of the metric.

    Raises:
        FileError: the file cannot be written.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    rows = Markup(render_check(texts, signature))  # escaped there
    page = environment.get_template(TEMPLATE).render(title=title, rows=rows)
    with atomic_write(path) as file:
        file.write(page.replace("\0", "\ufffd").encode("utf-8", "replace"))
