"""Token contributions to a judgement: against the metric itself, against plain transformers, and on odd texts."""

import evaluate
import numpy as np
import pytest

from semantic_metrics.nli_lex.attribution import MAX_PIECES, MAX_TOKENS
from tests import tiny_pairs as tiny
from tests.stsscore.test_explain import without
from tests.tiny_pairs import ROUNDING

SIDES = ("prediction", "reference", "question")
ROW = {"prediction": "the dog bites a man", "reference": "the dog", "question": "is the man awake?"}
CUT = 1e-3


def scores(metric: evaluate.Metric, rows: list[dict[str, str]], **options: object) -> list[float]:
    columns = {f"{side}s": [row[side] for row in rows] for side in SIDES}
    return metric.compute(**columns, **options)["scores"]


@pytest.mark.parametrize("features", ["rich", "paper"])
def test_a_contribution_is_the_judgement_minus_that_without_the_token(metric: evaluate.Metric, features: str) -> None:
    result = metric.explain(**ROW, features=features)
    assert list(result) == ["score", "method", *SIDES, "rule"]
    assert result["score"] == pytest.approx(scores(metric, [ROW], features=features)[0], abs=ROUNDING)
    for side in SIDES:
        part = result[side]
        assert part["tokens"] == [ROW[side][begin:end] for begin, end in part["spans"]]
        rest = scores(metric, [{**ROW, side: without(ROW[side], span)} for span in part["spans"]], features=features)
        assert part["contributions"] == pytest.approx([result["score"] - one for one in rest], abs=2 * ROUNDING)
        assert part["total"] == pytest.approx(sum(part["contributions"]))


@pytest.mark.parametrize("features", ["rich", "paper"])
def test_integrated_gradients_sum_to_the_change_of_the_score(metric: evaluate.Metric, features: str) -> None:
    result = metric.explain(**ROW, method="integrated_gradients", features=features)
    assert result["score"] == pytest.approx(scores(metric, [ROW], features=features)[0], abs=ROUNDING)
    for side in SIDES:
        part = result[side]
        assert part["error"] == pytest.approx(part["total"] - result["score"] + part["baseline_score"], abs=1e-12)
        assert abs(part["error"]) < CUT
        assert any(part["contributions"])


def test_the_deciding_window_of_a_long_answer_is_explained(metric: evaluate.Metric) -> None:
    answer = " ".join(f"the {word} runs {i}" for i, word in enumerate(["dog", "man", "cat"] * 8))
    row = {**ROW, "prediction": answer}
    judged = metric.compute(**{f"{side}s": [row[side]] for side in SIDES})
    assert judged["windowed"] == 1
    result = metric.explain(**row, method="integrated_gradients")
    assert result["score"] == pytest.approx(judged["scores"][0], abs=ROUNDING)
    moved = np.flatnonzero(result["prediction"]["contributions"])
    assert 0 < len(moved) < tiny.POSITIONS
    assert moved.tolist() == list(range(moved[0], moved[-1] + 1)), "one window"
    assert abs(result["prediction"]["error"]) < CUT


@pytest.mark.parametrize("answer", ["the dog bites a man and barks " * 36, "日本語" * 80])
def test_of_long_texts_runs_of_words_are_left_out(metric: evaluate.Metric, answer: str) -> None:
    """At most MAX_PIECES judgements."""
    row = {**ROW, "prediction": answer}
    result = metric.explain(**row)
    pieces = [piece for side in SIDES for piece in result[side]["tokens"]]
    assert MAX_PIECES / 2 < len(pieces) <= MAX_PIECES + len(SIDES)
    assert "".join(result["prediction"]["tokens"]).replace(" ", "") == answer.replace(" ", "")
    part = result["prediction"]
    rest = scores(metric, [{**row, "prediction": without(answer, span)} for span in part["spans"][1:3]])
    assert part["contributions"][1:3] == pytest.approx([result["score"] - one for one in rest], abs=2 * ROUNDING)


def test_a_blank_question_beside_a_long_answer_has_no_runs(metric: evaluate.Metric) -> None:
    result = metric.explain(**{**ROW, "prediction": "the dog bites a man " * 12, "question": ""})
    assert (result["question"]["tokens"], len(result["prediction"]["tokens"]) > 9) == ([], True)


def test_invalid_arguments_are_refused(metric: evaluate.Metric) -> None:
    too_long = f"method: expected texts of {MAX_TOKENS} tokens at most for 'leave_one_out', got"
    for arguments, saying in [
        ({"prediction": None}, "prediction: expected a string, got NoneType"),
        ({"reference": " "}, r"references\[0\]: expected a text, got ' '"),
        ({"question": "\ud800"}, "question: expected valid Unicode"),
        ({"method": "exact"}, "method: expected one of 'leave_one_out'"),
        ({"features": "poor"}, "features: expected one of 'rich', 'two_features'"),
        ({"weights": "no/such/file"}, "weights no/such/file: no such file"),
        ({"batch_size": 0}, "batch_size: expected a whole number from 1"),
        ({"prediction": "dog " * MAX_TOKENS}, too_long),
    ]:
        with pytest.raises(ValueError, match=saying):
            metric.explain(**{**ROW, **arguments})


def test_a_number_that_is_read_in_words_is_explained_as_it_is_written(metric: evaluate.Metric) -> None:
    row = {"prediction": "there were forty-two of them", "reference": "some 42 dogs", "question": "how many?"}
    result = metric.explain(**row, method="integrated_gradients")
    part = result["reference"]
    number = [i for i, (begin, end) in enumerate(part["spans"]) if begin < len("some 42") and end > len("some ")]
    assert any(part["contributions"][i] for i in number)
    spelt = scores(metric, [row, {**row, "reference": "some forty-two dogs"}])
    assert result["score"] == pytest.approx(spelt[0], abs=ROUNDING)
    assert spelt[0] == pytest.approx(spelt[1], abs=ROUNDING)


@pytest.mark.parametrize("method", ["leave_one_out", "integrated_gradients"])
def test_markup_in_markup_is_read_as_compute_reads_it(metric: evaluate.Metric, method: str) -> None:
    prediction = "<think>a cat</think>Sure! `**the dog**` bites a man \u2705"
    row = {**ROW, "prediction": prediction, "reference": "**the dog**"}
    assert metric.explain(**row, method=method)["score"] == pytest.approx(scores(metric, [row])[0], abs=ROUNDING)


@pytest.mark.parametrize("method", ["leave_one_out", "integrated_gradients"])
def test_the_rule_that_decided_is_named(metric: evaluate.Metric, method: str) -> None:
    row = {"prediction": "at least 5 dogs", "reference": "at most 4 dogs", "question": "how many dogs?"}
    explanation = metric.explain(**row, method=method)
    columns = {f"{side}s": [row[side]] for side in SIDES}
    assert [explanation["rule"]] == metric.compute(**columns, output="reasons")["rules"] != [""]
    assert not metric.explain(**ROW, method=method)["rule"]
