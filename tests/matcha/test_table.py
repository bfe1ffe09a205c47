"""The folded table: exact sums, unknown tokens, padding, odd texts, and ids of texts from those of their words."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers, processors

from semantic_metrics.matcha import word_cache
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.table import MatchaTable, TableConfig, cosine
from semantic_metrics.matcha.word_cache import WordCache, reads_words
from tests.conftest import ROOT
from tests.tiny_table import SPECIAL, UNKNOWN, WIDTH, small_table, small_tokenizer


def row(table: MatchaTable, token: str) -> np.ndarray:
    return table.weights[table.tokenizer.token_to_id(token)].astype(np.float64)


def vector(table: MatchaTable, text: str) -> np.ndarray:
    return table.encode([text]).vectors[0]


def test_a_text_is_the_mean_of_its_tokens(table: MatchaTable) -> None:
    expected = (row(table, "the") + row(table, "dog") + row(table, "##s")) / 3
    np.testing.assert_allclose(vector(table, "The dogs"), expected, rtol=1e-15)


def test_a_sum_of_half_precision_rows_is_exact(table: MatchaTable) -> None:
    """In float64 the order of the terms does not matter, not even for the last bit."""
    words = ["dog", "cat", "man", "runs", "not", "awake"] * 2000
    shuffled = np.random.default_rng(0).permutation(words)
    assert np.array_equal(vector(table, " ".join(words)), vector(table, " ".join(shuffled)))


def test_unknown_tokens_are_left_out(table: MatchaTable) -> None:
    assert np.array_equal(vector(table, "dog ☃ cat ☃"), vector(table, "dog cat"))


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "☃", "☃ ☂ ☃", "\x00", "\u200b", "\ufeff", "z" * 101])
def test_a_text_without_known_tokens_has_no_vector(table: MatchaTable, text: str) -> None:
    encoded = table.encode([text, "dog"])
    assert encoded.defined.tolist() == [False, True]
    assert not encoded.vectors[0].any()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a\x00b", "ab"),  # the normaliser drops control characters
        ("dog\r\n\tcat", "dog cat"),
        ("DOG", "dog"),
        ("dog 🎉", "🎉\u3000dog"),
        ("e\u0301", "é"),  # composed or not
    ],
)
def test_odd_texts_are_defined(table: MatchaTable, text: str, same: str) -> None:
    assert table.encode([text]).defined[0]
    assert np.array_equal(vector(table, text), vector(table, same))


def test_padding_is_part_of_the_mean() -> None:
    table = small_table(pad_to=8, max_length=8, pad_token_id=0)
    expected = (row(table, "dog") + row(table, "cat") + 6 * row(table, "[PAD]")) / 8
    np.testing.assert_allclose(vector(table, "dog cat"), expected, rtol=1e-14)
    encoded = table.encode(["dog " * 8, "dog " * 9])
    assert encoded.truncated.tolist() == [False, True]
    assert np.array_equal(encoded.vectors[0], encoded.vectors[1])


def test_tokens_past_max_length_do_not_count() -> None:
    table = small_table(max_length=2)
    encoded = table.encode(["dog cat man", "dog cat", "dog"])
    assert encoded.truncated.tolist() == [True, False, False]
    assert np.array_equal(encoded.vectors[0], encoded.vectors[1])


def test_cosines_stay_in_range() -> None:
    vectors = np.random.default_rng(0).normal(size=(1000, WIDTH))
    assert (cosine(vectors, vectors) == 1).all()
    assert (cosine(vectors, -vectors) == -1).all()
    assert (np.abs(cosine(vectors, vectors * 3)) <= 1).all()
    np.testing.assert_allclose(cosine(vectors, vectors * 3), 1, rtol=1e-15)
    assert cosine(np.zeros((1, 3)), np.ones((1, 3))) == 0
    assert cosine(np.zeros((1, 3)), np.zeros((1, 3))) == 0


def test_saved_and_loaded_is_the_same(table: MatchaTable, tmp_path: Path) -> None:
    table.save(tmp_path)
    again = MatchaTable.from_folder(tmp_path)
    assert again.config == table.config
    assert np.array_equal(again.weights, table.weights)
    assert (again.checkpoint_sha256, again.tokenizer_sha256) == (table.checkpoint_sha256, table.tokenizer_sha256)
    made = small_table()  # never saved: its digests are of what `save` would write
    assert (made.checkpoint_sha256, made.tokenizer_sha256) == (table.checkpoint_sha256, table.tokenizer_sha256)


def test_padding_and_truncation_of_a_tokenizer_file_are_switched_off(table: MatchaTable, tmp_path: Path) -> None:
    other = small_table()
    other.tokenizer.enable_padding(pad_id=2)
    other.tokenizer.enable_truncation(1)
    other.save(tmp_path)
    texts = ["the cat", "the dog bites the man", ""]
    assert np.array_equal(MatchaTable.from_folder(tmp_path).encode(texts).vectors, table.encode(texts).vectors)


def test_a_tokenizer_with_more_ids_than_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="tokenizer: expected ids below 5, got"):
        MatchaTable(np.zeros((5, WIDTH), dtype=np.float32), small_tokenizer(), TableConfig(5, WIDTH))


@pytest.mark.parametrize("config", [{"max_length": 4}, {"pad_to": 4, "max_length": 4, "pad_token_id": 0}])
def test_what_pads_or_truncates_is_no_sentence_transformer(config: dict) -> None:
    with pytest.raises(ValueError, match="to_sentence_transformer: expected a checkpoint with pad_to"):
        small_table(**config).to_sentence_transformer()


def test_the_unknown_token_is_named_by_the_checkpoint() -> None:
    assert small_table().unknown_id == small_tokenizer().token_to_id(UNKNOWN)
    table = small_table(unk_token=None)  # a tokeniser without one, such as byte-level BPE
    assert table.unknown_id is None
    assert table.encode(["☃"]).defined[0]


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
