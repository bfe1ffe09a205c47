"""The package: what `pip` installs, that it stands alone, and that its files agree with each other."""

import doctest
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

import semantic_metrics
from semantic_metrics.cli.samples import SAMPLES
from semantic_metrics.core import loading
from semantic_metrics.core.checkpoint_files import LEFT_OUT
from semantic_metrics.core.contract import describe
from semantic_metrics.matcha.checkpoint import CONTEXTUAL, embedded_checkpoints
from tests.conftest import ROOT, Run

LIMIT = 95_000_000  # bytes of the wheel, with its checkpoints
SOURCES = ["metrics", "model_cards", "pyproject.toml", "README.md", "LICENSE", "NOTICE"]
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}

NO_NETWORK = """
import socket

def refuse(*_):
    raise AssertionError("the network was asked for")

socket.socket.connect = socket.getaddrinfo = refuse
"""

SCORE = (
    NO_NETWORK
    + """
import sys
import evaluate
import semantic_metrics

by_path = evaluate.load(sys.argv[1], *sys.argv[2:])
by_name = semantic_metrics.load("matcha", *sys.argv[2:])
for metric in (by_path, by_name):
    print(metric.compute(predictions=["The dog sleeps."], references=["The dog sleeps."])["scores"])
print(semantic_metrics.__file__)
"""
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the working tree."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / "source")
    pip(["wheel", ".", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)], folder / "source")
    (built,) = folder.glob("*.whl")
    return built


def pip(arguments: list[str], cwd: Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=300)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {path.relative_to(ROOT / "metrics") for path in (ROOT / "metrics").rglob("*.py")}
    data = {
        "py.typed",
        *(f"samples/{name}" for name in SAMPLES),
        "contradictions/words.csv",
        "report/report.html",
        "matcha/README.md",
    }
    assert names >= {f"semantic_metrics/{name}" for name in (*map(Path.as_posix, sources), *data)}
    assert {name.split("/")[0] for name in names} == {
        "semantic_metrics",
        f"semantic_metrics-{semantic_metrics.__version__}.dist-info",
    }
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_leaves_the_contextual_checkpoint_to_the_hub(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    shipped = {name.split("/")[2] for name in names if name.startswith("semantic_metrics/checkpoints/")}
    in_checkout = {path.parent.name for path in (ROOT / "model_cards").glob("*/config.json")}
    assert shipped - {"__init__.py"} == in_checkout - set(LEFT_OUT)


def test_the_installed_wheel_scores_without_a_network(wheel: Path, run_python: Run, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    pip(["install", "--no-deps", "--no-compile", "--target", str(target), str(wheel)], tmp_path)
    script = target / "semantic_metrics" / "matcha"
    environment = {"HF_HOME": str(tmp_path / "home"), "PYTHONPATH": str(target)}
    done = run_python(SCORE, script, cwd=tmp_path, **environment, **OFFLINE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[1.0]", "[1.0]", str(target / "semantic_metrics" / "__init__.py")]


CONTEXTUAL_SCRIPT = (
    NO_NETWORK
    + """
import semantic_metrics

try:
    semantic_metrics.load("matcha", "contextual")
except ValueError as error:
    print(error)
"""
)


def test_the_wheel_says_how_to_get_the_contextual_checkpoint(wheel: Path, run_python: Run, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    pip(["install", "--no-deps", "--no-compile", "--target", str(target), str(wheel)], tmp_path)
    done = run_python(CONTEXTUAL_SCRIPT, cwd=tmp_path, PYTHONPATH=str(target), HF_HOME=str(tmp_path / "home"))
    assert "checkpoint 'semantic-metrics/contextual': no such folder" in done.stdout, done.stderr
    assert "it is the folder model_cards/contextual of a checkout" in done.stdout
    assert "python training/push.py --folder model_cards/contextual --repo ORG/NAME --push" in done.stdout


def test_a_checkout_has_the_contextual_checkpoint_under_its_name() -> None:
    """Needs model_cards/contextual; as README and docs say, it loads by its name and by its folder."""
    metrics = [semantic_metrics.load("matcha", name) for name in (CONTEXTUAL, f"{ROOT}/model_cards/{CONTEXTUAL}")]
    assert metrics[0].signature() == metrics[1].signature() != semantic_metrics.load("matcha").signature()


def test_a_release_is_published_from_a_tag_after_its_wheel_was_tested() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    publish = jobs.pop("publish")
    assert publish["needs"] == list(jobs) == ["build", "test"]
    assert publish["if"] == "github.event_name == 'push' && startsWith(github.ref, 'refs/tags/v')"
    assert publish["permissions"] == {"id-token": "write"}
    assert not any("permissions" in job for job in jobs.values()), "only what publishes may ask for a token"
    commands = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    assert any(command.startswith("python -m twine check --strict") for command in commands)
    assert any(f"-lt {LIMIT}" in command for command in commands)
    assert ".ci/test_wheel dist/*.whl" in commands
    assert os.access(ROOT / ".ci/test_wheel", os.X_OK)


def test_the_documented_example_holds() -> None:
    assert embedded_checkpoints(), "model_cards/matcha holds no checkpoint"
    assert doctest.testmod(loading) == (0, 5)


def test_versions_agree() -> None:
    version = semantic_metrics.__version__
    names = {name: "scoring" if describe(name).scores_texts else name for name in semantic_metrics.available()}
    scripts = [import_module(f"semantic_metrics.{name}.{module}").VERSION for name, module in names.items()]
    assert Version(version) >= max(map(Version, scripts)), "a script's version is that of the last change of its scores"
    assert f'\nversion = "{version}"\n' in (ROOT / "pyproject.toml").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


def test_the_citation_has_all_four_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    titles = " ".join(entry["title"] for entry in citation["references"])
    for words in ("MATCHA", "Semantic similarity prediction", "Set-Theoretic Compositionality", "Revisiting NLI"):
        assert words in titles


def lower_bounds(text: str) -> dict[str, Version]:
    return {name: Version(number) for name, number in re.findall(r"([\w-]+)>=(\d[\d.]*)", text)}


def test_the_oldest_versions_tested_are_the_lower_bounds() -> None:
    bounds = lower_bounds((ROOT / "pyproject.toml").read_text().split("dependencies = [", 1)[1])
    pins = lower_bounds((ROOT / "constraints-oldest.txt").read_text().replace("==", ">="))
    tools = {"ruff", "setuptools"}  # no part of what is tested
    assert {name: pins.get(name) for name in bounds if name not in tools} == {
        name: bound for name, bound in bounds.items() if name not in tools
    }


def test_no_file_cites_a_place_of_one_machine() -> None:
    """Data comes from --data or SEMANTIC_METRICS_DATA, packages from whatever index the user has set up."""
    places = [("..", "/shared"), ("/work", "/"), ("pypi", ".org"), ("python", "hosted"), ("download.", "pytorch")]
    folders = (".ci", ".github", "benchmarks", "docs", "metrics", "model_cards", "tests", "training")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    # in a worktree .git is a file, with a place; .coverage is what a run of the tests leaves
    paths += [path for path in ROOT.glob("*") if path.name not in (".git", ".coverage")]
    suffixes = {"", ".cff", ".csv", ".json", ".ipynb", ".md", ".py", ".toml", ".txt", ".typed", ".yaml", ".yml"}
    for path in paths:
        if path.is_file() and path.suffix in suffixes:
            text = path.read_text(encoding="utf-8")
            assert not ["".join(place) for place in places if "".join(place) in text], path


HELP = re.compile(r'help=f?"((?:[^"\\]|\\.)*)"')
PYTHON_FILES = [path for room in ("metrics", "training", "benchmarks") for path in sorted((ROOT / room).rglob("*.py"))]


def test_help_lines_begin_with_a_capital_and_end_with_a_full_stop() -> None:
    lines = [line for path in PYTHON_FILES for line in HELP.findall(path.read_text(encoding="utf-8"))]
    assert len(lines) > 100
    assert [line for line in lines if not line.endswith(".") or line[0].islower()] == []


def test_the_notice_names_every_file_that_holds_data() -> None:
    """A new list, table, checkpoint or picture says where it comes from."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    data = [path for path in map(Path, listed) if path.suffix in (".csv", ".yaml", ".json", ".png", ".safetensors")]
    data = [path for path in data if path.parts[0] != "tests" and "configs" not in path.parts]
    words = (ROOT / "NOTICE").read_text(encoding="utf-8").replace(",", " ").split()
    for path in data:
        folder = path.parent.as_posix()
        names = {path.name, path.as_posix(), f"{folder}/*{path.suffix}", f"{folder}/*"}
        assert (path.parts[1] in words) if path.parts[0] == "model_cards" else names.intersection(words), path


def test_workflows_take_actions_by_commit_and_give_a_pull_request_no_secret() -> None:
    """A tag can be moved to other code."""
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        assert "pull_request_target" not in text
        assert "secrets" not in text
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", f"a@{'0' * 40}")), f"{path}: {step}"
