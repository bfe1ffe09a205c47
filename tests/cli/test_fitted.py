"""Commands with what `fit` wrote: --weights and --threshold in score, compare, report and validate."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import semantic_metrics
from semantic_metrics.core.threshold import read_threshold
from tests import tiny_pairs as tiny
from tests.cli.conftest import done, invoke, refused

SAID = ["the dog bites", "a man sleeps", "the cat is awake", "no dog", "a man runs", "the man barks"] * 3
GOLD = ["a dog bites", "the cat is awake", "the cat is awake", "not a dog", "the man runs", "no cat sleeps"] * 3
TEXTS = {"predictions": "said", "references": "gold"}


@pytest.fixture(scope="session")
def pair_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"{tiny.both_heads(tmp_path_factory.mktemp('models') / 'pairs')}/"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = {"said": SAID, "gold": [f"{text} {i}" for i, text in enumerate(GOLD)]}
    pd.DataFrame({**rows, "right": [1, 0, 1, 0, 1, 0] * 3, "rating": range(18)}).to_csv(
        tmp_path / "rated.csv", index=False
    )
    return tmp_path / "rated.csv"


@pytest.fixture
def scores(file: Path, checkpoint: Path) -> np.ndarray:
    rows = pd.read_csv(file)
    texts = {"predictions": rows["said"].tolist(), "references": rows["gold"].tolist()}
    return np.array(semantic_metrics.load("matcha", str(checkpoint)).compute(**texts)["scores"])


@pytest.fixture
def fitted(file: Path, checkpoint: Path) -> Path:
    usual = {"metric": "matcha", "config": checkpoint, "label": "right"}
    done(invoke("fit", file, options=TEXTS | usual | {"output": file.with_name("t.json")}))
    return file.with_name("t.json")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_fitted_line_decides(file: Path, checkpoint: Path, fitted: Path, scores: np.ndarray, ending: str) -> None:
    source, output = file.with_suffix(f".{ending}"), file.with_name(f"scored.{ending}")
    rows = pd.read_csv(file)
    if ending == "jsonl":
        rows.to_json(source, orient="records", lines=True)
    elif ending == "parquet":
        rows.to_parquet(source)
    usual = {"metric": "matcha", "config": checkpoint, "threshold": fitted}
    lines = done(invoke("score", source, options=TEXTS | usual | {"output": output}))
    expected = scores >= read_threshold(fitted).value
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": lambda path: pd.read_json(path, lines=True)}
    assert read[ending](output)["correct"].tolist() == expected.tolist()
    assert 0 < expected.sum() < 18
    assert f"{expected.sum()} correct ({expected.mean():.1%}: {read_threshold(fitted).value:.4f} or more)" in lines[0]
    printed = done(invoke("score", source, options=TEXTS | usual))
    assert [line.split()[2 if "|" in line else 1] for line in printed[1:19]].count("yes") == expected.sum()


def test_each_metric_has_its_own_decisions(file: Path, checkpoint: Path, sts_model: Path, scores: np.ndarray) -> None:
    names = ["--metric", "matcha", "--metric", "stsscore", "--config", f"matcha={checkpoint}"]
    names += ["--config", f"stsscore={sts_model}", "--output", file.with_name("o.csv")]
    done(invoke("score", file, *names, "--threshold", "matcha=0.5", options=TEXTS))
    scored = pd.read_csv(file.with_name("o.csv"))
    assert list(scored)[-3:] == ["matcha", "matcha_correct", "stsscore"]
    assert scored["matcha_correct"].tolist() == (scores >= 0.5).tolist()
    refused(invoke("score", file, *names, "--threshold", "0.5", options=TEXTS), "--threshold: expected NAME=NUMBER")


def test_compare_report_and_validate_decide(file: Path, checkpoint: Path, fitted: Path, scores: np.ndarray) -> None:
    usual = {"metric": "matcha", "config": checkpoint, "threshold": fitted}
    value = read_threshold(fitted).value
    share = (scores >= value).mean()
    lines = done(invoke("validate", file, options=TEXTS | usual | {"human": "rating", "resamples": 20}))
    decided = f"{(scores >= value).sum()} correct ({share:.1%}: {value:.4f} or more)"
    assert f"matcha: {decided}" in lines
    page = file.with_name("r.html")
    lines = done(invoke("report", file, options=TEXTS | usual | {"label": "right", "output": page}))
    assert decided in lines[0]
    assert f"{((scores >= value) == ([1, 0, 1, 0, 1, 0] * 3)).mean():.1%}" in page.read_text()
    assert read_threshold(fitted).signature in page.read_text(), "the whole signature"
    (file.parent / "worse.csv").write_text("said\n" + "zzz\n" * 18)
    output = file.with_name("c.json")
    options = usual | {"references": "gold", "predictions": "said", "resamples": 20, "output": output}
    lines = done(invoke("compare", file, file, file.parent / "worse.csv", options=options))
    assert lines[0] == f"matcha, 18 texts, correct where the score is {value:.4f} or more"
    assert lines[2].split()[-1] == f"{share:.1%}"
    (pair,) = json.loads(output.read_text())
    assert (pair["other_correct"], pair["threshold"]) == (share, value)


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        ("nan", "--threshold: expected a number, a file or None, got nan"),
        ("none.json", "--threshold none.json: expected a JSON file with metric, value"),
        ("", "--threshold: expected a number or file, got ''"),
    ],
)
def test_an_invalid_threshold_is_refused(file: Path, threshold: str, message: str) -> None:
    options = TEXTS | {"metric": "matcha", "config": "/nowhere/unread", "threshold": threshold}
    refused(invoke("score", file, options=options), message)


def test_a_threshold_of_other_scores_is_refused(file: Path, fitted: Path) -> None:
    options = TEXTS | {"threshold": fitted}
    refused(invoke("score", file, options=options | {"metric": "stsscore"}), "expected a file fitted for stsscore, got")
    message = "--threshold: expected one fitted for scores with checkpoint:"
    refused(invoke("score", file, options=options | {"metric": "matcha"}), message, "got one for checkpoint:")


def test_fitted_weights_are_used(file: Path, pair_model: str) -> None:
    weights, output = file.with_name("w.json"), file.with_name("o.csv")
    usual = TEXTS | {"config": pair_model}
    done(invoke("fit", file, options=usual | {"human": "rating", "output": weights}))
    lines = done(invoke("score", file, options=usual | {"weights": weights, "output": output}))
    rows = pd.read_csv(file)
    texts = {"predictions": rows["said"].tolist(), "references": rows["gold"].tolist()}
    metric = semantic_metrics.load("consensus", pair_model)
    own, expected = metric.compute(**texts)["scores"], metric.compute(**texts, weights=str(weights))
    assert pd.read_csv(output)["consensus"].tolist() == pytest.approx(expected["scores"], abs=1e-6)
    assert expected["scores"] != pytest.approx(own, abs=1e-3)
    assert f"mean {expected['consensus']:.4f}" in lines[0]
    threshold = file.with_name("t.json")
    fit = usual | {"weights": weights, "label": "right", "output": threshold}
    done(invoke("fit", file, options=fit))
    decided = usual | {"threshold": threshold}
    assert " correct (" in done(invoke("score", file, options=decided | {"weights": weights}))[-2]
    refused(invoke("score", file, options=decided), "--threshold: expected one fitted for scores with weights:")
    page = file.with_name("r.html")
    lines = done(invoke("report", file, options=usual | {"weights": weights, "rows": 1, "output": page}))
    assert f"mean {expected['consensus']:.4f}" in lines[0]
    assert expected["signature"] in page.read_text()
    row = {"prediction": rows["said"][0], "reference": rows["gold"][0]}
    explained = metric.explain(**row, weights=str(weights))["score"]
    command = ["explain", *row.values(), "--config", pair_model, "--weights", weights]
    assert done(invoke(*command))[0].startswith(f"consensus {explained:.4f}")
    refused(invoke("score", file, options=usual | {"metric": "matcha", "weights": weights}), "weights: only consensus")


def test_the_whole_signatures_go_to_a_file(file: Path, checkpoint: Path) -> None:
    options = TEXTS | {"metric": "matcha", "config": checkpoint, "signatures": file.with_name("s.txt")}
    lines = done(invoke("score", file, options=options))
    whole = semantic_metrics.load("matcha", str(checkpoint)).signature()
    assert file.with_name("s.txt").read_text() == whole + "\n"
    assert whole not in lines
    assert len(lines[-1]) < 80
    refused(invoke("score", file, options=options | {"signatures": file}), "--signatures: expected another file")


def test_a_gate_ends_with_code_1_and_a_summary_for_machines(file: Path, checkpoint: Path, scores: np.ndarray) -> None:
    usual = TEXTS | {"metric": "matcha", "config": checkpoint, "threshold": 0}
    wrong = int((scores < 0).sum())
    passed = invoke("score", file, "--json", options=usual | {"max-wrong": wrong, "fail-under": scores.mean() - 1e-6})
    summary = json.loads(passed.stdout)
    assert (passed.exit_code, summary["failed"], summary["rows"]) == (0, [], 18)
    assert summary["metrics"]["matcha"].items() >= {"mean": scores.mean(), "wrong": wrong, "threshold": 0.0}.items()
    output = file.with_name("o.csv")
    failed = invoke("score", file, "--json", options=usual | {"max-wrong": wrong - 1, "output": output})
    assert failed.exit_code == 1
    assert failed.stderr == f"failed: matcha: expected at most {wrong - 1} wrong, got {wrong} that score below 0\n"
    assert json.loads(failed.stdout)["failed"] == [failed.stderr.removeprefix("failed: ").strip()]
    assert len(pd.read_csv(output)) == 18, "written before the gate"
    columns = {"references": "gold", "predictions": "said", "baseline": "t", "max-wrong": wrong - 1, "resamples": 9}
    (file.parent / "t.csv").write_text("said\n" + "zzz\n" * 18)
    compared = invoke("compare", file, file, file.parent / "t.csv", "--json", options=usual | columns)
    assert compared.exit_code == 1
    assert json.loads(compared.stdout)["failed"] == [
        f"matcha of {file.stem}: expected at most {wrong - 1} wrong, got {wrong} that score below 0"
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fail-under": "nan"}, "--fail-under: expected a number from -1 to 1, got nan"),
        ({"fail-under": "1_0"}, "--fail-under: expected a number from -1 to 1, got 1_0"),
        ({"fail-under": "\u0661"}, "--fail-under: expected a number from -1 to 1, got \u0661"),
        ({"max-wrong": "9" * 5_000, "threshold": 0}, f"--max-wrong: expected a whole number from 0, got {'9' * 40}"),
        ({"fail-under": 1.1}, "--fail-under: expected a number from -1 to 1, got 1.1"),
        ({"max-wrong": 0}, "--max-wrong: expected --threshold, as matcha does not say what is correct"),
        ({"max-wrong": 0.5, "threshold": 0}, "--max-wrong: expected a whole number from 0, got 0.5"),
        ({"output": "-", "json": ""}, "--json"),
    ],
)
def test_a_gate_that_cannot_be_met_is_refused(file: Path, options: dict, message: str) -> None:
    flags = ["--json"] if options.pop("json", None) is not None else []
    result = invoke("score", file, *flags, options=TEXTS | {"metric": "matcha", "config": "/nowhere"} | options)
    refused(result, message)


def test_nli_lex_decides_until_a_threshold_does(tmp_path: Path, nli_model: Path) -> None:
    file, output = tmp_path / "in.csv", tmp_path / "o.csv"
    pd.DataFrame({"said": ["a dog", "the cat"] * 2, "gold": "a dog", "asked": "who?"}).to_csv(file, index=False)
    usual = TEXTS | {"metric": "nli_lex", "config": nli_model, "questions": "asked", "output": output}
    done(invoke("score", file, "--details", options=usual))
    own = pd.read_csv(output)
    assert own["nli_lex_correct"].tolist() == (own["nli_lex"] > 0.5).tolist()
    assert {"nli_lex_entailment", "nli_lex_lexical_match"} <= set(own)
    middle = own["nli_lex"].max()
    output.unlink()
    lines = done(invoke("score", file, options=usual | {"threshold": middle}))
    share = (own["nli_lex"] >= middle).mean()
    assert pd.read_csv(output)["correct"].mean() == share
    assert f"share correct {share:.4f}" in lines[0]
    assert "the threshold decides, not the metric's own verdict" in lines[0]
