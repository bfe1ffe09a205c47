"""What people read: nothing is left to fill in or to merge, and README stays one page."""

import re

from tests.conftest import ROOT

DOCUMENTS = ("*.md", "docs/**/*.md", "metrics/**/*.md", "model_cards/*/*.md", "benchmarks/**/*.md")
PLACEHOLDER = re.compile(r"@[A-Z0-9]+@")
CONFLICT = re.compile(r"^(<{7} |={7}$|>{7} |\|{7} )")


def unfinished(text: str) -> list[str]:
    """Lines with a placeholder or a mark of a conflict."""
    return [line for line in text.splitlines() if PLACEHOLDER.search(line) or CONFLICT.search(line)]


def test_what_is_unfinished_is_seen() -> None:
    lines = ["@RESULTS@", "CCC is @P3@.", "<<<<<<< HEAD", "=======", ">>>>>>> fixb", "||||||| base"]
    assert unfinished("\n".join(lines)) == lines
    assert not unfinished("a@b.org, org/name@v1, @pytest.mark.slow, @misc{LI26@}\n====\n| a | b |\n> quoted")


def test_no_document_holds_a_placeholder_or_a_conflict() -> None:
    paths = {path for pattern in DOCUMENTS for path in ROOT.glob(pattern)}
    assert {"README.md", "CHANGELOG.md", "numbers.md"} <= {path.name for path in paths}
    left = {str(path.relative_to(ROOT)): unfinished(path.read_text(encoding="utf-8")) for path in paths}
    assert {name: lines for name, lines in left.items() if lines} == {}


def test_readme_is_one_page() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1300
    assert len(text.splitlines()) <= 170


def test_the_site_names_every_page() -> None:
    """A page that is missing from the navigation is an error of `make docs`, too, which takes longer."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*") if path.suffix in (".md", ".ipynb")}
    assert {page for page in pages if f"- {page}\n" not in navigation} == set()
