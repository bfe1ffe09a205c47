"""STSScore's sets, rows and figures: labels, leaks, published scores, the ensemble, correlations."""

from pathlib import Path

import bert_score
import numpy as np
import pandas as pd
import pytest
from transformers import AutoTokenizer

from benchmarks.common.encoders import NotMeasured
from benchmarks.common.options import Bootstrap
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.stsscore import scorers as rows
from benchmarks.papers.stsscore import sets as sts
from benchmarks.papers.stsscore import tables as tables
from benchmarks.papers.stsscore.sets import ALL, HALVES, SHORTER, TITLES, UNSEEN, PairSet, Seen, load_pairs, stsb_splits
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.matcha_data import metric
from tests.benchmarks.papers.stsscore_data import ROWS, pairs, qqp, write_data

QUICK = Bootstrap(resamples=60)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("stsscore") / "data")


@pytest.fixture(scope="module")
def sets(data: Path) -> dict[str, PairSet]:
    return load_pairs(data, ("stsb", "mrpc", "wmt22"), Seen(stsb_splits(data)))


def test_published_scores_are_looked_up_pair_by_pair(data: Path, sets: dict[str, PairSet]) -> None:
    published, wmt22 = rows.PublishedScores(data), sets["wmt22"]
    score = published.score("STSScore")
    np.testing.assert_array_equal(score(wmt22.candidates, wmt22.references), pairs("wmt22")["sts_score"])
    some = score(wmt22.candidates[3:5], wmt22.references[3:5])
    np.testing.assert_array_equal(some, pairs("wmt22")["sts_score"][3:5])
    with pytest.raises(NotMeasured, match=f"scores of {ROWS} of {ROWS} pairs are not at hand"):
        score(sets["mrpc"].candidates, sets["mrpc"].references)
    with pytest.raises(NotMeasured, match="1 of 1 pairs"):
        rows.PublishedScores(None).score("S-BERT")(["a"], ["b"])


def test_bertscore_is_rescaled_with_the_models_baseline(tmp_path: Path) -> None:
    """As bert-score itself rescales, which it does not for a folder."""
    scorer = tiny.bert(tmp_path / "bert-base-uncased")  # the name decides which baseline
    AutoTokenizer.from_pretrained(scorer, model_max_length=tiny.POSITIONS).save_pretrained(scorer)
    baselines = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    expected = bert_score.BERTScorer(
        model_type=str(scorer),
        num_layers=2,
        device="cpu",
        lang="en",
        rescale_with_baseline=True,
        baseline_path=str(baselines / "bert-base-uncased.tsv"),
    ).score(["the dog runs", "a cat"], ["the cat sleeps here", "a cat"])
    scores = rows.bertscore(str(scorer), 2, "cpu")(["the cat sleeps here", "a cat", ""], ["the dog runs", "a cat", "a"])
    np.testing.assert_allclose(scores[:2], expected[2].numpy(), atol=1e-5)
    assert scores[1] == pytest.approx(1, abs=1e-5)
    assert scores[2] < -0.1  # 0 before


def test_figure_table(sets: dict[str, PairSet]) -> None:
    """Every figure has an interval and the published number; what is absent a reason; only STSScore has halves."""
    scores, rng = Scores(), np.random.default_rng(2)
    for name in ("STSScore", "S-BERT"):
        scores.rated |= {(name, key): dataset.ratings + rng.normal(size=ROWS) for key, dataset in sets.items()}
    scores.reasons["BLEU", "stsb"] = "no tokens"
    metrics = [metric("STSScore", "scorer"), metric("S-BERT"), metric("BLEU")]
    table = tables.figure_table(metrics, sets, {"qqp": "not given"}, scores, QUICK)
    assert list(table["set"].unique()) == list(TITLES.values())
    assert set(table[table["part"].isin(HALVES)]["metric"]) == {"STSScore"}
    cell = table.set_index(["set", "part", "metric", "figure"])
    row = cell.loc[("STS-B test", ALL, "S-BERT", "rho")]
    assert row["low"] < row["value"] < row["high"]
    assert row["n"] == ROWS
    assert cell.loc[("MRPC test", UNSEEN, "STSScore", "auc"), "n"] == ROWS - 2
    published = cell["published"]
    assert np.isnan(published["MRPC test", UNSEEN, "STSScore", "auc"])
    for place, value in (
        (("STS-B test", ALL, "S-BERT", "rho"), 82),
        (("MRPC test", ALL, "STSScore", "auc"), 85),
        (("MRPC test", ALL, "STSScore", "neg_sd"), 18),
        (("WMT22 zh-en", SHORTER, "STSScore", "r"), 30),
        (("QQP train", ALL, "BLEU", "auc"), 59),
    ):
        assert published[place] == pytest.approx(value)
    assert cell.loc["QQP train"]["value"].isna().all()
    assert set(cell.loc["QQP train"]["reason"]) == {"not given"}
    assert set(table[(table["metric"] == "BLEU") & (table["set"] == "STS-B test")]["reason"]) == {"no tokens"}


def load_all(data: Path, *trained_on: Path) -> dict[str, sts.PairSet]:
    seen = sts.Seen(sts.stsb_splits(data), trained_on)
    return sts.load_pairs(data, ("stsb", "mrpc", "wmt22"), seen)


def test_every_set_is_read(data: Path) -> None:
    """Labels on the unit scale, sentence1 as the reference, reference translations told from systems."""
    loaded = load_all(data)
    assert list(loaded) == ["stsb", "mrpc", "wmt22"]
    frame = pairs("stsb")
    np.testing.assert_allclose(loaded["stsb"].ratings * 5, frame["score"])
    assert set(loaded["mrpc"].ratings) == {0.0, 1.0}
    assert loaded["mrpc"].source == "mrpc/test.parquet"
    mqm = pairs("wmt22")["label"].to_numpy()
    low, high = loaded["wmt22"].scale
    assert (low, high) == (mqm.min(), 0)
    np.testing.assert_allclose(low + loaded["wmt22"].ratings * (high - low), mqm)
    assert loaded["stsb"].references == list(frame["sentence1"])
    assert loaded["wmt22"].references == list(pairs("wmt22")["reference"])
    assert loaded["wmt22"].candidates == list(pairs("wmt22")["translation"])
    assert loaded["wmt22"].parts[sts.SYSTEMS].tolist() == [name != "refA" for name in pairs("wmt22")["system"]]
    assert sts.SYSTEMS not in loaded["stsb"].parts


def test_a_leak_is_found_whatever_its_case_signs_and_order() -> None:
    seen = sts.normalised_pairs([pd.DataFrame({"sentence1": ["The dog's bone."], "sentence2": ["A  Cat"]})])
    assert sts.normalised("a cat!", "the dog s bone") in seen
    assert sts.normalised("ａ ｃａｔ", "THE DOG'S BONE") in seen  # full-width letters  # noqa: RUF001
    assert sts.normalised("a cat", "the dog's bones") not in seen
    assert sts.normalised("a cat", "a cat") not in seen


def test_leaked_pairs_make_a_part_of_their_own(data: Path) -> None:
    loaded = load_all(data)
    assert loaded["mrpc"].parts[sts.UNSEEN].sum() == ROWS - 2  # one is in STS-B train, one in its test
    assert sts.UNSEEN not in loaded["stsb"].parts  # its own test pairs are no leak
    assert sts.UNSEEN not in loaded["wmt22"].parts


def test_qqp_is_read_as_quora_publishes_it(tmp_path: Path) -> None:
    frame = qqp()
    frame.loc[3, "question2"] = ""  # three of its questions are empty; they stay
    frame.loc[4, "question1"] = 'What is "null"?'
    frame.loc[5, "question1"] = "null"
    frame.to_csv(tmp_path / "qqp.tsv", sep="\t", index=False)
    seen = sts.Seen({})
    dataset = sts.read_qqp(tmp_path / "qqp.tsv", seen)
    assert dataset.references == list(frame["question1"])
    assert dataset.candidates == list(frame["question2"])
    assert dataset.ratings.tolist() == list(frame["is_duplicate"])
    frame.to_parquet(tmp_path / "qqp.parquet")
    assert sts.read_qqp(tmp_path / "qqp.parquet", seen).references == dataset.references


@pytest.mark.parametrize(
    ("key", "changes", "message"),
    [
        ("mrpc", {"label": [0, 1, 2]}, r"expected ratings in \[0, 1.0\], got 0.0 to 2.0"),
        ("mrpc", {"label": [0, 1, 0.5]}, "expected labels 0 and 1, got"),
        ("mrpc", {"label": [1, 1, 1]}, "expected labels that differ, got 1 only"),
        ("stsb", {"label": [0, 6, 1]}, r"expected ratings in \[0, 5.0\], got 0.0 to 6.0"),
        ("stsb", {"label": [0, "five", 1]}, "expected ratings in"),
        ("stsb", {"sentence2": ["a", None, "b"]}, "expected a text in column 'candidate', got (None|nan) in row 1"),
        ("wmt22", {"label": [0, 1, -1]}, "expected ratings in"),
    ],
)
def test_broken_labels_and_texts_are_named(key: str, changes: dict, message: str) -> None:
    columns = {"sentence1": ["a", "b", "c"], "sentence2": ["d", "e", "f"], "label": [0, 1, 0]} | changes
    with pytest.raises(ValueError, match=f"here.csv: {message}"):
        sts.pair_set(key, pd.DataFrame(columns), "here.csv", set())
    with pytest.raises(ValueError, match=r"here.csv: expected columns .*, missing \['label'\]"):
        sts.pair_set(key, pd.DataFrame(columns).drop(columns="label"), "here.csv", set())


def test_published_scores_without_texts_are_those_of_the_rows(sets: dict[str, PairSet], tmp_path: Path) -> None:
    mrpc = sets["mrpc"]
    (tmp_path / "scores").mkdir()
    lines = pd.DataFrame({"label": mrpc.ratings.astype(int), "bertscore_f1": np.linspace(0, 1, ROWS)})
    lines.to_csv(tmp_path / "scores" / "mrpc.csv")
    published = rows.PublishedScores(None, tmp_path, {"mrpc": mrpc})
    found = published.score("BERTScore")(mrpc.candidates, mrpc.references)
    np.testing.assert_allclose(found, lines["bertscore_f1"])
    with pytest.raises(NotMeasured):
        published.score("S-BERT")(mrpc.candidates, mrpc.references)
    lines[::-1].to_csv(tmp_path / "scores" / "mrpc.csv")
    with pytest.raises(ValueError, match=r"mrpc\.csv: expected a line for each of"):
        rows.PublishedScores(None, tmp_path, {"mrpc": mrpc})
