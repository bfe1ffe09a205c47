"""What holds for every text: tried on generated Unicode."""

import math
from pathlib import Path

import evaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics.core import batching
from semantic_metrics.matcha.attribution import explain
from semantic_metrics.matcha.table import MatchaTable, cosine
from tests.tiny_table import SIGNS, SPECIAL, WORDS

unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)  # Cs: surrogates, which are refused
sentences = st.lists(st.sampled_from([*WORDS, *SIGNS, *SPECIAL, "☃", "dogs"]), max_size=12).map(" ".join)
texts = st.one_of(unicode, sentences)
batches = st.lists(texts, min_size=1, max_size=8)
EXAMPLES = 60  # each goes through evaluate, which writes a file


def compute(metric: evaluate.Metric, predictions: list[str], references: list, **options: object) -> dict:
    return metric.compute(predictions=predictions, references=references, **options)


@pytest.fixture(scope="module")
def metric(checkpoint: Path) -> evaluate.Metric:
    """One metric for all examples: what is left over from one would show in the next."""
    return evaluate.load(str(Path(__file__).parents[2] / "metrics" / "matcha"), str(checkpoint), keep_in_memory=True)


@settings(max_examples=EXAMPLES)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_batch_and_order_change_no_bit(metric: evaluate.Metric, pairs: list, random: object) -> None:
    predictions, references = map(list, zip(*pairs, strict=True))
    whole = compute(metric, predictions, references)["scores"]
    assert [compute(metric, [a], [b])["scores"][0] for a, b in pairs] == whole
    order = list(range(len(pairs)))
    random.shuffle(order)
    turned = compute(metric, [predictions[i] for i in order], [references[i] for i in order])["scores"]
    assert turned == [whole[i] for i in order]
    for a, b in pairs:
        metric.add(prediction=a, reference=b)
    assert metric.compute()["scores"] == whole


@settings(max_examples=EXAMPLES)
@given(batches)
def test_scores_are_in_range_symmetric_and_one_for_equal_texts(metric: evaluate.Metric, batch: list[str]) -> None:
    others = batch[1:] + batch[:1]
    there, back = compute(metric, batch, others)["scores"], compute(metric, others, batch)["scores"]
    assert there == back
    assert all(-1 <= score <= 1 for score in there)
    same = compute(metric, batch, batch)
    defined = metric.encoder.encode(batch).defined
    assert same["scores"] == defined.astype(float).tolist()
    assert same["undefined"] == int((~defined).sum())


@settings(max_examples=EXAMPLES)
@given(texts, st.lists(texts, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_references_have_no_order(metric: evaluate.Metric, text: str, references: list[str], random: object) -> None:
    shuffled = random.sample(references, len(references))
    for rule in ("best", "mean"):
        first = compute(metric, [text], [references], multi_reference=rule)
        second = compute(metric, [text], [shuffled], multi_reference=rule)
        assert first["scores"] == second["scores"]
        assert first["undefined"] == second["undefined"]
    each = compute(metric, [text] * len(references), references)
    defined = [metric.encoder.encode([text, other]).defined.all() for other in references]
    known = [score for score, kept in zip(each["scores"], defined, strict=True) if kept]
    best, mean = (compute(metric, [text], [references], multi_reference=rule) for rule in ("best", "mean"))
    assert best["scores"] == [max(known, default=0)]
    assert mean["scores"] == pytest.approx([np.mean(known) if known else 0], abs=1e-15)
    position = best["best_reference"][0]
    assert position is None if not known else each["scores"][position] == max(known)


@given(batches, st.integers(1, 3), st.integers(1, 50))
def test_chunks_change_no_bit(table: MatchaTable, batch: list[str], size: int, characters: int) -> None:
    whole = table.encode(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "CHUNK_TEXTS", size)
        patch.setattr(batching, "CHUNK_CHARACTERS", characters)
        parts = table.encode(batch)
    assert np.array_equal(parts.vectors, whole.vectors)
    assert np.array_equal(parts.defined, whole.defined)


@given(texts, texts)
def test_exact_contributions_sum_to_the_score(table: MatchaTable, prediction: str, reference: str) -> None:
    explained = explain(table, prediction, reference)
    score = cosine(*(table.encode([text]).vectors for text in (prediction, reference)))[0]
    assert explained["score"] == pytest.approx(score, abs=1e-12)
    for side in ("prediction", "reference"):
        assert explained[side]["total"] == pytest.approx(score, abs=1e-6)
        assert math.fsum(explained[side]["contributions"]) == pytest.approx(score, abs=1e-6)


@given(texts, texts, st.sampled_from([None, "token_0", "other_text"]))
def test_integrated_gradients_sum_up(table: MatchaTable, prediction: str, reference: str, start: str | None) -> None:
    explained = explain(table, prediction, reference, "integrated_gradients", start)
    for side in ("prediction", "reference"):
        change = explained["score"] - explained[side].get("baseline_score", 0)
        assert explained[side]["total"] == pytest.approx(change, abs=1e-6)
        assert math.fsum(explained[side]["contributions"]) == pytest.approx(change, abs=1e-6)


@given(texts)
def test_spans_point_at_the_tokens_in_the_text(table: MatchaTable, text: str) -> None:
    explained = explain(table, text, "the dog")["prediction"]
    assert len(explained["tokens"]) == len(explained["spans"]) == len(explained["contributions"])
    for begin, end in explained["spans"]:
        assert 0 <= begin < end <= len(text)
