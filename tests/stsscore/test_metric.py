"""What the metric returns: the listing's scores, what options make of them, and what is refused."""

from pathlib import Path

import evaluate
import numpy as np
import pytest

from tests import tiny_pairs as tiny
from tests.tiny_pairs import ROUNDING
from tests.tiny_table import PREDICTIONS, REFERENCES, SEVERAL, scores


def test_results(metric: evaluate.Metric) -> None:
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert list(result) == ["stsscore", "scores", "signature", "undefined", "truncated", "unread", "thoughts"]
    assert result["stsscore"] == np.mean(result["scores"])
    assert all(type(score) is float for score in result["scores"])
    assert (type(result["stsscore"]), result["undefined"], result["truncated"]) == (float, 0, 0)
    assert len(set(result["scores"])) == len(PREDICTIONS)


def test_the_scale_divides_or_squashes_the_raw_score(metric: evaluate.Metric) -> None:
    """The checkpoint says 5."""
    raw = np.array(scores(metric, PREDICTIONS, REFERENCES, scale=1))
    assert scores(metric, PREDICTIONS, REFERENCES) == pytest.approx(raw / 5)
    assert scores(metric, PREDICTIONS, REFERENCES, scale=2.5) == pytest.approx(raw / 2.5)
    assert scores(metric, PREDICTIONS, REFERENCES, scale="sigmoid") == pytest.approx(1 / (1 + np.exp(-raw)))
    assert scores(metric, PREDICTIONS, PREDICTIONS, scale=1) == [5.0] * len(PREDICTIONS), "equal texts"


def test_clip_limits_scores_to_the_unit_interval(metric: evaluate.Metric) -> None:
    plain = scores(metric, PREDICTIONS, REFERENCES, scale=0.1)
    assert min(plain) < 0
    assert max(plain) > 1
    assert scores(metric, PREDICTIONS, REFERENCES, scale=0.1, clip=True) == [min(max(s, 0), 1) for s in plain]


def test_symmetric_is_the_mean_of_both_directions(metric: evaluate.Metric) -> None:
    there, back = scores(metric, PREDICTIONS, REFERENCES), scores(metric, REFERENCES, PREDICTIONS)
    result = scores(metric, PREDICTIONS, REFERENCES, symmetric=True)
    assert result == pytest.approx(np.mean([there, back], axis=0), abs=1e-7)
    assert scores(metric, REFERENCES, PREDICTIONS, symmetric=True) == result


def test_several_references_take_the_best_or_the_mean(metric: evaluate.Metric) -> None:
    best = metric.compute(predictions=PREDICTIONS, references=SEVERAL)
    mean = metric.compute(predictions=PREDICTIONS, references=SEVERAL, multi_reference="mean")
    assert list(best)[-1] == "best_reference"
    for i, (prediction, group) in enumerate(zip(PREDICTIONS, SEVERAL, strict=True)):
        each = scores(metric, [prediction] * len(group), group)
        assert best["scores"][i] == pytest.approx(max(each), abs=1e-6)
        assert mean["scores"][i] == pytest.approx(np.mean(each), abs=1e-6)
        assert best["best_reference"][i] == mean["best_reference"][i] == np.argmax(each)


def test_the_best_reference_is_found_before_clipping(metric: evaluate.Metric) -> None:
    group = ["a dog", "the cat is awake", "awake cat", "no"]
    each = scores(metric, ["the cat"] * 4, group, scale=0.001)
    assert sorted(each)[-2] > 1 or sorted(each)[1] < 0, "two of them must be equal once clipped"
    result = metric.compute(predictions=["the cat"], references=[group], scale=0.001, clip=True)
    assert result["best_reference"] == [int(np.argmax(each))]


def test_blank_texts_have_the_model_s_score_and_are_counted(metric: evaluate.Metric, bert: Path) -> None:
    predictions, references = ["", " \n", "the dog", "", "the dog"], ["the dog", "the dog", "\t", "", "a man"]
    result = metric.compute(predictions=predictions, references=references)
    score = tiny.listing(bert)
    expected = [score(*pair) for pair in zip(references, predictions, strict=True)]
    assert result["scores"] == pytest.approx(expected, abs=ROUNDING)
    assert result["undefined"] == 4
    several = metric.compute(predictions=["the dog", "the dog"], references=[["", "cat"], ["", " "]])
    assert several["undefined"] == 1


def test_truncated_pairs_are_counted(metric: evaluate.Metric, bert: Path) -> None:
    long, other = "the dog bites the man " * 10, "a cat sleeps " * 20
    result = metric.compute(
        predictions=["a dog", long, "a dog", long, "the cat"],
        references=[["a dog", "the cat"], ["a dog"], [long, "a cat"], [other, other], ["a man"]],
    )
    assert result["truncated"] == 4  # pairs: a text that is given twice as a reference counts twice
    score = tiny.listing(bert)
    assert result["scores"][1] == pytest.approx(score("a dog", long), abs=ROUNDING)
    assert result["scores"][3] == pytest.approx(score(other, long), abs=ROUNDING)


def test_the_signature_lists_every_setting_that_can_change_a_score(metric: evaluate.Metric) -> None:
    scorer = metric.scorer
    digests = f"checkpoint:{scorer.checkpoint_sha256[:16]}|tokenizer:{scorer.tokenizer_sha256[:16]}"
    assert metric.compute(predictions=["a"], references=["b"])["signature"] == (
        f"stsscore|{digests}|scale:5.0|clip:false|symmetric:false|precision:float32|max_length:{tiny.POSITIONS}"
        "|multi_reference:best|version:0.18.0"
    )
    changed = {"scale": "sigmoid", "clip": True, "symmetric": True, "multi_reference": "mean"}
    assert metric.signature(**changed, precision="int8", max_length=9) == (
        f"stsscore|{digests}|scale:sigmoid|clip:true|symmetric:true|precision:int8|max_length:9"
        "|multi_reference:mean|version:0.18.0"
    )


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("limit", "read"), [(7, "the dog"), (8, "the dog bites"), (9, "the dog bites man")])
def test_max_length_cuts_the_longer_text_first(metric: evaluate.Metric, limit: int, read: str, symmetric: bool) -> None:
    """Three separators, so that seven leaves four tokens of the words, and eight five."""
    whole, options = "the dog bites man", {"symmetric": symmetric}
    result = metric.compute(predictions=[whole], references=["a cat"], max_length=limit, **options)
    assert result["truncated"] == (read != whole)
    assert result["scores"] == pytest.approx(scores(metric, [read], ["a cat"], **options), abs=ROUNDING)


ONE = {"predictions": ["a"], "references": ["a"]}
INVALID = [  # the checks that all metrics share are tested in tests/core
    ({**ONE, "clip": "yes"}, "clip: expected one of False, True"),
    ({**ONE, "multi_reference": "min"}, "multi_reference: expected one of 'best'"),
    ({**ONE, "max_length": tiny.POSITIONS + 1}, f"max_length: .* from 4 to {tiny.POSITIONS}, got int"),
    ({**ONE, "scale": 0}, "scale: expected a number above 0, 'sigmoid' or None, got 0"),
    ({**ONE, "scale": float("nan")}, "scale: expected a number above 0, 'sigmoid' or None, got nan"),
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


def test_columns_are_known_by_name(metric: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="reference: expected an argument named 'predictions' or 'references'"):
        metric.add_batch(predictions=["a"], reference=["a"])
    with pytest.raises(ValueError, match="references: expected an argument named 'prediction' or 'reference'"):
        metric.add(prediction="a", references="a")
