"""Support: each sentence judged for itself, nothing cut silently, and every place where the result says it is."""

import json
from pathlib import Path

import evaluate
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semantic_metrics.core.inputs import InvalidInput
from semantic_metrics.cross_encoder.pair_scorer import PairLogits, PairScorer
from semantic_metrics.support.scoring import SupportScoring
from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.tiny_table import compute

SOURCE = (
    "The dog bites the man. A cat sleeps. The man runs 300 times.\n\nThe cat is awake. A dog barks. The dog sleeps."
)
SUMMARY = "The dog bites the man. The cat is not awake. The man runs 800 times."
MIN_PARAPHRASES = 13  # of thirty; the shipped checkpoint finds no entailment in the others
SENTENCES = ["The dog bites a man.", "A cat is awake.", "The man runs 8 times.", "No dog barks.", "A man sleeps."]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.judging(tmp_path_factory.mktemp("support") / "model")


@pytest.fixture
def metric(model: Path) -> evaluate.Metric:
    return evaluate.load(str(ROOT / "metrics" / "support"), str(model))


def test_each_sentence_has_its_place_in_the_text_and_in_the_source(metric: evaluate.Metric) -> None:
    result = compute(metric, [SUMMARY], [SOURCE])
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
def test_a_sentence_scores_alone_as_in_any_text_and_batch(
    metric: evaluate.Metric, texts: list[str], batch_size: int
) -> None:
    whole = compute(metric, [" ".join(texts)], [SOURCE], batch_size=batch_size)["sentences"][0]
    alone = compute(metric, texts, [SOURCE] * len(texts))["sentences"]
    assert [one["text"] for one in whole] == texts
    for inside, (single,) in zip(whole, alone, strict=True):
        assert inside["support"] == pytest.approx(single["support"], abs=1e-5)
        assert inside["contradiction"] == pytest.approx(single["contradiction"], abs=1e-5)


def test_a_sentence_that_the_source_repeats_is_supported(metric: evaluate.Metric) -> None:
    source = "The sun rose. The museum bought a pearl. It is false that the cat sleeps. Rain fell."
    result = metric.compute(predictions=["The museum  bought a pearl."], references=[source], k=None)
    assert result["scores"] == [1.0]
    assert result["sentences"][0][0]["verdict"] == "supported"
    within = metric.compute(predictions=["the cat sleeps."], references=[source], k=None)
    assert within["scores"][0] < 1  # words of a sentence are not the sentence


def test_a_sentence_that_the_source_has_with_another_number_is_contradicted(metric: evaluate.Metric) -> None:
    changed = "The man runs 800 times."
    (sentence,) = compute(metric, [changed], [SOURCE], k=1)["sentences"][0]
    place = sentence["places"][0]
    assert (place["text"], place["entailment"], place["contradiction"]) == ("The man runs 300 times.", 0.0, 1.0)
    both = compute(metric, [changed], [[SOURCE, changed]])
    assert both["scores"] == [1.0], "another source says it word for word"


def test_a_quantity_that_another_sentence_has_is_not_contradicted(metric: evaluate.Metric) -> None:
    (sentence,) = compute(metric, ["It rained on May 4."], ["It rained on May 3. On May 4, too."])["sentences"][0]
    assert [place["text"] for place in sentence["places"]] != []
    assert all(place["contradiction"] < 1 for place in sentence["places"])
    (sentence,) = compute(metric, ["It rained on May 5."], ["It rained on May 3. On May 4, too."])["sentences"][0]
    assert any(place["contradiction"] == 1 for place in sentence["places"])


def test_k_bounds_what_the_model_reads(metric: evaluate.Metric) -> None:
    every, two = (compute(metric, [SUMMARY], [SOURCE], k=k) for k in (None, 2))
    assert two["passages_read"] < every["passages_read"]
    assert compute(metric, [SUMMARY], [SOURCE], k=10**6)["scores"] == every["scores"]


def test_what_claims_nothing_is_skipped_and_counts_nowhere(metric: evaluate.Metric) -> None:
    claims = "Here is a summary:\n\n1. The dog bites a man.\n2. No dog barks.\n\nIs the cat awake? I hope this helps!"
    result = compute(metric, [claims, "The dog bites a man. No dog barks."], [SOURCE] * 2)
    listed, plain = result["sentences"]
    assert [one["verdict"] == "skipped" for one in listed] == [True, False, False, True, True]
    assert all((one["support"], one["places"]) == (None, []) for one in listed if one["verdict"] == "skipped")
    assert [one["support"] for one in listed[1:3]] == pytest.approx([one["support"] for one in plain], abs=1e-5)
    assert result["scores"][0] == pytest.approx(result["scores"][1], abs=1e-5)
    assert result["unsupported"] == [sum(one["verdict"] in ("contradicted", "not found") for one in plain)] * 2
    assert result["undefined"] == 0


def test_several_references_are_one_source(metric: evaluate.Metric) -> None:
    halves = SOURCE.split("\n\n")
    result = compute(metric, ["The dog sleeps."], [halves], k=None)
    assert {place["reference"] for place in result["sentences"][0][0]["places"]} == {0, 1}
    assert result["scores"] == [1.0], "the second says it word for word"


def test_coverage_names_the_sentences_of_the_reference_that_are_missing(metric: evaluate.Metric) -> None:
    result = compute(metric, ["The cat sleeps."], ["The cat sleeps. 300 dogs ran."], coverage=True)
    missing = [one["text"] for one in result["missing"][0]]
    assert "300 dogs ran." in missing
    assert 0 < result["coverage"][0] < 1


@pytest.mark.parametrize(
    ("prediction", "reference"), [("", SOURCE), ("...", SOURCE), (SUMMARY, ""), (SUMMARY, "\n---\n")]
)
def test_nothing_to_compare_is_zero_and_counted(metric: evaluate.Metric, prediction: str, reference: str) -> None:
    result = compute(metric, [prediction, SUMMARY], [reference, SOURCE])
    assert result["scores"][0] == result["minimums"][0] == 0.0
    assert result["undefined"] == 1
    assert all(one["verdict"] == "not found" and one["places"] == [] for one in result["sentences"][0])


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
    result = compute(metric, ["The dog bites.", source[:200]], [source] * 2)
    assert result["truncated"] == 0
    assert all(0 <= score <= 1 for score in result["scores"])
    assert result["passages_read"] > 0


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
    signature = compute(metric, [SUMMARY], [SOURCE], k=2, coverage=True)["signature"]
    assert "|k:2|" in signature
    assert "|decision:" in signature
    assert signature == metric.signature(k=2)
    assert signature != metric.signature()


def test_texts_are_read_in_parts_without_a_change(metric: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, sources = [" ".join(SENTENCES), *SENTENCES], [SOURCE] * (1 + len(SENTENCES))
    whole = compute(metric, texts, sources, k=None, max_length=24)
    sizes = []

    def counted(scorer: PairScorer, pairs: list, *options: object) -> PairLogits:
        sizes.append(len(pairs))
        return logits(scorer, pairs, *options)

    logits = PairScorer.logits
    monkeypatch.setattr(PairScorer, "logits", counted)
    monkeypatch.setattr("semantic_metrics.support.judge.PAIRS_AT_A_TIME", 3)
    parts = compute(metric, texts, sources, k=None, max_length=24)
    assert max(sizes) == 3, "one text alone has more"
    assert sum(sizes) == whole["passages_read"] == parts["passages_read"]
    assert parts["truncated"] == whole["truncated"]
    np.testing.assert_allclose(parts["scores"], whole["scores"], atol=1e-5)


def test_a_model_without_labels_for_nli_or_without_a_decision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected labels for NLI"):
        SupportScoring.from_checkpoint(f"{tiny.bert(tmp_path / 'rated')}/")
    with pytest.raises(ValueError, match=r"expected support.json, got none; fit it"):
        SupportScoring.from_checkpoint(f"{tiny.both_heads(tmp_path / 'unfitted')}/")


@pytest.mark.slow
def test_the_shipped_checkpoint_knows_paraphrases_that_share_no_words() -> None:
    """Written by hand for this test; none was trained or fitted on."""
    pairs = json.loads(Path(__file__).with_name("paraphrases.json").read_text(encoding="utf-8"))
    assert len(pairs) == 30
    sources, claims = zip(*pairs, strict=True)
    result = SupportScoring.from_checkpoint().compute(predictions=list(claims), references=list(sources))
    supported = sum(score >= 0.5 for score in result["scores"])
    assert supported >= MIN_PARAPHRASES, [claims[i] for i, score in enumerate(result["scores"]) if score < 0.5]


def test_what_the_model_cannot_read_is_counted_and_never_sure(metric: evaluate.Metric) -> None:
    texts = ["The dog bites \u732b.", "The dog bites \u72ac.", "<think>No dog.</think>The dog bites."]
    with pytest.warns(UserWarning, match="1 pair differs in characters"):
        result = compute(metric, texts, [*["The dog bites \u72ac."] * 2, "The dog bites."])
    assert result["scores"][0] < 0.5
    assert result["scores"][1] == 1.0
    assert (result["unread"], result["thoughts"]) == (1, 1)
    assert [one["begin"] for one in result["sentences"][2]] == [texts[2].index("The")]
