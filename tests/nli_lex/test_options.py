"""Invalid options are refused by name before the model runs; odd texts are judged."""

import evaluate
import pytest

from tests import tiny_pairs as tiny
from tests.nli_lex.test_metric import TEXTS

ONE = {"predictions": ["a"], "references": ["a"], "questions": ["a"]}
INVALID = [  # the checks that all metrics share are tested in tests/core
    ({"predictions": ["a"], "references": ["a"]}, "questions: expected a list of strings, got NoneType"),
    ({**ONE, "questions": ["a", "b"]}, "questions: expected 1 items, one for each of predictions, got 2"),
    ({**ONE, "references": [""]}, r"references\[0\]: expected a text, got ''"),
    ({**ONE, "references": [["a", " \n"]]}, r"references\[0\]\[1\]: expected a text, got ' \\n'"),
    ({**ONE, "references": ["\u200b\ufeff\x00"]}, r"references\[0\]: expected a text, got '.u200b"),
    ({**ONE, "template": "{answer}\ud800"}, r"template: expected valid Unicode, got a lone surrogate"),
    ({**ONE, "features": "all"}, "features: expected one of 'rich', 'two_features', 'paper', 'nli', got str 'all'"),
    ({**ONE, "weights": 3}, "weights: expected a file's name or None, got 3"),
    ({**ONE, "features": "nli", "weights": "a"}, "weights: expected None with features='nli', which has no weights"),
    ({**ONE, "weights": "nowhere"}, "weights nowhere: no such file"),
    ({**ONE, "template": "{question}"}, r"template: expected a string with \{answer\} once"),
    ({**ONE, "number_words": "no"}, "number_words: expected one of None, False, True"),
    ({**ONE, "output": "median"}, "output: expected one of 'all', 'mean', 'reasons'"),
    ({**ONE, "precision": "float16"}, "precision: expected one of 'float32', 'bfloat16', 'int8'"),
    ({**ONE, "batch_size": 0}, "batch_size: expected a whole number from 1"),
    ({**ONE, "max_length": tiny.POSITIONS + 1}, f"max_length: .* from 4 to {tiny.POSITIONS}"),
    ({**ONE, "device": "nowhere"}, "device: expected one that torch has here"),
]
NO_ROOM = {**ONE, "predictions": ["b " * 40], "max_length": 5}


def test_invalid_arguments_are_refused_before_the_model_runs(metric: evaluate.Metric) -> None:
    metric.add_batch(**TEXTS)
    runs = []
    hook = metric.scorer.model().register_forward_pre_hook(lambda *_: runs.append(1))
    for arguments, saying in INVALID:
        with pytest.raises(ValueError, match=saying):
            metric.compute(**arguments)
    with pytest.raises(ValueError, match=r"questions\[0\]: expected a string, got NoneType"):
        metric.add(prediction="a", reference="a")
    assert len(metric) == len(TEXTS["predictions"]), "what was added before must stay"
    metric.compute(**TEXTS)
    runs.clear()
    with pytest.raises(ValueError, match=r"references\[0\]: expected a text that leaves the answer 8"):
        metric.compute(**NO_ROOM)
    hook.remove()
    assert not runs


def test_odd_texts_are_judged(metric: evaluate.Metric) -> None:
    texts = ["☃ ☂", "🎉", "a\x00b", "e\u0301", "日本語", "?", ".", "the", "¨", "a\u200db"]
    texts += ["{answer}", "[SEP]", "x" * 500]
    columns = {"references": [*texts, *["a dog"] * len(texts)], "questions": texts[::-1] * 2}
    result = metric.compute(predictions=texts * 2, **columns)
    assert result["scores"][: len(texts)] == [1] * len(texts), "rules decide: the same text"
    assert all(0 < score < 1 for score in result["scores"][len(texts) :])
    assert result["lexical_match"][: len(texts) - 1] == [1] * (len(texts) - 1)
    assert result["blank"] == 0
