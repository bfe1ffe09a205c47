"""The metric inside `evaluate`: its folder alone, its caches, its help."""

import json
import shutil
from pathlib import Path

import evaluate

from tests.conftest import Run
from tests.nli_lex.conftest import SCRIPT, nli
from tests.nli_lex.test_metric import SEVERAL, TEXTS


def test_loaded_in_memory(model: Path) -> None:
    texts = {**TEXTS, "references": SEVERAL}
    metric = evaluate.load(SCRIPT, str(model), keep_in_memory=True)
    expected = evaluate.load(SCRIPT, str(model)).compute(**texts)
    metric.add_batch(**{name: column[:2] for name, column in texts.items()})
    assert metric.compute(**{name: column[2:] for name, column in texts.items()}) == expected


def test_evaluate_writes_nothing_into_the_checkpoint(tmp_path: Path) -> None:
    folder = nli(tmp_path / "model")
    before = sorted(path.name for path in folder.iterdir())
    metric = evaluate.load(SCRIPT, str(folder))
    metric.compute(**TEXTS)
    assert sorted(path.name for path in folder.iterdir()) == before
    assert folder not in Path(metric.data_dir).parents


def test_the_help_of_a_loaded_metric_describes_its_arguments(metric: evaluate.Metric) -> None:
    for method in (metric.compute, metric.add, metric.add_batch):
        assert "questions: list of n strings" in method.__doc__
    assert "as people judge it" in metric.description
    assert "balamurali2025" in metric.citation


ALONE = """
import json, sys
import evaluate

sys.modules["semantic_metrics"] = None  # as in a Space, where the package is not installed
metric = evaluate.load(sys.argv[1], sys.argv[2])
print(json.dumps(metric.compute(**json.loads(sys.argv[3]))))
"""


def test_a_copy_of_the_folder_judges_alone(
    metric: evaluate.Metric, model: Path, run_python: Run, tmp_path: Path
) -> None:
    shutil.copytree(SCRIPT, tmp_path / "nli_lex")
    process = run_python(ALONE, "nli_lex", model, json.dumps(TEXTS), cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == metric.compute(**TEXTS)
