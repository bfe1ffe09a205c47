"""One sentence among several that contradicts the other text, by the shipped checkpoint."""

import pytest

from semantic_metrics import load
from semantic_metrics.core.run_options import DEFAULT_OPTIONS
from semantic_metrics.cross_encoder.by_sentence import Worst, worst_sentences
from semantic_metrics.nli_lex.features import load_scorer

TEXTS = [  # a text, the same said otherwise, and that with one sentence that the text contradicts
    (
        "Sales grew in every region last year. The company hired two hundred people. It plans a plant in Spain.",
        "Last year sales rose everywhere. {} A Spanish factory is planned.",
        "Two hundred new employees joined.",
        "Two hundred employees were dismissed.",
    ),
    (
        "Install the package first. Then restart the server. Finally, check the log for errors.",
        "Begin by installing the package. Restart the server after that. {}",
        "At the end, look for errors in the log.",
        "There is no need to look at the log.",
    ),
]


@pytest.mark.parametrize(("reference", "form", "right", "wrong"), TEXTS)
def test_one_sentence_decides(reference: str, form: str, right: str, wrong: str) -> None:
    texts = {"predictions": [form.format(right), form.format(wrong)], "references": [reference] * 2}
    result = load("consensus").compute(**texts)
    assert result["scores"][0] > 0.5 > result["scores"][1]
    assert result["verdicts"] == ["same", "contradicts"]
    assert repr(wrong) in result["reasons"][1]
    answers = load("nli_lex").compute(**texts, questions=["What happened?"] * 2, output="reasons")
    assert answers["correct"] == [True, False]
    assert repr(wrong) in answers["rules"][1]
    assert not answers["rules"][0]


def test_what_is_read_already_is_not_read_again() -> None:
    scorer, run = load_scorer(), DEFAULT_OPTIONS
    pairs = [("He left.", "He left. She stayed."), ("", "He left. She stayed."), ("He left.", "He stayed.")]
    assert worst_sentences(pairs, scorer, run) == [Worst()] * 3
    assert worst_sentences([], scorer, run) == []


def test_it_counts_for_each_pair_alone() -> None:
    scorer, run = load_scorer(), DEFAULT_OPTIONS
    pairs = [(reference, form.format(text)) for reference, form, *texts in TEXTS for text in texts]
    together = worst_sentences(pairs, scorer, run)
    assert [bool(one.reason) for one in together] == [False, True, False, True]
    alone = [worst_sentences([pair], scorer, run)[0] for pair in pairs]
    assert [one.reason for one in alone] == [one.reason for one in together]
    assert [one.contradiction for one in alone] == pytest.approx([one.contradiction for one in together], abs=1e-5)
