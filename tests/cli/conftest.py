"""Running a command as a user does, and tiny models that all tests of commands share."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from semantic_metrics.cli import main
from tests import tiny_pairs as tiny
from tests.nli_lex.conftest import nli


def invoke(
    command: str,
    *arguments: object,
    width: int = 100,
    options: dict[str, object] | None = None,
    overwrite: bool = True,
    **settings: object,
) -> Result:
    """Run `semantic-metrics COMMAND --NAME=VALUE... ARGUMENTS` on a terminal of this width.

    Files are replaced, unless `overwrite` is False.
    """
    given = [*(f"--{name.replace('_', '-')}={value}" for name, value in (options or {}).items()), *map(str, arguments)]
    writes = any(word.partition("=")[0] in ("--output", "--html", "--plot", "--signatures") for word in given)
    arguments = ("--overwrite", *given) if overwrite and writes else tuple(given)
    return CliRunner(env={"COLUMNS": str(width)}).invoke(main, [command, *map(str, arguments)], **settings)


def run_benchmark(command: click.Command, *arguments: object, status: int = 0) -> Result:
    """Run a command of `python -m benchmarks`, which knows no data folder but `--data`, and check its exit status."""
    result = CliRunner(env={"SEMANTIC_METRICS_DATA": ""}).invoke(command, list(map(str, arguments)))
    assert result.exit_code == status, result.output
    return result


def done(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def refused(result: Result, *messages: str) -> None:
    """Check that a run ended with one line on stderr that contains these messages."""
    assert result.exit_code == 2, result.output
    assert all(message in result.stderr for message in messages), result.stderr
    assert result.stderr.count("\n") == 1, "one line says it"


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def nli_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nli(tmp_path_factory.mktemp("models") / "nli")


@pytest.fixture(scope="session")
def sts_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("models") / "sts")
