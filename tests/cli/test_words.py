"""The words of a metric beside its scores, printed and in every format."""

from pathlib import Path

import pandas as pd
import pytest

from semantic_metrics import load
from tests.cli.conftest import done, invoke, refused
from tests.consensus.conftest import both_heads

TEXTS = {"predictions": ["the dog bites", "a man sleeps"], "references": ["a dog bites", "the man is awake"]}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_words_are_written_beside_the_scores(tmp_path: Path, ending: str) -> None:
    model = f"{both_heads(tmp_path / 'model')}/"
    rows, source, output = pd.DataFrame(TEXTS), tmp_path / f"rows.{ending}", tmp_path / f"scored.{ending}"
    rows.to_csv(source, index=False) if ending == "csv" else rows.to_parquet(source)
    options = ["--config", model, "--predictions", "predictions", "--references", "references"]
    done(invoke("score", source, *options, "--output", output))
    expected = load("consensus", model).compute(**TEXTS)
    scored = pd.read_csv(output) if ending == "csv" else pd.read_parquet(output)
    assert scored["consensus_verdict"].tolist() == expected["verdicts"]
    assert scored["consensus"].tolist() == pytest.approx(expected["scores"], abs=1e-6)
    printed = "\n".join(done(invoke("score", source, *options)))
    assert "consensus_verdict" in printed
    assert expected["verdicts"][0] in printed
    refused(invoke("score", output, *options, "--output", tmp_path / f"twice.{ending}"), "expected no")
