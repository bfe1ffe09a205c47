"""What a metric must have to work with `load` and commands, each missing part a line; and what all of them promise."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import evaluate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semantic_metrics
from semantic_metrics import available, load
from semantic_metrics.batches import Scorer
from semantic_metrics.core.contract import FILES, check_parts, describe, described_metrics, missing_parts, text_metrics
from tests.tiny_table import SIGNS, WORDS

DESCRIPTION = """
from semantic_metrics.core.contract import MetricDescription

DESCRIPTION = MetricDescription(counts=("empty",), explain_methods={"lengths": "nothing"})
"""
SCRIPT = '''
import datasets
import evaluate
from datasets import Features, Value

from semantic_metrics.core.checked_metric import CheckedInputs


class NAME(CheckedInputs, evaluate.Metric):
    """Share of rows in which both texts are of the same length."""

    def _info(self) -> evaluate.MetricInfo:
        text = Value("string")
        features = Features({"predictions": text, "references": text})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def compute(self, *, predictions=None, references=None, offset: float = 0.0) -> dict:
        """Score texts."""
        return self.compute_checked({"predictions": predictions, "references": references}, offset)

    def _compute(self, predictions, references, options) -> dict:
        pairs = zip(predictions, references, strict=True)
        scores = [float(len(prediction) == len(reference)) + options for prediction, reference in pairs]
        mean = sum(scores) / len(scores)
        return {"NAME": mean, "scores": scores, "signature": self.signature(offset=options), "empty": 0}

    def signature(self, offset: float = 0.0) -> str:
        """The settings."""
        return f"NAME|checkpoint:{self.config_name}|offset:{offset}"

    def explain(self, prediction: str, reference: str, method: str = "lengths") -> dict:
        """Nothing to explain."""
        return {"score": 0.0, "method": method, "prediction": {}, "reference": {}}
'''
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Put a metric into the package: `make(name, script, description)`, all of its parts unless told otherwise."""
    monkeypatch.setattr(semantic_metrics, "__path__", [*semantic_metrics.__path__, str(tmp_path)])

    def make(name: str, script: str = SCRIPT, description: str = DESCRIPTION) -> str:
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(script.replace("NAME", name))
        (folder / "__init__.py").write_text(description)
        for file in FILES:
            (folder / file).touch()
        return name

    return make


def test_a_complete_metric_works(make: Make, tmp_path: Path) -> None:
    name = make("complete")
    assert missing_parts(name) == missing_parts(tmp_path / name) == []
    assert name in available()
    assert name in text_metrics()
    texts = {"predictions": ["a", "bc"], "references": ["d", "e"]}
    metric = load(name, "./a/checkpoint", keep_in_memory=True)
    assert metric.compute(**texts)["scores"] == [1.0, 0.0]
    assert metric.signature(offset=2.0) == "complete|checkpoint:./a/checkpoint|offset:2.0"
    assert pickle.loads(pickle.dumps(metric)).compute(**texts) == metric.compute(**texts)
    assert evaluate.load(str(tmp_path / name)).compute(**texts)["complete"] == 0.5
    scorer = Scorer(name, offset=1.0)
    assert scorer(texts)["complete"].tolist() == [2.0, 1.0]
    assert scorer.signature == "complete|checkpoint:default|offset:1.0"


def test_a_plain_metric_is_not_listed_and_its_description_is_missing(make: Make) -> None:
    name = make("plain", description="")
    assert name not in available()
    assert missing_parts(name) == ["plain lacks DESCRIPTION, a MetricDescription in its __init__.py"]
    with pytest.raises(ValueError, match=r"^name: expected a metric that works with 'load', got 'plain': plain lacks"):
        load(name)
    with pytest.raises(ValueError, match=r"^name: expected one of"):
        describe(name)


@pytest.mark.parametrize(
    ("name", "old", "new", "line"),
    [
        ("none", "evaluate.Metric)", "object)", "none lacks a class derived from evaluate.Metric in none.py"),
        ("mute", "def signature", "def _signature", "mute lacks mute.signature, see"),
        ("dumb", "def explain", "def _explain", "dumb lacks dumb.explain, see"),
        ("one", "references=None", "targets=None", "one lacks references among the arguments of one.compute"),
    ],
)
def test_each_missing_part_is_one_line(make: Make, name: str, old: str, new: str, line: str) -> None:
    lines = missing_parts(make(name, SCRIPT.replace(old, new)))
    assert len(lines) == 1
    assert lines[0].startswith(line)


def test_a_command_asks_for_the_parts_that_it_needs(make: Make, tmp_path: Path) -> None:
    name = make("bare", SCRIPT.replace("def explain", "def _explain"))
    (tmp_path / name / "app.py").unlink()
    (tmp_path / name / "README.md").unlink()
    for command in ("load", "score", "report", "register"):
        check_parts(name, command)
    assert len(missing_parts(name, "explain")) == 1
    assert missing_parts(name, "demo") == ["bare lacks app.py, the demo"]
    assert missing_parts(name, "push") == ["bare lacks app.py, the demo", "bare lacks README.md, the card of the Space"]
    assert missing_parts("absent") == ["absent lacks absent.py, the script with its evaluate.Metric class"]
    with pytest.raises(ValueError, match=r"name: expected one of \['bare', 'consensus', 'matcha'.*got 'absent'"):
        check_parts("absent", "score")


def test_the_metrics_of_the_package_are_complete() -> None:
    assert described_metrics() == ["consensus", "matcha", "nli_lex", "set_criteria", "stsscore", "support"]
    assert text_metrics() == ["consensus", "matcha", "nli_lex", "stsscore", "support"]
    assert [missing_parts(name) for name in described_metrics()] == [[]] * 6
    assert missing_parts("set_criteria", "score") == ["set_criteria tests an encoder and gives texts no score"]
    assert [name for name in described_metrics() if describe(name).takes_questions] == ["nli_lex"]


@pytest.mark.parametrize("name", ["consensus", "matcha", "nli_lex", "stsscore", "support"])
def test_a_description_says_what_the_metric_does(name: str, checkpoints: dict[str, str]) -> None:
    description = describe(name)
    metric = load(name, checkpoints[name])
    row = {"prediction": "It rained.", "reference": "It rained all day.", "question": "What did it do?"}
    row = {name: text for name, text in row.items() if f"{name}s" in description.columns}
    result = metric.compute(**{f"{name}s": [text] for name, text in row.items()})
    low, high = description.score_range
    assert low <= result["scores"][0] <= high
    assert description.counts[0] in result
    assert set(description.counts) >= {key for key, value in result.items() if type(value) is int}
    assert metric.explain(**row)["method"] == next(iter(description.explain_methods))


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
    given = dict(zip(("predictions", "references", "questions"), map(list, zip(*chosen, strict=True)), strict=True))
    return {name: given[name] for name in describe(name_of(metric)).columns}


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
def test_batches_and_order_move_no_score(metric: evaluate.Metric, chosen: list, size: int, random: object) -> None:
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
