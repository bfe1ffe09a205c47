"""The metric inside `evaluate`: its caches, its help."""

from pathlib import Path

import evaluate

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
