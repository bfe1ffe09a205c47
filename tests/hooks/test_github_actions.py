"""The job of GitHub Actions: its commands, run in a folder that has nothing but the answers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml

from tests.hooks.conftest import example


def test_the_job_passes_and_fails_by_its_gate(folder: Path) -> None:
    (job,) = yaml.safe_load(example("GitHub Actions"))["jobs"].values()
    (command,) = [step["run"] for step in job["steps"] if step.get("run", "").startswith("semantic-metrics ")]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    assert "--max-wrong 2 " in command
    for gate, code in ((2, 0), (1, 1)):
        clean = folder / str(gate)
        clean.mkdir()
        (clean / "answers.csv").write_bytes((folder / "answers.csv").read_bytes())
        gated = command.replace("--max-wrong 2 ", f"--max-wrong {gate} ")
        ran = subprocess.run(["bash", "-e", "-c", gated], cwd=clean, env=environment, capture_output=True, check=False)
        assert ran.returncode == code, ran.stderr
        summary = json.loads((clean / "summary.json").read_text())
        assert (summary["metrics"]["nli_lex"]["wrong"], len(summary["failed"])) == (2, code)
        assert pd.read_csv(clean / "scored.csv")["nli_lex_correct"].tolist() == [False, True, False]
