"""The same input has the same score: for any batch size, order, repetition and company."""

import evaluate
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tiny_table import WORDS

TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12)
RELAXED = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@RELAXED
@given(PAIRS, st.integers(1, 9), st.randoms(use_true_random=False))
def test_a_score_depends_on_its_own_row_alone(metric: evaluate.Metric, pairs: list, size: int, random: object) -> None:
    order = list(range(len(pairs)))
    random.shuffle(order)
    predictions, references = (list(texts) for texts in zip(*pairs, strict=True))
    alone = [metric.compute(predictions=[a], references=[b])["scores"][0] for a, b in pairs]
    shuffled = metric.compute(
        predictions=[predictions[i] for i in order], references=[references[i] for i in order], batch_size=size
    )
    assert shuffled["scores"] == pytest.approx([alone[i] for i in order], abs=1e-5)
