"""`--missing` of commands that keep all rows in memory: as if the file had other rows, and counted in the output."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import done, invoke, refused, write_jsonl

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
    return [line for line in lines if "rows without an answer" not in line]


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
    assert lines[-1] == "1 rows without an answer: left out"
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
