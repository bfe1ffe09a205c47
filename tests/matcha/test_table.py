"""The folded table: exact sums, unknown tokens, padding, odd texts, and the sentence-transformers export."""

from pathlib import Path

import numpy as np
import pytest
import torch

from semantic_metrics.matcha.table import MatchaTable, TableConfig, cosine
from tests.tiny_table import SPECIAL, UNKNOWN, WIDTH, small_table, small_tokenizer

MEGABYTE = 1_000_000


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


@pytest.mark.parametrize("special", SPECIAL)
def test_special_strings_are_plain_text(table: MatchaTable, special: str) -> None:
    (encoding,) = table.tokenize([f"dog {special} cat"])
    assert special not in encoding.tokens
    assert encoding.tokens[1] == "["


def test_one_long_word_is_unknown(table: MatchaTable) -> None:
    assert not table.encode(["x" * MEGABYTE]).defined[0]


def test_a_megabyte_of_words_is_not_cut(table: MatchaTable) -> None:
    text = "dog " * (MEGABYTE // 8) + "cat " * (MEGABYTE // 8)
    expected = (row(table, "dog") + row(table, "cat")) / 2
    encoded = table.encode([text])
    np.testing.assert_allclose(encoded.vectors[0], expected, rtol=1e-14)
    assert not encoded.truncated[0]


def test_repeated_texts_are_encoded_once(table: MatchaTable, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    encode_chunk = MatchaTable._encode_chunk

    def spy(self: MatchaTable, texts: list[str]) -> tuple:
        seen.extend(texts)
        return encode_chunk(self, texts)

    monkeypatch.setattr(MatchaTable, "_encode_chunk", spy)
    encoded = table.encode(["dog", "cat", "dog", "dog"])
    assert seen == ["dog", "cat"]
    assert np.array_equal(encoded.vectors[[0, 0, 0]], encoded.vectors[[0, 2, 3]])


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


def test_the_dtype_is_kept(tmp_path: Path) -> None:
    small_table(dtype=torch.float32).save(tmp_path)
    assert MatchaTable.from_folder(tmp_path).weights.dtype == np.float32


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
