"""The metric inside `evaluate`: caches, other metrics beside it, its help."""

from pathlib import Path

import evaluate

from tests.matcha.test_evaluate import LENGTHS
from tests.stsscore.conftest import SCRIPT
from tests.stsscore.test_metric import PREDICTIONS, REFERENCES, SEVERAL, scores


def test_loaded_in_memory(bert: Path) -> None:
    metric = evaluate.load(SCRIPT, str(bert), keep_in_memory=True)
    expected = evaluate.load(SCRIPT, str(bert)).compute(predictions=PREDICTIONS, references=SEVERAL)
    for _ in range(2):
        metric.add_batch(predictions=PREDICTIONS[:2], references=SEVERAL[:2])
        assert metric.compute(predictions=PREDICTIONS[2:], references=SEVERAL[2:]) == expected


def test_evaluate_writes_nothing_into_the_checkpoint(copied: Path) -> None:
    before = sorted(path.name for path in copied.iterdir())
    metric = evaluate.load(SCRIPT, str(copied))
    metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert sorted(path.name for path in copied.iterdir()) == before
    assert copied not in Path(metric.data_dir).parents


def test_combined_with_another_metric(metric: evaluate.Metric, tmp_path: Path) -> None:
    folder = tmp_path / "word_count"
    folder.mkdir()
    (folder / "word_count.py").write_text(LENGTHS)
    both = evaluate.combine([metric, evaluate.load(str(folder))])
    result = both.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert result["scores"] == scores(metric, PREDICTIONS, REFERENCES)
    assert result["words"] == sum(len(text.split()) for text in PREDICTIONS) / len(PREDICTIONS)


def test_the_help_of_a_loaded_metric_describes_its_arguments(metric: evaluate.Metric) -> None:
    for method in (metric.compute, metric.add, metric.add_batch):
        assert "predictions: list of n strings" in method.__doc__
    assert "how similar" in metric.description
    assert "herbold2023stsscore" in metric.citation
