"""Same input, same score: in any batch size and order, once or twice, beside any other."""

from pathlib import Path

import evaluate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nli_lex.conftest import SCRIPT
from tests.tiny_table import SIGNS, WORDS

unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
sentences = st.lists(st.sampled_from([*WORDS, *SIGNS, "two", "1,000", "☃", "שלום"]), max_size=45).map(" ".join)
texts = st.one_of(unicode, sentences)
short = st.lists(st.sampled_from([*WORDS, *SIGNS, "2"]), min_size=1, max_size=6).map(" ".join)
rows = st.lists(st.tuples(texts, st.lists(short, min_size=1, max_size=3), texts), min_size=1, max_size=6)
EXAMPLES = 10  # each runs a model many times
NAMES = ("predictions", "references", "questions")


@pytest.fixture(scope="module")
def one_metric(model: Path) -> evaluate.Metric:
    """One metric for all examples: what is left over from one would show in the next."""
    return evaluate.load(SCRIPT, str(model), keep_in_memory=True)


def judged(metric: evaluate.Metric, chosen: list[tuple], **options: object) -> list[float]:
    columns = dict(zip(NAMES, map(list, zip(*chosen, strict=True)), strict=True))
    return metric.compute(**columns, **options)["scores"]


@settings(max_examples=EXAMPLES)
@given(rows, st.randoms(use_true_random=False))
def test_references_have_no_order_and_one_more_never_lowers_a_score(
    one_metric: evaluate.Metric, batch: list, random: object
) -> None:
    result = judged(one_metric, batch)
    shuffled = [(answer, random.sample(group, len(group)), question) for answer, group, question in batch]
    assert judged(one_metric, shuffled) == result
    fewer = judged(one_metric, [(answer, group[:1], question) for answer, group, question in batch])
    assert all(few <= all_of_them + 1e-6 for few, all_of_them in zip(fewer, result, strict=True))
