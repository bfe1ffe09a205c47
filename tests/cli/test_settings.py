"""Options from pyproject.toml, or from a file of one's own."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import done, invoke, refused, write_jsonl

ROWS = [{"said": "the dog bites", "gold": "a dog bites"}, {"said": "no dog", "gold": "a dog"}]
SHARED = '[tool.semantic-metrics]\nmetric = "matcha"\nconfig = "{0}"\npredictions = "said"\nreferences = ["gold"]\n'


@pytest.fixture
def project(tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rows and a pyproject.toml."""
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    (tmp_path / "pyproject.toml").write_text(SHARED.format(checkpoint) + "[tool.semantic-metrics.score]\njson = true\n")
    return tmp_path


def test_options_come_from_a_file_and_the_command_line_wins(project: Path, checkpoint: Path) -> None:
    summary = json.loads(invoke("score", "rows.jsonl").stdout)
    assert (summary["rows"], list(summary["metrics"])) == (2, ["matcha"])
    more = (project / "pyproject.toml").read_text() + "max-wrong = 0\nthreshold = 1\n"
    (project / "pyproject.toml").write_text(more)
    assert invoke("score", "rows.jsonl").exit_code == 1
    assert invoke("score", "rows.jsonl", "--max-wrong", 2).exit_code == 0
    (project / "o.yaml").write_text(f"score: {{metric: [matcha], config: {checkpoint}, predictions: said}}\n")
    result = invoke("--options=o.yaml", "score", "rows.jsonl", "--references", "gold")
    assert done(result)[-2].startswith("2 rows, mean "), "the file takes the place of pyproject.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrics = 1", "pyproject.toml: expected an option or a command, got 'metrics'"),
        ("[tool.semantic-metrics.score]\nhuman = 'x'", "pyproject.toml: score: expected its options, got 'human'"),
        ("score = 3", "pyproject.toml: score: expected its options, got '3'"),
        ("seed = {a = 1}", "pyproject.toml: seed: expected a text, a number, true, false or a list of them"),
        ("seed = ", "pyproject.toml: expected TOML or YAML ("),
    ],
)
def test_what_is_no_option_is_refused(project: Path, text: str, message: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.semantic-metrics]\n{text}\n")
    refused(invoke("compare", "rows.jsonl"), message)


def test_another_project_is_left_alone(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.other\n")
    refused(invoke("score", "rows.jsonl"), "--predictions: expected one of the columns")
    refused(invoke("--options=none.toml", "score", "rows.jsonl"), "none.toml: No such file")
