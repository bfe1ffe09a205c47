"""Table 9: what the attributions of a pair sum to, and the command from end to end on data made here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from sentence_transformers import SentenceTransformer
from transformers import AutoTokenizer

import semantic_metrics
from benchmarks.common.baselines import bertscore
from benchmarks.papers.matcha import attribution
from benchmarks.papers.matcha.attribution import cosine, greedy, matcha_attributions, sums
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.matcha.synthetic import triplets, write_data

PAIRS = [("the dog bites a man", "the cat sleeps"), ("dog", "cat cat man"), ("a man runs", "a man runs")]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT, mean pooled."""
    return tiny.bert(tmp_path_factory.mktemp("attribution") / "bert", initializer_range=0.05)


def test_the_integral_and_exact_shares(checkpoint: Path) -> None:
    ways = matcha_attributions(str(checkpoint))
    metric = semantic_metrics.load("matcha", str(checkpoint))
    for pair in PAIRS:
        score = metric.compute(predictions=[pair[0]], references=[pair[1]])["scores"][0]
        start = metric.encoder.rows_of(np.zeros(1, dtype=int))[0] if score > 0 else None
        vectors = metric.encoder.encode(list(pair)).vectors
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        begins = [1.0, 1.0] if start is None else units @ (start / np.linalg.norm(start))
        integral, exact = (ways[way]([pair[0]], [pair[1]])[0] for way in ("", ", exact"))
        assert integral == pytest.approx(score - float(np.mean(begins)), abs=1e-6)
        assert exact == pytest.approx(score, abs=1e-9)
    assert ways[""](["☃"], ["dog"]).tolist() == [0.0]


def test_an_encoder_from_padding_to_the_text(encoder: Path) -> None:
    """Token id 0 in every place: the sum is the score minus the cosine of that with the other text."""
    model = SentenceTransformer(str(encoder), device="cpu").eval()
    network, expected = model[0].auto_model, []
    for pair in PAIRS[:2]:
        inputs = [model.tokenizer([text], return_tensors="pt") for text in pair]
        with torch.no_grad():
            ends = [network(**one).last_hidden_state.mean(dim=1)[0] for one in inputs]
            blanks = [{**one, "input_ids": torch.zeros_like(one["input_ids"])} for one in inputs]
            begins = [network(**one).last_hidden_state.mean(dim=1)[0] for one in blanks]
        score = torch.cosine_similarity(*ends, dim=0).item()
        assert score > 0
        base = [torch.cosine_similarity(begins[i], ends[1 - i], dim=0).item() for i in (0, 1)]
        expected.append(score - np.mean(base))
    totals = sums(*cosine(str(encoder), "cpu"))(*zip(*PAIRS[:2], strict=True))
    np.testing.assert_allclose(totals, expected, atol=1e-5)
    assert np.ptp(totals) > 0.001


def test_a_path_begins_at_the_other_text_where_the_score_is_not_above_0() -> None:
    asked = []

    def score(ids: list[int], others: list[int]) -> float:
        asked.append((ids, others))
        return -1.0

    assert sums(lambda text: [len(word) for word in text.split()], score)(["a bc d"], ["efg"]).tolist() == [0]
    assert asked == [([1, 2, 1], [3]), ([3, 0, 0], [3]), ([3], [1, 2, 1]), ([1], [1, 2, 1])]


def test_bertscore_is_that_of_bert_score(encoder: Path) -> None:
    AutoTokenizer.from_pretrained(encoder, model_max_length=tiny.POSITIONS).save_pretrained(encoder)
    tokenize, score = greedy(str(encoder), 2, "cpu")
    candidates, references = zip(*PAIRS, *(pair[::-1] for pair in PAIRS), strict=True)
    ours = [score(tokenize(a), tokenize(b)) for a, b in zip(candidates, references, strict=True)]
    np.testing.assert_allclose(ours, bertscore(str(encoder), 2, "cpu")(candidates, references), atol=1e-5)
    totals = sums(tokenize, score)(candidates, references)
    np.testing.assert_allclose(totals[:3], totals[3:], atol=1e-6)  # both directions
    assert np.ptp(totals) > 0.001


def test_the_command(tmp_path: Path, checkpoint: Path, encoder: Path) -> None:
    data = write_data(tmp_path / "data")
    arguments = ["--data", data, "--limit", 2, "--embsim", encoder, "--encoder", f"A={encoder}", "--encoder", "no/such"]
    arguments += ["--bertscore", encoder, "--bertscore-layer", 2]
    arguments += ["--checkpoint", f"small={checkpoint}", "--device", "cpu"]
    arguments += ["--output", tmp_path / "out"]
    result = CliRunner().invoke(attribution.main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert result.stdout == (tmp_path / "out" / "report.txt").read_text(encoding="utf-8")
    table = pd.read_csv(tmp_path / "out" / "table9.csv").set_index(["metric", "set", "figure"])
    ours = ["MATCHA (small)", "MATCHA (small), exact"]
    assert list(table.index.unique("metric")) == ["EmbSim", "BERTScore", "A", "such", *ours]
    for name in ["EmbSim", "BERTScore", *ours]:
        figures = table.sort_index().loc[name, "Overall"]
        correct, incorrect, gap = (figures.loc[figure, "value"] for figure in ("correct", "incorrect", "gap"))
        assert gap == pytest.approx(correct - incorrect)
        assert figures.loc["gap", "low"] <= gap <= figures.loc["gap", "high"]
        gaps = [table.loc[(name, title, "gap"), "value"] for title in ("SNLI", "MultiNLI", "TruthfulQA")]
        assert gap == pytest.approx(np.mean(gaps))
    metric = semantic_metrics.load("matcha", str(checkpoint))
    rows = attribution.sample([triplets(key) for key in attribution.SETS], 2, 0)
    means = [
        np.mean(metric.compute(predictions=list(rows[side]), references=list(rows["reference"]))["scores"])
        for side in ("correct", "incorrect")
    ]
    assert table.loc[(ours[1], "Overall", "gap"), "value"] == pytest.approx(100 * (means[0] - means[1]))
    published = table["published"].dropna()
    assert published.loc["EmbSim", "Overall", "gap"] == 18.98
    assert published.loc["BERTScore", "Overall", "gap"] == 0.02
    assert published.loc[ours[0], "Overall"].to_dict() == {"correct": 60.63, "incorrect": -41.8, "gap": 102.43}
    assert "not measured: no/such does not load" in result.stdout
    assert "BLEURT" in result.stdout
    assert "-76.37" in result.stdout
