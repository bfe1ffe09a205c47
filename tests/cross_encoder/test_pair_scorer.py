"""Scores are those of one pair at a time through sentence-transformers, on generated Unicode and in any batch."""

import re
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cache
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedTokenizerFast

from semantic_metrics.core import batching
from semantic_metrics.core.run_options import RunOptions
from semantic_metrics.cross_encoder import pair_scorer
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from semantic_metrics.quantities.manners import without_thoughts
from semantic_metrics.quantities.rules import SAME, rule
from tests import tiny_pairs as tiny
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import SIGNS, WORDS, scores

# Cs: surrogates, which are refused. hypothesis also draws strings of the modules that are loaded, "[PAD]" among them: a
# token to sentence-transformers, and plain text here (see test_special_strings_are_plain_text below)
NAMES_A_TOKEN = re.compile(r"\[(?:PAD|CLS|SEP|UNK|MASK)\]|</?\w+>")
unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(
    lambda text: not NAMES_A_TOKEN.search(text)
)
sentences = st.lists(st.sampled_from([*WORDS, *SIGNS, "☃", "שלום", "👩‍👩‍👧"]), max_size=30).map(" ".join)
texts = st.one_of(unicode, sentences)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=8)
EXAMPLES = 12  # each runs a model many times


def expected_score(folder: Path, reference: str, prediction: str) -> float:
    """The listing's score of a pair as rules rewrite it, or what they decide."""
    (spoken,), _ = without_thoughts([prediction])
    ruled = rule(reference, spoken)
    if ruled.ruling.kind == SAME:
        return 1.0
    score = tiny.listing(folder)(ruled.reference, ruled.prediction)
    return min(score, 0.45) if _scorer(folder).is_unread(ruled.reference, ruled.prediction) else score


@settings(max_examples=EXAMPLES)
@given(pairs, st.integers(1, 9), st.randoms(use_true_random=False))
def test_batches_move_no_score(
    one_metric: evaluate.Metric, folder: Path, batch: list, size: int, random: object
) -> None:
    chosen = [*batch, *random.choices(batch, k=3)]
    random.shuffle(chosen)
    predictions, references = map(list, zip(*chosen, strict=True))
    result = scores(one_metric, predictions, references, batch_size=size)
    assert result == pytest.approx([expected_score(folder, b, a) for a, b in chosen], abs=ROUNDING)
    known = dict(zip(chosen, result, strict=True))
    assert [known[pair] for pair in chosen] == result, "duplicates must be equal to the last bit"
    turned = scores(one_metric, predictions[::-1], references[::-1], batch_size=size)
    assert turned == result[::-1], "order must change no bit"


def test_odd_texts_are_scored(one_metric: evaluate.Metric, folder: Path) -> None:
    odd = ["", " ", "\n\t", "☃ ☂", "🎉", "a\x00b", "\x00", "e\u0301", "日本語", "x" * 100_000, "dog " * 25_000]
    result = one_metric.compute(predictions=odd, references=odd[::-1])
    expected = [expected_score(folder, *pair) for pair in zip(odd[::-1], odd, strict=True)]
    assert result["scores"] == pytest.approx(expected, abs=ROUNDING)
    assert result["undefined"] == 8  # blank: "", " ", "\n\t" and "\x00"


# special strings

SPECIAL = ["[SEP]", "[CLS]", "[PAD]", "[MASK]", "[UNK]", "</s>", "<s>", "<pad>", "<mask>", "[SEP] [SEP]", "[[SEP]SEP]"]


def test_special_strings_are_plain_text_to_word_pieces(metric: evaluate.Metric, bert: Path) -> None:
    """BERT's words end at brackets: set apart, the same tokens, and none of them a separator."""
    for special in SPECIAL:
        apart = special
        for sign in "[]<>/":
            apart = apart.replace(sign, f" {sign} ")
        result = scores(metric, [f"the dog {special} the cat"], [f"{special}a man"])
        assert result == scores(deepcopy(metric), [f"the dog {special} the cat"], [f"{special}a man"])
        assert result == pytest.approx([tiny.listing(bert)(f"{apart}a man", f"the dog {apart} the cat")], abs=ROUNDING)


def test_special_strings_are_plain_text_to_byte_pairs(roberta: Path) -> None:
    """The scores are those of the tokens of a vocabulary that knows no special ones."""
    scorer, plain = PairScorer(roberta), tiny.without_special_tokens(roberta)
    model = AutoModelForSequenceClassification.from_pretrained(roberta).eval()
    for special in SPECIAL:
        pair = f"a man{special}", f"the dog {special} the cat"
        a, b = (plain.encode(text, add_special_tokens=False).ids for text in pair)
        assert not {0, 1, 2, 4}.intersection(a + b)
        with torch.inference_mode():
            logit = model(torch.tensor([[0, *a, 2, 2, *b, 2]])[:, : tiny.POSITIONS]).logits.item()
        assert scorer.logits([pair]).values.item() == pytest.approx(logit, abs=ROUNDING)


def test_special_strings_are_no_separators_among_sentence_pieces(unigram: Path) -> None:
    """Its vocabulary has the separators as pieces, and its normaliser makes plain brackets of wide ones."""
    scorer = PairScorer(unigram)
    tokenizer = scorer.tokenizer
    separators = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id}
    for special in [*SPECIAL, "\uff3bSEP\uff3d"]:
        (pair,), _ = scorer.encode([(f"a {special} b", special)], tiny.POSITIONS)
        assert len(pair) > 3
        assert sum(token in separators for token in pair.ids) == 3
    alone = tokenizer("a[SEP]b", add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert tokenizer.sep_token_id in alone, "else the scorer need do nothing about it"


# the scorer itself

lengths = st.integers(0, 2 * tiny.POSITIONS)


@settings(max_examples=30)
@given(lengths, lengths, st.integers(5, tiny.POSITIONS), st.sampled_from(["left", "right"]))
def test_pairs_are_joined_and_cut_as_the_tokeniser_does(folder: Path, a: int, b: int, limit: int, side: str) -> None:
    first, second = ((WORDS * tiny.POSITIONS)[i : i + n] for i, n in ((0, a), (3, b)))
    scorer = _scorer(folder)
    texts = " ".join(first), " ".join(second)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scorer.tokenizer, "truncation_side", side)
        (pair,), truncated = scorer.encode([texts], limit)
    theirs = _tokenizer(folder, side)
    # as lists: given a bare "" for the second text, it takes the first to be alone
    joined = [theirs([texts[0]], [texts[1]], **cut) for cut in ({}, {"truncation": True, "max_length": limit})]
    whole, expected = ({name: rows[0] for name, rows in batch.items()} for batch in joined)
    assert pair.ids == expected["input_ids"]
    assert pair.types == expected.get("token_type_ids", [0] * len(pair))
    assert truncated.tolist() == [len(whole["input_ids"]) > limit]


@cache
def _tokenizer(folder: Path, side: str) -> PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(folder, truncation_side=side)


@cache
def _scorer(folder: Path) -> PairScorer:
    return PairScorer(folder)


MANY = [(f"the dog {'bites ' * (i % 23)}", f"a man {'sleeps ' * (i % 17)}{i}") for i in range(60)]


@pytest.mark.parametrize(("at_a_time", "values"), [(7, 16384), (16384, 1)])
def test_parts_move_no_score(folder: Path, at_a_time: int, values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = _scorer(folder).logits(MANY).values
    monkeypatch.setattr(pair_scorer, "TOKENIZED_AT_A_TIME", at_a_time)
    monkeypatch.setattr(batching, "BATCH_VALUES", {"cpu": values, "other": values})
    np.testing.assert_allclose(_scorer(folder).logits(MANY).values, expected, atol=ROUNDING)


def test_one_scorer_serves_several_threads(folder: Path) -> None:
    """With different options at a time."""
    scorer, limits = _scorer(folder), (8, 20, tiny.POSITIONS)
    expected = {limit: scorer.logits(MANY, RunOptions(max_length=limit)).values for limit in limits}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda i: scorer.logits(MANY, RunOptions(max_length=limits[i % 3])).values, range(6)))
    for i, values in enumerate(results):
        np.testing.assert_array_equal(values, expected[limits[i % 3]])
