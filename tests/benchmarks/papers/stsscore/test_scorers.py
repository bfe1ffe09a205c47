"""STSScore's rows and figures: BLEU, published scores, the ensemble, correlations, class figures."""

from pathlib import Path

import bert_score
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score
from transformers import AutoTokenizer

from benchmarks.common.encoders import NotMeasured
from benchmarks.common.options import Bootstrap
from benchmarks.papers.matcha.scoring import Scores
from benchmarks.papers.stsscore import scorers as rows
from benchmarks.papers.stsscore import tables as tables
from benchmarks.papers.stsscore.sets import ALL, HALVES, SHORTER, TITLES, UNSEEN, PairSet, Seen, load_pairs, stsb_splits
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.matcha.synthetic import metric
from tests.benchmarks.papers.stsscore.data import ROWS, pairs, write_data

QUICK = Bootstrap(resamples=60)
WORDS = st.lists(st.sampled_from(["the", "dog", "cat", "3.5", "don't", "U.S.", "a-b", "2-1", "5,000", "end.", "-"]))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("stsscore") / "data")


@pytest.fixture(scope="module")
def sets(data: Path) -> dict[str, PairSet]:
    return load_pairs(data, ("stsb", "mrpc", "wmt22"), Seen(stsb_splits(data)))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The U.S. paid $3.50, not 1,000.", ["The", "U", ".", "S", ".", "paid", "$", "3.50", ",", "not", "1,000", "."]),
        ("A 2-1 win (well-earned)", ["A", "2", "-", "1", "win", "(", "well-earned", ")"]),
        ("It's AT&amp;T &lt;b&gt;", ["It's", "AT", "&", "T", "<", "b", ">"]),
        ("a-\nb\nc <skipped>", ["ab", "c"]),
        ("", []),
    ],
)
def test_tokens_are_those_of_mteval(text: str, tokens: list[str]) -> None:
    assert rows.tokens_13a(text) == tokens


@given(WORDS, WORDS)
def test_bleu_is_zero_only_where_no_4_gram_is_shared(first: list[str], second: list[str]) -> None:
    texts = " ".join(first), " ".join(second)
    grams = [{tuple(tokens[i : i + 4]) for i in range(len(tokens) - 3)} for tokens in map(rows.tokens_13a, texts)]
    value = rows.sentence_bleu(*texts)
    assert (value > 0) == bool(grams[0] & grams[1])
    assert 0 <= value <= 1
    assert rows.sentence_bleu(texts[0], texts[0]) == (1.0 if grams[0] else 0.0)


def test_bleu_by_hand() -> None:
    # 5 of 6 words, 4 of 5, 3 of 4 and 2 of 3 n-grams are shared; no brevity penalty
    expected = (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert rows.sentence_bleu("the dog sleeps here all day", "the dog sleeps here all") == pytest.approx(expected)
    # the other way all are, and the brevity penalty is exp(1 - 6 / 5)
    assert rows.sentence_bleu("the dog sleeps here all", "the dog sleeps here all day") == pytest.approx(np.exp(-0.2))


def test_bleu_takes_sentence1_for_the_prediction() -> None:
    long, short = "the dog sleeps here and there today", "the dog sleeps here"
    assert rows.bleu([short], [long])[0] == rows.sentence_bleu(long, short)  # candidates, references
    assert rows.bleu([short], [long])[0] != rows.bleu([long], [short])[0]  # the brevity penalty falls on one order


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


def test_ensemble_is_the_mean_of_its_members(sets: dict[str, PairSet]) -> None:
    scores, rng = Scores(), np.random.default_rng(0)
    values = {name: rng.uniform(size=ROWS) for name in ("a", "b", "c")}
    for name, value in values.items():
        scores.rated[name, "stsb"] = value
        if name != "b":
            scores.rated[name, "mrpc"] = value
    added = rows.add_ensemble(scores, {key: sets[key] for key in ("stsb", "mrpc")}, ["a", "b", "c"])
    expected = (values["a"] + values["b"] + values["c"]) / 3
    np.testing.assert_allclose(scores.rated[added.name, "stsb"], expected)
    assert (added.name, "mrpc") not in scores.rated
    assert scores.reasons[added.name, "mrpc"] == "b not measured"


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


def test_bertscore_without_a_baseline_says_so() -> None:
    with pytest.raises(NotMeasured, match="no English baseline for /nowhere/model"):
        rows.bertscore("/nowhere/model", 1, None)
    with pytest.raises(NotMeasured, match="does not load"):
        rows.bertscore("/nowhere/roberta-large", None, None)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 5)), min_size=3, max_size=30))
def test_correlations_are_scipys(values: list[tuple[int, int]]) -> None:
    scores, labels = np.array(values, dtype=float).T
    figures = tables.correlations(scores, labels)
    if np.ptp(scores) == 0 or np.ptp(labels) == 0:
        assert np.isnan([figures["r"], figures["rho"]]).all()
    else:
        assert figures["r"] == pytest.approx(100 * stats.pearsonr(scores, labels).statistic, abs=1e-9)
        assert figures["rho"] == pytest.approx(100 * stats.spearmanr(scores, labels).statistic, abs=1e-9)
    both = tables.correlations(np.stack([scores, -scores]), labels[None])
    np.testing.assert_allclose(both["r"], [figures["r"], -figures["r"]])


def test_class_figures_are_pandas_and_sklearns(sets: dict[str, PairSet]) -> None:
    scores, labels = np.random.default_rng(1).integers(0, 6, ROWS) / 5, sets["mrpc"].ratings
    figures = tables.classes(scores[labels == 0], scores[labels == 1])
    assert figures["auc"] == pytest.approx(100 * roc_auc_score(labels, scores))
    assert figures["neg_sd"] == pytest.approx(100 * np.std(scores[labels == 0], ddof=1))
    assert figures["pos_mean"] == pytest.approx(100 * scores[labels == 1].mean())


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


def test_agreement_is_measured_on_what_the_authors_published(data: Path, sets: dict[str, PairSet]) -> None:
    scores, published = Scores(), rows.PublishedScores(data)
    theirs = pairs("wmt22")["sbertcosine"].to_numpy()
    scores.rated["S-BERT", "wmt22"] = theirs + np.where(np.arange(ROWS) == 3, 1e-3, 0)
    scores.rated["S-BERT", "mrpc"] = theirs  # nothing of it is published
    near = tables.agreement_table([metric("S-BERT")], sets, scores, published)
    assert len(near) == 1
    row = near.iloc[0]
    assert (row["set"], row["column"], row["n"]) == ("WMT22 zh-en", "sbertcosine", ROWS)
    assert row["largest_difference"] == pytest.approx(1e-3)
    assert 99 < row["r"] < 100
