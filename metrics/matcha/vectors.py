"""What an encoder of texts gives: a vector for each text, and the rows of its tokens that add up to one."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TextVectors:
    """Encoded texts.

    Attributes:
        vectors: (n, D) float64, the mean of the tokens' rows; zeros for a text without any known token.
        defined: (n,) bool, whether the text has a vector at all.
        truncated: (n,) bool, whether tokens past `max_length` were left out.
    """

    vectors: np.ndarray
    defined: np.ndarray
    truncated: np.ndarray


@dataclass(frozen=True)
class TokenRows:
    """A text as the items whose weighted sum is its vector.

    Attributes:
        tokens: t strings.
        spans: where each stands in the text (begin, end); None for what the encoder adds: separators, padding.
        rows: (t, D) float64.
        weights: (t,) float64; all 0 for a text without a vector.
    """

    tokens: list[str]
    spans: list[tuple[int, int] | None]
    rows: np.ndarray
    weights: np.ndarray

    @property
    def vector(self) -> np.ndarray:
        """(D,) the text's vector."""
        return self.weights @ self.rows
