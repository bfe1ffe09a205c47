"""Long forms of judged answers, which `semantic-metrics fit --long` fits on too."""

from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics.fitting.judged_answers import JudgedAnswers
from semantic_metrics.fitting.lengthen import ANSWER_WORDS, lengthen
from semantic_metrics.nli_lex.features import RECALL_OF_LONG, RICH
from semantic_metrics.nli_lex.weights import read_weights
from tests.cli.conftest import done, invoke
from tests.fitting.conftest import NLI_LEX

PLACES = {f"Land {i}": f"Town {i}" for i in range(12)}


def judged() -> JudgedAnswers:
    """Questions about capitals, each with a right and a wrong answer of two sentences."""
    rows = []
    for i, (land, town) in enumerate(PLACES.items()):
        wrong = f"Town {(i + 1) % len(PLACES)}"
        for said in (town, wrong):
            answer = f"The capital of {land} is {said}. It lies on a river in the north."
            rows.append((f"What is the capital of {land}?", answer, [town], said == town, 0))
    return JudgedAnswers(*map(list, zip(*rows, strict=True)))


def test_long_forms_keep_answer_and_label_and_hold_no_other_answer() -> None:
    short = judged()
    long = lengthen(short)
    assert (long.questions, long.references, long.labels) == (short.questions, short.references, short.labels)
    for question, before, after in zip(short.questions, short.answers, long.answers, strict=True):
        assert before in after
        assert ANSWER_WORDS[0] <= len(after.split()) <= ANSWER_WORDS[1] + 20
        assert after.count(f"{question[12:-1]} is") == 1, "no other answer to the same question"


def test_weights_are_fitted_on_long_forms_too(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semantic_metrics.fitting.lengthen.ANSWER_WORDS", (40, 60))
    short = judged()
    references = [group[0] for group in short.references]
    columns = {"question": short.questions, "answer": short.answers, "reference": references, "label": short.labels}
    pd.DataFrame(columns).to_csv(tmp_path / "judged.csv", index=False)
    command = ["fit", tmp_path / "judged.csv", *NLI_LEX, "--config", model, "--form", "rich", "--folds", 2]
    for name, more in (("short.json", []), ("long.json", ["--long"])):
        lines = done(invoke(*command, *more, "--output", tmp_path / name))
    assert any(line.startswith(f"{4 * len(PLACES)} answers, ") for line in lines)
    assert any(line.startswith("  answers as they are: accuracy") for line in lines)
    assert any(line.startswith("  answers long: accuracy") for line in lines)
    usual, long = (read_weights(tmp_path / name) for name in ("short.json", "long.json"))
    of_length = RICH.index(RECALL_OF_LONG)
    assert usual.coefficients[of_length] == 0, "no answer is long"
    assert long.coefficients[of_length] != 0
    assert long.fitted_on == usual.fitted_on + "; and their long forms, which count 0.1"
