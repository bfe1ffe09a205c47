"""Ids of texts from those of their words: most words of a file occur again and again, so each is tokenised once.

BERT's tokeniser in lower case reads a word without regard to its neighbours, so the ids of a text are those of its
words, one after the other. That holds for texts of ASCII letters, digits, signs and white space, and for a tokeniser
that adds nothing; another text is given to the tokeniser whole.
"""

import re
from itertools import chain
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

MAX_WORDS = 2**17  # that are kept, some tens of megabytes; then the cache begins anew
MAX_TOKENS = 6  # of a word that is kept; longer ones are codes, which seldom come again
WORD = re.compile(r"[a-z0-9]+|[^a-z0-9\s]")  # of lower-case ASCII: every sign is a word of its own
PLAIN = re.compile(r"[\t\n\r\x20-\x7e]*")


class WordCache:
    """Reads texts as a tokeniser does, without special tokens; several threads may use it.

    Args:
        tokenizer: one that `reads_words` accepts, without padding and truncation.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins empty: what was read before is no part of a metric."""
        return WordCache, (self._tokenizer,)

    def ids(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Texts -> their (tokens,) ids, one text after the other, and (n,) how many each has."""
        split = [WORD.findall(text.lower()) if _is_plain(text) else [text] for text in texts]
        read = self._read(set(chain.from_iterable(split)))
        words = list(map(read.__getitem__, chain.from_iterable(split)))
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        done = np.concatenate([[0], lengths.cumsum()])  # tokens before each of the words
        ends = np.fromiter(map(len, split), dtype=np.int64, count=len(split)).cumsum()
        ids = np.fromiter(chain.from_iterable(words), dtype=np.int64, count=int(done[-1]))
        return ids, np.diff(done[np.concatenate([[0], ends])])

    def _read(self, words: set[str]) -> dict[str, list[int]]:
        """The ids of some words."""
        known = self._known
        read = {word: ids for word in words if (ids := known.get(word)) is not None}
        if new := sorted(words.difference(read)):
            encodings = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            fresh = {word: encoding.ids for word, encoding in zip(new, encodings, strict=True)}
            read |= fresh
            kept = [(word, ids) for word, ids in fresh.items() if len(ids) <= MAX_TOKENS and _is_plain(word)]
            if len(known) + len(kept) > MAX_WORDS:
                self._known = known = {}
            known.update(kept[:MAX_WORDS])
        return read


def _is_plain(text: str) -> bool:
    """Whether it is ASCII without control characters, which the tokeniser leaves out; `isprintable` is fast."""
    return text.isascii() and (text.isprintable() or bool(PLAIN.fullmatch(text)))


def reads_words(tokenizer: Tokenizer) -> bool:
    """Whether a tokeniser's ids of a text are those of its words: BERT's in lower case, which adds nothing."""
    normalizer = tokenizer.normalizer
    return (
        isinstance(normalizer, BertNormalizer)
        and normalizer.lowercase
        and normalizer.clean_text
        and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and isinstance(tokenizer.model, WordPiece)
        and tokenizer.post_processor is None
        and not tokenizer.get_added_tokens_decoder()
    )
