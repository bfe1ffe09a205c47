"""The parts of the NLI+lex benchmark: sets, judges, figures."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from benchmarks.common.encoders import NotMeasured
from benchmarks.papers.nli_lex import judges as judges
from benchmarks.papers.nli_lex.sets import JudgedSet, judged_set
from benchmarks.papers.nli_lex.tables import agreement, outcomes
from tests import tiny_pairs as tiny
from tests.benchmarks.papers.nli_lex.data import judged

PAIRS = [("The Dog, a cat!", "dog cat", 1.0, 1.0, 1.0), ("a dog of the man", "dog cat", 0.0, 0.4, 0.5)]
PAIRS += [("", "dog", 0.0, 0.0, 0.0), ("dog dog", "dog", 0.0, 2 / 3, 1.0)]


@pytest.mark.parametrize(("answer", "reference", "exact", "f1", "recall"), PAIRS)
def test_lexical_baselines(answer: str, reference: str, exact: float, f1: float, recall: float) -> None:
    assert judges.exact_match(answer, reference) == exact
    assert judges.token_f1(answer, reference) == pytest.approx(f1)
    assert judges.token_recall(answer, reference) == pytest.approx(recall)


def test_the_best_gold_answer_counts() -> None:
    loaded = next(judge for judge in judges.lexical_judges() if judge.name == judges.RECALL).load()
    assert loaded.ask(one("b", ["a", "b c"])).scores.tolist() == [0.5]


@pytest.mark.filterwarnings("ignore:A single label:UserWarning")
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
@settings(max_examples=40)
def test_figures_are_scikit_learns(pairs: list[tuple[bool, bool]]) -> None:
    said, labels = (np.array(column) for column in zip(*pairs, strict=True))
    expected = {"accuracy": accuracy_score(labels, said), "f1": f1_score(labels, said, zero_division=0)}
    expected["mcc"] = matthews_corrcoef(labels, said)
    assert agreement(outcomes(said, labels).sum(axis=0)) == pytest.approx({k: 100 * v for k, v in expected.items()})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"human_label": None}, "missing ['human_label']"),
        ({"question": None}, "missing ['question']"),
        ({"human_label": 2}, "expected 0 or 1 in column 'human_label', got 2 in row 0"),
        ({"question": "  "}, "expected a text in column 'question', got '  ' in row 0"),
        ({"reference": " "}, "expected gold answers in column 'reference'"),
        ({"reference": 3}, "expected gold answers in column 'reference', got 3 in row 0"),
    ],
)
def test_invalid_files_are_refused(change: dict, message: str) -> None:
    frame = judged("diver_qa").assign(**change)
    frame = frame.drop(columns=[name for name, value in change.items() if value is None])
    with pytest.raises(ValueError) as error:  # noqa: PT011
        judged_set(frame, "set", "here.csv")
    assert str(error.value).startswith("here.csv: ")
    assert message in str(error.value)


def one(candidate: str, references: list[str]) -> JudgedSet:
    frame = {"question": ["is it"], "reference": [references], "candidate": [candidate], "human_label": [1]}
    return judged_set(pd.DataFrame(frame), "one", "here")


def test_bem_reads_answer_then_reference_and_question(tmp_path: Path) -> None:
    folder = tiny.bert(tmp_path / "bem", {}, labels=2)
    tokenizer, network = (kind.from_pretrained(folder) for kind in (AutoTokenizer, AutoModelForSequenceClassification))
    ids = [tokenizer.cls_token_id, *tokenizer("the dog", add_special_tokens=False)["input_ids"], tokenizer.sep_token_id]
    types = [0] * len(ids)
    for text in ("a cat", "is it"):
        ids += [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.sep_token_id]
    types += [1] * (len(ids) - len(types))
    with torch.inference_mode():
        logits = network.eval()(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits
    loaded = judges.bem(str(folder), None)
    assert loaded.ask(one("the dog", ["a cat"])).scores[0] == pytest.approx(float(logits.softmax(-1)[0, 1]), abs=1e-6)
    assert loaded.parameters == network.num_parameters()
    with pytest.raises(NotMeasured, match="outputs are 2"):
        judges.bem(str(tiny.bert(tmp_path / "three", {}, labels=3)), None)
