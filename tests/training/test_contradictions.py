"""Triplets with contradictions, from tables."""

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from semantic_metrics.contradictions import contradict
from semantic_metrics.contradictions.language import PIPELINES
from training.data.contradictions import COLUMNS, ContradictionConfig, ContradictionSource, build, main
from training.data.sources import Table

if not any(importlib.util.find_spec(name) for name in PIPELINES):
    pytest.skip("spaCy's English pipeline is not installed (extra: contradict)", allow_module_level=True)

ROWS = pd.DataFrame(
    {
        "premise": ["The dog is asleep on the couch.", "The cat is under the table.", "A secret sentence is here.", ""],
        "hypothesis": ["A dog sleeps.", "A cat is there.", "It is here.", "Nothing."],
        "image": [1, 2, 3, 4],
    }
)


CHECKED = Path(__file__).parents[2] / "training" / "data" / "contradictions_checked.csv"
SEED = 31337  # of the list: `contradict([text], [rule], SEED)` made each of its rows
PROPOSALS = 20  # of a rule for a text; which of them the NLI model accepts first changes with its checkpoint


def test_checked_list_meets_its_bar() -> None:
    rows = pd.read_csv(CHECKED)
    assert list(rows.columns) == ["rule", "text", "contradiction", "contradicts", "reads_well", "source"]
    assert len(rows) >= 200
    assert rows["text"].is_unique
    good = (rows["contradicts"] == "yes") & (rows["reads_well"] == "yes")
    assert good.mean() >= 0.9


@pytest.mark.slow  # each rule is tested in tests/contradictions
def test_checked_list_is_what_the_rules_make() -> None:
    for rule, row in pd.read_csv(CHECKED).groupby("rule").first().iterrows():
        (result,) = contradict([row["text"]], [rule], SEED, per_text=PROPOSALS, check=False)
        assert row["contradiction"] in [one.text for one in result.contradictions]


def test_made_triplets_keep_the_correct_text_and_leave_evaluation_texts_out(tmp_path: Path) -> None:
    ROWS.to_parquet(tmp_path / "train.parquet")
    ROWS[2:3].to_parquet(tmp_path / "test.parquet")
    table = Table(path="train.parquet")
    source = ContradictionSource("snli", table, text="premise", correct="hypothesis", rules=["negation"])
    exclude = [{"path": "test.parquet", "columns": ["premise"]}]
    triplets, counts = build(ContradictionConfig([source], exclude), tmp_path)
    assert list(triplets.columns) == COLUMNS
    assert triplets[["reference", "correct", "incorrect", "rule", "source"]].to_numpy().tolist() == [
        ["The dog is asleep on the couch.", "A dog sleeps.", "The dog is not asleep on the couch.", "negation", "snli"],
        ["The cat is under the table.", "A cat is there.", "The cat is not under the table.", "negation", "snli"],
    ]
    assert counts["snli"]["dropped: in an evaluation set"] == 1
    assert counts["snli"]["none: empty"] == 1


def test_rules_that_the_model_does_not_judge_can_do_without_it(tmp_path: Path) -> None:
    pd.DataFrame({"text": ["The dog chased the boy."]}).to_parquet(tmp_path / "train.parquet")
    source = ContradictionSource("roles", Table(path="train.parquet"), rules=["role"], check=False)
    triplets, _ = build(ContradictionConfig([source]), tmp_path)
    assert triplets["incorrect"].tolist() == ["The boy chased the dog."]
    assert triplets["correct"].tolist() == ["The dog chased the boy."]


def test_command_mines_and_writes_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["A man is sleeping on a couch.", "Nobody is sleeping on a couch.", "A man sleeps on a sofa."]
    pd.DataFrame({"text": texts, "image": [1, 2, 1]}).to_parquet(tmp_path / "captions.parquet")
    entry = {"name": "mined", "path": "captions.parquet", "mine": True, "group": "image"}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"train": [entry]}))
    arguments = ["--config", tmp_path / "config.yaml", "--data", tmp_path, "--output", tmp_path / "out.parquet"]
    arguments += ["--batch-size", "1", "--workers", "1", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["contradictions.py", *map(str, arguments)])
    main()
    triplets = pd.read_parquet(tmp_path / "out.parquet")
    assert set(triplets["rule"]) == {"mined"}
    pairs = set(zip(triplets["reference"], triplets["incorrect"], strict=True))
    assert ("Nobody is sleeping on a couch.", "A man is sleeping on a couch.") in pairs
    assert not pairs & {(texts[0], texts[2]), (texts[2], texts[0])}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["captions.parquet", "config.yaml", "out.parquet"]


def test_what_is_wrong_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"train": [{"name": "rows", "path": "none.parquet"}]}))
    arguments = ["--config", tmp_path / "config.yaml", "--data", tmp_path, "--output", tmp_path / "out.parquet"]
    for more, message in ((["--workers", "0"], "workers: expected a whole number"), ([], "none.parquet")):
        monkeypatch.setattr(sys, "argv", ["contradictions.py", *map(str, arguments), *more])
        with pytest.raises(SystemExit, match="2"):
            main()
        assert message in capsys.readouterr().err.strip().splitlines()[-1]
