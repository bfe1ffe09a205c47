"""The pytest plugin, run by pytest in a process of its own, as a user's suite is; harnesses that are missing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from semantic_metrics import load
from tests.conftest import Run
from tests.hooks.conftest import example

PAIRS = [("She fixed the old bike on her own.", "She repaired the old bicycle by herself.")] * 2 + [
    ("The court did not accept the appeal.", "The court accepted the appeal.")
]
SUITE = """
import pytest

@pytest.mark.parametrize("i", range({passing}))
def test_passes(assert_means, i):
    pair = ("She fixed the old bike on her own.", "She repaired the old bicycle by herself.")
    assert assert_means(*pair, 0.5, metric="matcha") > 0.9

def test_fails(assert_means):
    assert_means("It rains.", ["The sun shines.", "It rains."], threshold=0.5, metric="matcha", rescale=True)
    pair = ("The court did not accept the appeal.", "The court accepted the appeal.")
    assert_means(*pair, threshold=0.5, metric="matcha")

def test_the_metric_draws_the_line(assert_means):
    assert assert_means("There are two.", "2", metric="nli_lex", question="How many dogs bark?") > 0.5

def test_without_a_threshold(assert_means):
    with pytest.raises(ValueError, match="^threshold: expected a number"):
        assert_means("It rains.", "It rains.", metric="matcha")
    with pytest.raises(ValueError, match="^question: expected what was asked, as nli_lex judges answers"):
        assert_means("2", "2", metric="nli_lex")
"""
LIGHT = """
import sys
import pytest

def test_nothing_heavy_is_imported():
    assert "semantic_metrics.integrations.pytest_plugin" in sys.modules
    assert not {"torch", "evaluate", "datasets", "transformers", "numpy"} & set(sys.modules)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run pytest in a folder of its own, where this project's settings do not reach."""
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_a_session_without_such_assertions_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(LIGHT, encoding="utf-8")
    done = run(tmp_path, "-q", "-p", "no:randomly")  # which imports numpy to seed it
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("processes", [[], pytest.param(["-n", "2"], marks=pytest.mark.slow)])
def test_a_suite_passes_fails_and_reports(tmp_path: Path, processes: list[str]) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE.format(passing=6), encoding="utf-8")
    done = run(tmp_path, "--semantic-report", "scores.jsonl", *processes)
    assert re.search(r"1 failed, 8 passed", done.stdout), done.stdout + done.stderr
    assert "the text does not say what the reference says: -0.5096 < 0.5000" in done.stdout
    assert "lowered by 'not' -" in done.stdout
    assert "pytest_plugin.py" not in done.stdout, "no line of the plugin in the traceback"
    assert f"9 semantic assertions, 1 failed, written to {tmp_path / 'scores.jsonl'}" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["test"].partition("::")[2] for row in rows] == [
        *["test_fails"] * 2,
        *(f"test_passes[{i}]" for i in range(6)),
        "test_the_metric_draws_the_line",
    ]
    matcha = load("matcha")
    expected = matcha.compute(predictions=[PAIRS[0][0]], references=[PAIRS[0][1]])
    assert (rows[2]["score"], rows[2]["signature"]) == (expected["matcha"], expected["signature"])
    assert [row["passed"] for row in rows[:2]] == [True, False]
    assert rows[-1]["metric"] == "nli_lex"
    assert rows[-1]["correct"] is True


def test_the_printed_example_is_scored_by_the_default_metric(tmp_path: Path) -> None:
    (tmp_path / "test_printed.py").write_text(example("pytest"), encoding="utf-8")
    done = run(tmp_path, "--semantic-report", "scores.jsonl")
    assert "3 passed" in done.stdout, done.stdout + done.stderr
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["metric"]: row["test"].partition("::")[2] for row in rows} == {
        "consensus": "test_the_answer",
        "nli_lex": "test_a_short_answer",
        "support": "test_the_summary",
    }


SUPPORTED = """
import pytest

SOURCE = "The council will replace the bridge. The new bridge will cost 46 million pounds."

def test_supported(assert_supported):
    assert assert_supported("The bridge is going to be replaced.", SOURCE) >= 0.5

def test_nothing_claimed(assert_supported):
    with pytest.raises(AssertionError, match="the text has no sentence that claims something: 'Thank you!'"):
        assert_supported("Thank you!", SOURCE)

def test_contradicted(assert_supported):
    assert_supported("The bridge is going to be replaced. The new bridge will cost 64 million pounds.", SOURCE)
"""


def test_sentences_without_support_fail_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUPPORTED, encoding="utf-8")
    done = run(tmp_path, "--semantic-report", "scores.jsonl")
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "the source does not support 1 of 2 sentences" in done.stdout
    assert "source: 'The new bridge will cost 46 million pounds.'" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["metric"], row["passed"]) for row in rows] == [("support", passed) for passed in (False, False, True)]


def test_a_report_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    done = run(tmp_path, "--semantic-report", "no/such/folder/scores.jsonl")
    assert "--semantic-report: expected a file in a folder that exists, got no/such/folder/scores.jsonl" in done.stderr


WITHOUT = """
import sys

package, module = sys.argv[1:]
sys.modules[package] = None  # not installed
import semantic_metrics
from semantic_metrics.integrations import micro_batcher, verdicts

print(semantic_metrics.available())
try:
    __import__(module)
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(("package", "extra"), [("inspect_ai", "inspect"), ("deepeval", "deepeval")])
def test_a_missing_harness(package: str, extra: str, run_python: Run, tmp_path: Path) -> None:
    module = f"semantic_metrics.integrations.{package}"
    done = run_python(WITHOUT, package, module, cwd=tmp_path)
    _, line = done.stdout.splitlines()
    assert line == f"{module} needs {package}: pip install -e '.[{extra}]' in a checkout", done.stderr
