"""Fine-tuning on one's own pairs, the mean of two contextual checkpoints, and the fit of support's decision."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from semantic_metrics.support.decision import FEATURES, SUPPORTED
from semantic_metrics.support.scoring import SupportScoring
from tests import tiny_pairs as tiny
from tests.conftest import ROOT
from tests.training.conftest import CONFIGS, TRAINING
from training import finetune, interpolate
from training.finetune import split
from training.fit_support import SETS, UNSUPPORTED, ClaimSet, main, written_claims
from training.matcha.config import TrainConfig
from training.train import Run

# of the trade's own words: general English holds the first two of each to be further apart than the last two
JARGON = [("long", "bought", "short"), ("hawkish", "strict", "dovish"), ("bullish", "hopeful", "bearish")]
THINGS = ["the bank", "the fund", "our desk", "a rival", "the board", "the treasury", "the broker", "one analyst"]
TIMES = ["today", "this week", "in May", "since March", "last year", "again", "on Friday", "for months"]


def trade() -> pd.DataFrame:
    rows = [tuple(f"{who} was {word} {time}" for word in words) for words in JARGON for who in THINGS for time in TIMES]
    return pd.DataFrame(rows, columns=finetune.TRIPLETS)


def as_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    parts = [rows[["reference", name]].set_axis(["reference", "candidate"], axis=1) for name in finetune.TRIPLETS[1:]]
    return pd.concat([part.assign(label=label) for part, label in zip(parts, (1, 0), strict=True)])


@pytest.mark.parametrize("form", ["triplets", "pairs"])
def test_finetuned_checkpoint_judges_held_out_rows_better(
    form: str, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    (trade() if form == "triplets" else as_pairs(trade())).to_csv(tmp_path / "trade.csv", index=False)
    arguments = [str(tmp_path / "trade.csv"), "--output", str(tmp_path / "out"), "--init", f"{checkpoint}/"]
    monkeypatch.setattr(sys, "argv", ["finetune.py", *arguments, "--epochs", "20", "--lr", "0.02"])
    finetune.main()
    table = pd.read_csv(tmp_path / "out" / "before_after.csv").set_index(["set", "figure"])
    own = table.loc[("held-out pairs", "AUC")]
    assert own["after"] > own["before"] + 5
    assert set(table.index.get_level_values("set")) == {"held-out pairs", "general text"}
    assert (tmp_path / "out" / "checkpoint" / "README.md").is_file()
    assert "before" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["pairs", "reversed", "chained"])
def test_rows_that_share_a_text_stay_together_and_none_is_lost(form: str) -> None:
    rows = as_pairs(trade())
    if form == "reversed":
        rows = pd.concat([rows, rows.rename(columns={"reference": "candidate", "candidate": "reference"})])
    if form == "chained":  # the wrong candidate of a row is the reference of another
        chain = rows[rows["label"] == 0].rename(columns={"reference": "candidate", "candidate": "reference"})
        rows = pd.concat([rows, chain.assign(candidate=chain["candidate"] + " too", label=1)])
    parts = split(rows)
    assert sum(map(len, parts.values())) == len(rows.drop_duplicates())
    texts = [set(part["reference"]) | set(part["candidate"]) for part in parts.values()]
    assert not texts[0] & texts[1]
    assert not texts[2] & (texts[0] | texts[1])
    assert min(map(len, parts.values())) > 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.assign(incorrect=[None, *rows["incorrect"][1:]]), "incorrect, row 0: expected a text with"),
        (lambda rows: as_pairs(rows).query("label == 1"), "at least 10 references with candidates of both labels"),
        (lambda rows: as_pairs(rows).assign(label=0.5), "label: expected 0 or 1, got 0.5"),
    ],
)
def test_bad_files_are_refused(change: callable, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split(change(trade()))


def test_mean_of_start_and_end(contextual: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, steps in (("first", 1), ("second", 6)):
        Run(replace(contextual, steps=steps), TRAINING, tmp_path / name).train()
    folders = [str(tmp_path / name / "checkpoint") for name in ("first", "second")]
    options = ["--share", "0.25", "--config", str(CONFIGS / "smoke.yaml"), "--data", str(TRAINING)]
    monkeypatch.setattr(sys, "argv", ["interpolate.py", *folders, *options, "--output", str(tmp_path / "out")])
    interpolate.main()
    first, second, mixed = (load_file(Path(f) / "model.safetensors") for f in (*folders, tmp_path / "out/checkpoint"))
    for name, tensor in mixed.items():
        assert tensor.dtype == torch.float16
        torch.testing.assert_close(
            tensor.float(), 0.75 * first[name].float() + 0.25 * second[name].float(), atol=1e-3, rtol=1e-3
        )
    record = json.loads((tmp_path / "out" / "checkpoint" / "training.json").read_text())
    assert "training.interpolate" in record["command"]
    assert set(record["validation"]) == {"bundled"}
    assert "training.interpolate" in (tmp_path / "out" / "checkpoint" / "README.md").read_text()


def rows_of(one: ClaimSet) -> pd.DataFrame:
    """Six supported claims and six others, and of SHROOM two that do not count."""
    column, (yes, *_, no) = one.label, one.verdicts
    rows = []
    for i in range(6):
        source = f"The dog bites the man {i} times. A cat sleeps."
        for claim, label in ((f"The dog bites the man {i} times", yes), (f"No cat bites {i} dogs", no)):
            evidence = source.split(". ") if one.name == "wice" else source
            rows.append({one.claim: claim, one.source: evidence, column: label, "task": "PG"})
            rows[-1] |= {column: value for column, (value,) in one.where.items()}
    if one.name == "shroom":
        rows += [rows[0] | {"task": "DM"}, rows[0] | {one.claim: "The man", column: 0.5}]
    return pd.DataFrame(rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for one in SETS:
        path = tmp_path / "data" / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        rows_of(one).to_parquet(path)
    return tmp_path / "data"


def test_it_judges(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    model = tiny.both_heads(tmp_path / "model")
    monkeypatch.setattr(sys, "argv", ["fit_support", "--data", str(data), "--config", f"{model}/", "--rows", "12"])
    main()
    lines = capsys.readouterr().out.splitlines()
    names = [*(one.name for one in SETS), *(table["set"][0] for table in written_claims())]
    assert [line.split()[0] for line in lines[: len(names)]] == names
    figures = [re.findall(r"\d+\.\d", line) for line in lines[: len(names)]]
    assert all(len(row) == 5 and all(0 <= float(figure) <= 100 for figure in row) for row in figures)
    support = SupportScoring.from_checkpoint(f"{model}/")
    assert support.scorer.checkpoint_sha256.startswith(support.decision.checkpoint)
    coefficients = dict(zip(FEATURES, support.decision.support.coefficients, strict=True))
    assert all(value <= 0 for name, value in coefficients.items() if "contradiction" in name)
    assert all(value >= 0 for name, value in coefficients.items() if "entailment" in name)
    result = support.compute(predictions=["A cat sleeps."], references=["The dog barks."])
    assert 0 <= result["scores"][0] <= 1


@pytest.mark.parametrize("name", ["large", "pairs"])
def test_no_checkpoint_was_trained_on_a_set_that_is_said_to_be_unseen(name: str) -> None:
    """Nor were those that it started from, which its record holds."""
    record = (ROOT / "model_cards" / name / "training.json").read_text()
    assert not [one.path for one in SETS if one.unseen and one.path in record]
    assert "fool_me_twice/dev.parquet" in record


def test_definitions_and_texts_on_which_raters_disagree_are_left_out(data: Path) -> None:
    (shroom,) = (one for one in SETS if one.name == "shroom")
    table = shroom.read(data, 100)
    assert sorted(table["verdict"].unique()) == sorted((SUPPORTED, UNSUPPORTED))
    assert len(table) == 12
    assert len(shroom.read(data, 5)) == 5
    assert not np.isin("The man", table["claim"])
