"""From scores to tables and figures, on scores made up for it: no model runs here."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from scipy import stats

from benchmarks.common.baselines import Metric
from benchmarks.common.encoders import NotMeasured
from benchmarks.common.options import Bootstrap
from benchmarks.common.published import Published
from benchmarks.papers.matcha import agreement, separation
from benchmarks.papers.matcha.report import PUBLISHED, human_text, separation_text, write_results
from benchmarks.papers.matcha.scoring import Scores, TripletScores, score_sets
from benchmarks.papers.matcha.sets import CALIBRATION, EvaluationSet
from semantic_metrics.matcha.ratings import Ratings
from semantic_metrics.stats.separation import UNIT
from tests.benchmarks.papers.matcha.synthetic import ROWS, metric, ratings, scores_of, triplets, usual_metrics

QUICK = Bootstrap(resamples=60)


@pytest.fixture
def published() -> Published:
    return Published(PUBLISHED)


@pytest.fixture
def all_sets() -> dict[str, EvaluationSet]:
    datasets = [triplets(key) for key in ("snli", "truthfulqa", "climate_fever", "coco", "mednli")]
    datasets += [ratings(key) for key in ("stsb", "human", CALIBRATION)]
    return {one.key: one for one in datasets}


def test_published_gaps_fit_the_published_means(published: Published) -> None:
    """N-delta is half the gap of the means for what is rescaled, all of it for the rest (caption of table 3)."""
    for title in ("SNLI", "MultiNLI", "TruthfulQA", "Climate-Fever", "COCO-Caption", "NEWTS"):
        for name in published.metrics("3"):
            correct, incorrect, gap = (published.get("3", title, name, x) for x in ("correct", "incorrect", "n_delta"))
            scale = 2 if name in ("EmbSim", "BLEURT", "SimCSE", "MATCHA") else 1
            assert gap == pytest.approx((correct - incorrect) / scale, abs=0.0101), (title, name)


def test_separation_table_has_every_figure_with_an_interval(all_sets: dict, published: Published) -> None:
    metrics, chosen = usual_metrics(), [all_sets["snli"], all_sets["climate_fever"], all_sets["mednli"]]
    scores = scores_of(metrics, chosen)
    table = separation.separation_table(metrics, chosen, scores, published, QUICK)
    assert len(table) == len(metrics) * 3 * 7
    unpaired = (table["set"] == "Climate-Fever") & (table["figure"] == "pairwise")
    assert table[unpaired]["value"].isna().all()
    assert table[~unpaired][["value", "low", "high"]].notna().all().all()
    assert set(table[table["set"] == "MedNLI"]["table"]) == {"6"}
    pair = scores.triplets["EmbSim", "snli"]
    row = table[(table["metric"] == "EmbSim") & (table["set"] == "SNLI")].set_index("figure")
    assert row.loc["n_delta", "value"] == pytest.approx(50 * (pair.correct - pair.incorrect).mean())
    assert row.loc["n_delta", "published"] == 16.17
    assert row.loc["macro_f1", "published"] == 37.96
    assert row.loc["n_delta", "low"] < row.loc["n_delta", "value"] < row.loc["n_delta", "high"]


def test_the_best_is_marked_where_the_paired_test_says_so(published: Published) -> None:
    dataset, rng = triplets(), np.random.default_rng(0)
    low, high = metric("EmbSim"), metric("MATCHA", "matcha")
    noise = rng.normal(0, 0.01, ROWS)
    scores = Scores()
    scores.triplets["EmbSim", "snli"] = TripletScores(0.2 + noise, np.zeros(ROWS))
    scores.triplets["MATCHA", "snli"] = TripletScores(0.9 + noise[::-1], np.zeros(ROWS))
    table = separation.separation_table([low, high], [dataset], scores, published, QUICK)
    best = table[table["best"] == True]  # noqa: E712  # the column holds None too
    assert list(best["metric"]) == ["MATCHA"]
    expected = stats.ttest_rel((0.9 + noise[::-1]) / 2, (0.2 + noise) / 2).pvalue
    assert best["p_next"].iloc[0] == pytest.approx(expected)
    assert "* MATCHA has the highest N-delta, significantly above the next, EmbSim" in separation_text(table, [dataset])
    scores.triplets["MATCHA", "snli"] = TripletScores(0.2001 + rng.normal(0, 0.2, ROWS), np.zeros(ROWS))
    table = separation.separation_table([low, high], [dataset], scores, published, QUICK)
    assert not (table["best"] == True).any()  # noqa: E712
    assert "not significantly above" in separation_text(table, [dataset])


def test_what_is_not_measured_says_why_beside_the_published_number(published: Published) -> None:
    def load() -> None:
        raise NotMeasured("WordNet not found")

    absent, dataset = Metric("METEOR", load, UNIT, published="METEOR"), triplets()
    scores = score_sets([absent], {"snli": dataset})
    table = separation.separation_table([absent], [dataset], scores, published, QUICK)
    text = separation_text(table, [dataset])
    assert "METEOR: not measured: WordNet not found" in text.splitlines()
    line = next(line for line in text.splitlines() if line.startswith("| METEOR"))  # of table 3
    assert line.replace("|", "").split() == ["METEOR", "(30.08)", "(20.78)", "(9.30)", "-", "-"]


def test_a_text_without_a_vector_is_wrong_for_its_class_and_counted(published: Published, tmp_path: Path) -> None:
    """In other figures its score is 0, as the metric gives it."""
    dataset, known = triplets(), np.arange(2 * ROWS) < ROWS

    def score(candidates: list[str], references: list[str]) -> np.ndarray:
        mask = np.isin(np.arange(2 * ROWS), [0, ROWS])
        return np.ma.array(np.where(mask, 0.0, np.where(known, 0.5, -0.5)), mask=mask)

    one, sets = Metric("EmbSim", lambda: score), {"snli": dataset}
    scores = score_sets([one], sets)
    table = separation.separation_table([one], [dataset], scores, published, QUICK).set_index("figure")["value"]
    assert table["macro_f1"] == pytest.approx(100 * (ROWS - 1) / ROWS)  # one error in each class
    assert table["n_delta"] == pytest.approx(50 * (ROWS - 1) / ROWS)
    report = write_results([one], sets, scores, QUICK, tmp_path, [])
    line = f"EmbSim, snli: 2 of {2 * ROWS} pairs have a text without a vector: 0 in every figure, wrong for its class"
    assert line in report


def test_scalings_by_hand() -> None:
    dataset, one, clipped = ratings(), metric("EmbSim"), metric("BLEURT", unbounded=True)
    values = np.linspace(-1.5, 1.5, ROWS)
    scores = Scores(rated={("EmbSim", CALIBRATION): dataset.ratings * 4 - 1})
    scaler = agreement.Scaler(scores, dataset)
    np.testing.assert_allclose(scaler(one, values, "rescaled"), (values + 1) / 2)
    np.testing.assert_allclose(scaler(one, values, "unscaled"), values)
    np.testing.assert_allclose(scaler(one, dataset.ratings * 4 - 1, "calibrated"), dataset.ratings)
    np.testing.assert_allclose(scaler(clipped, values, "rescaled"), np.clip((values + 1) / 2, 0, 1))
    assert scaler(clipped, values, "calibrated") is None
    assert scaler(one, values, "ratings") is None
    rated = replace(one, ratings=lambda: Ratings((-1.0, 0.0), (0.0, 1.0)))
    np.testing.assert_allclose(scaler(rated, values, "ratings"), np.clip(values + 1, 0, 1))
    unit = metric("R1-F1", bounds=UNIT)
    np.testing.assert_allclose(scaler(unit, values, "rescaled"), scaler(unit, values, "unscaled"))


def test_human_table_by_hand(published: Published) -> None:
    dataset = ratings()
    near, far = metric("EmbSim"), metric("MATCHA", "matcha")
    scores = Scores(rated={("EmbSim", "human"): 2 * dataset.ratings - 1, ("MATCHA", "human"): np.full(ROWS, 3.0)})
    table = agreement.rating_table([near, far], dataset, scores, agreement.Scaler(scores, None), published, QUICK)
    overall = table[(table["part"] == "Overall") & (table["scaling"] == "rescaled")]
    wide = overall.pivot(index="metric", columns="figure", values="value")
    assert wide.loc["EmbSim"].to_dict() == pytest.approx({"r1": 100, "dcg": 100, "mae": 0, "ccc": 100})
    expected = {"r1": 0, "dcg": 100 / np.log2(3), "mae": 100 * (2 - dataset.ratings.mean()), "ccc": 0}
    assert wide.loc["MATCHA"].to_dict() == pytest.approx(expected)
    assert set(table["among"].dropna()) == {2}
    assert set(table["part"]) == {"SNLI", "MultiNLI", "TruthfulQA", "Overall"}
    assert set(table[table["part"] == "SNLI"]["n"]) == {ROWS / 3}
    assert set(table[table["published"].notna()]["figure"]) == {"ccc"}  # ranks are never set beside the paper's
    assert "among 2 metrics" in human_text(table, published)


def test_write_results_writes_every_table_and_figure(all_sets: dict, tmp_path: Path) -> None:
    metrics = usual_metrics()
    scores = scores_of(metrics, list(all_sets.values()))
    report = write_results(metrics, all_sets, scores, QUICK, tmp_path, ["MATCHA (a): matcha|checkpoint:0"])
    names = {path.name for path in tmp_path.iterdir()}
    assert {f"table{i}.csv" for i in range(3, 9)} | {"figure4.csv", "curves.csv", "report.txt"} <= names
    assert {f"scores_{key}.csv" for key in all_sets} <= names
    for i in range(2, 7):
        image = imread(tmp_path / f"figure{i}.png")
        assert min(image.shape[:2]) > 200
        assert 0.5 < image[..., :3].mean() < 0.999  # neither blank nor black
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == report + "\n"
    kept = pd.read_csv(tmp_path / "scores_truthfulqa.csv")
    table = pd.read_csv(tmp_path / "table3.csv").set_index(["set", "metric", "figure"])["value"]
    gap = (kept["EmbSim correct"] - kept["EmbSim incorrect"]).mean()
    assert table["TruthfulQA", "EmbSim", "n_delta"] == pytest.approx(50 * gap)
