"""The checkpoint that is shipped with the package: what its scores mean, and that they stay what they are."""

import csv
import doctest

import evaluate
import numpy as np
import pytest

from tests.conftest import ROOT


def test_contradictions_score_below_paraphrases(shipped: evaluate.Metric) -> None:
    with (ROOT / "metrics" / "samples" / "pairs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    result = shipped.compute(
        predictions=[row["prediction"] for row in rows], references=[row["reference"] for row in rows]
    )
    kinds = {row["kind"]: [] for row in rows}
    for row, score in zip(rows, result["scores"], strict=True):
        kinds[row["kind"]].append(score)
    means = {kind: np.mean(scores) for kind, scores in kinds.items()}
    assert means["contradiction"] < means["paraphrase"]
    assert means["unrelated"] < means["paraphrase"]
    assert result["undefined"] == 1


def test_the_documented_example_holds(shipped: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    example = doctest.DocTestParser().get_doctest(shipped.inputs_description, {"evaluate": evaluate}, "matcha", None, 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_example_of_a_loss_learns() -> None:
    section = (ROOT / "docs" / "matcha.md").read_text(encoding="utf-8").split("## As a loss or a reward")[1]
    names: dict = {}
    exec(section.split("```python\n")[1].split("```")[0], names)
    assert names["losses"][-1] < 0.1 < names["losses"][0]
    assert names["reward"][0] > 0.8
    assert "accepted" not in names["text"]


def test_special_strings_are_plain_text(shipped: evaluate.Metric) -> None:
    texts = ["a [SEP] b", "a [UNK] b", "a [CLS] b"]
    apart = ["a [ SEP ] b", "a [ UNK ] b", "a [ CLS ] b"]
    assert shipped.compute(predictions=texts, references=apart)["scores"] == [1, 1, 1]


def test_long_texts_are_neither_cut_nor_padded(shipped: evaluate.Metric) -> None:
    """The tokeniser of all-MiniLM-L6-v2, as it comes, does both at 128 tokens."""
    config = shipped.encoder.config
    assert (config.max_length, config.pad_to) == (None, None)
    lengths = [len(encoding.ids) for encoding in shipped.encoder.tokenize(["dog", "dog " * 1000])]
    assert lengths == [1, 1000]
