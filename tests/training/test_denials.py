"""Answers that deny, correct, list or mention a reference, made from questions with known answers."""

import random
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics.nli_lex.conflicts import number_conflict
from semantic_metrics.nli_lex.lexical import read_words
from tests.training.conftest import CONFIGS
from training.data.config_files import read_yaml
from training.data.denial_forms import PARTS, PATH, SLOT, AnsweredQuestion, question_type, read_forms
from training.data.denials import DenialConfig, build, main, near_number, shape, spelt

ASKED = AnsweredQuestion(
    *("Who painted the Mona Lisa?", "Leonardo da Vinci", "Michelangelo", "Raphael", "who", True),
    *("{} painted the Mona Lisa", "{} did not paint the Mona Lisa"),
)
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


def test_a_form_with_both_exchanges_the_reference_and_the_wrong_answer() -> None:
    (form,) = [form for form in read_forms("train") if form.incorrect == "Not {R}, but {W}."]
    assert form.fill(ASKED, correct=False) == "Not Leonardo da Vinci, but Michelangelo."
    assert form.fill(ASKED, correct=True) == "Not Michelangelo, but Leonardo da Vinci."
    assert (form.kind, form.label) == ("correct", "contradiction")


def test_a_statement_form_negates_what_answers_the_question() -> None:
    (form,) = [form for form in read_forms("train") if form.incorrect == "No. {denies_R}."]
    assert form.fill(ASKED, correct=False) == "No. Leonardo da Vinci did not paint the Mona Lisa."
    assert form.fill(ASKED, correct=True) == "Yes. Leonardo da Vinci painted the Mona Lisa."
    bare = AnsweredQuestion("when", "1995", "1996", "1997", "when", True)
    assert not form.suits(bare)
    assert bare.types == {"", "year"}
    (near,) = [form for form in read_forms("train") if form.incorrect == "Somewhere near {R}."]
    assert [near.suits(replace(bare, kind=kind)) for kind in ("where", "who", "when")] == [True, False, False]


@pytest.mark.parametrize("entry", ["{kind: correct}", "{kind: other, both: x}", "{kind: list, both: x, correct: y}"])
def test_an_invalid_form_is_named(entry: str, tmp_path: Path) -> None:
    path = tmp_path / "forms.yaml"
    path.write_text(f"kinds: {{correct: contradiction, list: not_entailment}}\ntrain:\n  - {entry}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="expected a kind with both, or with incorrect and correct"):
        read_forms("train", path)
    path.write_text("kinds: {list: not_entailment}\ntrain:\n  - {kind: list, both: x, only: how}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="only: expected one of who, where, what, year, number, got 'how'"):
        read_forms("train", path)
    with pytest.raises(ValueError, match="part: expected one of train, fit, probe"):
        read_forms("test", PATH)


def test_types_and_shapes_of_answers() -> None:
    assert [question_type(text) for text in ("who's he", "what year was it", "how many are there", "name it")] == [
        *("who", "when", "number", "what")
    ]
    assert [shape(text) for text in ("1995", "May 5, 1995", "20 miles", "the Red Sea", "bone marrow")] == [
        *("year", "date", "number", "name", "phrase")
    ]


def test_years_and_counts_are_put_in_words_as_people_say_them() -> None:
    years = {"1912": "nineteen twelve", "2010": "twenty ten", "2005": "2005", "1900": "1900", "Paris": "Paris"}
    assert {text: spelt(text, year=True) for text in years} == years
    counts = {"7": "seven", "42": "forty-two", "1000": "one thousand"}
    counts |= {text: text for text in ("1912", "007", "12,5", "²", "5km", "Paris")}
    assert {text: spelt(text, year=False) for text in counts} == counts
    asked = replace(ASKED, kind="number", right="two", wrong="3")
    assert asked.types == {"", "number"}, "a count in words is one"
    assert replace(asked, right="5km").types == {"", "number"}
    assert replace(asked, right="one of them").types == {""}


def test_a_number_is_put_off_by_little() -> None:
    draw = random.Random(0)
    made = {near_number("1945", draw) for _ in range(200)}
    assert made == {"1935", "1943", "1944", "1946", "1947", "1955", "1495", "1954"}
    dates = {near_number("May 1, 1995", draw) for _ in range(200)}
    assert {"May 2, 1995", "May 11, 1995", "May 1, 1996"} <= dates
    assert all(number_conflict("", date, "May 1, 1995") for date in dates - {"May 1, 1995"})
    assert {near_number("June 30", draw) for _ in range(200)} == {"June 28", "June 29", "June 20"}
    assert {near_number("1", draw) for _ in range(200)} == {"2", "3", "11"}
    for text in ("one", "Up to 100,000", "April 21st", "1979\u201380", "3.14", "007", "7:30", "covid-19"):
        assert {near_number(text, draw) for _ in range(20)} == {text}


def test_questions_with_a_number_have_answers_with_another(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    rows = [(f"when was the {i}th law passed", f"in {1800 + i}", f"in {1800 + i}", 1) for i in range(20, 50)]
    pd.DataFrame(rows, columns=["q", "a", "r", "y"]).to_csv(tmp_path / "judged.csv", index=False)
    pd.DataFrame({"question": ["Who wrote Dracula?"]}).to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "denials.yaml").write_text(CONFIG, encoding="utf-8")
    made = build(read_yaml(tmp_path / "denials.yaml", DenialConfig), tmp_path)
    numbers = made[made["kind"] == "number"]
    asked = {part: set(own["question"]) for part, own in numbers.groupby("part")}
    assert asked["numbers"] == asked["held_out"] == {row[0] for row in rows} - asked["train"]
    assert set(numbers["question"]) == {row[0] for row in rows}
    assert set(numbers["label"]) == {"entailment", "contradiction"}
    conflicts = [number_conflict(*row) for row in numbers[["question", "answer", "reference"]].itertuples(index=False)]
    assert conflicts == (numbers["correct"] == 0).tolist()


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


def test_the_shipped_config_keeps_test_questions_out() -> None:
    config = read_yaml(CONFIGS / "data" / "denials.yaml", DenialConfig)
    assert {entry["path"] for entry in config.exclude} == {"diver_qa/sample.parquet", "openqa_eval/nq301.parquet"}
