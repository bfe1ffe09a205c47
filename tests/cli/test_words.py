"""The words of a metric beside its scores, printed and in every format."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from semantic_metrics import load
from semantic_metrics.cli import main
from tests.consensus.conftest import both_heads

TEXTS = (["the dog bites", "a man sleeps", "no dog"], ["a dog bites", "the man is awake", ""])
NAMES = {"prediction": TEXTS[0], "reference": TEXTS[1]}


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_words_are_written_beside_the_scores(tmp_path: Path, ending: str) -> None:
    model = f"{both_heads(tmp_path / 'model')}/"
    rows, source, output = pd.DataFrame(NAMES), tmp_path / f"rows.{ending}", tmp_path / f"scored.{ending}"
    if ending == "parquet":
        rows.to_parquet(source)
    elif ending == "jsonl":
        rows.to_json(source, orient="records", lines=True)
    else:
        rows.to_csv(source, index=False, sep="\t" if ending == "tsv" else ",")
    options = ["--metric", "consensus", "--config", model, "--predictions", "prediction", "--references", "reference"]
    done = CliRunner().invoke(main, ["score", str(source), *options, "--output", str(output)])
    assert done.exit_code == 0, done.output
    expected = load("consensus", model).compute(predictions=TEXTS[0], references=TEXTS[1])
    if ending == "parquet":
        scored = pd.read_parquet(output)
    elif ending == "jsonl":
        scored = pd.DataFrame(map(json.loads, output.read_text().splitlines()))
    else:
        scored = pd.read_csv(output, sep="\t" if ending == "tsv" else ",", keep_default_na=False)
    assert scored["consensus_verdict"].tolist() == expected["verdicts"]
    assert scored["consensus"].tolist() == pytest.approx(expected["scores"], abs=1e-6)
    printed = CliRunner().invoke(main, ["score", str(source), *options])
    assert "consensus_verdict" in printed.output
    assert expected["verdicts"][0] in printed.output
    again = CliRunner().invoke(main, ["score", str(output), *options, "--output", str(tmp_path / f"twice.{ending}")])
    assert again.exit_code == 2
    assert "expected no" in again.output
