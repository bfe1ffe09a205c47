"""From cosines to the ratings that people would give: a monotone map, fitted once and stored with a checkpoint."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ratings:
    """A line through knots, constant before the first and after the last.

    Attributes:
        cosines: k numbers in [-1, 1], ascending.
        ratings: k numbers in [0, 1], never falling; 0 for texts that contradict each other, 1 for the same meaning.

    Raises:
        ValueError: the knots are not such a line.
    """

    cosines: tuple[float, ...]
    ratings: tuple[float, ...]

    def __post_init__(self) -> None:
        x, y = (np.asarray(values, dtype=float) for values in (self.cosines, self.ratings))
        rising = len(x) == len(y) > 1 and bool((np.diff(x) > 0).all() and (np.diff(y) >= 0).all())
        if not rising or x[0] < -1 or x[-1] > 1 or y[0] < 0 or y[-1] > 1:
            knots = self.cosines, self.ratings
            raise ValueError(f"ratings: expected ascending cosines and ratings in [0, 1], got {knots}")

    @classmethod
    def stored(cls, config: dict[str, list[float]] | None) -> "Ratings | None":
        """The map in a checkpoint's config; None if the config has no map.

        Raises:
            ValueError: the map is damaged.
        """
        if config is None:
            return None
        try:
            return cls(tuple(map(float, config["cosines"])), tuple(map(float, config["ratings"])))
        except (KeyError, TypeError, ValueError) as error:
            reason = f"got a damaged map ({error})"
            raise ValueError(f"ratings: expected cosines and ratings in config.json, {reason}") from None

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """(n,) cosines -> (n,) ratings in [0, 1]."""
        return np.interp(scores, self.cosines, self.ratings)

    @property
    def sha256(self) -> str:
        """Digest of the knots."""
        return hashlib.sha256(json.dumps([self.cosines, self.ratings]).encode()).hexdigest()
