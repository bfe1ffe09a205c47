"""Long texts: each sentence judged for itself, nothing cut silently, and every place where the result says it is."""

from pathlib import Path

import evaluate
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.cross_encoder.pair_scorer import PairLogits, PairScorer
from semantic_metrics.support.judge import (
    MODEL_WEIGHT,
    Document,
    Judge,
    SupportOptions,
    Thresholds,
    support_of,
    verdict_of,
)
from semantic_metrics.support.word_share import stems, word_shares
from tests import tiny_pairs as tiny

SOURCE = (
    "The dog bites the man. A cat sleeps. The man runs 300 times.\n\nThe cat is awake. A dog barks. The dog sleeps."
)
SUMMARY = "The dog bites the man. The cat is not awake. The man runs 800 times."
SENTENCES = ["The dog bites a man.", "A cat is awake.", "The man runs 8 times.", "No dog barks.", "A man sleeps."]


def judged(metric: evaluate.Metric, predictions: list[str], references: list, **options: object) -> dict:
    return metric.compute(predictions=predictions, references=references, **options)


def test_each_sentence_has_its_place_in_the_text_and_in_the_source(metric: evaluate.Metric) -> None:
    result = judged(metric, [SUMMARY], [SOURCE])
    (sentences,) = result["sentences"]
    assert [SUMMARY[one["begin"] : one["end"]] for one in sentences] == [one["text"] for one in sentences]
    assert len(sentences) == 3
    places = [place for one in sentences for place in one["places"]]
    assert places
    assert all(SOURCE[place["begin"] : place["end"]] == place["text"] for place in places)
    supports = [one["support"] for one in sentences]
    assert result["scores"] == [pytest.approx(np.mean(supports))]
    assert result["minimums"] == [min(supports)]
    assert result["support"] == result["scores"][0]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.permutations(SENTENCES), batch_size=st.integers(1, 9))
def test_a_sentence_scores_alone_as_in_a_long_text_in_any_order_and_batch(
    metric: evaluate.Metric, texts: list[str], batch_size: int
) -> None:
    whole = judged(metric, [" ".join(texts)], [SOURCE], batch_size=batch_size)["sentences"][0]
    alone = judged(metric, texts, [SOURCE] * len(texts))["sentences"]
    assert [one["text"] for one in whole] == texts
    for inside, (single,) in zip(whole, alone, strict=True):
        assert inside["support"] == pytest.approx(single["support"], abs=1e-5)
        assert inside["contradiction"] == pytest.approx(single["contradiction"], abs=1e-5)


def test_a_sentence_scores_against_a_window_alone_as_inside_the_source(metric: evaluate.Metric) -> None:
    for one in judged(metric, [SUMMARY], [SOURCE], k=None)["sentences"][0]:
        for place in one["places"]:
            (single,) = judged(metric, [one["text"]], [place["text"]])["sentences"][0]
            assert single["places"][0]["support"] == pytest.approx(place["support"], abs=1e-5)


def test_a_sentence_that_the_source_repeats_is_supported(metric: evaluate.Metric) -> None:
    source = "The sun rose. The museum bought a pearl. It is false that the cat sleeps. Rain fell."
    result = metric.compute(predictions=["The museum  bought a pearl."], references=[source], k=None)
    assert result["scores"] == [1.0]
    assert result["sentences"][0][0]["verdict"] == "supported"
    within = metric.compute(predictions=["the cat sleeps."], references=[source], k=None)
    assert within["scores"][0] < 1  # words of a sentence are not the sentence


def test_a_sentence_that_the_source_has_with_another_number_is_contradicted(metric: evaluate.Metric) -> None:
    changed = "The man runs 800 times."
    (sentence,) = judged(metric, [changed], [SOURCE], k=1)["sentences"][0]
    assert sentence["verdict"] == "contradicted"
    share = sentence["contradiction"]  # of the words, times a probability of 1
    assert sentence["support"] == pytest.approx(share * (1 - MODEL_WEIGHT) / (1 + MODEL_WEIGHT))
    both = judged(metric, [changed], [[SOURCE, changed]])
    assert both["scores"] == [1.0], "another source says it word for word"


def test_a_sentence_beside_one_with_other_numbers_is_not_contradicted() -> None:
    source = Document("The man runs 300 times. The man runs 800 times.", [(0, 23), (24, 47)], [(0, 1), (0, 2)])
    assert not source.contradicts(0, "The man runs 800 times!"), "a sentence outside of the window says so"
    assert not source.contradicts(1, "The man runs 800 times!"), "its second sentence says so"
    assert source.contradicts(0, "The man runs 900 times!")
    assert source.contradicts(1, "The man runs 900 times!")


def test_k_reads_the_windows_that_share_most_words_and_counts_the_others(metric: evaluate.Metric) -> None:
    every, two = (judged(metric, [SUMMARY], [SOURCE], k=k) for k in (None, 2))
    assert every["windows_left_out"] == 0
    assert two["windows_read"] == 2 * 3
    assert two["windows_read"] + two["windows_left_out"] == every["windows_read"]
    assert judged(metric, [SUMMARY], [SOURCE], k=10**6)["scores"] == every["scores"]


def test_several_references_are_one_source(metric: evaluate.Metric) -> None:
    halves = SOURCE.split("\n\n")
    result = judged(metric, ["The dog sleeps."], [halves], k=None)
    assert {place["reference"] for place in result["sentences"][0][0]["places"]} == {0, 1}
    assert result["scores"] >= judged(metric, ["The dog sleeps."], [halves[0]], k=None)["scores"]


def test_coverage_names_the_sentences_of_the_reference_that_are_missing(metric: evaluate.Metric) -> None:
    result = judged(metric, ["The cat sleeps."], ["The cat sleeps. 300 dogs ran."], coverage=True)
    missing = [one["text"] for one in result["missing"][0]]
    assert "300 dogs ran." in missing
    assert 0 < result["coverage"][0] < 1


@pytest.mark.parametrize(
    ("prediction", "reference"), [("", SOURCE), ("...", SOURCE), (SUMMARY, ""), (SUMMARY, "\n---\n")]
)
def test_nothing_to_compare_scores_zero_and_is_counted(
    metric: evaluate.Metric, prediction: str, reference: str
) -> None:
    result = judged(metric, [prediction, SUMMARY], [reference, SOURCE])
    assert result["scores"][0] == result["minimums"][0] == 0.0
    assert result["undefined"] == 1
    assert all(one["verdict"] == "silent" and one["places"] == [] for one in result["sentences"][0])


@pytest.mark.parametrize(
    "source",
    [
        "the dog " * 2000,
        "x" * 20_000,
        "- dog\n- cat\n",
        "| a | b |\n| 1 | 2 |",
        "def f(x):\n    return x",
        "今天天气很好。" * 300,
    ],
    ids=["no end", "one word", "bullets", "table", "code", "Chinese"],
)
def test_any_source_is_read_whole_and_nothing_is_cut(metric: evaluate.Metric, source: str) -> None:
    result = judged(metric, ["The dog bites.", source[:200]], [source] * 2)
    assert result["truncated"] == 0
    assert all(0 <= score <= 1 for score in result["scores"])
    assert result["windows_read"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k: expected a whole number from 1, got int 0"),
        ({"coverage": 1}, "coverage: expected one of False, True, got int 1"),
        ({"progress": "no"}, "progress: expected one of False, True, got str 'no'"),
    ],
)
def test_an_invalid_option_is_refused(metric: evaluate.Metric, options: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}"):
        metric.compute(predictions=["a"], references=["b"], **options)


def test_the_signature_has_what_changes_a_score(metric: evaluate.Metric) -> None:
    signature = judged(metric, [SUMMARY], [SOURCE], k=2, coverage=True)["signature"]
    assert "|k:2|" in signature
    assert signature == metric.signature(k=2)
    assert signature != metric.signature()


def test_many_texts_are_read_in_parts_without_a_change(
    metric: evaluate.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, sources = [" ".join(SENTENCES), *SENTENCES], [SOURCE] * (1 + len(SENTENCES))
    whole = judged(metric, texts, sources, k=None, max_length=24)
    sizes = []

    def counted(scorer: PairScorer, pairs: list, *options: object) -> PairLogits:
        sizes.append(len(pairs))
        return logits(scorer, pairs, *options)

    logits = PairScorer.logits
    monkeypatch.setattr(PairScorer, "logits", counted)
    monkeypatch.setattr("semantic_metrics.support.judge.PAIRS_AT_A_TIME", 3)
    parts = judged(metric, texts, sources, k=None, max_length=24)
    assert max(sizes) == 3, "one text alone has more"
    assert sum(sizes) == whole["windows_read"] == parts["windows_read"]
    assert parts["truncated"] == whole["truncated"]
    np.testing.assert_allclose(parts["scores"], whole["scores"], atol=1e-5)


def test_a_model_without_labels_for_nli_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected labels for NLI"):
        Judge(PairScorer(tiny.bert(tmp_path / "model")), SupportOptions())


def test_word_shares_count_numbers_twice_and_inflections_as_one_word() -> None:
    sentences = [stems("The company elected 12 directors."), stems("It rained.")]
    shares = word_shares("The election of twelve directors by a company", sentences, [(0, 1), (1, 2), (0, 2)])
    assert shares.tolist() == [1.0, 0.0, 1.0]
    assert word_shares("13 directors", sentences, [(0, 1)]).tolist() == [1 / 3]
    assert word_shares("It was not.", sentences, [(0, 1)]).tolist() == [1.0]


@pytest.mark.parametrize(
    ("support", "contradiction", "verdict"),
    [
        (0.9, 0.1, "supported"),
        (0.9, 0.8, "supported"),  # one window says so, another seems to contradict it
        (0.6, 0.8, "contradicted"),
        (0.1, 0.8, "contradicted"),
        (0.1, 0.4, "silent"),
        (0.0, 0.0, "silent"),
    ],
)
def test_a_verdict_follows_what_is_stronger(support: float, contradiction: float, verdict: str) -> None:
    assert verdict_of(support, contradiction, Thresholds(support=0.5, contradiction=0.5)) == verdict


def test_support_needs_the_words_and_the_model() -> None:
    shares, entailment, contradiction = np.array([1, 1, 1, 0.5]), np.array([1, 0, 0, 1]), np.array([0, 0, 1, 0])
    assert support_of(shares, entailment, contradiction).tolist() == [1.0, 0.5, 0.0, 0.5]
    assert support_of(shares, entailment, contradiction, weight=0.0).tolist() == shares.tolist()
