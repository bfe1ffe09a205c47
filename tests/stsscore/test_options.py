"""Invalid options are refused by name before the model runs; what was added before stays."""

import evaluate
import pytest

from tests import tiny_pairs as tiny
from tests.stsscore.test_metric import PREDICTIONS, REFERENCES

ONE = {"predictions": ["a"], "references": ["a"]}
INVALID = [  # the checks that all metrics share are tested in tests/core
    ({"predictions": ["a"], "references": ["a", "b"]}, r"references: expected 1 items, one for each of pred.*, got 2"),
    ({**ONE, "output": "median"}, "output: expected one of 'all', 'mean'"),
    ({**ONE, "clip": "yes"}, "clip: expected one of False, True"),
    ({**ONE, "symmetric": 1}, "symmetric: expected one of False, True"),
    ({**ONE, "multi_reference": "min"}, "multi_reference: expected one of 'best'"),
    (
        {**ONE, "precision": "float16"},
        r"precision: expected one of 'float32', .*'auto', got str 'float16'",
    ),
    ({**ONE, "batch_size": 0}, "batch_size: expected a whole number from 1, got int 0"),
    ({**ONE, "batch_size": True}, "batch_size: expected a whole number from 1, got bool True"),
    ({**ONE, "max_length": 3}, f"max_length: expected a whole number from 4 to {tiny.POSITIONS}, got int 3"),
    ({**ONE, "max_length": tiny.POSITIONS + 1}, f"max_length: .* from 4 to {tiny.POSITIONS}, got int"),
    ({**ONE, "device": "nowhere"}, "device: expected one that torch has here, as 'cpu', got 'nowhere'"),
    ({**ONE, "device": "meta"}, "device: expected one that torch has here, as 'cpu', got 'meta'"),
    ({**ONE, "device": 7.5}, "device: expected one that torch has here, as 'cpu', got 7.5"),
    ({**ONE, "scale": 0}, "scale: expected a number above 0, 'sigmoid' or None, got 0"),
    ({**ONE, "scale": float("nan")}, "scale: expected a number above 0, 'sigmoid' or None, got nan"),
    ({**ONE, "scale": float("inf")}, "scale: expected a number above 0"),
    ({**ONE, "scale": True}, "scale: expected a number above 0, 'sigmoid' or None, got True"),
    ({**ONE, "scale": "5"}, "scale: expected a number above 0, 'sigmoid' or None, got '5'"),
]


def test_invalid_options_are_refused_before_the_model_runs(metric: evaluate.Metric) -> None:
    metric.add_batch(predictions=PREDICTIONS[:1], references=REFERENCES[:1])
    runs = []
    hook = metric.scorer.model().register_forward_pre_hook(lambda *_: runs.append(1))
    for arguments, saying in INVALID:
        with pytest.raises(ValueError, match=saying):
            metric.compute(**arguments)
        if len(arguments) > 2:
            with pytest.raises(ValueError, match=saying):
                metric.signature(**{name: value for name, value in arguments.items() if name not in ONE})
    hook.remove()
    assert not runs
    assert len(metric) == 1, "what was added before must stay"


def test_columns_are_known_by_name_and_one_is_needed(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="reference: expected an argument named 'predictions' or 'references'"):
        metric.add_batch(predictions=["a"], reference=["a"])
    with pytest.raises(ValueError, match="references: expected an argument named 'prediction' or 'reference'"):
        metric.add(prediction="a", references="a")
    with pytest.raises(ValueError, match="predictions: expected a list of strings, got None, and nothing was added"):
        metric.compute()
