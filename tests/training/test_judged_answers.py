"""Judged answers as pairs that an NLI model learns from."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from training.data.config_files import read_yaml
from training.data.judged_answers import JudgedConfig, main, pairs_of

ROWS = [
    ("who wrote hamlet", "William Shakespeare did", "Marlowe/Shakespeare", 1),
    ("who wrote hamlet", "Ben Jonson", "Marlowe/Shakespeare", 0),
    ("who wrote hamlet", " ", "Marlowe/Shakespeare", 0),
    ("Where is the Louvre?", "in Paris", "Paris", 1),
]
CONFIG = """
train:
  - name: judged
    path: judged.csv
    columns: [q, a, r, y]
    separator: /
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
    main()
    printed = capsys.readouterr().out
    assert "'rows': 4" in printed
    assert "'dropped: empty text': 1, 'dropped: in an evaluation set': 1" in printed
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
    source = read_yaml(data / "judged.yaml", JudgedConfig).train[0]
    answers, counts = source.answers(data, frozenset())
    pairs = pairs_of(answers)
    assert 150 < (pairs["part"] == "held_out").sum() < 250
    assert pairs.equals(pairs_of(source.answers(data, frozenset())[0]))
    assert (pairs["label"] == "entailment").sum() == 500
    assert counts == {"rows": 1000, "kept": 1000}
