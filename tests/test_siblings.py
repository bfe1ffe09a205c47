"""A metric folder stands alone: it has its own copy of what it shares with others, and imports nothing beside it."""

from pathlib import Path
import re

import pytest

from tests.siblings import METRICS
from tests.siblings import pairs

OF_THE_DEMO = {"app", "demo", "demo_parts", "rating_page"}  # which a Space runs, and the metric does not need
SCRIPTS = sorted(path for path in METRICS.glob("*/*.py") if path.stem == path.parent.name)


@pytest.mark.parametrize(("source", "copy"), pairs(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_copies_are_equal(source: Path, copy: Path) -> None:
    assert copy.read_bytes() == source.read_bytes(), f"{copy} differs: edit {source}, then run `make siblings`"


def siblings(path: Path) -> set[str]:
    """What a file imports of its folder, in the one form that evaluate finds."""
    return set(re.findall(r"^from \.(\w+) import \w+$", path.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_imports_every_sibling_itself(script: Path) -> None:
    """The library copies only those; one that only a sibling imports would be missing in its module cache."""
    others = {path.stem for path in script.parent.glob("*.py")} - {script.stem, "__init__", *OF_THE_DEMO}
    assert siblings(script) == others


@pytest.mark.parametrize("folder", [script.parent for script in SCRIPTS], ids=lambda path: path.name)
def test_a_folder_stands_alone(folder: Path) -> None:
    for path in folder.glob("*.py"):
        imports = re.findall(r"^[ ]*(?:from|import) .*$", path.read_text(encoding="utf-8"), re.MULTILINE)
        for line in imports:
            assert not re.match(r"\s*(?:from|import) (?:semantic_metrics|benchmarks|training|tests)\b", line), path
            assert not re.match(r"\s*from \.", line) or re.fullmatch(r"from \.\w+ import \w+", line), path
