"""`semantic-metrics check`: two files or the rows of a table, as lines, JSONL and a page; anything else in one line."""

import json
from pathlib import Path

import pytest

import semantic_metrics
from semantic_metrics.cli.check import WIDTH
from semantic_metrics.core.signature import shorten
from tests import tiny_pairs as tiny
from tests.cli.conftest import done, invoke, refused, write_jsonl

SUMMARY = "The dog bites the man. No cat sleeps."
SOURCE = "The dog bites the man. A cat sleeps.\n\nThe man runs."


@pytest.fixture(scope="session")
def pair_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.judging(tmp_path_factory.mktemp("models") / "pairs")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "summary.txt").write_text(SUMMARY, encoding="utf-8")
    (tmp_path / "source.md").write_text("\ufeff" + SOURCE, encoding="utf-8")
    return tmp_path / "summary.txt", tmp_path / "source.md"


def test_two_files_give_lines_a_jsonl_and_a_page(pair_model: Path, files: tuple[Path, Path], tmp_path: Path) -> None:
    options = {"config": pair_model, "output": tmp_path / "out.jsonl", "html": tmp_path / "out.html", "k": "all"}
    lines = done(invoke("check", *files, "--coverage", options=options))
    metric = semantic_metrics.load("support", str(pair_model))
    expected = metric.compute(predictions=[SUMMARY], references=[SOURCE], k=None, coverage=True)
    assert lines[0].startswith(f"summary.txt: {expected['scores'][0]:.3f}, lowest {expected['minimums'][0]:.3f}")
    assert shorten(expected["signature"]) in lines
    (row,) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert row["sentences"] == expected["sentences"][0]
    assert row["missing"] == expected["missing"][0]
    assert (row["score"], row["coverage"]) == (expected["scores"][0], expected["coverage"][0])
    assert "summary.txt checked against source.md" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_sentence_below_the_limit_fails(pair_model: Path, files: tuple[Path, Path], tmp_path: Path) -> None:
    options = {"config": pair_model, "output": tmp_path / "out.json"}
    failed = invoke("check", *files, options=options | {"fail_under": 0.9999})
    assert failed.exit_code == 1
    assert "lowest sentence below 0.9999 in 1 of 1 texts: summary.txt" in failed.output
    done(invoke("check", *files, options=options | {"fail_under": 0}))
    (row,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert row["minimum"] == min(one["support"] for one in row["sentences"])
    assert row["unsupported"] == sum(one["verdict"] != "supported" for one in row["sentences"])


def test_a_table_gives_a_row_each(pair_model: Path, tmp_path: Path) -> None:
    table = write_jsonl(tmp_path / "rows.jsonl", [{"s": text, "a": SOURCE.split("\n\n")} for text in (SUMMARY, "")])
    columns = {"predictions": "s", "references": "a", "config": pair_model, "output": tmp_path / "out.jsonl"}
    lines = done(invoke("check", table, options=columns))
    assert [line.partition(":")[0] for line in lines if line.startswith("Row")] == ["Row 1", "Row 2"]
    assert any("undefined 1" in line for line in lines)
    assert lines[2].strip() == "source 1, 0-22: The dog bites the man."
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    lines = done(invoke("check", table, "--missing", "skip", options=columns))
    assert "1 row without an answer: left out, and not counted in rows' numbers" in lines
    assert not any("undefined" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("summary.txt",), {}, "SOURCE: expected a file, or --predictions and --references"),
        (("summary.txt", "source.md"), {"predictions": "s"}, "expected them with one table"),
        (("summary.txt", "latin.txt"), {}, "latin.txt: expected UTF-8 text, got the byte 0xe9"),
        (("summary.txt", "/dev/zero"), {}, "/dev/zero: expected a text of at most 64 MiB, got a longer one"),
        (("summary.txt", "source.md"), {"k": "0"}, "--k: expected a whole number from 1, or all, got '0'"),
        (("summary.txt", "source.md"), {"k": "9" * 5_000}, "--k: expected a whole number from 1, or all, got '999"),
        (("summary.txt", "source.md"), {"html": "source.md"}, "expected another file than those that are read"),
        (
            ("summary.txt", "source.md"),
            {"output": "new.html", "html": "../{folder}/new.html"},
            "another file than --outp",
        ),
        (("summary.txt", "source.md"), {"fail_under": "nan"}, "--fail-under: expected a number from 0 to 1, got nan"),
    ],
)
def test_what_cannot_be_checked_is_one_line(
    pair_model: Path,
    files: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    options: dict[str, str],
    message: str,
) -> None:
    monkeypatch.chdir(files[0].parent)
    Path("latin.txt").write_bytes("café".encode("latin-1"))
    options = {name: value.format(folder=files[0].parent.name) for name, value in options.items()}
    refused(invoke("check", *arguments, options={"config": pair_model, **options}), message)
    assert not Path("new.html").exists()


def test_a_name_cannot_steer_the_terminal(pair_model: Path, files: tuple[Path, Path]) -> None:
    summary = files[0].rename(files[0].with_name("a\x1b[31mb.txt"))
    lines = done(invoke("check", summary, files[1], options={"config": pair_model}))
    assert lines[0].startswith(r"a\u001b[31mb.txt: ")


def test_a_long_word_is_shown_whole(pair_model: Path, tmp_path: Path) -> None:
    for name in ("summary.txt", "source.txt"):
        (tmp_path / name).write_text(f"{'dog' * 400}.", encoding="utf-8")
    lines = done(invoke("check", tmp_path / "summary.txt", tmp_path / "source.txt", options={"config": pair_model}))
    assert f"{'dog' * 400}." in "".join(lines).replace(" ", "")
    assert max(map(len, lines[1:-2])) == WIDTH
