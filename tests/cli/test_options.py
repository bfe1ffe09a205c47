"""Options that commands share: from a file, of how a model runs, and for rows without an answer."""

import json
from pathlib import Path

import pytest

from semantic_metrics import score
from semantic_metrics.core.signature import shorten
from tests.cli.conftest import done, invoke, refused, write_jsonl

SETTING_ROWS = [{"said": "the dog bites", "gold": "a dog bites"}, {"said": "no dog", "gold": "a dog"}]
PROJECT = '[tool.semantic-metrics]\nmetric = "matcha"\nconfig = "{0}"\npredictions = "said"\nreferences = ["gold"]\n'


@pytest.fixture
def project(tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "rows.jsonl", SETTING_ROWS)
    (tmp_path / "pyproject.toml").write_text(
        PROJECT.format(checkpoint) + "[tool.semantic-metrics.score]\njson = true\n"
    )
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
        ("seed = [1, 2]", "pyproject.toml: seed: expected one value for compare, got [1, 2]"),
        ("seed = 2.9", "pyproject.toml: seed: expected a whole number for compare, got 2.9"),
        ("json = 3", "pyproject.toml: json: expected true or false for compare, got 3"),
        ("compare = {seed = [[1]]}", "pyproject.toml: seed: expected a text, a number, true, false or a list of them"),
        (f"seed = [{'1, ' * 999}]", "expected one value for compare, got [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ..."),
        ("# " + "x" * 2**20, "pyproject.toml: expected at most 1024 KiB of options, got more"),
    ],
)
def test_what_is_no_option_is_refused(project: Path, text: str, message: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.semantic-metrics]\n{text}\n")
    refused(invoke("compare", "rows.jsonl"), message)


@pytest.mark.parametrize(
    "head", ['[tool."semantic-metrics"]\n', "[tool]\nsemantic-metrics.", "[ tool . semantic-metrics ]\n"]
)
def test_the_table_may_be_written_as_toml_allows(project: Path, head: str) -> None:
    (project / "pyproject.toml").write_text(f"{head}seed = [1, 2]\n")
    refused(invoke("compare", "rows.jsonl"), "pyproject.toml: seed: expected one value for compare, got [1, 2]")
    (project / "pyproject.toml").write_text(f"{head}seed = [1]\n")
    refused(invoke("compare", "rows.jsonl"), "--references: expected")


def test_a_file_of_options_is_a_table_and_no_device(project: Path) -> None:
    (project / "pyproject.toml").write_text("tool = 1\nsemantic-metrics.seed = 1\n")
    refused(invoke("score", "rows.jsonl"), "pyproject.toml: expected a table of options, got int")
    refused(invoke("--options=/dev/zero", "score", "rows.jsonl"), "/dev/zero: expected at most 1024 KiB of options")


def test_an_option_of_two_values_is_a_list(project: Path) -> None:
    for scale, message in (
        ("[5, 0]", "--human: expected numbers"),
        ("5", "scale: expected a list of 2 for validate, got 5"),
    ):
        (project / "pyproject.toml").write_text(f"[tool.semantic-metrics.validate]\nscale = {scale}\n")
        texts = {"predictions": "said", "references": "gold", "human": "said"}
        refused(invoke("validate", "rows.jsonl", options=texts), message)


def test_another_project_is_left_alone(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.other\n")
    refused(invoke("score", "rows.jsonl"), "--predictions: expected one of the columns")
    refused(invoke("--options=none.toml", "score", "rows.jsonl"), "none.toml: No such file")


OPTIONS = ("--device", "--precision", "--backend", "--batch-size", "--workers")
RUN_ROWS = [{"said": f"the dog {i} bites", "gold": "a dog bites"} for i in range(3)]
RUN_COLUMNS = {"predictions": "said", "references": "gold"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "in.jsonl", RUN_ROWS)


MODEL_COMMANDS = ("check", "compare", "contradict", "criteria", "explain", "fit", "report", "score", "validate")


@pytest.mark.parametrize("command", MODEL_COMMANDS)
def test_a_command_that_runs_a_model_has_the_options(command: str) -> None:
    shown = "\n".join(done(invoke(command, "--help")))
    missing = [option for option in OPTIONS if option not in shown]
    assert missing == (["--workers"] if command == "criteria" else [])


def test_they_reach_the_metric(file: Path, sts_model: Path, tmp_path: Path) -> None:
    output, signatures = tmp_path / "out.jsonl", tmp_path / "signatures.txt"
    run = {"precision": "bfloat16", "device": "cpu", "batch-size": 1, "backend": "torch", "workers": 2}
    files = {"output": output, "signatures": signatures}
    run |= {"metric": "stsscore", "config": sts_model}
    lines = done(invoke("score", file, options=RUN_COLUMNS | run | files))
    said, gold = zip(*((row["said"], row["gold"]) for row in RUN_ROWS), strict=True)
    own = {"checkpoint": str(sts_model), "precision": "bfloat16", "device": "cpu", "batch_size": 1}
    expected = score("stsscore", list(said), list(gold), **own)
    assert "precision:bfloat16" in expected["signature"]
    assert lines[-1] == shorten(expected["signature"])
    assert signatures.read_text().splitlines() == [expected["signature"]]
    written = [json.loads(line)["stsscore"] for line in output.read_text().splitlines()]
    assert written == expected["scores"]


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_they_reach_a_contextual_checkpoint_of_matcha(file: Path, contextual: Path, backend: str) -> None:
    if backend == "openvino":
        pytest.importorskip("openvino", reason="the extra `fast` is not installed")
    whole = file.with_name("signatures.txt")
    run = {"precision": "int8", "workers": 2, "batch-size": 1, "backend": backend, "signatures": whole}
    result = invoke("score", file, "--metric", "matcha", "--config", contextual, options={**RUN_COLUMNS, **run})
    said, gold = zip(*((row["said"], row["gold"]) for row in RUN_ROWS), strict=True)
    own = {"checkpoint": str(contextual), "precision": "int8", "batch_size": 1, "backend": backend}
    expected = score("matcha", list(said), list(gold), **own)
    assert any(f"mean {expected['matcha']:.4f}," in line for line in done(result))
    assert "has no effect" not in result.stderr
    assert whole.read_text().strip() == expected["signature"]
    assert "|dtype:int8|" in expected["signature"]
    assert ("|backend:openvino|" in expected["signature"]) == (backend == "openvino")


def test_a_table_says_that_they_have_no_effect(file: Path, checkpoint: Path) -> None:
    result = invoke(
        "score", file, "--metric", "matcha", "--config", checkpoint, "--device", "cuda:7", options=RUN_COLUMNS
    )
    assert done(result)
    assert result.stderr == "matcha: a table runs no model, --device has no effect\n"
    table = ("score", file, "--metric", "matcha", "--config", checkpoint)
    result = invoke(*table, "--device", "cpu", "--batch-size", "3", options=RUN_COLUMNS)
    assert result.stderr == "matcha: a table runs no model, --device, --batch-size have no effect\n"
    refused(invoke(*table, "--precision", "fp16", options=RUN_COLUMNS), "precision: expected one of")


PAIRS = [("the dog barks", "a dog barks", 1), ("no cat", "the cat sleeps", 0), ("a man", "the man", 1), ("no", "go", 0)]
MORE = [(f"the dog {i}", f"the {'cat' if i % 2 else 'dog'} {i}", (i + 1) % 2) for i in range(6)]  # for five folds
COLUMNS = {"predictions": "out.said", "references": "gold", "metric": "matcha"}
COMMANDS = {
    "validate": {"human": "label"},
    "report": {"label": "label", "output": "{folder}/page.html"},
    "fit": {"label": "label", "output": "{folder}/threshold.json"},
    "annotate": {"output": "{folder}/page.html"},
}


def rows_of(pairs: list[tuple[str | None, str, int]]) -> list[dict]:
    return [{"out": {"said": said}, "gold": gold, "label": label} for said, gold, label in pairs]


def run(command: str, folder: Path, pairs: list[tuple[str | None, str, int]], *arguments: str) -> list[str]:
    """The lines of a command on these rows, without its count of rows that have no answer."""
    file = write_jsonl(folder / "in.jsonl", rows_of(pairs))
    given = {name: str(value).format(folder=folder) for name, value in COMMANDS[command].items()}
    columns = {name: value for name, value in COLUMNS.items() if command != "annotate" or name != "metric"}
    lines = done(invoke(command, file, *arguments, options=columns | given))
    return [line for line in lines if "without an answer" not in line]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_as_if_the_file_had_other_rows(command: str, tmp_path: Path) -> None:
    pairs = [*PAIRS, *MORE]
    gaps = [(None, "the dog", 0), *pairs, ("", "a horse", 0)]
    skipped = run(command, tmp_path, gaps, "--missing", "skip")
    assert skipped == run(command, tmp_path, pairs)
    zero = run(command, tmp_path, gaps, "--missing", "zero")
    assert zero == run(command, tmp_path, [("" if said is None else said, *rest) for said, *rest in gaps])
    assert zero != skipped or command == "annotate"
    file = write_jsonl(tmp_path / "in.jsonl", rows_of(gaps))
    given = {name: str(value).format(folder=tmp_path) for name, value in COMMANDS[command].items()}
    columns = COLUMNS | given if command != "annotate" else {"predictions": "out.said", "references": "gold"} | given
    result = invoke(command, file, "--missing", "skip", options=columns)
    assert "2 rows without an answer: left out, and not counted in rows' numbers" in result.output
    refused(invoke(command, file, options=columns), "expected a text in column 'out.said', got None")


def test_compare_leaves_out_what_one_system_has_not_answered(tmp_path: Path) -> None:
    gold = write_jsonl(tmp_path / "gold.jsonl", [{"gold": gold} for _, gold, _ in PAIRS])
    first = write_jsonl(tmp_path / "first.jsonl", [{"said": said} for said, _, _ in PAIRS])
    second = write_jsonl(tmp_path / "second.jsonl", [{"said": said} for said in ("a dog", None, "the man", "no")])
    files, options = (gold, first, second), {"metric": "matcha", "missing": "skip", "resamples": 9}
    lines = done(invoke("compare", *files, options=options))
    assert lines[0] == "matcha, 3 texts"
    assert lines[-1] == "1 row without an answer: left out"
    options |= {"missing": "zero"}
    summary = json.loads("\n".join(done(invoke("compare", *files, "--json", options=options))))
    assert summary["without_answer"] == 1
    long = [
        {"by": name, "id": i, "gold": gold, "said": None if (name, i) == ("b", 1) else said}
        for name in "ab"
        for i, (said, gold, _) in enumerate(PAIRS)
    ]
    table = write_jsonl(tmp_path / "long.jsonl", long)
    columns = {"by": "by", "id": "id", "predictions": "said", "references": "gold", "missing": "skip"}
    assert done(invoke("compare", table, options=options | columns))[0] == "matcha, 3 texts"


def test_an_empty_text_that_has_a_score_is_no_zero(tmp_path: Path, sts_model: Path) -> None:
    file = write_jsonl(tmp_path / "in.jsonl", rows_of([(None, "a dog", 1), *PAIRS]))
    options = COLUMNS | {"metric": "stsscore", "config": sts_model, "missing": "zero"}
    message = "--missing: expected skip, as stsscore has a score for an empty text"
    refused(invoke("validate", file, options=options | {"human": "label"}), message)
    none = write_jsonl(tmp_path / "none.jsonl", rows_of([(None, "a dog", 1)]))
    options |= {"missing": "skip", "human": "label"}
    refused(invoke("validate", none, options=options), "expected an answer in a row at least, got none")
