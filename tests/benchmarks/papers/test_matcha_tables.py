"""MATCHA's sets, the authors' own rows and scores, from scores to tables; and the ablation, trained for real."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from benchmarks.common.options import Bootstrap
from benchmarks.common.tables import Published
from benchmarks.papers.matcha.ablation import ORDER, SETS, authors_sets, main
from benchmarks.papers.matcha.authors import ROW, SNPMI_ROW, Authors
from benchmarks.papers.matcha.report import PUBLISHED
from benchmarks.papers.matcha.scoring import score_sets
from benchmarks.papers.matcha.separation import separation_table
from benchmarks.papers.matcha.sets import TITLES, UNSEEN_COCO
from tests.benchmarks.papers.matcha_data import write_data
from tests.training.conftest import TRAINING


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout: Climate-FEVER has one side a row, its texts written as lists; SNPMI's scores come without texts."""
    folder = tmp_path / "lm-embedding" / "precomputed"
    for name in ("matcha", "snpmi"):
        (folder / name).mkdir(parents=True)
    columns = ["premise", "correct", "incorrect", "pos_sim", "neg_sim"]
    snli = [(f"p{i}", f"c{i}", f"i{i}", 0.9 - 0.1 * i, -0.5) for i in range(4)]
    pd.DataFrame(snli, columns=columns).to_csv(folder / "matcha" / "snli_matcha_scores.csv", index=False)
    pd.DataFrame({"pos_sim": 0.1, "neg_sim": [0.2] * 4}).to_csv(folder / "snpmi" / "snli_snpmi_scores.csv", index=False)
    climate = [("['k0']", "['d0']", "[]", 0.5, np.nan), ("['q0']", "[]", "['j0']", np.nan, 0.1)]
    pd.DataFrame(climate, columns=columns).to_csv(folder / "matcha" / "climate_fever_matcha_scores.csv", index=False)
    return tmp_path


def test_a_checkout_is_read_as_published(repository: Path) -> None:
    authors = Authors(repository)
    assert list(authors.sets) == ["snli", "climate_fever"]
    climate = authors.sets["climate_fever"]
    assert (climate.references, climate.correct) == (["k0"], ["d0"])
    assert (climate.references_of_incorrect, climate.incorrect) == (["q0"], ["j0"])
    assert all(one.paper_rows for one in authors.sets.values())
    matcha, snpmi = authors.metrics()
    assert (matcha.name, snpmi.name) == (ROW, SNPMI_ROW)
    assert matcha.load()(["c1", "j0"], ["p1", "q0"]).tolist() == [0.8, 0.1]
    scores = score_sets([matcha, snpmi], authors.sets)
    assert scores.triplets[SNPMI_ROW, "snli"][1].tolist() == [0.2] * 4
    assert "published no score of 2 of 2 pairs" in scores.reasons[SNPMI_ROW, "climate_fever"]
    with pytest.raises(ValueError, match="--authors: expected files"):
        Authors(repository / "lm-embedding" / "precomputed" / "snpmi")


@pytest.mark.real_data
def test_the_authors_scores_give_every_published_cell(data_folder: Path) -> None:
    if not (data_folder / "matcha_authors").is_dir():
        pytest.skip("the data folder has no matcha_authors")
    authors = Authors(data_folder / "matcha_authors", data_folder)
    sets = {key: one for key, one in authors.sets.items() if key in TITLES}
    assert {key: len(one) for key, one in sets.items()} == {
        "snli": 2943, "multinli": 2932, "truthfulqa": 500, "climate_fever": 150, "coco": 1000, "newts": 1181
    }  # fmt: skip
    assert len(authors.sets[UNSEEN_COCO]) == 1000 - 121
    metrics = authors.metrics()[:1]
    table = separation_table(metrics, list(sets.values()), score_sets(metrics, sets), Published(PUBLISHED), QUICK)
    printed = table[table["published"].notna()]
    assert len(printed) == 30
    assert (printed["value"] - printed["published"]).abs().max() <= 0.0101


QUICK = Bootstrap(resamples=60)


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
