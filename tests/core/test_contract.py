"""A toy metric works with `load`, `evaluate.load` and `Scorer`; each part that it lacks is reported in one line."""

import pickle
from collections.abc import Callable
from pathlib import Path

import evaluate
import pytest

import semantic_metrics
from semantic_metrics import available, load
from semantic_metrics.batches import Scorer
from semantic_metrics.core.contract import FILES, check_parts, describe, described_metrics, missing_parts, text_metrics

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
