"""Hook of the site: documents that live outside docs/ become pages, and links between files of the repository work.

In the repository a document links to another by its path, as a reader on a code host needs it. On the site some of
these documents are pages of another name, and other files are none: their links become plain text.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
METRICS = ("consensus", "matcha", "stsscore", "nli_lex", "support", "set_criteria")
CHECKPOINTS = ("matcha", "contextual", "pairs", "large")
# file of the repository: page of the site
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    **{f"metrics/{name}/README.md": f"cards/{name}.md" for name in METRICS},
    **{f"model_cards/{name}/README.md": f"checkpoints/{name}.md" for name in CHECKPOINTS},
}
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"(?P<image>!?)\[(?P<label>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents of other folders; README is the first page."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the links of a page to the site's pages."""
    own = page.file.src_uri
    source = SOURCES.get(own, f"docs/{own}")

    def rewrite(match: re.Match) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["target"]))
        if not (ROOT / target).exists():
            return match[0]  # an address, or code
        known = PAGES.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else None)
        if known is None:
            return match["label"]
        relative = posixpath.relpath(known, posixpath.dirname(own) or ".")
        return f"{match['image']}[{match['label']}]({relative}{match['anchor'] or ''})"

    return LINK.sub(rewrite, markdown)
