"""Judged answers as pairs that an NLI model learns from, and answers made of them that deny, correct or list."""

import sys
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics.nli_lex.lexical import read_words
from training.data import denials, judged_answers
from training.data.config_files import read_yaml
from training.data.denial_forms import PARTS, SLOT, read_forms

ROWS = [
    ("who wrote hamlet", "William Shakespeare did", "Marlowe/Shakespeare", 1),
    ("who wrote hamlet", "Ben Jonson", "Marlowe/Shakespeare", 0),
    ("who wrote hamlet", " ", "Marlowe/Shakespeare", 0),
    ("who wrote hamlet", None, "Marlowe/Shakespeare", 0),
    ("who wrote hamlet", "Kyd", "Marlowe/Shakespeare", None),
    ("Where is the Louvre?", "in Paris", "Paris", 1),
]
PEOPLE = ["Jane Austen", "Emily Bronte", "Mary Shelley", "George Eliot", "Charles Dickens", "Bram Stoker"]
BOOKS = ["emma", "wuthering heights", "frankenstein", "middlemarch", "bleak house", "dracula"]
CONFIG = """
train:
  - {name: judged, path: judged.csv, columns: [q, a, r, y], separator: /}
exclude:
  - {path: test.csv, columns: [question]}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    pd.DataFrame(ROWS, columns=["q", "a", "r", "y"]).to_csv(tmp_path / "judged.csv", index=False)
    pd.DataFrame({"question": ["where is the louvre"]}).to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "judged.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def test_right_answers_have_their_reference_and_wrong_ones_all(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    output = data / "pairs"
    arguments = ["--config", data / "judged.yaml", "--data", data, "--output", output]
    monkeypatch.setattr(sys, "argv", ["judged_answers.py", *map(str, arguments)])
    judged_answers.main()
    printed = capsys.readouterr().out
    assert "'rows': 6" in printed
    assert "'dropped: empty text': 2, 'dropped: no label': 1, 'dropped: in an evaluation set': 1" in printed
    (written,) = output.iterdir()  # all answers to a question are on one side
    pairs = pd.read_parquet(written)
    assert pairs[["sentence1", "sentence2", "label"]].to_numpy().tolist() == [
        ["who wrote hamlet William Shakespeare did", "who wrote hamlet Shakespeare", "entailment"],
        ["who wrote hamlet Ben Jonson", "who wrote hamlet Marlowe", "not_entailment"],
        ["who wrote hamlet Ben Jonson", "who wrote hamlet Shakespeare", "not_entailment"],
    ]


def test_a_fifth_of_the_questions_is_held_out(data: Path) -> None:
    rows = [(f"question {i}", "an answer", "a reference", i % 2) for i in range(1000)]
    pd.DataFrame(rows, columns=["q", "a", "r", "y"]).to_csv(data / "judged.csv", index=False)
    source = read_yaml(data / "judged.yaml", judged_answers.JudgedConfig).train[0]
    answers, counts = source.answers(data, frozenset())
    pairs = judged_answers.pairs_of(answers)
    assert 150 < (pairs["part"] == "held_out").sum() < 250
    assert pairs.equals(judged_answers.pairs_of(source.answers(data, frozenset())[0]))
    assert (pairs["label"] == "entailment").sum() == 500
    assert counts == {"rows": 1000, "kept": 1000}


def test_forms_are_balanced_and_no_part_has_those_of_another() -> None:
    parts = [read_forms(part) for part in PARTS]
    train, fit = parts
    assert len(train) >= 60
    assert len(fit) >= 30
    assert {form.kind for form in train} == {form.kind for form in fit}
    texts = [{_words(text) for form in part for text in (form.incorrect, form.correct)} for part in parts]
    assert not any(one & other for one, other in combinations(texts, 2))
    for form in (*train, *fit):
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
    denials.main()
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
