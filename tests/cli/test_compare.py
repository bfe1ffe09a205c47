"""`semantic-metrics compare`, run as a user runs it."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import semantic_metrics
from semantic_metrics.cli.compare import TIE, conclusion
from semantic_metrics.stats import significance
from tests.cli.conftest import done, invoke, refused, write_jsonl

GOLD = ["the dog bites", "a man sleeps", "the cat is awake", "a dog runs", "the man barks", "no cat sleeps"]
SYSTEMS = {
    "good": ["a dog bites", "the man sleeps", "a cat is awake", "the dog runs", "the man barks", "no cat sleeps"],
    "bad": ["a dog bites", "not a cat", "asleep", "awake", "the cat is not", "the dog runs"],
    "other": ["the cat", "a man", "a cat is awake", "bites", "runs the man", "is no cat"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, texts in {"gold": GOLD, **SYSTEMS}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n")
    return tmp_path


@pytest.fixture
def run(folder: Path, checkpoint: Path) -> Callable[..., Result]:

    def run(*arguments: object) -> Result:
        paths = [str(folder / one) if str(one).endswith((".txt", ".csv", ".jsonl")) else str(one) for one in arguments]
        config = [] if "--config" in paths else ["--config", str(checkpoint)]
        metric = [] if "--metric" in paths else ["--metric", "matcha"]
        return invoke("compare", *paths, *metric, *config)

    return run


@pytest.fixture
def scores(checkpoint: Path) -> dict[str, list[float]]:
    metric = semantic_metrics.load("matcha", str(checkpoint))
    return {name: metric.compute(predictions=texts, references=GOLD)["scores"] for name, texts in SYSTEMS.items()}


def test_systems_are_compared(run: Callable, scores: dict) -> None:
    lines = done(run("gold.txt", "good.txt", "bad.txt", "other.txt"))
    assert lines[0] == "matcha, 6 texts"
    for name, line in zip(SYSTEMS, lines[2:5], strict=True):
        mean = significance.interval(scores[name])
        assert line.split() == [name, f"{mean.mean:.4f}", f"[{mean.low:.4f},", f"{mean.high:.4f}]"]
    pairs = significance.compare_all(scores, tie=TIE)
    for pair, line in zip(pairs, lines[7:10], strict=True):
        result = pair.comparison
        assert line.startswith(f"{pair.name} - {pair.other} ")
        assert f" {result.difference:.4f}  [{result.low:.4f}, {result.high:.4f}]" in line
        figures = [f"{p:.4f}" for p in (result.p_bootstrap, result.p_permutation, pair.p_holm)]
        assert line.split()[-4:] == [*figures, f"{result.wins}/{result.ties}/{result.losses}"]
    assert max(map(len, lines[:14])) <= 100
    assert lines[-3].endswith("undefined 0")
    assert lines[-2].startswith("matcha|checkpoint:")


def test_the_baseline_is_in_every_pair(run: Callable, folder: Path, scores: dict) -> None:
    options = ("--seed", 3, "--resamples", 99, "--output", folder / "o.csv")
    for baseline in ("bad", folder / "bad.txt"):
        done(run("gold.txt", "good.txt", "bad.txt", "other.txt", "--baseline", baseline, *options))
        rows = pd.read_csv(folder / "o.csv").to_dict("records")
        assert [(row["system"], row["other"]) for row in rows] == [("good", "bad"), ("other", "bad")]
        for row, pair in zip(rows, significance.compare_all(scores, "bad", resamples=99, seed=3, tie=TIE), strict=True):
            assert (row["p_holm"], row["ties"]) == (pytest.approx(pair.p_holm), pair.comparison.ties)
            assert (row["seed"], row["resamples"], row["texts"], row["metric"]) == (3, 99, 6, "matcha")
            assert row["other_mean"] == pytest.approx(np.mean(scores["bad"]))


def test_tables_have_named_columns(run: Callable, folder: Path, nli_model: Path) -> None:
    asked = [f"what {i} bites?" for i in range(6)]
    rows = [{"gold": [gold, "a dog"], "asked": q} for gold, q in zip(GOLD, asked, strict=True)]
    write_jsonl(folder / "gold.jsonl", rows)
    pd.Series(SYSTEMS["good"], name="said").to_csv(folder / "good.csv", index_label="id")
    (folder / "bad.csv").write_text("said\n" + "\n".join(SYSTEMS["bad"]) + "\n")
    columns = ["--references", "gold", "--questions", "asked", "--predictions", "said"]
    options = ["--metric", "nli_lex", "--config", nli_model, "--output", folder / "o.json"]
    done(run("gold.jsonl", "good.csv", "bad.csv", *columns, *options))
    metric = semantic_metrics.load("nli_lex", str(nli_model))
    (row,) = json.loads((folder / "o.json").read_text())
    for name, key in (("bad", "mean"), ("good", "other_mean")):
        texts = {"predictions": SYSTEMS[name], "references": [r["gold"] for r in rows], "questions": asked}
        assert row[key] == pytest.approx(np.mean(metric.compute(**texts)["scores"]), abs=1e-6)
    refused(run("gold.jsonl", "good.csv", "bad.csv", "--references", "gold"), "expected which column of")
    refused(
        run("gold.jsonl", "good.csv", "bad.csv", *columns[:2], "--predictions", "x"),
        "good.csv, --predictions: expected one of the columns 'id', 'said', got 'x'",
    )
    refused(run("gold.jsonl", "good.csv", "bad.csv", *columns), "--questions: only nli_lex takes it")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gold.txt", "good.txt"), "SYSTEM: expected the files of two systems at least, or --by, got 1"),
        (("gold.txt", "good.txt", "short.txt"), "gold.txt has, got 2"),
        (("one.txt", "one.txt", "one.txt"), "one.txt: expected 2 texts at least, got 1"),
        (("gold.txt", "good.txt", "none.txt"), "none.txt: No such file or directory"),
        (("gold.txt", "good.txt", "bad.txt", "--baseline", "x"), "--baseline: expected one of the systems 'good', "),
        (("gold.txt", "good.txt", "bad.txt", "--output", "o.xlsx"), "--output: expected a file that ends in .json or"),
    ],
)
def test_invalid_input_is_refused_unscored(run: Callable, folder: Path, arguments: tuple, message: str) -> None:
    (folder / "short.txt").write_text("a\nb\n")
    (folder / "one.txt").write_text("a\n")
    refused(run(*arguments, "--config", "/nowhere/unread"), message)


def test_a_system_is_called_as_its_column_is(run: Callable, folder: Path) -> None:
    names = {"good": "gpt-4.1", "bad": "gpt-4.5", "other": "org/small"}
    pd.DataFrame({"gold": GOLD} | {names[name]: texts for name, texts in SYSTEMS.items()}).to_csv(folder / "rows.csv")
    columns = [part for name in names.values() for part in ("--predictions", name)]
    command = ["rows.csv", "rows.csv", "rows.csv", "rows.csv", "--references", "gold", *columns]
    done(run(*command, "--baseline", "gpt-4.1", "--output", folder / "o.json"))
    rows = json.loads((folder / "o.json").read_text())
    assert [(row["system"], row["other"]) for row in rows] == [("gpt-4.5", "gpt-4.1"), ("org/small", "gpt-4.1")]
    refused(run(*command, "--baseline", "rows.csv"), "--baseline: expected one of the systems 'gpt-4.1', 'gpt-4.5'")
    refused(
        run(*command, "--predictions", "gold"),
        "one for each of the 3 files of SYSTEM (a file may be",
    )


def test_an_invalid_text_is_found_in_its_file(run: Callable, folder: Path) -> None:
    said = [{"said": text} for text in SYSTEMS["good"]]
    write_jsonl(folder / "bad.jsonl", [*said[:1], *said[:1], *said[2:5], {"said": "\ud800"}])
    write_jsonl(folder / "good.jsonl", said)
    columns = ["--predictions", "said"]
    refused(run("gold.txt", "good.jsonl", "bad.jsonl", *columns), "bad.jsonl, --predictions: ", "(U+D800) in row 6")


def test_a_p_value_at_the_limit_is_not_below_it() -> None:
    (pair,) = significance.compare_all({"a": [1.0, 0.5, 0.25], "b": [0.0, 0.25, 0.125]}, resamples=99)
    for p, words in ((0.05, "no difference can be told from chance"), (0.0499, "a scores higher than b")):
        assert words in conclusion(replace(pair, p_holm=p))


def test_no_column_is_taken_for_its_name(run: Callable, folder: Path) -> None:
    pd.DataFrame({"text": SYSTEMS["good"], "id": range(6)}).to_csv(folder / "rows.csv", index=False)
    refused(run("gold.txt", "rows.csv", "good.txt"), "--predictions: expected which column of ", "one of 'text', 'id'")


def test_a_long_table_is_joined_by_id(run: Callable, folder: Path, scores: dict) -> None:
    rows = [
        {"system": name, "id": i, "said": text, "gold": GOLD[i]}
        for name, texts in SYSTEMS.items()
        for i, text in sorted(enumerate(texts), key=lambda one: (one[0] * len(name)) % 7)
    ]
    write_jsonl(folder / "long.jsonl", rows)
    long = ["long.jsonl", "--by", "system", "--id", "id", "--predictions", "said", "--references", "gold"]
    apart = run("gold.txt", "good.txt", "bad.txt", "other.txt", "--threshold", 0.5)
    assert run(*long, "--threshold", 0.5).output == apart.output
    pd.DataFrame({"id": range(6), "gold": GOLD}).to_csv(folder / "gold.csv")
    for name in ("good", "bad", "other"):
        pd.DataFrame({"id": range(6), "said": SYSTEMS[name]}).sample(6, random_state=1).to_csv(folder / f"{name}.csv")
    files = ["gold.csv", "good.csv", "bad.csv", "other.csv", "--threshold", 0.5]
    joined = run(*files, "--id", "id", "--predictions", "said", "--references", "gold")
    assert joined.output == apart.output
    refused(run(*long[:3], *long[5:]), "--by: expected one table, and --id for its rows")
    write_jsonl(folder / "long.jsonl", rows[1:])
    refused(run(*long), "--id: expected the same ids of all systems")
    write_jsonl(folder / "long.jsonl", [*rows, rows[0]])
    refused(run(*long), "--id: expected each once in system 'good', got '0' twice")
    write_jsonl(folder / "long.jsonl", [rows[0] | {"gold": "another"}, *rows[1:]])
    refused(run(*long), "--id: expected the same references in rows ")


def test_the_share_correct_is_tested(run: Callable, folder: Path, scores: dict) -> None:
    lines = done(run("gold.txt", "good.txt", "bad.txt", "--threshold", 0.5, "--output", folder / "o.json"))
    good, bad = (np.array(scores[name]) >= 0.5 for name in ("good", "bad"))
    only = (bad & ~good).sum(), (good & ~bad).sum()
    assert sum(only), "otherwise there is nothing to test"
    p = 2 * sum(math.comb(sum(only), k) for k in range(min(only) + 1)) / 2 ** sum(only)
    (row,) = json.loads((folder / "o.json").read_text())
    assert row["p_mcnemar"] == row["p_mcnemar_holm"] == pytest.approx(min(p, 1))
    assert f"{only[0]}/{only[1]}" in " ".join(lines)
    assert significance.mcnemar([True, False], [True, False]) == significance.McNemar(0, 0, 1.0)
