"""The checkpoints that are shipped with the package: what their scores mean."""

import doctest
import shutil
from pathlib import Path

import evaluate
import numpy as np
import pytest

from semantic_metrics.core.checkpoint_files import shipped_checkpoints
from semantic_metrics.cross_encoder.eight_bits import to_half
from semantic_metrics.cross_encoder.pair_scorer import DEFAULT_CHECKPOINT
from semantic_metrics.nli_lex.weights import FILE
from tests import tiny_pairs as tiny
from tests.conftest import ROOT

PAIRS = [
    ("A man is playing a guitar.", "A man plays the guitar."),
    ("A woman is slicing an onion.", "A woman is cutting vegetables."),
    ("The cat sleeps on the sofa.", "The parliament voted on the budget."),
    ("", "The dog barks."),
]


@pytest.fixture(scope="module")
def stsscore() -> evaluate.Metric:
    """The metric as a user loads it."""
    names = shipped_checkpoints(lambda config: "id2label" in config)
    assert DEFAULT_CHECKPOINT in names
    return evaluate.load(str(ROOT / "metrics" / "stsscore"))


@pytest.fixture(scope="module")
def nli_lex() -> evaluate.Metric:
    """The metric as a user loads it."""
    folders = shipped_checkpoints(lambda config: "id2label" in config)
    assert (folders[DEFAULT_CHECKPOINT] / FILE).is_file()
    return evaluate.load(str(ROOT / "metrics" / "nli_lex"))


@pytest.mark.parametrize("name", ["shipped", "nli_lex", "stsscore"])
def test_the_documented_example_holds(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = request.getfixturevalue(name)
    monkeypatch.chdir(ROOT)
    names = {"evaluate": evaluate}
    example = doctest.DocTestParser().get_doctest(metric.inputs_description, names, metric.name, None, 0)
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


def test_scores_are_those_of_the_listing(stsscore: evaluate.Metric, tmp_path: Path) -> None:
    folder = shutil.copytree(stsscore.scorer.folder, tmp_path / "pairs")
    with pytest.raises(OSError, match="no file named model"):
        tiny.listing(folder)("a", "b")  # weights in 8 bits are never taken for others
    to_half(folder)
    listing = tiny.listing(folder)
    result = stsscore.compute(predictions=[b for _, b in PAIRS], references=[a for a, _ in PAIRS])
    assert result["scores"] == pytest.approx([listing(*pair) for pair in PAIRS], abs=2e-3)  # float16


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_other_precisions_of_stsscore_stay_near(stsscore: evaluate.Metric, precision: str) -> None:
    texts = {"predictions": [b for _, b in PAIRS], "references": [a for a, _ in PAIRS]}
    plain, other = (np.array(stsscore.compute(**texts, precision=name)["scores"]) for name in ("float32", precision))
    assert 0 < np.abs(other - plain).max() < 0.03
