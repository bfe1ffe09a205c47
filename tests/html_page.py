"""HTML pages as the tests of reports and demos read them."""

from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "input", "br"}
UNSEEN = {"style", "title", "script", "sub"}  # sub: the signs below words


class Page(HTMLParser):
    """What some HTML holds; every open tag must be closed in its turn.

    Attributes:
        source: the HTML.
        tags: names of all tags.
        attributes: names and values of the attributes of all tags.
        texts: visible texts.
        paragraphs: text of each paragraph whose class begins with "text", without marks.
    """

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.open, self.tags, self.attributes, self.texts, self.paragraphs = source, [], [], [], [], []
        self.feed(source)
        assert not self.open

    @classmethod
    def read(cls, path: Path) -> "Page":
        """The page in a file."""
        return cls(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag, its attributes and the beginning of a paragraph."""
        kind = dict(attrs).get("class") or ""
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "p" and kind.startswith("text"):
            self.paragraphs.append("")
        if tag not in VOID:
            self.open.append((tag, kind))

    def handle_endtag(self, tag: str) -> None:
        """Close the tag that was opened last."""
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        """Note text."""
        if UNSEEN.intersection(tag for tag, _ in self.open):
            return
        self.texts.append(data)
        kinds = [kind for _, kind in self.open]
        if any(tag == "p" and kind.startswith("text") for tag, kind in self.open) and "mark" not in kinds:
            self.paragraphs[-1] += data

    @property
    def text(self) -> str:
        """All visible text."""
        return "".join(self.texts)
