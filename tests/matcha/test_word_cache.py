"""A tokeniser's ids of texts from those of their words: the same, whatever was read before."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers, processors

from semantic_metrics.matcha import word_cache
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable
from semantic_metrics.matcha.word_cache import WordCache, reads_words
from tests.conftest import ROOT
from tests.tiny_table import SPECIAL, small_table

SHIPPED = str(ROOT / "model_cards" / "matcha" / "tokenizer.json")
ascii_texts = st.text(st.characters(max_codepoint=127), max_size=40)
any_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
words = st.sampled_from(
    [*SPECIAL, "Don't", "U.S.A.", "3.5%", "e-mail", "snake_case", "a\tb\r\nc", "x" * 101, "caf\u00e9", "#@!"]
)
texts = st.one_of(ascii_texts, any_texts, st.lists(words, max_size=6).map(" ".join))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(SHIPPED)


def expected(tokenizer: Tokenizer, batch: list[str]) -> list[list[int]]:
    return [encoding.ids for encoding in tokenizer.encode_batch(batch, add_special_tokens=False)]


def split(flat: np.ndarray, lengths: np.ndarray) -> list[list[int]]:
    return [part.tolist() for part in np.split(flat, lengths.cumsum())[:-1]]


@pytest.fixture(scope="module")
def cache(tokenizer: Tokenizer) -> WordCache:
    """One for all examples: what one of them left in it must not count in the next."""
    return WordCache(tokenizer)


@settings(max_examples=400, deadline=None)
@given(st.lists(texts, max_size=6))
def test_ids_are_the_tokenizers(tokenizer: Tokenizer, cache: WordCache, batch: list[str]) -> None:
    assert split(*cache.ids(batch)) == expected(tokenizer, batch)


def test_a_full_cache_begins_anew(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_cache, "MAX_WORDS", 5)
    cache = WordCache(tokenizer)
    for batch in (["The cat sleeps."], ["Dogs bark at the moon."], ["One two three four five six seven."], ["The end"]):
        assert split(*cache.ids(batch)) == expected(tokenizer, batch)
        assert 0 < len(cache._known) <= 5


def test_only_words_are_kept(tokenizer: Tokenizer) -> None:
    cache = WordCache(tokenizer)
    cache.ids(["A curly \u2019 quote.", "0123456789abcdef" * 2, "\0a", "short"])
    assert set(cache._known) == {"short"}


def test_a_copy_is_that_of_an_unused_table(tokenizer: Tokenizer) -> None:
    table = small_table()
    unused = pickle.dumps(table)
    before = table.encode(["the dog bites", "a man sleeps"]).vectors
    assert table._words._known
    assert pickle.dumps(table) == unused
    for copied in (pickle.loads(pickle.dumps(table)), deepcopy(table)):
        np.testing.assert_array_equal(copied.encode(["the dog bites", "a man sleeps"]).vectors, before)


def test_threads_share_a_cache(tokenizer: Tokenizer) -> None:
    cache = WordCache(tokenizer)
    batches = [[f"number {i} of {j} unseen{i}words" for j in range(5)] for i in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert [split(*ids) for ids in pool.map(cache.ids, batches)] == [expected(tokenizer, one) for one in batches]


def test_only_a_tokenizer_that_reads_words_is_taken(tokenizer: Tokenizer) -> None:
    assert reads_words(tokenizer)
    assert load_checkpoint(None)._words is not None
    for change in (
        lambda one: setattr(one, "normalizer", normalizers.BertNormalizer(lowercase=False)),
        lambda one: setattr(one, "normalizer", normalizers.BertNormalizer(clean_text=False)),
        lambda one: setattr(one, "normalizer", normalizers.Lowercase()),
        lambda one: setattr(one, "pre_tokenizer", pre_tokenizers.Whitespace()),
        lambda one: setattr(one, "post_processor", processors.TemplateProcessing(single="$A $A")),
        lambda one: one.add_tokens([AddedToken("two words")]),
    ):
        other = Tokenizer.from_file(SHIPPED)
        change(other)
        assert not reads_words(other)


@pytest.mark.parametrize("config", [{"max_length": 3}, {"add_special_tokens": True}])
def test_a_table_that_cuts_or_adds_tokens_reads_texts_whole(config: dict) -> None:
    assert isinstance(table := small_table(**config), MatchaTable)
    assert table._words is None
