"""The metric function for the harness of DIVER-QA, loaded as the harness loads it: from a file of one's own."""

import importlib.util
from functools import partial
from pathlib import Path

from semantic_metrics import load
from tests.hooks.conftest import ROWS, TEXTS, example


def test_the_file_of_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "nli_lex_metric.py"
    path.write_text(example("The harness of DIVER-QA"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("user_metric", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    columns = {"predictions": TEXTS["answer"], "references": TEXTS["gold"], "questions": TEXTS["question"]}
    for options in ({}, {"features": "nli"}):
        judge = partial(module.metric_function, **options)
        verdicts = [judge(row["gold"], row["answer"], row["question"]) for row in ROWS]
        assert verdicts == load("nli_lex").compute(**columns, **options)["correct"]
        assert {type(verdict) for verdict in verdicts} == {int}, "as the harness compares it with labels"
    assert module.metric_function("The dog bites.", "The dog bites.") == 1, "without --include-question"
