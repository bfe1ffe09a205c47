"""Bad input is refused with its name before the model runs; odd input is judged."""

import copy
import pickle

import evaluate
import pytest

from tests import tiny_pairs as tiny
from tests.nli_lex.test_metric import TEXTS

ONE = {"predictions": ["a"], "references": ["a"], "questions": ["a"]}
BAD = [
    ({"predictions": ["a"], "references": ["a"]}, "questions: expected a list of strings, got NoneType"),
    ({**ONE, "questions": [None]}, r"questions\[0\]: expected a string, got NoneType"),
    ({**ONE, "questions": "a"}, "questions: expected a list of strings, got a bare str"),
    ({**ONE, "questions": ["a", "b"]}, "questions: expected 1 items, one for each of predictions, got 2"),
    ({**ONE, "references": ["a", "b"]}, "references: expected 1 items, one for each of predictions, got 2"),
    ({**ONE, "references": [""]}, r"references\[0\]: expected a text, got ''"),
    ({**ONE, "references": [["a", " \n"]]}, r"references\[0\]\[1\]: expected a text, got ' \\n'"),
    ({**ONE, "references": ["\u200b\ufeff\x00"]}, r"references\[0\]: expected a text, got '.u200b"),
    ({**ONE, "template": "{answer}\ud800"}, r"template: expected valid Unicode, got a lone surrogate"),
    ({**ONE, "references": [[]]}, r"references\[0\]: expected at least one text"),
    ({"predictions": ["a", "b"], "references": ["a", ["b"]], "questions": ["a", "b"]}, "references: .* got a str at 0"),
    ({**ONE, "predictions": []}, "predictions: expected at least one text"),
    ({**ONE, "predictions": [3]}, r"predictions\[0\]: expected a string, got int 3"),
    ({**ONE, "predictions": ["\ud800"]}, r"predictions\[0\]: .*lone surrogate"),
    ({**ONE, "features": "all"}, "features: expected one of 'rich', 'paper', got str 'all'"),
    ({**ONE, "weights": 3}, "weights: expected a file's name or None, got 3"),
    ({**ONE, "weights": "nowhere"}, "weights nowhere: no such file"),
    ({**ONE, "template": "{question}"}, r"template: expected a string with \{answer\} once"),
    ({**ONE, "template": ""}, r"template: expected a string with \{answer\} once"),
    ({**ONE, "number_words": "no"}, "number_words: expected one of None, False, True"),
    ({**ONE, "output": "median"}, "output: expected one of 'all', 'mean', 'reasons'"),
    ({**ONE, "precision": "float16"}, "precision: expected one of 'float32', 'bfloat16', 'int8'"),
    ({**ONE, "batch_size": 0}, "batch_size: expected a whole number from 1"),
    ({**ONE, "max_length": tiny.POSITIONS + 1}, f"max_length: .* from 4 to {tiny.POSITIONS}"),
    ({**ONE, "device": "nowhere"}, "device: expected one that torch has here"),
    (
        {**ONE, "predictions": ["b " * 40], "references": ["a " * 40]},
        r"references\[0\]: expected a text that leaves the answer 8",
    ),
]


@pytest.mark.parametrize(("arguments", "saying"), BAD)
def test_bad_input_is_refused_before_the_model_runs(metric: evaluate.Metric, arguments: dict, saying: str) -> None:
    runs = []
    hook = metric.scorer._model("float32").register_forward_pre_hook(lambda *_: runs.append(1))
    with pytest.raises(ValueError, match=saying):
        metric.compute(**arguments)
    hook.remove()
    assert not runs


def test_a_mistake_costs_nothing_that_was_added(metric: evaluate.Metric) -> None:
    metric.add_batch(**TEXTS)
    for arguments, _ in BAD[:-1]:
        with pytest.raises(ValueError, match=r"expected|no such file"):
            metric.compute(**arguments)
    with pytest.raises(ValueError, match=r"questions\[0\]: expected a string, got NoneType"):
        metric.add(prediction="a", reference="a")
    assert len(metric) == len(TEXTS["predictions"])
    assert metric.compute() == metric.compute(**TEXTS)


def test_odd_texts_are_judged(metric: evaluate.Metric) -> None:
    texts = [
        "☃ ☂",
        "🎉",
        "a\x00b",
        "e\u0301",
        "日本語",
        "?",
        ".",
        "the",
        "¨",
        "a\u200db",
        "{answer}",
        "[SEP]",
        "x" * 500,
    ]
    result = metric.compute(
        predictions=texts * 2, references=[*texts, *["a dog"] * len(texts)], questions=texts[::-1] * 2
    )
    assert all(0 < score < 1 for score in result["scores"])
    assert result["lexical_match"][: len(texts) - 1] == [1] * (len(texts) - 1)
    assert result["blank"] == 0


def test_a_separator_in_a_text_is_plain_text(metric: evaluate.Metric) -> None:
    plain, apart = (
        metric.compute(predictions=[f"a dog {sign}"], references=[f"{sign} cat"], questions=[sign])["entailment"]
        for sign in ("[SEP]", "[ SEP ]")
    )
    assert plain == pytest.approx(apart, abs=1e-6)


def test_a_fresh_metric_can_be_copied_and_pickled(metric: evaluate.Metric) -> None:
    copies = [copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    expected = metric.compute(**TEXTS)
    assert [made.compute(**TEXTS) for made in copies] == [expected, expected]
