"""Table 9: what the attributions of a pair sum to, and the command from end to end on data made here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from sentence_transformers import SentenceTransformer

import semantic_metrics
from benchmarks.common.encoders import NotMeasured
from benchmarks.matcha import attribution
from benchmarks.matcha.attribution import encoder_attribution, matcha_attributions
from tests import tiny_pairs as tiny
from tests.benchmarks.matcha.synthetic import ROWS, triplets, write_data

PAIRS = [("the dog bites a man", "the cat sleeps"), ("dog", "cat cat man"), ("a man runs", "a man runs")]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT, mean pooled; small weights, so that 50 points are enough."""
    return tiny.bert(tmp_path_factory.mktemp("attribution") / "bert", initializer_range=0.05)


def test_closed_form_and_points_and_exact_shares(checkpoint: Path) -> None:
    ways = matcha_attributions(str(checkpoint))
    metric = semantic_metrics.load("matcha", str(checkpoint))
    for pair in PAIRS:
        score = metric.compute(predictions=[pair[0]], references=[pair[1]])["scores"][0]
        start = metric.encoder.rows[0].numpy() if score > 0 else None
        vectors = metric.encoder.encode(list(pair)).vectors
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        begins = [1.0, 1.0] if start is None else units @ (start / np.linalg.norm(start))
        due = score - float(np.mean(begins))
        assert ways[", closed form"](*pair) == pytest.approx((due, 0), abs=1e-6)
        assert ways[", exact"](*pair) == pytest.approx((score, 0), abs=1e-9)
        total, error = ways[""](*pair)
        assert total == pytest.approx(due, abs=error + 1e-9)
        assert error < 0.01
    assert ways[""]("☃", "dog") == ways[", closed form"]("☃", "dog") == (0.0, 0.0)


def test_an_encoder_from_padding_to_the_text(encoder: Path) -> None:
    """Token id 0 in every place: the sum is the score minus the cosine of that with the other text."""
    attribute = encoder_attribution(str(encoder), "cpu")
    model = SentenceTransformer(str(encoder), device="cpu").eval()
    network, pooled = model[0].auto_model, []
    for pair in PAIRS[:2]:
        inputs = [model.tokenizer([text], return_tensors="pt") for text in pair]
        with torch.no_grad():
            ends = [network(**one).last_hidden_state.mean(dim=1)[0] for one in inputs]
            blanks = [{**one, "input_ids": torch.zeros_like(one["input_ids"])} for one in inputs]
            begins = [network(**one).last_hidden_state.mean(dim=1)[0] for one in blanks]
        score = torch.cosine_similarity(*ends, dim=0).item()
        assert score > 0
        base = [torch.cosine_similarity(begins[i], ends[1 - i], dim=0).item() for i in (0, 1)]
        total, error = attribute(*pair)
        assert total == pytest.approx(score - np.mean(base), abs=error + 1e-5)
        assert error < 0.01
        pooled.append(total)
    assert np.ptp(pooled) > 0.001


def test_a_score_below_0_begins_at_the_other_text(encoder: Path) -> None:
    """Two texts of one length: the baseline is then the other text itself, whose cosine is 1."""
    attribute = encoder_attribution(str(encoder), "cpu")
    inputs = [attribute._inputs(text) for text in ("the dog bites", "a man runs")]
    with torch.no_grad():
        vector = attribute._encode(inputs[1], None)[0]
        score = float(torch.cosine_similarity(attribute._encode(inputs[0], None)[0], vector, dim=0))
    total, _ = attribute._one_way(inputs[0], inputs[1], -vector, -score)
    assert total == pytest.approx(-score - -1.0, abs=0.01)


def test_no_such_encoder() -> None:
    with pytest.raises(NotMeasured, match="no/such does not load"):
        encoder_attribution("no/such")


def test_rows_are_drawn_once_each() -> None:
    sets = [triplets("snli"), triplets("truthfulqa")]
    first, again, other, all_rows = (attribution.sample(sets, n, seed) for n, seed in ((5, 0), (5, 0), (5, 1), (99, 0)))
    assert first.equals(again)
    assert not first.equals(other)
    assert first.groupby("key", sort=False).size().tolist() == [5, 5]
    assert all_rows[all_rows["key"] == "snli"]["incorrect"].tolist() == triplets().incorrect
    assert len(all_rows) == 2 * ROWS


def test_the_command(tmp_path: Path, checkpoint: Path, encoder: Path) -> None:
    data = write_data(tmp_path / "data")
    arguments = ["--data", data, "--limit", 2, "--embsim", encoder, "--encoder", f"A={encoder}", "--encoder", "no/such"]
    arguments += ["--checkpoint", f"small={checkpoint}", "--device", "cpu", "--output", tmp_path / "out"]
    result = CliRunner().invoke(attribution.main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert result.stdout == (tmp_path / "out" / "table9.txt").read_text(encoding="utf-8")
    table = pd.read_csv(tmp_path / "out" / "table9.csv").set_index(["metric", "set", "figure"])
    ours = ["MATCHA (small)", "MATCHA (small), closed form", "MATCHA (small), exact"]
    assert list(table.index.unique("metric")) == ["EmbSim", "A", "such", *ours]
    for name in ["EmbSim", *ours]:
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
    assert table.loc[(ours[2], "Overall", "gap"), "value"] == pytest.approx(100 * (means[0] - means[1]))
    published = table["published"].dropna()
    assert published.loc["EmbSim", "Overall", "gap"] == 18.98
    assert published.loc[ours[0], "Overall"].to_dict() == {"correct": 60.63, "incorrect": -41.8, "gap": 102.43}
    assert "not measured: no/such does not load" in result.stdout
    assert "BLEURT" in result.stdout
    assert "-76.37" in result.stdout


def test_the_same_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="expected names that differ"):
        attribution.choose_entries((), ("EmbSim=bert",), "mini", None)
