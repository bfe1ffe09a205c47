"""STSScore's rows and figures: BLEU, published scores, the ensemble, correlations, class figures."""

from pathlib import Path

import bert_score
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
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
