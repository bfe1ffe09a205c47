"""The ablation, trained for real for a few steps on made-up data."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from benchmarks.papers.matcha.ablation import ORDER, SETS, authors_sets, main
from benchmarks.papers.matcha.sets import TITLES
from tests.benchmarks.papers.matcha_data import write_data
from tests.training.conftest import TRAINING


def write_config(folder: Path, start: Path, **changes: object) -> Path:
    """The smoke run on three sources, one of them with random incorrect texts."""
    stored = yaml.safe_load((TRAINING / "configs" / "smoke.yaml").read_text())
    one = {"path": str(TRAINING / "data" / "smoke.csv"), "licence": "Apache-2.0"}
    random = {"kind": "positives", "columns": [["reference", "correct"]]}
    stored["train"] = [{"name": "a", "kind": "triplets", **one}, {"name": "b", **random, **one}]
    stored["validate"] = [{"name": "v", "kind": "triplets", "path": one["path"]}]
    stored.update(init=f"checkpoint:{start}", network={"num_senses": 2}, batch_size=8, **changes)
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(stored))
    return path


def test_every_strategy_is_trained_and_measured(checkpoint: Path, tmp_path: Path) -> None:
    data, output = write_data(tmp_path / "data"), tmp_path / "out"
    arguments = ["--data", str(data), "--config", str(write_config(tmp_path, checkpoint)), "--output", str(output)]
    options = ["--budget", "4", "--seed", "1", "--seed", "2", "--precision", "int8"]
    result = CliRunner().invoke(main, [*arguments, *options])
    assert result.exit_code == 0, result.output
    table = pd.read_csv(output / "ablation.csv")
    assert list(table["strategy"].unique()) == list(ORDER)
    assert table["value"].between(-100, 100).all()
    assert set(table["set"]) == {*(TITLES[name] for name in SETS if name != "human"), "Overall", "mean"}
    one = table[(table["seed"] == 1) & (table["strategy"] == "random") & (table["figure"] == "auc")]
    assert one[one["set"] == "mean"]["value"].item() == pytest.approx(one[one["set"] != "mean"]["value"].mean())
    assert table["published"].notna().sum() == 2 * (35 + 5), "of each cell of table 10, and of its means"
    assert set(table["seed"]) == {1, 2}
    for name in ORDER:
        assert '"step": 4,\n  "steps": 4' in (output / "2" / name / "checkpoint" / "training.json").read_text()
    apart = table[(table["set"] == "SNLI") & (table["figure"] == "n_delta")]["value"]
    assert apart.nunique() > 5  # neither the strategies nor the seeds are the same run
    text = (output / "report.txt").read_text()
    assert text.strip() in result.output
    assert "Table 10, Wasserstein, times 100, 4 steps each, mean of 2 seeds [95% interval over the seeds]" in text
    assert "34.95" in text
    assert "models ran with" not in text, "a table runs none"
    whole, weights = table, {name: output / "2" / name / "checkpoint" / "model.safetensors" for name in ORDER}
    before = {name: path.stat().st_mtime_ns for name, path in weights.items()}
    shutil.rmtree(output / "2" / ORDER[-1])
    result = CliRunner().invoke(main, [*arguments, "--budget", "4", "--seed", "1", "--seed", "2", "--resume"])
    assert result.exit_code == 0, result.output
    pd.testing.assert_frame_equal(pd.read_csv(output / "ablation.csv"), whole)
    assert [name for name in ORDER if weights[name].stat().st_mtime_ns != before[name]] == [ORDER[-1]]


def test_the_authors_rows_of_coco_are_those_not_trained_on(tmp_path: Path) -> None:
    rows = {"reference": ["a dog", "a cat"], "correct": ["it barks", "it purrs"], "incorrect": ["it purrs", "it barks"]}
    rows |= {"matcha_correct": [0.5, 0.4], "matcha_incorrect": [0.1, 0.2]}
    pd.DataFrame(rows).to_parquet(tmp_path / "coco.parquet")
    (tmp_path / "coco_val2017").mkdir()
    pd.DataFrame({"caption": ["it barks "]}).to_parquet(tmp_path / "coco_val2017" / "captions.parquet")
    (coco,) = authors_sets(tmp_path, tmp_path).values()
    assert (coco.title, coco.references) == ("COCO-Caption", ["a cat"])
