"""What the benchmark commands refuse before anything runs."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from benchmarks.common import options
from benchmarks.papers.matcha.command import main as matcha
from benchmarks.papers.stsscore.command import main as stsscore
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.matcha import synthetic
from tests.benchmarks.papers.stsscore import data as sts_data

COMMANDS = {"matcha": (matcha, synthetic.write_data), "stsscore": (stsscore, sts_data.write_data)}
BOTH = [
    (("--data", "{data}", "--checkpoint", "/nowhere/checkpoint"), "checkpoint '/nowhere/checkpoint'"),
]
CASES = [(name, *case) for name in COMMANDS for case in BOTH] + [
    ("matcha", (), "--data: expected a folder"),
    ("matcha", ("--authors", "{empty}"), "--authors: expected files"),
    ("stsscore", (), "Missing option '--data'"),
    ("matcha", ("--data", "{data}", "--sets", "mednli"), "mednli: its licensed file is not given (--mednli FILE)"),
    ("matcha", ("--data", "{empty}", "--sets", "snli"), "no file"),
    ("matcha", ("--data", "{empty}"), "snli: no file"),
    ("matcha", ("--data", "{data}", "--encoder", "a/gte", "--encoder", "b/gte"), "names that differ"),
    ("matcha", ("--from-hub", "--sets", "newts"), "newts: not on the Hub (--newts FILE)"),
    ("stsscore", ("--data", "{data}", "--sets", "qqp"), "qqp: not given (--qqp FILE, or --qqp hub)"),
    ("stsscore", ("--data", "{data}", "--qqp", "/no/q.tsv"), "--qqp: expected a file or `hub`, got '/no/q.tsv'"),
    ("stsscore", ("--data", "{empty}", "--sets", "mrpc"), "no file"),
    ("stsscore", ("--data", "{empty}"), "stsb: no file"),
    ("stsscore", ("--data", "{data}", "--checkpoint", "a/x", "--checkpoint", "b/x"), "names that differ"),
]


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("refusals") / "scorer")


@pytest.mark.parametrize(("name", "arguments", "message"), CASES)
def test_what_cannot_be_done_is_said_before_anything_runs(
    checkpoint: Path, scorer: Path, tmp_path: Path, name: str, arguments: tuple[str, ...], message: str
) -> None:
    command, write_data = COMMANDS[name]
    (tmp_path / "empty").mkdir()
    given = [argument.format(data=write_data(tmp_path / "data"), empty=tmp_path / "empty") for argument in arguments]
    if "--checkpoint" not in given:
        given += ["--checkpoint", str(checkpoint if name == "matcha" else scorer)]
    runner = CliRunner(env={"SEMANTIC_METRICS_DATA": ""})
    result = runner.invoke(command, [*given, "--output", str(tmp_path / "results")])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "results").exists()


def test_the_folder_of_a_new_file_is_made_at_once(tmp_path: Path) -> None:
    made = options.NEW_FILE.convert(tmp_path / "new" / "deeper" / "speed.json", None, None)
    assert made.parent.is_dir()
    assert not made.exists()
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(click.BadParameter, match="expected a file in a folder that can be made"):
        options.NEW_FILE.convert(tmp_path / "file" / "speed.json", None, None)
