"""Arguments that several commands of training have."""

import argparse
from pathlib import Path

import pytest

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
