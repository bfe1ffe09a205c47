"""`semantic-metrics validate`, run as a user runs it."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from sklearn.metrics import roc_auc_score

import semantic_metrics
from semantic_metrics.stats.agreement import agreement
from semantic_metrics.stats.validation import BASELINE, HEADS, NEAREST, RANKED, Ratings, token_f1, validate
from tests.cli.conftest import done, invoke, refused, write_jsonl
from tests.tiny_table import WORDS

ROWS = 24


def examples() -> list[dict]:
    """Two candidates for each reference; the first shares more words, and people mostly like it better."""
    rng = np.random.default_rng(0)
    golds = [rng.choice(WORDS, 5, replace=False).tolist() for _ in range(ROWS // 2)]
    rows = []
    for i in range(ROWS):
        words = golds[i // 2]
        kept = words[: 4 - 2 * (i % 2)]
        rating = len(kept) + int(rng.integers(-1, 2))
        row = {"said": " ".join(kept), "gold": " ".join(words), "rating": rating, "second": min(5, rating + i % 3)}
        rows.append(row | {"topic": i // 8})
    return rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "rated.jsonl", examples())


@pytest.fixture
def run(checkpoint: Path) -> Callable[..., Result]:
    def run(file: Path, *options: object) -> Result:
        usual = ["--human", "rating", "--references", "gold", "--resamples", 50]
        usual += [] if "--predictions" in options else ["--predictions", "said"]
        small = [] if "--metric" in options else ["--metric", "matcha", "--config", checkpoint]
        return invoke("validate", file, *usual, *small, *options)

    return run


def test_agreement_is_reported(run: Callable, file: Path, checkpoint: Path) -> None:
    output = file.with_name("o.csv")
    lines = done(run(file, "--scale", -1, 5, "--output", output))
    rows = examples()
    columns = {"predictions": [row["said"] for row in rows], "references": [row["gold"] for row in rows]}
    scores = np.array(semantic_metrics.load("matcha", str(checkpoint)).compute(**columns)["scores"])
    human = (np.array([row["rating"] for row in rows]) + 1) / 6
    expected = {"matcha": agreement((scores + 1) / 2, human)}
    expected[BASELINE] = agreement(np.array([token_f1(row["said"], row["gold"]) for row in rows]), human)
    with output.open(newline="") as opened:
        written = {(row["metric"], row["figure"]): row for row in csv.DictReader(opened)}
    for metric, figures in expected.items():
        for figure, value in figures.items():
            row = written[metric, figure]
            assert float(row["value"]) == pytest.approx(value)
            assert float(row["low"]) < value < float(row["high"])
    assert {figure for _, figure in written} == set(HEADS) - {"auc"}, "ratings are not of two kinds"
    assert written["matcha", "ccc"]["signature"].startswith("matcha|checkpoint:")
    assert lines[0] == f"{file}: {ROWS} rows in {ROWS // 2} groups, ratings from -1 to 5"
    assert lines[1].split() == ["CCC", "Pearson", "Spearman", "Kendall"]
    assert f"{expected['matcha']['ccc']:.3f} [" in lines[2]
    assert any("groups have candidates that people rated differently" in line for line in lines)
    explained = [line.split(": ")[0] for line in lines if line.split(": ")[0] in HEADS.values()]
    assert explained == [HEADS[name] for name in (*RANKED, *NEAREST)]
    assert lines[5].startswith("Trust "), "the verdict stands above the figures that it does not follow"
    assert max(len(line) for line in [*lines[1:5], *lines[6:11]]) <= 100
    refused(run(output, "--output", output), "o.csv: expected another file than those that are read")


def test_several_raters_are_averaged_and_compared_with_each_other(run: Callable, file: Path) -> None:
    output = file.with_name("o.json")
    lines = done(run(file, "--human", "second", "--output", output))
    assert "means of 2 ratings" in lines[0]
    a, b = (np.array([row[name] for row in examples()], dtype=float) for name in ("rating", "second"))
    low, high = min(a.min(), b.min()), max(a.max(), b.max())
    between = agreement((a - low) / (high - low), (b - low) / (high - low))
    written = {(row["metric"], row["figure"]): row["value"] for row in json.loads(output.read_text())}
    assert {name: written["people", name] for name in between} == pytest.approx(between)
    people = next(line for line in lines if line.startswith("people"))
    assert people.split()[1:5] == [f"{value:.3f}" for value in between.values()]
    scores = np.array([token_f1(row["said"], row["gold"]) for row in examples()])
    assert written[BASELINE, "pearson"] == pytest.approx(np.corrcoef(scores, a + b)[0, 1])


def ratings(human: np.ndarray) -> Ratings:
    return Ratings.on_scale({"human": human}, list(range(len(human))), None)


def test_the_better_metric_is_named() -> None:
    rng = np.random.default_rng(0)
    human = rng.random(200)
    near, far = human + rng.normal(0, 0.05, 200), human + rng.normal(0, 0.5, 200)
    found = validate({"far": far, "near": near}, ratings(human), resamples=100)
    assert found.verdict.startswith("Trust near here: it has the highest Spearman, ")
    assert found.verdict.endswith("is unlikely to be chance.")
    again = validate({"one": near, "two": near + rng.normal(0, 1e-3, 200)}, ratings(human), "ccc", 100)
    assert "CCC" in again.verdict
    assert again.verdict.startswith("Trust one or two here: ")
    level = {name: near + rng.normal(0, 1e-3, 200) for name in ("one", "two", "three")} | {"far": far}
    several = validate(level, ratings(human), resamples=100).verdict.partition(" here: ")[0]
    assert set(several.removeprefix("Trust ").replace(" or ", ", ").split(", ")) == {"one", "two", "three"}
    assert again.verdict.endswith("may be chance.")
    alone = validate({"near": near}, ratings(human), resamples=100)
    assert alone.verdict.endswith("no other metric was scored.")


def test_labels_have_an_area_under_roc() -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat([0.0, 1.0], 30))
    scores = labels + rng.normal(0, 1, 60)
    found = validate({"one": scores, "noise": rng.random(60)}, ratings(labels), resamples=100)
    assert "the highest AUC" in found.verdict
    area = found.figures["one"]["auc"]
    assert area.value == pytest.approx(roc_auc_score(labels, scores))
    assert area.low < area.value < area.high
    assert "AUC" in next(found.lines())
    alone = validate({"noise": np.tile([0.0, 1.0], 30)}, ratings(np.repeat([0.0, 1.0], 30)), "auc", 100)
    assert alone.verdict.startswith("Trust none here: the best AUC, 0.500 ")
    with pytest.raises(ValueError, match="by: expected ratings of two kinds for auc"):
        validate({"one": scores}, ratings(scores), "auc", 50)
    with pytest.raises(ValueError, match="resamples: expected more, as none has ratings of both kinds, got 1"):
        validate({"one": scores[:31]}, ratings(np.repeat([1.0, 0.0], [1, 30])), resamples=1, seed=2)


def test_token_f1_by_hand() -> None:
    assert token_f1("The dog, the cat!", "the dog") == pytest.approx(2 * 2 / 6)
    assert token_f1("the dog", ["a cat", "The DOG"]) == 1
    assert token_f1("", "the dog") == token_f1("dog", "cat") == token_f1("", "") == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--human", "x"), "--human: expected one of the columns 'said', 'gold', 'rating', 'second', 'topic', got 'x'"),
        (("--human", "said"), "--human: expected numbers in column 'said', got "),
        (("--human", "rating"), "--human: expected each column once, got 'rating', 'rating'"),
        (("--scale", 0, 3), "--scale: expected ratings from 0 to 3, got "),
        (("--group", "same"), "--group: expected at least 3 groups of rows, which are drawn as a whole, got 1"),
        (("--predictions", "rating"), "--predictions: expected a text in column 'rating', got "),
        (("--output", "o.txt"), "--output: expected a file that ends in .json or .csv, got o.txt"),
    ],
)
def test_invalid_input_is_refused_before_a_model_runs(run: Callable, file: Path, options: tuple, message: str) -> None:
    if "same" in options:
        write_jsonl(file, [row | {"same": 1} for row in examples()])
    refused(run(file, *options), message)


def test_ratings_that_are_all_the_same_are_refused(run: Callable, file: Path) -> None:
    write_jsonl(file, [row | {"rating": 3} for row in examples()])
    assert "--human: expected ratings that differ, got only 3" in run(file).stderr
    assert "--human: expected ratings that differ, got the same mean" in run(file, "--scale", 1, 5).stderr


def test_equal_means_of_raters_are_equal() -> None:
    raters = {"a": np.array([0.1, 0.3, 0.2]), "b": np.array([0.2, 0.1, 0.3]), "c": np.array([0.3, 0.2, 0.1])}
    assert len(set(np.mean(list(raters.values()), axis=0))) > 1, "sums in another order differ"
    assert len(set(Ratings(raters, [0, 1, 2], (0.0, 1.0)).mean)) == 1


def test_another_command_than_score_reads_no_pipe(run: Callable) -> None:
    refused(run("-"), "-: expected a file; of the commands only `score` reads standard input")
