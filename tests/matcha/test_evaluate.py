"""The metric inside `evaluate`: caches, copies, processes, and other metrics beside it."""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import evaluate
import pytest

from tests.conftest import METRIC
from tests.matcha.test_metric import PREDICTIONS, REFERENCES, SEVERAL, scores


def test_loaded_in_memory(checkpoint: Path) -> None:
    metric = evaluate.load(METRIC, str(checkpoint), keep_in_memory=True)
    on_disk = evaluate.load(METRIC, str(checkpoint))
    expected = on_disk.compute(predictions=PREDICTIONS, references=SEVERAL)
    for _ in range(2):
        metric.add_batch(predictions=PREDICTIONS[:2], references=SEVERAL[:2])
        assert metric.compute(predictions=PREDICTIONS[2:], references=SEVERAL[2:]) == expected


def test_evaluate_writes_nothing_into_the_checkpoint(checkpoint: Path, metric: evaluate.Metric) -> None:
    metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert sorted(path.name for path in checkpoint.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert checkpoint not in Path(metric.data_dir).parents
    assert Path(metric.data_dir).is_dir()


def test_a_fresh_metric_can_be_copied_and_pickled(metric: evaluate.Metric) -> None:
    """As evaluate's own: before the first `compute`, which leaves a file lock behind."""
    copies = [copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    expected = scores(metric, PREDICTIONS, REFERENCES)
    assert [scores(made, PREDICTIONS, REFERENCES) for made in copies] == [expected, expected]


def test_a_metric_with_added_rows_is_not_copied(metric: evaluate.Metric) -> None:
    metric.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(ValueError, match=r"^metric: expected one without added rows"):
            copied(metric)
    assert len(metric.compute()["scores"]) == 1


def test_without_docstrings(checkpoint: Path, tmp_path: Path) -> None:
    """`python -OO` leaves none, and evaluate adds to them."""
    code = "import sys, evaluate; m = evaluate.load(*sys.argv[1:]); m.add(prediction='the dog', reference='the dog')\n"
    command = [sys.executable, "-OO", "-c", f"{code}print(m.compute()['scores'])", METRIC, str(checkpoint)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.endswith("[1.0]\n"), done.stderr  # transformers reports its own missing docstrings before


ONE_OF_TWO = """
import json, sys
import evaluate

script, checkpoint, cache, rank = sys.argv[1:]
metric = evaluate.load(script, checkpoint, num_process=2, process_id=int(rank), experiment_id="two", cache_dir=cache)
rows = json.loads(sys.stdin.read())
metric.add_batch(predictions=rows["predictions"], references=rows["references"])
print(json.dumps(metric.compute(contradictions=rows.get("contradictions"))))
"""


@pytest.mark.slow
def test_two_processes_score_together(metric: evaluate.Metric, checkpoint: Path, tmp_path: Path) -> None:
    """As in distributed evaluation: each adds its share, the first computes; it alone is given the contradictions."""
    halves = [{"predictions": PREDICTIONS[part], "references": REFERENCES[part]} for part in (slice(2), slice(2, 4))]
    halves[0]["contradictions"] = REFERENCES
    command = [sys.executable, "-c", ONE_OF_TWO, METRIC, str(checkpoint), str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([*command, str(rank)], **pipes) for rank in range(2)]
    for process, half in zip(running, halves, strict=True):
        process.stdin.write(json.dumps(half))
        process.stdin.close()
    first, second = (json.loads(process.stdout.read()) for process in running)
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    assert second is None
    assert first == metric.compute(predictions=PREDICTIONS, references=REFERENCES, contradictions=REFERENCES)


def test_the_help_of_a_loaded_metric_describes_its_arguments(metric: evaluate.Metric) -> None:
    for method in (metric.compute, metric.add, metric.add_batch):
        assert "predictions: list of n strings" in method.__doc__
    assert "contradiction" in metric.description
    assert "li2026matcha" in metric.citation
