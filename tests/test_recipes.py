"""The recipes of docs/extend.md: their code, as it stands there, works."""

import json
import re
import runpy
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import semantic_metrics
from semantic_metrics import cli
from semantic_metrics.core.contract import missing_parts
from tests.conftest import ROOT

CODE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def recipe(title: str) -> list[str]:
    text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [code for _, code in CODE.findall(section)]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(semantic_metrics, "__path__", [*semantic_metrics.__path__, str(tmp_path)])
    return tmp_path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_metric(package: Path) -> None:
    folder = package / "length_ratio"
    folder.mkdir()
    for name, code in zip(("__init__.py", "length_ratio.py"), recipe("Add a metric"), strict=True):
        (folder / name).write_text(code, encoding="utf-8")
    rows = package / "rows.csv"
    rows.write_text("said,gold\none two,one\nthree,three\n", encoding="utf-8")
    columns = ("--predictions", "said", "--references", "gold", "--metric", "length_ratio")
    assert "mean 0.7500" in run("score", rows, *columns)
    assert semantic_metrics.load("length_ratio").compute(predictions=["abc"], references=["a"], unit="characters")[
        "scores"
    ] == [pytest.approx(1 / 3)]
    missing = {line.removeprefix("length_ratio lacks ").partition(",")[0] for line in missing_parts("length_ratio")}
    assert missing == {"LengthRatio.explain", "app.py", "README.md", "requirements.txt"}, "as the recipe says"


def test_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    config, command, use = recipe("Add a checkpoint")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "training").symlink_to(ROOT / "training")
    (tmp_path / "runs" / "mine.yaml").write_text(config, encoding="utf-8")
    launch, *arguments = command.removeprefix("accelerate launch --cpu ").split()
    monkeypatch.setattr(sys, "argv", [launch, *arguments])
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    runpy.run_path(launch, run_name="__main__")
    capsys.readouterr()
    exec(use, {})
    assert json.loads(capsys.readouterr().out) == [1.0]


def test_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "count.py").write_text(recipe("Add a command")[0], encoding="utf-8")
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    monkeypatch.setattr(cli, "COMMANDS", (*cli.COMMANDS, "count"))
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    assert run("count", rows) == "2 rows\n"
    assert "Count the rows of FILE" in run("count", "--help")
