"""Batches for encoders: little padding, and no sequence left out or taken twice."""

import numpy as np

from semantic_metrics.core.batching import batches_by_length


def test_a_batch_is_hardly_padded() -> None:
    """Of sequences of all lengths, most are in a batch of their own length."""
    lengths = np.random.default_rng(0).integers(8, 40, size=2000).tolist()
    batches = list(batches_by_length(lengths, tokens=512, sequences=64))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    padded = [len(batch) * max(lengths[i] for i in batch) for batch in batches]
    assert sum(padded) <= 1.02 * sum(lengths)
    assert len(batches) < len(lengths) / 10
    assert max(padded) <= 512
