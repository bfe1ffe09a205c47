"""The decision on a claim: logistic regressions over named features, a JSON file beside the model it belongs to.

{"support": {"intercept": -1.2, "coefficients": {"short_entailment_of_one": 0.5, ...}}, "contradiction": {...},
 "fitted_on": "...", "checkpoint": "0123456789abcdef"}

The first gives the probability that a source supports a claim, the second the one that it contradicts a claim that it
does not support. `python -m training.fit_support` fits them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semantic_metrics.core.inputs import quote

FILE = "support.json"  # in a checkpoint's folder
# Features of a claim and its source; "short" stands for a feature times 1 - `long`, "long" for one times `long`. In a
# long source some sentence contradicts nearly anything, and shared words tell more (docs/decisions/support.md, U6)
FEATURES = (
    "short_entailment_of_one",  # log odds, the highest of single sentences
    "short_entailment_of_neighbours",  # of those and of runs of neighbouring sentences
    "short_entailment_of_joined",  # of those and of distant sentences that are read together
    # of the claim's weakest clause, beside the nearest sentence or the passage with the highest entailment of the whole
    # claim; never above that
    "short_entailment_of_clauses",
    "short_contradiction",  # log odds, the highest of single sentences that share some of the claim's words (SHARES)
    "long_entailment_of_clauses",
    "long_share",  # of the claim's words in the passage that has most
    "long_lacks_number",  # 1 if the claim has a number that the source has not
    "long",  # from 0 for a source of LENGTHS[0] sentences to 1 for one of LENGTHS[1], by their logarithm
    "contradiction",
    "contradiction_of_nearest",  # of the single sentence that shares most with the claim
)
LENGTHS = (16, 48)  # sentences
SHARES = (0.1, 0.2)  # of the claim's words: a sentence that has more than the first counts, with the second in full
MAX_ODDS = 6.0  # log odds beyond are cut: a model that is a little surer is not more often right
MAX_WEIGHT = 1e9  # larger weights come from damaged files
CHECKPOINT_DIGITS = 16  # of a sha256, as in signatures
SUPPORTED, CONTRADICTED, NOT_FOUND, SKIPPED = VERDICTS = ("supported", "contradicted", "not found", "skipped")


@dataclass(frozen=True)
class Logistic:
    """A logistic regression."""

    intercept: float  # log odds of a claim whose features are all 0
    coefficients: tuple[float, ...]  # what each of FEATURES adds per unit

    def probability(self, features: np.ndarray) -> np.ndarray:
        """(n, len(FEATURES)) features -> (n,) probabilities."""
        return (1 + np.tanh((self.intercept + features @ np.array(self.coefficients)) / 2)) / 2  # tanh: no overflow

    def to_json(self) -> dict[str, object]:
        """As the file has it."""
        return {"intercept": self.intercept, "coefficients": dict(zip(FEATURES, self.coefficients, strict=True))}


@dataclass(frozen=True)
class Decision:
    """A fitted decision."""

    support: Logistic  # of a claim
    contradiction: Logistic  # of a claim that is not supported
    fitted_on: str = ""  # data and number of claims, for people to read
    checkpoint: str = ""  # beginning of the sha256 of the model that it was fitted for; empty if unknown

    @classmethod
    def read(cls, folder: Path, checkpoint: str) -> "Decision":
        """The decision in a checkpoint's folder, fitted for the model of this sha256; a ValueError names the file."""
        path = folder / FILE
        if not path.is_file():
            raise ValueError(f"checkpoint {folder}: expected {FILE}, got none; fit it: python -m training.fit_support")
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            parts = {name: _logistic(values[name]) for name in ("support", "contradiction")}
            made_for, fitted_on = str(values["checkpoint"]), str(values["fitted_on"])
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{path}: expected two logistic regressions over {', '.join(FEATURES)} ({error})"
            ) from None
        if made_for and not checkpoint.startswith(made_for):
            got = f"{quote(checkpoint[:CHECKPOINT_DIGITS])}; fit it again: python -m training.fit_support"
            raise ValueError(f"{path}: expected the checkpoint that it was fitted for, {quote(made_for)}, got {got}")
        return cls(**parts, fitted_on=fitted_on, checkpoint=made_for)

    def write(self, folder: Path) -> None:
        """Write the file into the folder of a checkpoint."""
        values: dict[str, object] = {"support": self.support.to_json(), "contradiction": self.contradiction.to_json()}
        values |= {"fitted_on": self.fitted_on, "checkpoint": self.checkpoint}
        (folder / FILE).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")

    @property
    def sha256(self) -> str:
        """Digest of everything that can change a score."""
        values = [self.support.to_json(), self.contradiction.to_json()]
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()

    def judge(self, features: np.ndarray) -> np.ndarray:
        """(n, len(FEATURES)) features -> (n, 2): support and contradiction, whose sum is 1 at most."""
        support = self.support.probability(features)
        return np.stack([support, (1 - support) * self.contradiction.probability(features)], axis=1)


def verdict_of(support: float, contradiction: float) -> str:
    """The verdict on a claim: supported from a support of .5; else contradicted, if that is likelier than silence."""
    if support >= 0.5:
        return SUPPORTED
    return CONTRADICTED if 2 * contradiction >= 1 - support else NOT_FOUND


def how_long(sentences: int) -> float:
    """How long a source of so many sentences is, in [0, 1]; see FEATURES."""
    shortest, longest = np.log(LENGTHS)
    return float(np.clip((np.log(sentences) - shortest) / (longest - shortest), 0, 1))


def counted(shares: np.ndarray) -> np.ndarray:
    """How far the contradiction of sentences with such shares of the claim's words counts, in [0, 1]; see SHARES."""
    return np.clip((shares - SHARES[0]) / (SHARES[1] - SHARES[0]), 0, 1)


def log_odds(probabilities: np.ndarray) -> np.ndarray:
    """Log odds, cut at MAX_ODDS."""
    least = 1 / (1 + np.exp(MAX_ODDS))
    kept = np.clip(probabilities, least, 1 - least)
    return np.log(kept / (1 - kept))


def _logistic(values: Mapping[str, Any]) -> Logistic:
    coefficients = values["coefficients"]
    if tuple(coefficients) != FEATURES:
        raise ValueError(f"got {', '.join(coefficients)}")
    numbers = [values["intercept"], *coefficients.values()]
    if not all(type(value) in (int, float) and abs(value) <= MAX_WEIGHT for value in numbers):
        raise ValueError("got a weight that is no finite number")
    return Logistic(float(numbers[0]), tuple(map(float, numbers[1:])))
