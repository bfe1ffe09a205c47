"""Samples that several tests use."""

from pathlib import Path

import numpy as np

SCRIPT = str(Path(__file__).parents[2] / "metrics" / "set_criteria")
OPERATORS = ("overlap", "difference", "union")

TEXTS = {
    "a": ["the dog runs and barks", "the man is awake and the cat sleeps", "the dog barks", "a cat runs"],
    "b": ["the dog bites and barks", "the cat sleeps", "the cat sleeps", "a man runs"],
    "target": ["the dog barks", "the man is awake", "the dog barks and the cat sleeps", "a runs"],
    "operator": ["overlap", "difference", "union", "overlap"],
}

Vectors = tuple[np.ndarray, np.ndarray, np.ndarray]


def random_vectors(count: int, width: int = 8, seed: int = 0, shift: float = 0.0) -> Vectors:
    """Normal numbers around `shift`, float64."""
    a, b, target = np.random.default_rng(seed).normal(shift, 1, (3, count, width))
    return a, b, target


def operators(count: int) -> list[str]:
    """Operators in turn."""
    return [OPERATORS[i % 3] for i in range(count)]
