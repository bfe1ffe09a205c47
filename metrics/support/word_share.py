"""Which windows of a source share the words of a sentence: exact, without a model, quick on a book.

This finds evidence better than the cosine of MATCHA's table, which is trained to tell contradictions apart, not to
find topics: docs/support.md has the figures.
"""

from functools import lru_cache

import numpy as np

from semantic_metrics.nli_lex.lexical import CACHED_TEXTS, read_words
from semantic_metrics.support.sentences import Span

STEM_LETTERS = 5  # of a word that count: "elected", "election" and "elects" are one
NUMBER_WEIGHT = 2.0  # of a word with a digit, beside 1 for a word: a summary with another number says something else


@lru_cache(CACHED_TEXTS)
def stems(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, cut to STEM_LETTERS; numbers are whole and written in digits."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes a second to import

    words = (word for word in read_words(text).plain if word not in ENGLISH_STOP_WORDS)
    return frozenset(word[:STEM_LETTERS] if word.isalpha() else word for word in words)


def word_shares(text: str, sentences: list[frozenset[str]], windows: list[Span]) -> np.ndarray:
    """Share of a text's words, numbers counted twice, that each window has.

    Args:
        text: a sentence to judge.
        sentences: the stems of each sentence of a source.
        windows: the first sentence of each window, and the one after its last.

    Returns:
        (windows,) float64 in [0, 1]; 1 for a text without any word that carries meaning, as nothing is missing.
    """
    words = sorted(stems(text))
    if not words:
        return np.ones(len(windows))
    weights = np.array([NUMBER_WEIGHT if any(sign.isdigit() for sign in word) else 1.0 for word in words])
    present = np.array([[word in sentence for word in words] for sentence in sentences])  # (sentences, words)
    counts = np.concatenate([np.zeros((1, len(words)), dtype=int), present.cumsum(axis=0)])
    begins, ends = np.array(windows).T
    return ((counts[ends] - counts[begins]) > 0) @ weights / weights.sum()
