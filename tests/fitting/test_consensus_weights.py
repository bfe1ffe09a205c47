"""Weights of consensus from ratings, by the command and in parts."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from semantic_metrics import load
from semantic_metrics.consensus.parts import Parts
from semantic_metrics.consensus.weights import DEFAULT, Weights
from semantic_metrics.fitting.consensus_weights import fit_consensus
from tests.cli.conftest import done, invoke, refused
from tests.consensus.conftest import LABELS, both_heads
from tests.tiny_table import WORDS


def drawn(count: int) -> Parts:
    values = np.random.default_rng(0).random((4, count))
    none = np.zeros(count)  # contradiction, which would cap scores
    return Parts(values[0] * 2 - 1, *values[1:], contradiction=none, truncated=none > 0)


def test_fitted_weights_are_measured_on_other_groups() -> None:
    parts, true = drawn(120), Weights(matcha=0, similarity=1, nli=1)
    groups = [str(i % 30) for i in range(120)]
    fitted = fit_consensus(parts, true.score(parts), groups, 5, 0)
    assert fitted.fitted["ccc"] > 0.98, "the fit knows of no bounds"
    assert fitted.default["ccc"] == pytest.approx(np.corrcoef(DEFAULT.score(parts), true.score(parts))[0, 1], abs=0.1)
    noise = fit_consensus(parts, np.random.default_rng(1).random(120), groups, 5, 0)
    assert abs(noise.fitted["pearson"]) < 0.3  # in sample, least squares would find something
    with pytest.raises(ValueError, match="expected 5 groups or more and 10 rows to fit in each fold, got 8 rows in 8"):
        fit_consensus(parts.take(np.arange(8)), np.arange(8) / 8, groups[:8], 5, 0)


def test_the_command_writes_what_compute_reads(tmp_path: Path) -> None:
    model = f"{both_heads(tmp_path / 'model')}/"
    rng = np.random.default_rng(0)
    texts = [[" ".join(rng.choice(WORDS, 4)) for _ in range(30)] for _ in range(2)]
    metric = load("consensus", model)
    weights = {"matcha": 0.0, "similarity": 0.0, "nli": 1.0}
    ratings = metric.compute(predictions=texts[0], references=texts[1], weights=weights)["scores"]
    output = tmp_path / "weights.json"
    options = ["--scale", 0, 1, "--config", model, "--output", output]
    lines = done(fit(tmp_path, list(zip(*texts, ratings, strict=True)), *options))
    assert any(line.startswith("fitted, 5 folds: CCC 1.0000") for line in lines)
    assert json.loads(output.read_text())["weights"]["nli"] == pytest.approx(1, abs=1e-6)
    again = metric.compute(predictions=texts[0], references=texts[1], weights=str(output))
    assert again["scores"] == pytest.approx(ratings, abs=1e-6)
    other = load("consensus", f"{both_heads(tmp_path / 'other', LABELS[::-1])}/")
    made_for, own = (each.models.scorer.checkpoint_sha256[:16] for each in (metric, other))
    message = f"^weights: expected a file fitted for checkpoint '{own}', got .*, fitted for '{made_for}'$"
    with pytest.raises(ValueError, match=message):
        other.compute(predictions=texts[0], references=texts[1], weights=str(output))


RATED = ["--metric", "consensus", "--human", "rating", "--output", "x.json"]


def fit(folder: Path, rows: list[tuple], *options: object) -> Result:
    with (folder / "rated.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("answer", "reference", "rating"), *rows])
    return invoke("fit", folder / "rated.csv", *RATED, *options)


def test_blank_texts_are_not_fitted_and_their_ratings_are_on_the_scale(tmp_path: Path) -> None:
    model = f"{both_heads(tmp_path / 'model')}/"
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(WORDS) for _ in range(20)]
    rows = [
        (" ".join([*words[: i % 4], *words[4 : 8 - i % 4]]), " ".join(words[:4]), 1 + i % 4)  # rated by shared words
        for i, words in enumerate(drawn)
    ]
    scale = ["--scale", "0", "4"]
    figures = {}
    for name, given in (("none", rows), ("blank", [*rows, (" ", "the dog", 0), ("the dog", "\n", 0)])):
        output = tmp_path / f"{name}.json"
        options = () if name == "blank" else scale  # the blank texts hold the lowest rating
        lines = done(fit(tmp_path, given, "--config", model, "--precision", "bfloat16", *options, "--output", output))
        assert f"{len(given)} rated texts, {len(given) - 20} blank and not fitted" in lines
        figures[name] = json.loads(output.read_text())
    assert figures["blank"] == figures["none"]
    assert "precision:bfloat16" in figures["blank"]["signature"]
    assert figures["blank"]["rows"] == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--exclude", "rated.csv"], "--exclude: only a fit on labels takes it, got --human rating"),
        (["--form", "rich"], "--form: only a fit on labels takes it"),
        (["--output", "rated.csv"], "--output: expected another file than those that are read"),
        ([], "ratings: expected 5 groups or more and 10 rows to fit in each fold, got 8 rows in 8 groups"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_a_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(f"the dog {i}", f"the cat {i}", i) for i in range(8)]
    (tmp_path / "nothing").mkdir()
    refused(fit(tmp_path, rows, "--config", "nothing/", *options), message)  # a folder without a checkpoint
    assert not (tmp_path / "x.json").exists()


def test_a_printed_list_is_warned_about_without_advice_that_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    rows = [(f"the dog {i}", f'["the cat {i}; a dog", "a cat"]', i) for i in range(20)]
    stderr = fit(tmp_path, rows, "--config", f"{tmp_path}/nothing/").stderr
    assert stderr.startswith(f"warning: {tmp_path}/rated.csv, row 1: column 'reference' has ")
    assert "read as one text\n" in stderr
    assert "--json-lists" not in stderr
