"""How much each judgement counts in a consensus, or should count by a user's own ratings."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from semantic_metrics.consensus.parts import Parts
from semantic_metrics.core.checkpoint_files import read_regular
from semantic_metrics.core.inputs import invalid_input, quote

MAX_WEIGHT = 1e9  # larger weights come from damaged files
# A contradiction that is more likely than not leaves less than half, and one that the model is sure of at most .35,
# however alike the words are. Chosen on development sets: docs/decisions/consensus.md, W3 and W6.
EVEN_LIMIT, SURE_LIMIT = 0.5, 0.35
MIN_RATED = 10  # pairs that a fit needs
CHECKPOINT_DIGITS = 16  # of a sha256, as in signatures


@dataclass(frozen=True)
class Weights:
    """Weight of each judgement, a number from 0; they count in proportion to their sum."""

    matcha: float = 0.25  # of MATCHA's cosine, mapped to [0, 1]
    similarity: float = 1.0  # of the predicted rating
    nli: float = 1.0  # of entailment minus contradiction, mapped to [0, 1]

    @classmethod
    def read(cls, weights: "str | Path | Mapping[str, float] | Weights | None", checkpoint: str = "") -> "Weights":
        """Weights from what `compute` takes, refused if they are for another cross-encoder than that of `checkpoint`.

        They are None for the default ones, a dict with all three names, or the path of a JSON file that holds one. A
        name that is missing or unknown, a value that is not a number from 0, and weights that are all 0 are refused,
        too.
        """
        if weights is None or isinstance(weights, cls):
            return weights or DEFAULT
        if isinstance(weights, str | Path):
            weights = _read_file(Path(weights), checkpoint)
        names = [item.name for item in fields(cls)]
        if not isinstance(weights, Mapping) or set(weights) != set(names):
            raise invalid_input("weights", f"expected a number for each of {', '.join(names)}, got {quote(weights)}")
        for name in names:
            if type(weights[name]) not in (int, float) or not 0 <= weights[name] <= MAX_WEIGHT:
                raise invalid_input("weights", f"expected a number from 0 for {name}, got {quote(weights[name])}")
        if not any(weights.values()):
            raise invalid_input("weights", "expected a weight above 0, got 0 for each")
        return cls(**{name: float(weights[name]) for name in names})

    @classmethod
    def fit(cls, parts: Parts, ratings: np.ndarray) -> "Weights":
        """Weights from 0 and of sum 1, fitted on (n,) ratings in [0, 1] of MIN_RATED pairs or more.

        They are those of non-negative least squares, divided by their sum afterwards. The fit does not know of that
        division, nor of the limit that `score` sets for contradictions. It is refused where no part rises with the
        ratings.
        """
        if len(ratings) < MIN_RATED:
            raise invalid_input("ratings", f"expected {MIN_RATED} or more, got {len(ratings)}")
        from scipy.optimize import nnls  # takes a second to import

        weights, _ = nnls(parts.components, np.asarray(ratings, dtype=float))
        if not weights.any():
            raise invalid_input("ratings", "expected some that rise with a part of the score, got none")
        return cls(*(weights / weights.sum()).tolist())

    def score(self, parts: Parts) -> np.ndarray:
        """(n,) scores in [0, 1] of n pairs: the mean of the judgements, weighted, between two bounds.

        It is at least the smaller probability of entailment, of both directions, so texts that entail each other are
        never below .5; and at most `limit` of the probability of contradiction.
        """
        weights = np.array(list(asdict(self).values()))
        mean = (parts.components * weights).sum(axis=1) / weights.sum()
        least = np.minimum(parts.supported, parts.covered)
        return np.clip(mean, least, limit(parts.contradiction))

    def __str__(self) -> str:
        return ",".join(f"{name}={value:g}" for name, value in asdict(self).items())


def limit(contradiction: np.ndarray) -> np.ndarray:
    """(n,) highest scores that (n,) probabilities of contradiction allow: 1 at 0, EVEN_LIMIT at .5, SURE_LIMIT at 1."""
    return np.interp(contradiction, (0, 0.5, 1), (1, EVEN_LIMIT, SURE_LIMIT))


def _read_file(path: Path, checkpoint: str) -> Any:  # noqa: ANN401  (what JSON holds)
    """The weights in a file: its whole content, or what `semantic-metrics fit` wrote under "weights"."""
    try:
        content = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        raise invalid_input("weights", f"expected a JSON file, got {quote(str(path))}: {error}") from None
    if not isinstance(content, dict) or "weights" not in content:
        return content
    made_for = content.get("checkpoint")
    if checkpoint and made_for and made_for != checkpoint[:CHECKPOINT_DIGITS]:
        expected = f"expected a file fitted for checkpoint {quote(checkpoint[:CHECKPOINT_DIGITS])}"
        raise invalid_input("weights", f"{expected}, got {quote(str(path))}, fitted for {quote(made_for)}")
    return content["weights"]


DEFAULT = Weights()
