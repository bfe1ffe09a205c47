"""The table of all metrics: what is paired with what, the figures, and the command."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.common.options import Bootstrap
from benchmarks.nli_lex.probe import probe_pairs
from benchmarks.probes import (
    ALL,
    PAWS,
    ROLES,
    STSB,
    WORDS,
    ProbedMetric,
    choose_metrics,
    data_probes,
    main,
    measure,
    nli_metric,
    own_probes,
    probe_figure,
    triplets,
)
from tests.nli_lex.conftest import nli


def test_own_probes_hold_each_item_twice_once_true_and_once_false() -> None:
    words, roles = own_probes()
    assert (words.name, roles.name) == (WORDS, ROLES)
    for probe in (words, roles):
        frame = pd.DataFrame({"item": probe.items, "truth": probe.truth, "reference": probe.references})
        assert (frame.groupby("item")["truth"].agg(["sum", "count"]).to_numpy() == [1, 2]).all()
        assert (frame.groupby("item")["reference"].nunique() == 1).all()
        assert len(probe.kinds) == len(probe.candidates) == len(probe.truth)
    assert len(words.truth) == 256
    assert roles.candidates[0] == "Her brother borrowed the car from Anna."
    assert roles.candidates[len(roles.truth) // 2] == "Anna borrowed the car from her brother."


def test_figures_are_auc_and_spearman_times_100() -> None:
    truth, items = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 1])
    figures = probe_figure(np.array([3.0, 1.0, 2.0, 2.5]), truth, items, "auc", Bootstrap(0, 50))
    assert figures["n"] == 4
    assert figures["value"] == 75  # three of four comparisons
    assert figures["low"] <= 75 <= figures["high"]
    rated = probe_figure(np.arange(9.0), np.arange(9.0) ** 2, np.arange(9), "spearman", Bootstrap(0, 50))
    assert rated["value"] == pytest.approx(100)


def test_a_score_that_prefers_what_is_true_has_auc_100_and_kinds_are_reported() -> None:
    probe = triplets("t", ["a", "b"], ["a good", "b good"], ["a bad", "b bad"])

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        assert [text[0] for text in candidates] == references
        return np.array([float("good" in text) for text in candidates])

    figures, scores = measure({"m": ProbedMetric(score)}, [probe], Bootstrap(0, 20))
    assert figures[["metric", "set", "kind", "figure", "n", "value"]].values.tolist() == [
        ["m", "t", ALL, "auc", 4, 100]
    ]
    assert scores["m"].tolist() == scores["truth"].tolist() == [1, 1, 0, 0]
    blind = ProbedMetric(lambda candidates, _: np.zeros(len(candidates)))
    figures, _ = measure({"m": blind}, own_probes()[:1], Bootstrap(0, 20))
    assert figures["kind"].tolist() == [ALL, "hypernym", "antonym", "number", "negation"]
    assert set(figures["value"]) == {50}


def test_data_sets_are_read_with_their_labels(tmp_path: Path) -> None:
    write_sets(tmp_path)
    paws, multinli, stsb, people = data_probes(tmp_path)
    assert (people.truth.tolist(), people.figures) == ([0.8, 0.2, 0], ("ccc", "ccc, as it is", "pearson"))
    assert (paws.name, paws.truth.tolist(), paws.figures) == (PAWS, [1, 0], ("auc",))
    assert multinli.figures == ("auc", "gap")
    assert (multinli.references, multinli.candidates) == (["p", "q", "p", "q"], ["e1", "e2", "c1", "c2"])
    assert (stsb.name, stsb.truth.tolist(), stsb.figures) == (STSB, [1, 0.2], ("spearman",))
    (tmp_path / "stsb" / "test.parquet").unlink()
    with pytest.raises(ValueError, match=r"--data: expected stsb/test\.parquet below it"):
        data_probes(tmp_path)


def write_sets(folder: Path) -> None:
    tables = {
        "paws_wiki/dev": {"sentence1": ["a", "b"], "sentence2": ["a a", "b b"], "label": [1, 0]},
        "nli_triplets/mnli_dev_matched": {
            "premise": ["p", "q"], "correct_answer": ["e1", "e2"], "incorrect_answer": ["c1", "c2"]
        },
        "stsb/test": {"sentence1": ["x", "y"], "sentence2": ["x x", "y y"], "score": [5.0, 1.0]},
        "matcha_human/half": {
            "reference": ["r", "s", "t"], "sentence": ["r r", "s u", "v"], "HumanScore": [4.0, 1.0, 0.0],
            "dataset": ["SNLI"] * 3
        },
    }  # fmt: skip
    for name, columns in tables.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True)
        pd.DataFrame(columns).to_parquet(path)


def test_the_nli_row_is_entailment_minus_contradiction(tmp_path: Path) -> None:
    checkpoint = str(nli(tmp_path / "model"))
    pairs = probe_pairs()[:8]
    scores = nli_metric(checkpoint)(pairs["hypothesis"].tolist(), pairs["premise"].tolist())
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert np.ptp(scores) > 0


def test_metrics_are_taken_by_name_and_refused_in_one_line(tmp_path: Path) -> None:
    checkpoint = str(nli(tmp_path / "model"))
    assert list(choose_metrics(("table=matcha", "matcha"), (f"own={checkpoint}",))) == ["table", "matcha", "own"]
    for given, message in (
        ("bleu", "name: expected one of"),
        ("nli_lex", "--metric: expected a metric that needs no questions, got nli_lex"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_metrics((given,), ())
    with pytest.raises(ValueError, match="matcha twice"):
        choose_metrics(("matcha", "matcha=matcha"), ())


def test_the_command_writes_figures_scores_and_a_table(tmp_path: Path) -> None:
    write_sets(tmp_path / "data")
    out = tmp_path / "out"
    arguments = ["--metric", "old=matcha", "--nli", f"own={nli(tmp_path / 'model')}", "--resamples", "20"]
    result = CliRunner().invoke(main, [*arguments, "--data", str(tmp_path / "data"), "--output", str(out)])
    assert result.exit_code == 0, result.output
    figures = pd.read_csv(out / "probes.csv")
    assert set(figures["metric"]) == {"old", "own"}
    assert figures.query("kind == 'all'")["set"].nunique() == 6
    people = figures[figures["set"] == "people's ratings"].set_index(["metric", "figure"])["value"]
    assert people["old", "ccc"] != people["old", "ccc, as it is"], "a cosine, whatever its row is called"
    assert people["own", "ccc"] == people["own", "ccc, as it is"]
    assert {"old", "own", "truth"} <= set(pd.read_csv(out / "probes_scores.csv").columns)
    assert (out / "report.txt").read_text(encoding="utf-8") in result.output
    refused = CliRunner().invoke(main, ["--metric", "bleu", "--output", str(tmp_path / "no")])
    assert refused.exit_code == 2
    assert not (tmp_path / "no").exists()
