"""Where a source may say what a claim says: passages of one sentence or several, found without the model.

Two things find them: the words that a sentence shares with the claim, rare ones counting more, and, among those that
share as much, the cosine of both in MATCHA's table of token vectors, which knows paraphrases.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from semantic_metrics.core.texts import cached
from semantic_metrics.cross_encoder.sentences import Offsets, Span, cut_long, sentence_spans
from semantic_metrics.matcha.table import MatchaTable
from semantic_metrics.nli_lex.lexical import CACHED_TEXTS, read_words

STEM_LETTERS = 5  # of a word that count: "elected", "election" and "elects" are one
NUMBER_WEIGHT = 2.0  # of a word with a digit, beside 1 for a word: a summary with another number says something else
COSINE_WEIGHT = 0.05  # beside the share of words: it orders those that share as much (docs/decisions/support.md, U1)
RUNS = {2: 2, 3: 4}  # length of a run of neighbouring sentences -> for how many single sentences one such run is read
RUN_TOKENS = 160  # the most in such a run
JOINED_SENTENCES = 3  # the most distant sentences that are read together

Passage = tuple[int, ...]  # the sentences of a source that the model reads together, in their order


@cached(CACHED_TEXTS)
def stems(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, cut to STEM_LETTERS; numbers are whole and written in digits."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes a second to import

    words = (word for word in read_words(text).plain if word not in ENGLISH_STOP_WORDS)
    return frozenset(word[:STEM_LETTERS] if word.isalpha() else word for word in words)


@dataclass(frozen=True)
class Document:
    """A text in sentences."""

    text: str  # the whole text
    spans: list[Span]  # begin and end of each sentence
    sizes: list[int]  # tokens of each
    vectors: np.ndarray  # (sentences, dimensions) of MATCHA's table

    @classmethod
    def read(cls, text: str, offsets: Offsets, tokens: int, table: MatchaTable) -> "Document":
        """Split a text into sentences of at most `tokens` tokens."""
        spans, sizes = cut_long(text, sentence_spans(text), offsets, tokens)
        return cls(text, spans, sizes, table.encode([text[begin:end] for begin, end in spans]).vectors)

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """The stems of each sentence."""
        return [stems(self.text[begin:end]) for begin, end in self.spans]


class Source:
    """Documents that count as one source: their sentences in a row.

    Attributes:
        places: of each sentence the index of its document, and its begin and end there.
        texts: the sentences.
        sizes: tokens of each.
    """

    def __init__(self, documents: list[Document]) -> None:
        self.places = [(i, *span) for i, one in enumerate(documents) for span in one.spans]
        self.texts = [one.text[begin:end] for one in documents for begin, end in one.spans]
        self.sizes = [size for one in documents for size in one.sizes]
        self._stems = [words for one in documents for words in one.stems]
        self._vectors = [one.vectors for one in documents if one.spans]

    def overlap(self, claim: str, vector: np.ndarray) -> "Overlap":
        """The words that each sentence shares with a claim, whose vector in MATCHA's table is given."""
        words = sorted(stems(claim))
        present = np.array([[word in sentence for word in words] for sentence in self._stems], dtype=bool)
        present = present.reshape(len(self.texts), len(words))
        rarity = np.log((len(self.texts) + 1) / (present.sum(axis=0) + 1)) + 1
        digits = np.array([any(sign.isdigit() for sign in word) for word in words], dtype=bool)
        weights = rarity * np.where(digits, NUMBER_WEIGHT, 1.0)
        vectors = np.concatenate(self._vectors) if self._vectors else np.zeros((0, len(vector)))
        norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
        cosines = np.divide(vectors @ vector, norms, out=np.zeros(len(vectors)), where=norms > 0)
        return Overlap(present, weights / max(weights.sum(), 1e-9), digits, cosines.astype(float))

    def passages(self, overlap: "Overlap", count: int | None, tokens: int) -> list[Passage]:
        """The passages that the model reads for a claim; those of several sentences have at most so many tokens.

        They are `count` single sentences (None for all), the nearest first; half as many runs of two, a quarter of
        three; and the sentences that together have most of the claim's words.
        """
        nearness = overlap.nearness
        singles = [(int(i),) for i in np.argsort(-nearness, kind="stable")[:count]]
        runs: list[Passage] = []
        for length, singles_to_one in RUNS.items():
            several = list(self._runs(length, min(RUN_TOKENS, tokens)))
            order = np.argsort([-overlap.share(one) for one in several], kind="stable")
            runs += [several[i] for i in order[: None if count is None else -(-count // singles_to_one)]]
        runs += [one for one in overlap.covers(JOINED_SENTENCES) if self.size(one) <= tokens]
        return list(dict.fromkeys([*singles, *runs]))

    def size(self, passage: Passage) -> int:
        """Tokens of a passage."""
        return sum(self.sizes[i] for i in passage)

    def is_run(self, passage: Passage) -> bool:
        """Whether a passage is one sentence, or neighbours in one document."""
        return passage[-1] - passage[0] < len(passage) and self.places[passage[0]][0] == self.places[passage[-1]][0]

    def _runs(self, length: int, tokens: int) -> Iterator[Passage]:
        for begin in range(len(self.texts) - length + 1):
            run = tuple(range(begin, begin + length))
            if self.is_run(run) and self.size(run) <= tokens:
                yield run


@dataclass(frozen=True)
class Overlap:
    """Words and meaning that the sentences of a source share with a claim."""

    present: np.ndarray  # (sentences, words) bool, which of the claim's words each has
    weights: np.ndarray  # (words,) of the words, of sum 1
    digits: np.ndarray  # (words,) bool, which of them have a digit
    cosines: np.ndarray  # (sentences,) of each sentence and the claim

    @property
    def nearness(self) -> np.ndarray:
        """(sentences,) share of the claim's words, and the cosine."""
        return self.present @ self.weights + COSINE_WEIGHT * self.cosines

    def share(self, passage: Passage) -> float:
        """Weighted share of the claim's words that a passage has, in [0, 1]; 1 for a claim without such words."""
        if not len(self.weights):
            return 1.0
        return float(self.present[list(passage)].any(axis=0) @ self.weights)

    @property
    def lacks_number(self) -> bool:
        """Whether the claim has a number that the whole source has not."""
        return bool((self.digits & ~self.present.any(axis=0)).any())

    def covers(self, count: int) -> list[Passage]:
        """The two, three, ... up to `count` sentences that together have most of the claim's words, found greedily."""
        chosen: list[int] = []
        passages = []
        covered = np.zeros(len(self.weights), dtype=bool)
        for _ in range(min(count, len(self.cosines))):
            gains = (self.present & ~covered) @ self.weights + COSINE_WEIGHT * self.cosines / 2
            gains[chosen] = -np.inf
            chosen.append(int(gains.argmax()))
            covered |= self.present[chosen[-1]]
            if len(chosen) > 1:
                passages.append(tuple(sorted(chosen)))
        return passages
