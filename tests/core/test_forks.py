"""A metric that was loaded, and used, before a fork gives the same scores in the child."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CODE = """
import os, sys
import datasets
from semantic_metrics import load
from semantic_metrics.batches import Scorer

name, checkpoint, columns = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
texts = {column: [f"the dog {i} bites a man {len(column)}" for i in range(200)] for column in columns}
metric = load(name, checkpoint, keep_in_memory=True)
before = metric.compute(**texts)["scores"]
child = os.fork()
if child == 0:
    after = metric.compute(**texts)["scores"]
    os._exit(0 if max(abs(a - b) for a, b in zip(after, before, strict=True)) < 1e-5 else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
scorer = Scorer(name, checkpoint, **({"questions": "questions"} if "questions" in texts else {}))
mapped = datasets.Dataset.from_dict(texts).map(scorer, batched=True, batch_size=50, num_proc=2)
print(max(abs(a - b) for a, b in zip(mapped[name][:], before, strict=True)) < 1e-5)
"""


@pytest.mark.parametrize("name", ["consensus", "matcha", "stsscore", "nli_lex", "support"])
def test_a_metric_answers_after_a_fork(
    name: str, checkpoints: dict[str, str], tmp_path: Path, run_python: Callable
) -> None:
    """The parent has started threads, which the child does not have."""
    folder = checkpoints[name]
    columns = "predictions,references" + ",questions" * (name == "nli_lex")
    done = run_python(CODE, name, folder, columns, cwd=tmp_path, OMP_NUM_THREADS="2")
    assert done.stdout.split() == ["0", "True"], done.stderr[-2000:]
