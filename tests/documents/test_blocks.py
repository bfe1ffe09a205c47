"""README, docs and the notebook: blocks run and print what is shown, keys are explained, nothing is left open."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import nbformat
import pytest

from semantic_metrics.consensus.scoring import Result as ConsensusResult
from semantic_metrics.matcha.scoring import Result as MatchaResult
from semantic_metrics.nli_lex.scoring import Result as NLILexResult
from semantic_metrics.stsscore.scoring import Result as STSScoreResult
from semantic_metrics.support.judge import Result as SupportResult
from tests.conftest import ROOT
from tests.documents import blocks
from tests.documents.notebook import PATH, execute, outputs

RUN_ELSEWHERE = {"docs/recipes.md": "tests/hooks", "docs/extend.md": "tests/test_recipes.py"}
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
QUICK = ("README.md", "docs/python.md")
RUN = [page for page in PAGES if page not in RUN_ELSEWHERE and any(b.reason is None for b in blocks.read_blocks(page))]


@pytest.mark.parametrize("page", [pytest.param(p, marks=() if p in QUICK else pytest.mark.slow) for p in RUN])
def test_blocks_run_and_print_what_is_shown(page: str, tmp_path: Path) -> None:
    runner, wrong = blocks.Runner(), []
    with blocks.clean_folder(tmp_path):
        for block in blocks.read_blocks(page):
            if block.reason is None:
                printed, shown = runner.run(block), blocks.expected_output(block)
                if shown is not None and (found := blocks.difference(shown, printed)):
                    wrong.append(f"{block}\n{found}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("page", PAGES)
def test_commands_exist_and_have_their_options(page: str) -> None:
    shown = [words for b in blocks.read_blocks(page) if b.language == "bash" for words in blocks.commands(b.code)]
    wrong = []
    for words in [*shown, *map(shlex.split, blocks.inline_commands(page))]:
        try:
            blocks.check_command(words)
        except (click.ClickException, AssertionError) as error:
            wrong.append(f"{shlex.join(words)}: {error}")
    assert not wrong, "\n".join(wrong)


def test_every_recipe_is_run_by_a_test() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("*/*.py"))
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    titles = [part.partition("\n")[0] for part in page.split("\n## ")[1:] if "```python" in part or "```yaml" in part]
    assert titles
    assert [title for title in titles if f'example("{title}")' not in sources] == []


def test_output_is_compared_to_the_digits_shown() -> None:
    assert blocks.difference("mean 0.42, n 3\n...\nx|id:...", "mean  0.4161, n 3\nmany\nlines\nx|id:66e5") is None
    for shown, printed in (
        ("mean 0.42", "mean 0.43"),
        ("mean 0.42", "mean 0.4262"),
        ("23 rows", "24 rows"),
        ("-.5", "0.5"),
        ("same", "contradicts"),
        ("a:66e5df33a4d9ab71", "a:66e5df33a4d9ab72"),
        ("one line", "one line\nanother"),
    ):
        assert blocks.difference(shown, printed) is not None, shown


def test_shown_output_is_brought_up_to_date() -> None:
    new = blocks.updated("a 0.42 ... id:66e5df33a4d9ab71", "a 0.3149 and more id:0123456789abcdef")
    assert new == "a 0.31 ... id:0123456789abcdef"
    assert (
        blocks.updated("m|id:66e5df33|settings:01234567", "m|id:0123abcd|settings:dcba3210")
        == "m|id:0123abcd|settings:dcba3210"
    )
    assert blocks.updated("same 0.42", "contradicts 0.42") is None


def test_a_reason_is_read_with_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = "<!-- not run: hours -->\n\n```bash\nmake x\n```\n\nIt prints\n\n```text\n1\n```\n"
    text = f"{first}\n```python\n2\n```\n\n# Another section\n\n```text\n2\n```\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr("tests.documents.blocks.ROOT", tmp_path)
    first, second = blocks.read_blocks("page.md")
    assert (first.reason, first.shown, first.line) == ("hours", "1", 4)
    assert (second.reason, second.shown) == (None, None), "output belongs to its own section"
    assert blocks.Runner().run(second) == "2\n"


@pytest.mark.slow
def test_the_tour_prints_what_it_shows(tmp_path: Path) -> None:
    shown, printed = outputs(nbformat.read(PATH, as_version=4)), outputs(execute(tmp_path))
    assert all(shown), "every cell of code shows something"
    wrong = [found for pair in zip(shown, printed, strict=True) if (found := blocks.difference(*pair))]
    assert not wrong, "\n\n".join(wrong)


DOCUMENTS = ("*.md", "docs/**/*.md", "metrics/**/*.md", "model_cards/*/*.md", "benchmarks/**/*.md")
PLACEHOLDER = re.compile(r"@[A-Z0-9]+@")
CONFLICT = re.compile(r"^(<{7} |={7}$|>{7} |\|{7} )")


def unfinished(text: str) -> list[str]:
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
    assert len(text.split()) <= 1200
    assert len(text.splitlines()) <= 170


def test_the_site_names_every_page() -> None:
    """A page that is missing from the navigation is an error of `make docs`, too, which takes longer."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*") if path.suffix in (".md", ".ipynb")}
    assert {page for page in pages if f"- {page}\n" not in navigation} == set()


RESULTS = {
    "consensus": ConsensusResult,
    "matcha": MatchaResult,
    "nli_lex": NLILexResult,
    "stsscore": STSScoreResult,
    "support": SupportResult,
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_key_of_a_result_is_explained(name: str) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    section = page.split("## What a result contains\n")[1].partition("\n## ")[0]
    first_cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    listed = set(re.findall("`(.+?)`", " ".join(first_cells)))
    result: Any = RESULTS[name]
    assert set(result.__annotations__) - {name} <= listed
