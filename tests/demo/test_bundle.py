"""Standalone folders of the metrics: each loads, scores and explains without the package as the package does."""

import ast
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import evaluate
import pytest

from tests.conftest import ROOT, Run
from tests.demo.conftest import METRICS, NAMES
from tests.test_package import lower_bounds
from training import bundle
from training.bundle import write_bundle

PAIRS = {"predictions": ["the dog barks", "a cat"], "references": ["a dog", "the cat sleeps"]}
COLUMNS = {
    "consensus": PAIRS,
    "matcha": PAIRS,
    "stsscore": PAIRS,
    "nli_lex": {"questions": ["who barks", "who sleeps"], **PAIRS},
    "support": PAIRS,
    "set_criteria": {
        "a": ["the dog", "a man", "it rains"],
        "b": ["the cat", "no man", "it snows"],
        "target": ["the", "a man", "it rains it snows"],
        "operator": ["overlap", "difference", "union"],
    },
}
IN_THEIR_BUNDLES = """
import json, pickle, sys
import evaluate

sys.modules["semantic_metrics"] = None  # as in a Space, where the package is not installed
cases, results = json.loads(sys.argv[1]), {}
for name, (folder, checkpoint, columns) in cases.items():
    metric = evaluate.load(folder, checkpoint)
    unpickled = pickle.loads(pickle.dumps(metric))
    row = {column.removesuffix("s"): texts[0] for column, texts in columns.items()}
    explained = metric.explain(**row) if hasattr(metric, "explain") else None
    results[name] = [metric.compute(**columns), unpickled.compute(**columns), explained]
print(json.dumps(results))
"""


def test_bundles_score_as_the_package(
    bundles: Path, checkpoints: dict[str, str], run_python: Run, tmp_path: Path
) -> None:
    cases = {name: (str(bundles / name), checkpoints[name], columns) for name, columns in COLUMNS.items()}
    process = run_python(IN_THEIR_BUNDLES, json.dumps(cases), cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    results = json.loads(process.stdout.splitlines()[-1])
    assert list(results) == list(COLUMNS) == list(NAMES)
    for name, columns in COLUMNS.items():
        metric = evaluate.load(str(METRICS / name), checkpoints[name])
        row = {column.removesuffix("s"): texts[0] for column, texts in columns.items()}
        explained = metric.explain(**row) if hasattr(metric, "explain") else None
        expected = metric.compute(**columns)
        assert rounded(results[name]) == rounded(json.loads(json.dumps([expected, expected, explained]))), name


def rounded(value: object) -> object:
    """Numbers to six places: where its weights lie in memory moves a model's last digits."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value


def test_a_bundle_names_its_owner_in_place_of_this_project(tmp_path: Path) -> None:
    folder = tmp_path / "matcha"
    write_bundle("matcha", folder, "my-team")
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.*")}
    assert not [name for name, text in texts.items() if re.search(r"semantic-metrics/\w|load\(.metrics/", text)]
    assert 'HUB_OWNER = "my-team"' in texts["checkpoint_files.py"]
    assert 'matcha = evaluate.load("my-team/matcha")\n' in texts["README.md"]
    assert '>>> matcha = evaluate.load("my-team/matcha")\n' in texts["matcha.py"]


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_requires_what_it_imports_in_the_versions_of_the_package(bundles: Path, name: str) -> None:
    required = lower_bounds((bundles / name / "requirements.txt").read_text())
    at_the_top, anywhere = set(), set()
    for path in bundles.glob(f"{name}/**/*.py"):
        tree = ast.parse(path.read_text())
        at_the_top |= imported_libraries(tree.body)
        anywhere |= imported_libraries(ast.walk(tree))
    assert at_the_top <= set(required) <= anywhere
    assert required.items() <= lower_bounds((ROOT / "pyproject.toml").read_text()).items()


def imported_libraries(nodes: Iterable[ast.AST]) -> set[str]:
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
    libraries = {name.split(".")[0] for name in names} - {"demo"} - set(sys.stdlib_module_names)
    distributions = {"sklearn": "scikit-learn"}
    return {distributions.get(name, name.replace("_", "-")) for name in libraries}


SCRIPT = """import json
from semantic_metrics.core.one import (
    A,  # why
    B,
)  # noqa
"""
FILES = {
    "toy/toy.py": SCRIPT,
    "toy/app.py": "from semantic_metrics.demo.page import Page\n",
    "toy/README.md": "",
    "toy/requirements.txt": "",
    "core/one.py": "from .two import C as D\ndef f():\n    from semantic_metrics.core import three\n",
    "core/two.py": "",
    "core/three.py": "",
    "demo/page.py": "from .reading import F\nfrom semantic_metrics.html.drawing import G\n",
    "demo/reading.py": "",
    "html/drawing.py": "",
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in FILES.items():
        (tmp_path / "metrics" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "metrics" / path).write_text(text)
    monkeypatch.setattr(bundle, "SOURCE", tmp_path / "metrics")
    return tmp_path / "metrics"


def test_imports_of_every_form_are_made_relative(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "toy"
    paths = write_bundle("toy", folder)
    pages = [f"demo/{name}.py" for name in ("drawing", "page", "reading")]
    names = ["README.md", "app.py", *pages, "one.py", "requirements.txt", "three.py"]
    assert [str(path.relative_to(folder)) for path in paths] == [*names, "toy.py", "two.py"]
    others = "from .three import __doc__ as _three\nfrom .two import __doc__ as _two\n"
    assert (folder / "toy.py").read_text() == f"import json\nfrom .one import A, B\n{others}"
    assert (folder / "one.py").read_text() == "from .two import C as D\ndef f():\n    from . import three\n"
    assert (folder / "demo/page.py").read_text() == "from .reading import F\nfrom .drawing import G\n"
    assert (folder / "app.py").read_text() == "from demo.page import Page\n"
    with pytest.raises(ValueError, match="folder: expected an empty or a new one"):
        write_bundle("toy", folder)
    with pytest.raises(ValueError, match=r"name: expected one of consensus, matcha, .*, got 'tow'"):
        write_bundle("tow", tmp_path / "tow")


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("core/two.py", "from semantic_metrics.demo.one import x", "one.py has the name one"),
        ("core/two.py", "from semantic_metrics.core.toy import x", "the script has the name toy"),
        ("core/two.py", "import semantic_metrics.core.one", "two.py:1: expected `from semantic_metrics"),
        ("core/two.py", "from semantic_metrics.core import f", "got one from semantic_metrics.core.f"),
        (
            "demo/reading.py",
            "from semantic_metrics.core.one import A",
            "reading.py: expected imports from demo and html",
        ),
        ("toy/app.py", "from semantic_metrics.core.one import A", "app.py: expected imports from demo and html alone"),
    ],
)
def test_what_a_folder_cannot_hold_is_refused(source: Path, path: str, text: str, message: str, tmp_path: Path) -> None:
    for other in ("demo/one.py", "core/toy.py", "core/html.py", "core/app.py"):
        (source / other).write_text("")
    (source / path).write_text(text)
    with pytest.raises(ValueError, match=message):
        write_bundle("toy", tmp_path / "toy")
    assert not (tmp_path / "toy").exists()
