"""Arguments that several commands of training have."""

import argparse
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from training.data.run_arguments import add_data_argument


@pytest.mark.parametrize(
    ("given", "arguments", "expected"),
    [("", [], None), ("rows", [], Path("rows")), ("rows", ["--data", "other"], Path("other")), (None, [], None)],
)
def test_the_environment_names_the_data_where_no_argument_does(
    monkeypatch: pytest.MonkeyPatch, given: str | None, arguments: list[str], expected: Path | None
) -> None:
    monkeypatch.delenv("SEMANTIC_METRICS_DATA", raising=False)
    if given is not None:
        monkeypatch.setenv("SEMANTIC_METRICS_DATA", given)
    parser = argparse.ArgumentParser()
    add_data_argument(parser)
    assert parser.parse_args(arguments).data == expected


HELP = re.compile(r'help=f?"((?:[^"\\]|\\.)*)"')
SOURCES = [path for folder in ("metrics", "training", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_help_lines_begin_with_a_capital_and_end_with_a_full_stop() -> None:
    lines = [line for path in SOURCES for line in HELP.findall(path.read_text(encoding="utf-8"))]
    assert len(lines) > 100
    assert [line for line in lines if not line.endswith(".") or line[0].islower()] == []
