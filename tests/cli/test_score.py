"""`semantic-metrics score`: every format, the same rows in the same types, with scores, words and colours added."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import Result
from pyarrow import parquet

import semantic_metrics
from semantic_metrics import load
from semantic_metrics.cli import main
from semantic_metrics.cli.terminal import table_lines
from semantic_metrics.core.signature import shorten
from tests import tiny_pairs as tiny
from tests.cli.conftest import done, invoke, refused, write_jsonl

SAID = ["the dog bites", "a man sleeps", "☃", "the cat is awake", "no dog"]
GOLD = ["a dog bites", "the cat is awake", "the dog", "the cat sleeps", "not a dog"]
TEXTS = ["--predictions", "said", "--references", "gold"]
PAIRS = [{"said": a, "gold": b} for a, b in zip(SAID, GOLD, strict=True)]


@pytest.fixture
def score(checkpoint: Path) -> Callable[..., Result]:

    def run(file: Path | str, *more: object, config: str | None = None, **settings: object) -> Result:
        return invoke("score", file, "--metric", "matcha", "--config", config or checkpoint, *more, **settings)

    return run


@pytest.fixture
def expected(checkpoint: Path) -> list[float]:
    return semantic_metrics.load("matcha", str(checkpoint)).compute(predictions=SAID, references=GOLD)["scores"]


def test_numbers_that_json_has_not_are_not_written_to_it(score: Callable, tmp_path: Path) -> None:
    file, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text('{"said": "a NaN dog", "gold": "a dog", "n": [1, NaN]}\n{"said": "NaN", "gold": "a", "n":  1}\n')
    done(score(file, *TEXTS, "--output", output))
    first, second = output.read_text().splitlines()
    assert first.startswith('{"said": "a NaN dog", "gold": "a dog", "n": [1, null], "matcha": ')
    assert second.startswith('{"said": "NaN", "gold": "a", "n":  1, "matcha": ')
    file.write_text('{"said": "a", "gold": "a dog", "n": -Infinity}\n')
    refused(score(file, *TEXTS, "--output", tmp_path / "more.jsonl"), f"{file}, line 1: expected finite numbers")


@pytest.mark.parametrize("size", [1, 2, 100])
def test_jsonl_keeps_its_rows_to_the_letter(score: Callable, tmp_path: Path, expected: list[float], size: int) -> None:
    rows = [
        '{"said": "the dog bites", "gold": "a dog bites", "n": 1.10, "big": 123456789012345678901234567890}',
        ' {"id": null,"gold":"the cat is awake" , "said":"a man \\u0073leeps"} ',
        '{"said": "\\u2603", "gold": "the dog", "tags": ["\\ud83d", {"x": 1E5}]}\r',
        "",
        '{"said": "the cat is awake", "gold": "the cat sleeps"}',
        '{"said": "no dog", "gold": "not a dog"}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(rows), encoding="utf-8", newline="")
    result = score(tmp_path / "in.jsonl", *TEXTS, "--output", tmp_path / "out.jsonl", "--batch-rows", size)
    assert result.stderr == "", "no progress bar without a terminal"
    assert done(result)[0] == f"5 rows, mean {sum(expected) / 5:.4f}, undefined 1"
    written = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    for before, after, value in zip(filter(None, rows), written, expected, strict=True):
        assert after == f'{before.rstrip()[:-1].rstrip()}, "matcha": {value!r}}}'
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl", "out.jsonl"}


def test_parquet_schema(
    score: Callable, tmp_path: Path, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semantic_metrics.files.parquet.GROUP_ROWS", 4)
    table = pa.table(
        {
            "said": pa.array(SAID, pa.large_string()),
            "gold": pa.array([[text] for text in GOLD], pa.list_(pa.string())),
            "n": pa.array([1, None, 3, 4, 5], pa.int8()),
            "when": pa.array([0, 1, 2, 3, None], pa.timestamp("ms", "UTC")),
            "kind": pa.array(["a", "b", "a", "a", None]).dictionary_encode(),
            "raw": [b"\xff"] * 5,
            "share": pa.array([float("nan"), None, 0.5, 0.5, 0.5]),
        },
        metadata={"note": "kept"},
    )
    parquet.write_table(table, tmp_path / "in.parquet")
    done(score(tmp_path / "in.parquet", *TEXTS, "--output", tmp_path / "out.parquet", "--batch-rows", 3))
    scored = parquet.read_table(tmp_path / "out.parquet")
    assert scored.drop_columns(["matcha", "share"]).equals(table.drop_columns("share"))
    assert scored.schema.metadata == table.schema.metadata
    assert str(scored["share"].to_pylist()) == "[nan, None, 0.5, 0.5, 0.5]"
    assert scored["matcha"].to_pylist() == expected
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet", "out.parquet"}


@pytest.mark.parametrize(
    ("read", "written"),
    [("csv", "json"), ("csv", "jsonl"), ("tsv", "tsv"), ("jsonl", "parquet"), ("json", "csv"), ("parquet", "jsonl")],
)
def test_rows_change_format(score: Callable, tmp_path: Path, expected: list[float], read: str, written: str) -> None:
    frame = pd.DataFrame(PAIRS)
    if read == "parquet":
        frame.to_parquet(tmp_path / "in.parquet", index=False)
    elif read == "jsonl":
        write_jsonl(tmp_path / "in.jsonl", PAIRS)
    elif read == "json":
        (tmp_path / "in.json").write_text(json.dumps(PAIRS))
    else:
        frame.to_csv(tmp_path / f"in.{read}", index=False, sep="\t" if read == "tsv" else ",")
    output = tmp_path / f"out.{written}"
    done(score(tmp_path / f"in.{read}", *TEXTS, "--output", output, "--batch-rows", 2))
    if written.startswith("json"):
        scored = pd.read_json(output, lines=written == "jsonl", precise_float=True)
    elif written == "parquet":
        scored = pd.read_parquet(output)
    else:
        scored = pd.read_csv(output, sep="\t" if written == "tsv" else ",")
    pd.testing.assert_frame_equal(scored, frame.assign(matcha=expected))


def test_standard_input_and_output(score: Callable, expected: list[float]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in PAIRS)
    result = score("-", *TEXTS, "--format", "jsonl", "--output", "-", "--batch-rows", 2, input=text)
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["matcha"] for line in result.stdout.splitlines()] == expected
    assert result.stderr.startswith("5 rows, mean "), "the summary goes to stderr"
    refused(score("-", *TEXTS, input=text), "--format: expected one of txt, csv, tsv, jsonl, json for -, got none")
    refused(score("-", *TEXTS, "--format", "parquet", input=text), "for -, got 'parquet'")
    refused(score("-", *TEXTS, "--format", "csv", input=""), "standard input: expected a header line")


def test_several_metrics(
    score: Callable, tmp_path: Path, checkpoint: Path, expected: list[float], nli_model: Path, sts_model: Path
) -> None:
    models = {"stsscore": sts_model, "nli_lex": nli_model}
    rows = [row | {"asked": "who runs"} for row in PAIRS]
    file = write_jsonl(tmp_path / "in.jsonl", rows)
    more = [item for name, place in models.items() for item in ("--metric", name, "--config", f"{name}={place}")]
    given = [*TEXTS, "--questions", "asked", *more]
    lines = done(score(file, *given, config=f"matcha={checkpoint}"))
    heads = lines[0].split()
    assert (heads[:3], heads[-3:]) == (["matcha", "stsscore", "nli_lex"], ["asked", "said", "gold"])
    signatures = dict(zip(["matcha", *models], lines[-3:], strict=True))
    assert all(line.startswith(f"{name}|checkpoint:") for name, line in signatures.items())
    assert lines[-7] == "5 rows"
    done(score(file, *given, "--output", tmp_path / "out.jsonl", config=f"matcha={checkpoint}"))
    scored = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["matcha"] for row in scored] == expected
    for name, place in models.items():
        questions = {"questions": ["who runs"] * 5} if name == "nli_lex" else {}
        whole = semantic_metrics.load(name, str(place)).compute(predictions=SAID, references=GOLD, **questions)
        assert [row[name] for row in scored] == whole["scores"]
        assert signatures[name] == shorten(whole["signature"])
        line = next(line for line in lines if line.startswith(f"{name}: "))
        what = "share correct" if name == "nli_lex" else "mean"
        assert line.startswith(f"{name}: {what} {whole[name]:.4f}, ")
    refused(score(file, *given, config=str(checkpoint)), "--config: expected NAME=CHECKPOINT, NAME one of matcha, stss")
    refused(score(file, *TEXTS, "--metric", "matcha"), "--metric: expected each metric once, got matcha, matcha")
    refused(score(file, *TEXTS, "--config", "no/such"), "--config: expected one checkpoint for matcha, got ")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"said": None, "gold": "dog"}, "expected a text in column 'said', got None"),
        ({"said": float("nan"), "gold": "dog"}, "expected a text in column 'said', got nan"),
        ({"said": "dog", "gold": 5}, "expected a text or a list of texts, of one kind in all rows, in column"),
        ({"said": "dog", "gold": "\ud800"}, "line 6: expected valid Unicode in column 'gold', got "),
        ({"said": "dog", "gold": "dog", "matcha": 1}, "expected no 'matcha', which the score is written to"),
    ],
)
def test_an_invalid_row_is_named(score: Callable, tmp_path: Path, row: dict, message: str) -> None:
    file = write_jsonl(tmp_path / "in.jsonl", [*PAIRS, row, *PAIRS])
    refused(score(file, *TEXTS, "--output", tmp_path / "out.jsonl", "--batch-rows", 20), f"{file}, line 6", message)
    listed = tmp_path / "in.json"
    listed.write_text(json.dumps([*PAIRS, row, *PAIRS]))
    refused(
        score(listed, *TEXTS, "--output", tmp_path / "out.json", "--batch-rows", 20), message.removeprefix("line 6: ")
    )
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl", "in.json"}


def test_a_text_that_a_metric_refuses_has_its_line(tmp_path: Path, nli_model: Path) -> None:
    rows = [*(row | {"asked": "who"} for row in PAIRS), {"said": "dog", "gold": " ", "asked": "who"}]
    file = write_jsonl(tmp_path / "in.jsonl", rows)
    options = ["--metric", "nli_lex", "--config", nli_model, *TEXTS, "--questions", "asked", "--batch-rows", 4]
    message = f"{file}, line 6, column 'gold': nli_lex: expected a text, got ' ': nothing to compare with"
    refused(invoke("score", file, *options), message)


def test_formats_that_cannot_hold_the_rows(score: Callable, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "in.jsonl", [*PAIRS, {"said": "a", "gold": "b", "new": 1}])
    message = f"{file}, line 6: expected the columns of the first row, got 'new'"
    refused(score(file, *TEXTS, "--output", tmp_path / "out.csv"), message)
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl"}
    file = tmp_path / "in.parquet"
    pd.DataFrame([row | {"more": "a\tb" if i == 3 else None} for i, row in enumerate(PAIRS)]).to_parquet(file)
    result = score(file, *TEXTS, "--output", tmp_path / "out.tsv", "--batch-rows", 2)
    refused(result, f"{file}, row 4: expected texts without tabs and line breaks, which TSV cannot hold, got")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_a_one_line_error(
    tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_jsonl(tmp_path / "in.jsonl", PAIRS)
    full = Path("/dev/full").open("w")  # noqa: SIM115
    monkeypatch.setattr(sys, "stdout", full)
    with pytest.raises(SystemExit) as ended:
        main(["score", str(file), "--metric", "matcha", "--config", str(checkpoint), *TEXTS])
    with suppress(OSError):  # the disk is still full
        full.close()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "Error: standard output: No space left on device\n"


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_rows_without_answers_are_counted(score: Callable, tmp_path: Path, expected: list[float], ending: str) -> None:
    rows = [{"out": {"said": a}, "gold": b} for a, b in zip([*SAID, None, ""], [*GOLD, "a", "a"], strict=True)]
    file, output = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    if ending == "jsonl":
        write_jsonl(file, rows)
    else:
        parquet.write_table(pa.Table.from_pylist(rows), file)
    texts = ["--predictions", "out.said", "--references", "gold", "--batch-rows", 2]
    refused(score(file, *texts), "expected a text in column 'out.said', got None; --missing says what becomes of rows")
    for missing, scores, fate in (("skip", expected, "left out"), ("zero", [*expected, 0, 0], "score 0")):
        lines = done(score(file, *texts, "--missing", missing, "--output", output, "--show", "gold"))
        assert "2 rows without an answer: " + fate in lines
        assert lines[0].split() == ["score", "gold", "out.said"], "--show prints beside --output"
        read = pd.read_parquet(output) if ending == "parquet" else pd.read_json(output, lines=True, precise_float=True)
        assert read["matcha"].tolist() == scores
    refused(
        score(file, *texts, "--missing", "skip", "--output", output, overwrite=False),
        f"--output: {output} is there already",
    )
    typo = ["--predictions", "out.sayd", "--references", "gold", "--missing", "zero"]
    refused(score(file, *typo), "expected a key that rows have, got 'out.sayd', which none of ")
    refused(score(file, *typo[:-2]), "--predictions: expected a key that rows have, got 'out.sayd'")
    write_jsonl(tmp_path / "null.jsonl", [{"out": {"said": None}, "gold": "a"}])
    done(score(tmp_path / "null.jsonl", "--predictions", "out.said", *typo[2:]))
    write_jsonl(tmp_path / "none.jsonl", rows[-1:])
    refused(score(tmp_path / "none.jsonl", *texts, "--missing", "skip"), "expected an answer in a row at least")


WORDED = {"predictions": ["the dog bites", "a man sleeps"], "references": ["a dog bites", "the man is awake"]}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_words_are_written_beside_the_scores(tmp_path: Path, ending: str) -> None:
    model = f"{tiny.both_heads(tmp_path / 'model')}/"
    rows, source, output = pd.DataFrame(WORDED), tmp_path / f"rows.{ending}", tmp_path / f"scored.{ending}"
    rows.to_csv(source, index=False) if ending == "csv" else rows.to_parquet(source)
    options = ["--config", model, "--predictions", "predictions", "--references", "references"]
    done(invoke("score", source, *options, "--output", output))
    expected = load("consensus", model).compute(**WORDED)
    scored = pd.read_csv(output) if ending == "csv" else pd.read_parquet(output)
    assert scored["consensus_verdict"].tolist() == expected["verdicts"]
    assert scored["consensus"].tolist() == pytest.approx(expected["scores"], abs=1e-6)
    printed = "\n".join(done(invoke("score", source, *options)))
    assert " verdict " in printed
    assert expected["verdicts"][0] in printed
    head, *lines = done(invoke("score", source, *options, "--details", "--max-wrong", 2))
    assert {"verdict", "correct"} <= set(head.split()), "wrong ones are counted: each row says what it is"
    assert expected["reasons"][0] in " ".join(" ".join(lines).split()), "whole, below its row"
    refused(invoke("score", output, *options, "--output", tmp_path / f"twice.{ending}"), "expected no")


RED, YELLOW, GREEN = ("\x1b[31m", "\x1b[33m", "\x1b[32m")


@pytest.mark.parametrize(
    ("limits", "values"), [((0.0, 1.0), [0.26, 0.6, 0.8]), ((-1.0, 1.0), [-0.1, 0.3, 0.6])], ids=["from 0", "from -1"]
)
def test_colours_follow_the_range_of_the_scores(limits: tuple[float, float], values: list[float]) -> None:
    said = {"why": ["for a", "for b", "for c"]}
    _, *lines = table_lines({"metric": values}, {"text": ["a", "b", "c"]}, said, 3, {"metric": limits})
    assert [line.strip() for line in lines[1::2]] == said["why"]
    for line, colour in zip(lines[::2], (RED, YELLOW, GREEN), strict=True):
        assert colour in line
