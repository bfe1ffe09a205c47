"""Promises of every metric that scores texts: the mean alone, added rows, copies, company, and invalid options."""

import copy
import pickle

import evaluate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_metrics import load
from semantic_metrics.core.contract import describe, text_metrics
from tests.tiny_table import SIGNS, WORDS

ROWS = [
    ("the dog bites", "a dog bites the man", "who bites?"),
    ("a man sleeps", "the man is asleep", "who sleeps?"),
    ("the cat is awake", "the cat is asleep", "is the cat awake?"),
    ("", "the dog barks", "who barks?"),
]
texts = st.lists(st.sampled_from([*WORDS, *SIGNS, "two", "1,000", "☃", "שלום"]), min_size=1, max_size=30).map(" ".join)
rows = st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=6)
RUNS_A_MODEL = [name for name in text_metrics() if name != "matcha"]


@pytest.fixture(scope="module", params=text_metrics())
def metric(request: pytest.FixtureRequest, checkpoints: dict[str, str]) -> evaluate.Metric:
    """Each metric; one for all tests, so that what is left over from one of them would show in the next."""
    return load(request.param, checkpoints[request.param], keep_in_memory=True)


def name_of(metric: evaluate.Metric) -> str:
    return type(metric).__module__.split(".")[1]


def columns(metric: evaluate.Metric, chosen: list[tuple[str, str, str]]) -> dict[str, list[str]]:
    given_texts = dict(
        zip(("predictions", "references", "questions"), map(list, zip(*chosen, strict=True)), strict=True)
    )
    return {name: given_texts[name] for name in describe(name_of(metric)).columns}


def test_output_mean_is_the_mean_alone(metric: evaluate.Metric) -> None:
    given_texts = columns(metric, ROWS)
    name = name_of(metric)
    assert metric.compute(**given_texts, output="mean") == {name: metric.compute(**given_texts)[name]}


def test_added_rows_are_scored_like_given_ones(metric: evaluate.Metric) -> None:
    whole = metric.compute(**columns(metric, ROWS))
    metric.add_batch(**columns(metric, ROWS[:2]))
    metric.add(**{name.removesuffix("s"): column[0] for name, column in columns(metric, ROWS[2:3]).items()})
    assert metric.compute(**columns(metric, ROWS[3:])) == whole
    metric.add_batch(**columns(metric, ROWS))
    assert metric.compute() == whole


@pytest.mark.parametrize("name", text_metrics())
def test_a_fresh_metric_can_be_copied_and_pickled(name: str, checkpoints: dict[str, str]) -> None:
    """As evaluate's own: before the first `compute`, which leaves a file lock behind."""
    fresh = load(name, checkpoints[name])
    copies = [copy.deepcopy(fresh), pickle.loads(pickle.dumps(fresh))]
    expected = fresh.compute(**columns(fresh, ROWS))["scores"]
    assert [made.compute(**columns(made, ROWS))["scores"] for made in copies] == [expected, expected]


@settings(max_examples=10)
@given(rows, st.integers(1, 9), st.randoms(use_true_random=False))
def test_batches_order_and_duplicates_move_no_score(
    metric: evaluate.Metric, chosen: list, size: int, random: object
) -> None:
    run = {} if name_of(metric) == "matcha" else {"batch_size": size}
    alone = [metric.compute(**columns(metric, [row]))["scores"][0] for row in chosen]
    order = random.choices(range(len(chosen)), k=len(chosen) + 3)
    together = metric.compute(**columns(metric, [chosen[i] for i in order]), **run)["scores"]
    assert together == pytest.approx([alone[i] for i in order], abs=1e-5)
    known = dict(zip(order, together, strict=True))
    assert [known[i] for i in order] == together, "duplicates must be equal to the last bit"


@pytest.mark.parametrize("metric", RUNS_A_MODEL, indirect=True)
def test_invalid_run_options_are_refused_before_the_model_runs(metric: evaluate.Metric) -> None:
    metric.add_batch(**columns(metric, ROWS[:1]))
    for options, message in (
        ({"precision": "float16"}, "precision: expected one of 'float32', .*'auto', got str 'float16'"),
        ({"batch_size": 0}, "batch_size: expected a whole number from 1, got int 0"),
        ({"batch_size": True}, "batch_size: expected a whole number from 1, got bool True"),
        ({"max_length": 3}, "max_length: expected a whole number from 4 to .*, got int 3"),
        ({"max_length": 10**6}, "max_length: expected a whole number from 4 to .*, got int"),
        ({"device": "nowhere"}, "device: expected one that torch has here, as 'cpu', got 'nowhere'"),
        ({"device": "meta"}, "device: expected one that torch has here, as 'cpu', got 'meta'"),
        ({"device": 7.5}, "device: expected one that torch has here, as 'cpu', got 7.5"),
        ({"output": "median"}, "output: expected one of 'all', 'mean'"),
    ):
        with pytest.raises(ValueError, match=message):
            metric.compute(**options)
    assert len(metric) == 1, "what was added before must stay"
    metric.compute()
