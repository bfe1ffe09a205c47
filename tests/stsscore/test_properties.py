"""What holds for every text: tried on generated Unicode."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from semantic_metrics.cross_encoder import pair_scorer as cross_encoder
from semantic_metrics.cross_encoder.pair_scorer import PairScorer
from tests import tiny_pairs as tiny
from tests.stsscore.conftest import SCRIPT
from tests.stsscore.test_metric import ROUNDING, scores
from tests.tiny_table import SIGNS, WORDS

unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)  # Cs: surrogates, which are refused
sentences = st.lists(st.sampled_from([*WORDS, *SIGNS, "☃", "שלום", "👩‍👩‍👧"]), max_size=30).map(" ".join)
texts = st.one_of(unicode, sentences)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=8)
EXAMPLES = 40  # each runs a model many times


@pytest.fixture(scope="module", params=["bert", "roberta", "unigram"])
def each(request: pytest.FixtureRequest) -> Path:
    """Each kind of checkpoint."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def one_metric(each: Path) -> evaluate.Metric:
    """One metric for all examples: what is left over from one would show in the next."""
    return evaluate.load(SCRIPT, str(each), keep_in_memory=True)


@settings(max_examples=EXAMPLES)
@given(pairs, st.integers(1, 9), st.randoms(use_true_random=False))
def test_batches_order_and_duplicates_move_no_score(
    one_metric: evaluate.Metric, each: Path, batch: list, size: int, random: object
) -> None:
    """They are those of the listing, one pair at a time."""
    listing = tiny.listing(each)
    chosen = [*batch, *random.choices(batch, k=3)]
    random.shuffle(chosen)
    predictions, references = map(list, zip(*chosen, strict=True))
    found = scores(one_metric, predictions, references, batch_size=size)
    assert found == pytest.approx([listing(b, a) for a, b in chosen], abs=ROUNDING)
    known = dict(zip(chosen, found, strict=True))
    assert [known[pair] for pair in chosen] == found, "duplicates must be equal to the last bit"
    turned = scores(one_metric, predictions[::-1], references[::-1], batch_size=size)
    assert turned == found[::-1], "order must change no bit"


@settings(max_examples=EXAMPLES)
@given(texts, st.lists(texts, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_references_have_no_order(one_metric: evaluate.Metric, text: str, references: list, random: object) -> None:
    shuffled = random.sample(references, len(references))
    for rule in ("best", "mean"):
        first, second = (scores(one_metric, [text], [group], multi_reference=rule) for group in (references, shuffled))
        assert first == second
    single = scores(one_metric, [text] * len(references), references)
    found = one_metric.compute(predictions=[text], references=[references])
    assert found["scores"] == [max(single)]
    assert found["best_reference"] == [int(np.argmax(single))]


@settings(max_examples=EXAMPLES)
@given(pairs)
def test_symmetric_scores_are_symmetric(one_metric: evaluate.Metric, batch: list) -> None:
    first, second = map(list, zip(*batch, strict=True))
    assert scores(one_metric, first, second, symmetric=True) == scores(one_metric, second, first, symmetric=True)


@settings(max_examples=EXAMPLES)
@given(pairs)
def test_clipped_scores_are_in_range(one_metric: evaluate.Metric, batch: list) -> None:
    first, second = map(list, zip(*batch, strict=True))
    for precision in ("float32", "int8"):
        found = scores(one_metric, first, second, clip=True, scale=0.5, precision=precision)
        assert all(0 <= score <= 1 for score in found)


lengths = st.integers(0, 2 * tiny.POSITIONS)


@given(lengths, lengths, st.integers(5, tiny.POSITIONS), st.sampled_from(["left", "right"]))
def test_pairs_are_joined_and_cut_as_the_tokeniser_does(each: Path, a: int, b: int, limit: int, side: str) -> None:
    first, second = ((WORDS * tiny.POSITIONS)[i : i + n] for i, n in ((0, a), (3, b)))
    scorer = _scorer(each)
    texts = " ".join(first), " ".join(second)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scorer.tokenizer, "truncation_side", side)
        (pair,), truncated = scorer._encode([texts], limit)
    theirs = _tokenizer(each, side)
    # as lists: given a bare "" for the second text, it takes the first to be alone
    joined = [theirs([texts[0]], [texts[1]], **cut) for cut in ({}, {"truncation": True, "max_length": limit})]
    whole, expected = ({name: rows[0] for name, rows in found.items()} for found in joined)
    assert pair.ids == expected["input_ids"]
    assert pair.types == expected.get("token_type_ids", [0] * len(pair))
    assert truncated.tolist() == [len(whole["input_ids"]) > limit]


@cache
def _tokenizer(folder: Path, side: str) -> PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(folder, truncation_side=side)


@cache
def _scorer(folder: Path) -> PairScorer:
    return PairScorer(folder)


MANY = [(f"the dog {'bites ' * (i % 23)}", f"a man {'sleeps ' * (i % 17)}{i}") for i in range(120)]


@pytest.mark.parametrize(("at_a_time", "values"), [(7, 16384), (16384, 1), (50, 2048), (16384, 3_200_000)])
def test_how_much_is_scored_at_a_time_moves_no_score(
    each: Path, at_a_time: int, values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _scorer(each).logits(MANY).values
    monkeypatch.setattr(cross_encoder, "PAIRS_AT_A_TIME", at_a_time)
    monkeypatch.setattr(cross_encoder, "BATCH_VALUES", {"cpu": values, "other": values})
    np.testing.assert_allclose(_scorer(each).logits(MANY).values, expected, atol=ROUNDING)


def test_threads_of_torch_move_no_score(each: Path) -> None:
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(_scorer(each).logits(MANY).values)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_allclose(*found, atol=ROUNDING)


def test_one_scorer_serves_several_threads(each: Path) -> None:
    """With different options at a time."""
    scorer, limits = _scorer(each), (8, 20, tiny.POSITIONS)
    expected = {limit: scorer.logits(MANY, max_length=limit).values for limit in limits}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: scorer.logits(MANY, max_length=limits[i % 3]).values, range(12)))
    for i, values in enumerate(found):
        np.testing.assert_array_equal(values, expected[limits[i % 3]])


def test_a_batch_is_hardly_padded() -> None:
    """Of sequences of all lengths, most are in a batch of their own length; none is left out or taken twice."""
    generator = np.random.default_rng(0)
    sequences = [cross_encoder.Tokens([0] * n, [0] * n) for n in generator.integers(8, 40, size=2000)]
    order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
    batches = list(cross_encoder._batches(order, sequences, 64, 512))
    assert sorted(i for batch in batches for i in batch) == list(range(len(sequences)))
    padded = sum(len(batch) * max(len(sequences[i]) for i in batch) for batch in batches)
    assert padded <= 1.02 * sum(map(len, sequences))
    assert len(batches) < len(sequences) / 10
    assert max(len(batch) * max(len(sequences[i]) for i in batch) for batch in batches) <= 512
