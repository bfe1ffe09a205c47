"""Without a harness everything else works, and asking for its module says in one line what to install."""

from pathlib import Path

import pytest

from tests.conftest import Run

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
    assert line == f"{module} needs {package}: pip install '.[{extra}]' in a checkout", done.stderr
