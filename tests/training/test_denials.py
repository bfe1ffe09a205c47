"""Answers that deny, correct, list or mention a reference, made from questions with known answers."""

import sys
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics.nli_lex.lexical import read_words
from training.data.denial_forms import PARTS, SLOT, read_forms
from training.data.denials import main

PEOPLE = ["Jane Austen", "Emily Bronte", "Mary Shelley", "George Eliot", "Charles Dickens", "Bram Stoker"]
BOOKS = ["emma", "wuthering heights", "frankenstein", "middlemarch", "bleak house", "dracula"]
CONFIG = """
train:
  - {name: judged, path: judged.csv, columns: [q, a, r, y], separator: /}
exclude:
  - {path: test.csv, columns: [question]}
"""


def test_forms_are_balanced_and_no_part_has_those_of_another() -> None:
    parts = [read_forms(part) for part in PARTS]
    train, fit, probe = parts
    assert len(train) >= 60
    assert min(len(fit), len(probe)) >= 30
    assert {form.kind for form in train} == {form.kind for form in fit} > {form.kind for form in probe}
    texts = [{_words(text) for form in part for text in (form.incorrect, form.correct)} for part in parts]
    assert not any(one & other for one, other in combinations(texts, 2))
    for form in (*train, *fit, *probe):
        assert "R" in " ".join(SLOT.findall(form.correct)), form  # a correct answer names the reference


def _words(form: str) -> str:
    return " ".join(SLOT.sub(" ", form).lower().split())


def test_answers_are_made_for_the_questions_that_are_not_excluded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    pytest.importorskip("spacy")
    rows = []
    for person, book in zip(PEOPLE, BOOKS, strict=True):
        rows += [
            (f"who wrote {book}", f"{person} wrote {book}.", person, 1),
            (f"who wrote {book}", "Ann Lee", person, 0),
        ]
    pd.DataFrame(rows, columns=["q", "a", "r", "y"]).to_csv(tmp_path / "judged.csv", index=False)
    pd.DataFrame({"question": ["Who wrote Dracula?"]}).to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "denials.yaml").write_text(CONFIG, encoding="utf-8")
    arguments = ["--config", tmp_path / "denials.yaml", "--data", tmp_path, "--output", tmp_path / "out"]
    monkeypatch.setattr(sys, "argv", ["denials.py", *map(str, arguments)])
    main()
    assert "answers to" in capsys.readouterr().out
    parts = {path.stem: pd.read_parquet(path) for path in sorted((tmp_path / "out").iterdir())}
    assert set(parts["fit"]["question"]) <= set(parts["held_out"]["question"])
    assert "numbers" not in parts, "no answer is a number"
    made = pd.concat(parts.values())
    assert not made["question"].str.lower().str.contains("dracula").any()
    assert made["correct"].mean() == pytest.approx(0.5, abs=0.05)
    assert set(made["label"]) == {"entailment", "contradiction", "not_entailment"}
    assert ((made["label"] == "entailment") == (made["correct"] == 1)).all()
    assert set(made["reference"]) <= set(PEOPLE)
    for row in made[made["correct"] == 1].itertuples():  # a last name is enough
        assert row.reference.split()[-1].lower() in read_words(row.answer).plain, row.answer
